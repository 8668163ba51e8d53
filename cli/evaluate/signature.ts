/**
 * Equal for identical failures: reason, exit (or signal) and the last stderr line without its digits, which are
 * line numbers, times, pids. Three equal ones in a row stop a run.
 */
export function failureSignature(failure: {
  reason: string
  exit: number | null
  signal?: string | null
  /** The last line of stderr, or the message when it said nothing. */
  line: string
}): string {
  const line = failure.line.replace(/\d+/g, '').replace(/\s+/g, ' ').trim().slice(0, 200)
  return `${failure.reason}|${failure.exit ?? failure.signal ?? '-'}|${line}`
}
