import type { Result } from '../result.ts'
import type { AgentCall, AgentReply, TellOfScript } from './call.ts'
import { permits, type Spending, spending } from './permits.ts'
import type { Reply, ToParent } from './protocol.ts'

/** Agents of this type are CLI calls: the runtime makes them itself. */
const CLERK = 'assay:clerk'

/** Attempts after the first one that stalled, as in the hosts. */
const RETRIES = 5

export interface CallAttempt {
  signal: AbortSignal
  /** Restarts the clock. */
  progress(): void
}

export type Watched<T> = { stalled: false; value: T } | { stalled: true }

/**
 * Runs a call that may stall: an attempt without progress for `stallMs` is aborted and made again, five times. Without
 * `stallMs` there is one attempt and no clock: the host's own time limit holds.
 */
async function watchStall<T>(
  stallMs: number | null,
  outer: AbortSignal,
  attempt: (attempt: CallAttempt) => Promise<T>,
  retrying: (retry: number, retries: number) => void,
): Promise<Watched<T>> {
  if (stallMs === null) return { stalled: false, value: await attempt({ signal: outer, progress: () => {} }) }
  for (let retry = 0; ; retry += 1) {
    const stop = new AbortController()
    let clock: NodeJS.Timeout | undefined
    const quiet = new Promise<'quiet'>((resolve) => {
      clock = setTimeout(() => resolve('quiet'), stallMs)
    })
    const running = attempt({
      signal: AbortSignal.any([outer, stop.signal]),
      progress: () => clock?.refresh(),
    })
    const first = await Promise.race([running, quiet])
    clearTimeout(clock)
    if (first !== 'quiet') return { stalled: false, value: first }
    stop.abort()
    // The next attempt may use what this one holds.
    await running
    if (outer.aborted || retry === RETRIES) return { stalled: true }
    retrying(retry + 1, RETRIES)
  }
}

export type CallMessage = Extract<ToParent, { type: 'call' }>

export interface WantedAnswer {
  schema: object
  /** What is wrong with a value; null when it satisfies the schema. */
  check(value: unknown): string | null
}

/** How an answer is held against the schema of its call: the runtime brings no validator. */
export interface Answers {
  /** The schema of a call from its JSON text; a problem in the hosts' words. */
  readSchema(json: string): Promise<Result<WantedAnswer>>
  /** Asks until an answer satisfies the schema; `object` of the reply is that answer. */
  askForObject(
    prompt: string,
    wanted: WantedAnswer,
    ask: (prompt: string) => Promise<AgentReply>,
    mayRepeat: boolean,
  ): Promise<AgentReply>
}

export interface AgentsSetup {
  call: (call: AgentCall) => Promise<AgentReply>
  answers: Answers
  clerk: ((prompt: string, signal: AbortSignal) => Promise<AgentReply>) | null
  /** Types that exist in addition to the clerk; null = any. */
  agentTypes: readonly string[] | null
  /** Agents at once. Clerk calls have their own, wider limit: a command that waits must not hold an agent's place. */
  concurrency: number
  budget: { total: number; spent(): number } | null
  tell: TellOfScript
  log(text: string): void
  failure(text: string): void
  /** Keeps a paid answer before the script sees it. */
  keep(key: string, label: string, json: string): Promise<void>
  signal: AbortSignal
}

const CLERKS_AT_ONCE = 32

export interface Agents {
  /** From the script's message to what the script gets. Never rejects. */
  answer(message: CallMessage): Promise<Reply>
  spent(): number
  usage: Spending
}

export function createAgents(setup: AgentsSetup): Agents {
  const agentPermits = permits(() => setup.concurrency)
  const clerkPermits = permits(() => CLERKS_AT_ONCE)
  const usage = spending()
  const spent = () => setup.budget?.spent() ?? usage.total().tokens_out ?? 0

  const answer = async (message: CallMessage): Promise<Reply> => {
    const { label, phase, agentType, schema } = message
    const refuse = (name: string, text: string): Reply => {
      setup.tell({ type: 'agent', state: 'failed', label, phase, ms: 0, message: text })
      return { kind: 'error', name, message: text }
    }
    const isClerk = agentType === CLERK && setup.clerk !== null
    if (!isClerk && agentType !== null && setup.agentTypes?.includes(agentType) === false) {
      return refuse(
        'Error',
        `agent({agentType}): agent type '${agentType}' not found. Available agents: ${setup.agentTypes.join(', ')}`,
      )
    }
    let wanted: WantedAnswer | null = null
    if (schema !== null) {
      const read = await setup.answers.readSchema(schema)
      if (!read.ok) return refuse('TypeError', read.problem.message)
      wanted = read.value
    }
    const release = await (isClerk ? clerkPermits : agentPermits).take()
    try {
      if (setup.signal.aborted) return refuse('Error', 'the workflow was stopped')
      const total = setup.budget?.total
      if (total !== undefined && spent() >= total) {
        return refuse(
          'WorkflowBudgetExceededError',
          `Workflow token budget exceeded (${spent()} of ${total} spent)`,
        )
      }
      return await run(message, wanted, isClerk)
    } finally {
      release()
    }
  }

  const run = async (message: CallMessage, wanted: WantedAnswer | null, isClerk: boolean): Promise<Reply> => {
    const { label, phase, stallMs } = message
    const started = performance.now()
    const ended = (state: 'done' | 'failed', text?: string) =>
      setup.tell({
        type: 'agent',
        state,
        label,
        phase,
        ms: performance.now() - started,
        ...(text === undefined ? {} : { message: text }),
      })
    setup.tell({ type: 'agent', state: 'started', label, phase, ms: 0 })
    const watched = await watchStall(
      stallMs,
      setup.signal,
      (attempt) => {
        const ask = async (prompt: string): Promise<AgentReply> => {
          const reply =
            isClerk && setup.clerk !== null
              ? await setup.clerk(prompt, attempt.signal)
              : await setup.call({ ...message, prompt, schema: wanted?.schema ?? null, ...attempt })
          usage.add(reply.usage ?? null)
          return reply
        }
        // Asking a clerk again would run its command again.
        return wanted === null
          ? ask(message.prompt)
          : setup.answers.askForObject(message.prompt, wanted, ask, !isClerk)
      },
      (retry, retries) =>
        setup.log(
          `[stall] agent "${label}" stalled (no progress) after ${Math.round((stallMs ?? 0) / 1000)}s — retrying (${retry}/${retries})`,
        ),
    )
    if (watched.stalled) {
      ended('failed', `stalled — no progress for ${stallMs}ms`)
      return {
        kind: 'error',
        name: 'Error',
        message: `agent stalled on all 6 attempts (no progress for ${stallMs}ms each)`,
      }
    }
    const reply = watched.value
    switch (reply.outcome) {
      case 'ok': {
        const json = JSON.stringify(wanted === null ? reply.text : reply.object)
        await setup.keep(message.key, label, json)
        ended('done')
        return { kind: 'value', json }
      }
      case 'null': {
        const line = `[${label}] failed: ${reply.message}`
        setup.log(line)
        setup.failure(line)
        ended('failed', reply.message)
        return { kind: 'null' }
      }
      case 'error':
        ended('failed', reply.message)
        return { kind: 'error', name: 'Error', message: reply.message }
    }
  }
  return { answer, spent, usage }
}
