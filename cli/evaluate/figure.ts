/**
 * Numbers as people read them, in the sentences of a verdict as on a terminal. A number that is not known is never shown as
 * `NaN` or 0.
 */

/**
 * In a sentence: whole numbers (bytes, counts) in full, others in four digits; the event has all of them. The verdict of an
 * old ledger is computed again, sentence and all, so the same number must give the same text for ever.
 */
export const figure = (value: number | null): string =>
  value === null ? 'unknown' : Number.isInteger(value) ? String(value) : roughly(value, 4)

/** So many significant digits, whole numbers too. */
export const roughly = (value: number, digits: number): string => String(Number(value.toPrecision(digits)))

export const NO_FIGURE = '–'

/** On a terminal, beside others of its kind: five digits, none in front of the point given up; the unit behind. */
export function shown(value: number | null, unit = ''): string {
  if (value === null || Number.isNaN(value)) return NO_FIGURE
  const whole = Number.isInteger(value) || Math.abs(value) >= 1e5
  const text = whole ? String(Math.round(value)) : roughly(value, 5)
  return unit === '' ? text : `${text} ${unit}`
}

/** A share as percent: 0.316 → `31.6 %`; small ones keep their digits. */
export function percent(share: number | null): string {
  if (share === null || !Number.isFinite(share)) return NO_FIGURE
  const value = share * 100
  const size = Math.abs(value)
  if (!Number.isFinite(value) || size >= 1e6) return `${shown(value)} %`
  const digits = size >= 100 || size === 0 ? 0 : size >= 0.1 ? 1 : 3
  return `${Number(value.toFixed(digits))} %`
}

/** `820 ms`, `1.2 s`, `45 s`, `3 min 05 s`, `2 h 07 min`. */
export function duration(ms: number | null): string {
  if (ms === null || !Number.isFinite(ms)) return NO_FIGURE
  const whole = Math.round(Math.max(0, ms))
  if (whole < 1000) return `${whole} ms`
  if (whole < 9950) return `${Number((whole / 1000).toFixed(1))} s`
  const seconds = Math.round(whole / 1000)
  if (seconds < 60) return `${seconds} s`
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min ${two(seconds % 60)} s`
  const [hours, minutes] = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60]
  return hours < 100 ? `${hours} h ${two(minutes)} min` : `${hours} h`
}

/** How much better `to` is than `from`, as a share of it; positive is better; null when `from` is 0. */
export function gainOf(
  from: number | null,
  to: number | null,
  direction: 'minimize' | 'maximize',
): number | null {
  if (from === null || to === null || from === 0) return null
  const gain = ((to - from) / Math.abs(from)) * (direction === 'maximize' ? 1 : -1)
  return Number.isFinite(gain) ? gain : null
}

/** From here on, how many times as much says more than a percentage. */
const MANY_TIMES = 10

/**
 * `31.6 % better`, `2 % worse`, `the same`; where there is no share, nothing. `from` and `to` are the values themselves:
 * with them a gain may be `550 times as much, which is worse`.
 */
export function gainText(gain: number | null, from: number | null = null, to: number | null = null): string {
  if (gain === null) return ''
  if (gain === 0) return 'the same'
  const word = gain > 0 ? 'better' : 'worse'
  const times = from === null || to === null ? 0 : to / from
  return times >= MANY_TIMES && Number.isFinite(times)
    ? `${roughly(times, 3)} times as much, which is ${word}`
    : `${percent(Math.abs(gain))} ${word}`
}

/** `1 file`, `2 files`. */
export const counted = (count: number, one: string, many = `${one}s`): string =>
  `${count} ${count === 1 ? one : many}`

const two = (value: number): string => String(value).padStart(2, '0')
