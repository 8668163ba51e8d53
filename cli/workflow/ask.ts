/** One call of a workflow, answered by a host: asked again when that makes sense, its answer in the script's terms. */
import type { Tell } from '../facts.ts'
import { readCard } from '../hosts/card.ts'
import type { Chain } from '../hosts/chain.ts'
import { failed, type Host, type HostAnswer, type HostCall } from '../hosts/host.ts'
import { redact, redactIn } from '../redact.ts'
import type { AgentCall, AgentReply } from './call.ts'

export interface Asking {
  chain: Chain
  tell: Tell
  requestOf(call: AgentCall, host: Host): HostCall
  /**
   * Whether an agent that was to edit files has left an edit: its work is paid for, whatever it said, so the call is not
   * made again. Must not reject.
   */
  hasEdited?(call: AgentCall): Promise<boolean>
  /** After every answer, those that are asked for again included. `ms`: how long it took. */
  answered?(call: AgentCall, host: Host, answer: HostAnswer, ms: number): void
}

/**
 * How often a call is made again that a host says may be, and how long at most is waited before. A failure has been
 * paid for, up to its whole time limit, so it gets a second try and no third.
 */
const AGAIN = { retry_after: 3, failed: 1, longestSeconds: 300 }
const EDITED = 'the edit that the agent left is judged all the same'
/** A host without signs of life has a time limit of its own; the runtime's stall watch must not end it before. */
const ALIVE_MS = 30_000

/** Asks the first host, then whoever stands in for it. Never rejects. */
export async function askHost(asking: Asking, call: AgentCall): Promise<AgentReply> {
  if (call.isolation === 'worktree' && !readCard(call.prompt)?.worktree) {
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
    for (const host of chain.hosts()) {
      const asked = await askOne(asking, host, call)
      answer = asked.answer
      if (call.signal.aborted) break
      const next = chain.heard(host, answer.outcome === 'ok')
      if (next !== null) {
        const message = `${host.name} left several calls in a row unanswered; ${next.name} takes over`
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
  /** There is no answer, but an edit. */
  edited: boolean
}

/** Asks one host until it answers or leaves an edit, or another try makes no sense. */
async function askOne(asking: Asking, host: Host, call: AgentCall): Promise<Asked> {
  for (let tries = 1; ; tries++) {
    const began = performance.now()
    const answer = redactIn(await host.call({ ...asking.requestOf(call, host), prompt: redact(call.prompt) }))
    asking.answered?.(call, host, answer, performance.now() - began)
    if (answer.outcome === 'ok' || call.signal.aborted) return { answer, edited: false }
    if ((await asking.hasEdited?.(call)) === true) {
      return { answer: { ...answer, message: `${answer.message}; ${EDITED}` }, edited: true }
    }
    const seconds = pause(answer)
    const most = answer.outcome === 'retry_after' ? AGAIN.retry_after : AGAIN.failed
    if (seconds === null || tries > most) return { answer, edited: false }
    asking.tell({ type: 'log', message: `${call.label}: ${messageOf(answer)}; again in ${seconds} s` })
    await sleep(seconds * 1000, call.signal)
  }
}

/** Seconds until another try makes sense; null when none does. */
function pause(answer: HostAnswer): number | null {
  if (answer.outcome === 'retry_after') return Math.min(answer.seconds, AGAIN.longestSeconds)
  return answer.outcome === 'failed' && answer.again ? 1 : null
}

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
