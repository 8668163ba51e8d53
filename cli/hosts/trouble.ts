/** What a host's words about a failure mean for another try. */
import type { Usage } from '../ledger/events.ts'
import { redact } from '../redact.ts'
import type { HostAnswer } from './host.ts'
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
export function lineOfTrouble(text: string): string {
  const lines = text.split('\n').filter((line) => line.trim() !== '')
  const limit = lines.findLast((line) => !FRAME.test(line) && (BUSY.test(line) || CLOSED.test(line)))
  return (limit ?? lines.at(-1) ?? '').trim()
}

/** The outcome that a message of trouble stands for. */
export function outcomeOf(message: string, usage: Usage, moment: Moment): HostAnswer {
  const words = redact(message.trim()).slice(0, 500)
  if (CLOSED.test(message)) return { outcome: 'refused', message: words, usage }
  if (BUSY.test(message)) {
    return { outcome: 'retry_after', seconds: waitSeconds(message, moment), message: words, usage }
  }
  if (FORBIDDEN.test(message)) return { outcome: 'refused', message: words, usage }
  return { outcome: 'failed', message: words, again: true, usage }
}
