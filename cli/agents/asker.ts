/** Asks the agents of one loop for one object each: at most so many at once, and only when admission allows it. */
import { schemaCheckOf } from '../hosts/agent-answer.ts'
import { NO_USAGE } from '../hosts/host.ts'
import { liveSpec, type OpenRun } from '../run/open.ts'
import type { AgentCall, AgentReply } from '../workflow/call.ts'
import { permits, spending, type TotalUsage } from '../workflow/permits.ts'
import { admission } from './admission.ts'
import { type Ask, askerOfRun } from './asking.ts'
import type { Hosts } from './open-host.ts'
import type { Patience } from './patience.ts'
import { askForObject } from './schema.ts'

export interface Question {
  /** Ends with a task card. */
  prompt: string
  label: string
  phase: string | null
  /** JSON Schema of the answer, one of Assay's own. */
  schema: object
  /** Whether the answer is still wanted, as far as the ledger was read. Asked once an agent is free, before it is paid. */
  isWanted: () => boolean
}

export interface Asker {
  /** Resolves when a round or a lane may begin. */
  begin(signal: AbortSignal): Promise<void>
  /** null: the agent gave no answer that satisfies the schema, and the log says why. Never rejects. */
  ask(question: Question, signal: AbortSignal): Promise<object | null>
  /** Calls so far, and what they used. */
  asked(): number
  usage(): TotalUsage
}

export function askerOf(
  run: OpenRun,
  hosts: Hosts,
  { patience, log }: { patience: Patience; log: (message: string) => void },
): Asker {
  const admitted = admission(run)
  const ask = askerOfRun(run, hosts, { admitted, patience })
  const places = permits(() => liveSpec(run).agent?.concurrency ?? 1)
  const usage = spending()
  let asked = 0

  const answerTo = async (
    question: Question,
    signal: AbortSignal,
  ): Promise<AgentReply & { object?: unknown }> => {
    const check = await schemaCheckOf(question.schema, { isOurs: true })
    if (!check.ok) throw new Error(check.problem.message)
    const wanted = { schema: question.schema, check: check.value }
    const askIfWanted = unlessUnwanted(question.isWanted, ask)
    return askForObject(
      question.prompt,
      wanted,
      async (prompt) => {
        const reply = await admitted.agent(callOf(question, prompt, { index: asked, signal }), askIfWanted)
        usage.add(reply.usage ?? null)
        return reply
      },
      true,
    )
  }

  return {
    begin: (signal) => admitted.begin(signal),
    asked: () => asked,
    usage: () => usage.total(),
    ask: async (question, signal) => {
      const release = await places.take()
      try {
        if (signal.aborted) return null
        asked++
        const { label, phase } = question
        const began = performance.now()
        const tell = (state: 'started' | 'done' | 'failed', ms: number, message?: string) =>
          run.tell({ type: 'agent', state, label, phase, ms, ...(message === undefined ? {} : { message }) })
        tell('started', 0)
        const reply = await answerTo(question, signal)
        const object = reply.outcome === 'ok' ? reply.object : undefined
        if (typeof object === 'object' && object !== null) {
          tell('done', performance.now() - began)
          return object
        }
        const why = reply.outcome === 'ok' ? 'no object' : reply.message
        tell('failed', performance.now() - began, why)
        if (!signal.aborted) log(`[${label}] failed: ${why}`)
        return null
      } finally {
        release()
      }
    },
  }
}

/** A first call whose answer nobody wants any more is not made; an agent that was paid once may finish. */
export function unlessUnwanted(isWanted: () => boolean, ask: Ask): Ask {
  let isPaid = false
  return async (call) => {
    if (!isPaid && !isWanted())
      return { outcome: 'null', message: 'it was not asked: the task is not open any more', usage: NO_USAGE }
    isPaid = true
    return ask(call)
  }
}

/** The spec says which model is asked, and for how long: see `askingOf`. */
const callOf = (
  { label, phase, schema }: Question,
  prompt: string,
  { index, signal }: { index: number; signal: AbortSignal },
): AgentCall => ({
  prompt,
  label,
  phase,
  schema,
  model: null,
  effort: null,
  agentType: null,
  isolation: null,
  stallMs: null,
  index,
  thread: '',
  signal,
  progress: () => {},
})
