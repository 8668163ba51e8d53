/** Numbers as people read them. Never `NaN`: what is not known is a dash. */

export const UNKNOWN = '–'

/** Five significant digits, no exponent in the everyday range, with the unit behind. */
export function figure(value: number | null, unit = ''): string {
  if (value === null || Number.isNaN(value)) return UNKNOWN
  const size = Math.abs(value)
  const text =
    size !== 0 && (size < 1e-4 || size >= 1e9)
      ? String(Number(value.toPrecision(4)).toExponential()).replace('e+', 'e')
      : size >= 1e5
        ? String(Math.round(value))
        : String(Number(value.toPrecision(5)))
  const shown = text === '-0' ? '0' : text.replace(/^-/, '−')
  return unit === '' ? shown : unit === '%' ? `${shown}%` : `${shown} ${unit}`
}

/** A share as percent: 0.316 → `31.6%`; small ones keep their digits. */
export function percent(share: number | null): string {
  if (share === null || !Number.isFinite(share)) return UNKNOWN
  const value = share * 100
  const size = Math.abs(value)
  if (!Number.isFinite(value) || size >= 1e6) return `${figure(value)}%`
  const digits = size >= 100 || size === 0 ? 0 : size >= 0.1 ? 1 : 3
  return `${String(Number(value.toFixed(digits))).replace('-', '−')}%`
}

/** `1.2s`, `3m 05s`, `2h 07m`. */
export function duration(ms: number | null): string {
  if (ms === null || !Number.isFinite(ms)) return UNKNOWN
  const seconds = Math.max(0, ms) / 1000
  if (seconds < 9.95) return `${seconds.toFixed(1)}s`
  const whole = Math.round(seconds)
  if (whole < 60) return `${whole}s`
  if (whole < 3600) return `${Math.floor(whole / 60)}m ${two(whole % 60)}s`
  const minutes = Math.floor(whole / 60)
  return minutes < 6_000
    ? `${Math.floor(minutes / 60)}h ${two(minutes % 60)}m`
    : `${Math.floor(minutes / 60)}h`
}

const two = (value: number): string => String(value).padStart(2, '0')

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

/** `31.6% better`, `2% worse`, `the same`; where there is no share, nothing. */
export function gainText(gain: number | null): string {
  if (gain === null) return ''
  if (gain === 0) return 'the same'
  return gain > 0 ? `${percent(gain)} better` : `${percent(-gain)} worse`
}
