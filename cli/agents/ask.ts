/** One call of a workflow, answered by a host: asked again when that makes sense, its answer in the script's terms. */

import { failed, type Host, type HostAnswer, type HostCall } from '../hosts/host.ts'
import type { Chain } from '../hosts/registry.ts'
import { readTaskCard } from '../hosts/task-card.ts'
import type { Tell } from '../notices.ts'
import { redact, redactIn } from '../redact.ts'
import type { AgentCall, AgentReply } from '../workflow/call.ts'
import { LONGEST_MS, type Patience } from './patience.ts'

export interface Asking {
  chain: Chain
  tell: Tell
  requestOf(call: AgentCall, host: Host): HostCall
  /**
   * Whether an agent that was to edit files has left an edit: its work is paid for, whatever it answered, so the call is not
   * repeated. Must not reject.
   */
  hasEdited?(call: AgentCall): Promise<boolean>
  /** How a run waits when its host asks for it; absent = by the clock alone, six hours at most. */
  patience?: Patience
  /** After every answer, those that are asked for again included. `ms`: how long it took. */
  answered?(call: AgentCall, host: Host, answer: HostAnswer, ms: number): void
}

/**
 * How often a failed call is repeated when the host allows it. A failure has been paid for, up to its whole time limit, so it
 * gets a second try and no third. `told`: when the host says how long to wait; else the next try is after `seconds`.
 */
const AGAIN = { told: 20, retry_after: 3, failed: 1, seconds: 30 }
/** Beyond this wait, the next host of `agent.fallback` is asked instead. */
const STAND_IN_SECONDS = 300
const EDITED = 'Assay judges the edit that the agent left anyway'
/** A host without signs of life has a time limit of its own; the runtime's stall watch must not end it before. */
const ALIVE_MS = 30_000

/** Asks the first host, and if it fails the next one of the chain. Never rejects. */
export async function askHost(asking: Asking, call: AgentCall): Promise<AgentReply> {
  if (call.isolation === 'worktree' && !readTaskCard(call.prompt)?.worktree) {
    return {
      outcome: 'error',
      message:
        "agent({isolation: 'worktree'}) is not available here: an experiment (assay new) has a worktree",
    }
  }
  const { chain, tell } = asking
  const alive = setInterval(() => call.progress(), ALIVE_MS)
  try {
    let answer = failed('no host', false)
    const hosts = chain.hosts()
    for (const host of hosts) {
      const asked = await askOne(asking, host, call, host === hosts.at(-1))
      answer = asked.answer
      if (call.signal.aborted) break
      const next = chain.record(host, answer.outcome === 'ok')
      if (next !== null) {
        const message = `${host.name} did not answer several calls in a row; the loop now asks ${next.name}`
        tell({ type: 'warning', message })
      }
      if (answer.outcome === 'ok' || asked.edited) break
    }
    return replyOf(answer)
  } finally {
    clearInterval(alive)
  }
}

interface Asked {
  answer: HostAnswer
  /** The agent gave no answer but left an edit. */
  edited: boolean
}

/** Asks one host until it answers or leaves an edit, or until a further try is useless. `last`: there is no further host. */
async function askOne(asking: Asking, host: Host, call: AgentCall, last: boolean): Promise<Asked> {
  for (let tries = 1; ; tries++) {
    if (!((await asking.patience?.ready(host, call)) ?? true)) return OVER
    const began = performance.now()
    const answer = redactIn(await host.call({ ...asking.requestOf(call, host), prompt: redact(call.prompt) }))
    asking.answered?.(call, host, answer, performance.now() - began)
    if (answer.outcome === 'ok' || call.signal.aborted) return { answer, edited: false }
    if ((await asking.hasEdited?.(call)) === true) {
      return { answer: { ...answer, message: `${answer.message}; ${EDITED}` }, edited: true }
    }
    if (!(await mayAskAgain(asking, host, call, answer, { tries, last }))) return { answer, edited: false }
  }
}

/** Waits until a further try may help; false when none will. */
async function mayAskAgain(
  { patience, tell }: Asking,
  host: Host,
  call: AgentCall,
  answer: HostAnswer,
  { tries, last }: { tries: number; last: boolean },
): Promise<boolean> {
  const again = (seconds: number) => {
    tell({ type: 'log', message: `${call.label}: ${messageOf(answer)}; next try in ${seconds} s` })
    return sleep(seconds * 1000, call.signal).then(() => !call.signal.aborted)
  }
  if (answer.outcome === 'failed') return answer.again && tries <= AGAIN.failed ? again(1) : false
  if (answer.outcome !== 'retry_after') return false
  const { seconds, message } = answer
  if (seconds === null) return tries <= AGAIN.retry_after ? again(AGAIN.seconds) : false
  if (tries > AGAIN.told || (!last && seconds > STAND_IN_SECONDS)) return false
  // A wait that has already passed may be repeated at once.
  const wait = Math.max(seconds, 1)
  if (patience !== undefined) return patience.wait(host, call, wait, message)
  return wait * 1000 <= LONGEST_MS ? again(wait) : false
}

const OVER: Asked = { answer: failed('the loop ended while it waited for the host', false), edited: false }

function replyOf(answer: HostAnswer): AgentReply {
  if (answer.outcome !== 'ok') return { outcome: 'null', message: answer.message, usage: answer.usage }
  const { text, object, usage } = answer
  // Programs end their output with a newline that is no part of the answer.
  const words = text.replace(/\r?\n$/, '')
  return { outcome: 'ok', text: words, usage, ...(object === undefined ? {} : { object }) }
}

const messageOf = (answer: HostAnswer): string => (answer.outcome === 'ok' ? '' : answer.message)

function sleep(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      clearTimeout(timer)
      signal.removeEventListener('abort', done)
      resolve()
    }
    const timer = setTimeout(done, ms)
    signal.addEventListener('abort', done, { once: true })
  })
}
