/** Whether an agent is asked again: what the error message of a host means, and what to do with an answer that breaks its schema. */
import type { Usage } from '../ledger/events.ts'
import { redact } from '../redact.ts'
import { extractObject, type SchemaCheck, schemaCheckOf, TOO_SLOW } from './agent-answer.ts'
import { failed, type HostAnswer, type HostCall, sumUsage, UNKNOWN_USAGE } from './host.ts'
import { type Moment, waitSeconds } from './waiting.ts'

/** An account that has to be paid or opened first: waiting does not help, although the status is often that of a limit. */
const CLOSED = /insufficient.?quota|billing|credit balance|payment required|out of credits|\b402\b/i
const BUSY =
  /\b(429|503|529)\b|rate.?limit|too many requests|overloaded|resource.?exhausted|at capacity|temporarily unavailable|(usage|quota|session|weekly|daily) limit|quota exceeded|exceeded your (current )?quota|\b(try again|retry|reset\w*) (after|in|at) /i
const FORBIDDEN =
  /\b(401|403)\b|unauthori[sz]ed|forbidden|authentication|api.?key|not logged in|log ?in|sign in|model\b.{0,80}\b(not found|does not exist|not supported|not available)|usage polic|content polic|safety/i

/** Lines of a stack trace: their numbers are no statuses. */
const FRAME = /^\s+at |^\s*File "/

/**
 * Of what a program printed about its end, the line that says why: the last one about a limit, else the last one; empty when
 * there is none. A stack trace often follows what the provider said.
 */
export function errorLineOf(text: string): string {
  const lines = text.split('\n').filter((line) => line.trim() !== '')
  const limit = lines.findLast((line) => !FRAME.test(line) && (BUSY.test(line) || CLOSED.test(line)))
  return (limit ?? lines.at(-1) ?? '').trim()
}

/** The outcome that an error message means. */
export function outcomeOfError(message: string, usage: Usage, moment: Moment): HostAnswer {
  const words = redact(message.trim()).slice(0, 500)
  if (CLOSED.test(message)) return { outcome: 'refused', message: words, usage }
  if (BUSY.test(message)) {
    return { outcome: 'retry_after', seconds: waitSeconds(message, moment), message: words, usage }
  }
  if (FORBIDDEN.test(message)) return { outcome: 'refused', message: words, usage }
  return { outcome: 'failed', message: words, again: true, usage }
}

/** Times that an agent is asked again, with the reason, when its answer does not satisfy the schema. */
const REPAIRS = 2
/** Characters of an answer that are shown to the agent again. */
const SHOWN = 4000

/**
 * Asks until the answer satisfies the call's schema, `repairs` times more at most, all within its time limit. `ask` makes one try
 * with the words it is given; an `object` that it found by the host's own means is taken, else one is looked for in the
 * text. An agent that has done its work is not asked again for words alone: see `HostCall.instead`. Usage is the sum over all tries.
 */
export async function askForAnswer(
  request: HostCall,
  ask: (prompt: string, timeoutMs: number) => Promise<HostAnswer>,
): Promise<HostAnswer> {
  let check: SchemaCheck | null = null
  if (request.schema !== null) {
    const result = await schemaCheckOf(request.schema)
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
    if (repair === (request.repairs ?? REPAIRS))
      return failed(`the answer does not satisfy the schema: ${wrong}`, false, usage)
    prompt = `${request.prompt}\n\nYou have answered this already:\n\n${text.trim().slice(0, SHOWN)}\n\nYour previous answer does not satisfy the required schema: ${wrong}. Do not repeat the work: answer with one JSON object that does.\n`
  }
}

/** A call that used all its time, or three answers, is not repeated: it would only be paid for again. */
export const timedOut = (request: HostCall, usage = UNKNOWN_USAGE): HostAnswer =>
  failed(`no answer within ${request.timeoutMs / 1000} s`, false, usage)
