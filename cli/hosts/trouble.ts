/** What a host's words about a failure mean for another try. */
import type { Usage } from '../ledger/events.ts'
import { redact } from '../redact.ts'
import type { HostAnswer } from './host.ts'

const DEFAULT_WAIT_SECONDS = 30

/** An account that has to be paid or opened first: waiting does not help, although the status is often that of a limit. */
const CLOSED = /insufficient.?quota|billing|credit balance|payment required|out of credits|\b402\b/i
const BUSY =
  /\b(429|503|529)\b|rate.?limit|too many requests|overloaded|resource.?exhausted|at capacity|temporarily unavailable|(usage|quota|session|weekly|daily) limit|quota exceeded|exceeded your (current )?quota|\b(try again|retry|reset\w*) (after|in|at) /i
const FORBIDDEN =
  /\b(401|403)\b|unauthori[sz]ed|forbidden|authentication|api.?key|not logged in|log ?in|sign in|model\b.{0,80}\b(not found|does not exist|not supported|not available)|usage polic|content polic|safety/i

/** The outcome that a message of trouble stands for. `now` is in milliseconds since 1970. */
export function outcomeOf(message: string, usage: Usage, now: number): HostAnswer {
  const words = redact(message.trim()).slice(0, 500)
  if (CLOSED.test(message)) return { outcome: 'refused', message: words, usage }
  if (BUSY.test(message)) {
    return {
      outcome: 'retry_after',
      seconds: waitSeconds(message, now) ?? DEFAULT_WAIT_SECONDS,
      message: words,
      usage,
    }
  }
  if (FORBIDDEN.test(message)) return { outcome: 'refused', message: words, usage }
  return { outcome: 'failed', message: words, again: true, usage }
}

const UNITS: Record<string, number> = { ms: 0.001, s: 1, m: 60, h: 3600, d: 86_400 }

/** Seconds until another try, as the message says; null when it does not. A time that is over is 0. */
export function waitSeconds(message: string, now: number): number | null {
  const epoch = /limit\b[^|\n]*\|(\d{10})\b/i.exec(message)
  if (epoch) return Math.max(0, Number(epoch[1]) - now / 1000)
  const iso = /\b(?:at|until) (\d{4}-\d\d-\d\dT[\d:.]+(?:Z|[+-]\d\d:?\d\d))/i.exec(message)
  if (iso?.[1]) return Math.max(0, (Date.parse(iso[1]) - now) / 1000)
  const after = /\b(?:after|in|retry.?after["':\s]*)\s*(?=\d)/i.exec(message)
  if (!after) return null
  const span =
    /^(?:(\d+(?:\.\d+)?)\s*(milliseconds?|ms|seconds?|secs?|s|minutes?|mins?|m|hours?|hrs?|h|days?|d)?(?![a-z])[\s,]*(?:and\s+)?)+/i.exec(
      message.slice(after.index + after[0].length),
    )
  if (!span) return null
  let seconds = 0
  for (const [, amount, unit] of span[0].matchAll(/(\d+(?:\.\d+)?)\s*([a-z]*)/gi)) {
    const word = (unit ?? '').toLowerCase()
    seconds += Number(amount) * (UNITS[/^(ms|milli)/.test(word) ? 'ms' : (word[0] ?? 's')] ?? 1)
  }
  return seconds
}
