import { answerCheck, type Check, extractObject, TOO_SLOW } from './answer.ts'
import { failed, type HostAnswer, type HostCall, sumUsage, UNKNOWN_USAGE } from './host.ts'

/** Times that an agent is asked again, with the reason, when its answer does not satisfy the schema. */
const REPAIRS = 2
/** Characters of an answer that are shown to the agent again. */
const SHOWN = 4000

/**
 * Asks until the answer satisfies the call's schema, twice more at most, all within its time limit. `ask` makes one try
 * with the words it is given; an `object` that it found by the host's own means is taken, else one is looked for in the
 * text. An agent that has done its work is not asked again for words alone: see `HostCall.instead`. Usage is the sum over all tries.
 */
export async function askForAnswer(
  request: HostCall,
  ask: (prompt: string, timeoutMs: number) => Promise<HostAnswer>,
): Promise<HostAnswer> {
  let check: Check | null = null
  if (request.schema !== null) {
    const result = await answerCheck(request.schema)
    if (!result.ok) return failed(result.problem.message, false)
    check = result.value
  }
  const deadline = performance.now() + request.timeoutMs
  let { prompt } = request
  let usage = null
  for (let repair = 0; ; repair += 1) {
    if (request.signal.aborted) return failed('cancelled', false, usage ?? UNKNOWN_USAGE)
    const left = deadline - performance.now()
    if (left <= 0) return timedOut(request, usage ?? UNKNOWN_USAGE)
    const answer = await ask(prompt, left)
    usage = usage === null ? answer.usage : sumUsage(usage, answer.usage)
    if (answer.outcome !== 'ok') return { ...answer, usage }
    const { text } = answer
    if (check === null) return { outcome: 'ok', text, usage }
    const object = answer.object ?? extractObject(text)
    const wrong = object === null ? 'it holds no JSON object' : check(object)
    if (object !== null && wrong === null) return { outcome: 'ok', text, object, usage }
    if (wrong === TOO_SLOW) return failed(TOO_SLOW, false, usage)
    const instead = (await request.instead?.(text)) ?? null
    if (instead !== null && check(instead) === null) return { outcome: 'ok', text, object: instead, usage }
    if (repair === REPAIRS) return failed(`the answer does not satisfy the schema: ${wrong}`, false, usage)
    prompt = `${request.prompt}\n\nYou have answered this already:\n\n${text.trim().slice(0, SHOWN)}\n\nYour previous answer does not satisfy the required schema: ${wrong}. Do not repeat the work: answer with one JSON object that does.\n`
  }
}

/** What took all the time there was, or three answers, would only be paid for once more. */
export const timedOut = (request: HostCall, usage = UNKNOWN_USAGE): HostAnswer =>
  failed(`no answer within ${request.timeoutMs / 1000} s`, false, usage)
