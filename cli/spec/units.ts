/** How quantities are written in a spec, and what they are read as. The patterns also stand in the JSON Schema. */

const MS = { ms: 1, s: 1000, m: 60_000, h: 3_600_000 } as const
const BYTES = { B: 1, KiB: 1024, MiB: 1024 ** 2, GiB: 1024 ** 3 } as const

/** From 1 ms to 99.999 h, so that it fits the timers of Node (24.8 days). */
export const DURATION =
  '^(?=[^a-z]*[1-9])([0-9]{1,8}ms|[0-9]{1,5}(\\.[0-9]{1,3})?s|[0-9]{1,4}(\\.[0-9]{1,3})?m|[0-9]{1,2}(\\.[0-9]{1,3})?h)$'
/** From 1 B to 9 GiB. */
export const SIZE = '^[1-9]([0-9]{0,8}B|[0-9]{0,5}KiB|[0-9]{0,3}MiB|GiB)$'
/** Of the parent's value. */
export const PERCENT = '^[0-9]{1,6}(\\.[0-9]{1,6})?%$'

/** Milliseconds of a text that matches `DURATION`. */
export function durationMs(written: string): number {
  const unit = written.replace(/^[0-9.]+/, '') as keyof typeof MS
  return Math.round(Number.parseFloat(written) * MS[unit])
}

/** Bytes of a text that matches `SIZE`. */
export function sizeBytes(written: string): number {
  const unit = written.replace(/^[0-9]+/, '') as keyof typeof BYTES
  return Number.parseInt(written, 10) * BYTES[unit]
}

/** The fraction of a text that matches `PERCENT`: "1%" is 0.01. */
export function fraction(written: string): number {
  return Number((Number.parseFloat(written) / 100).toPrecision(12))
}
