/** Units of time that a benchmark may print, in milliseconds. Pure. */
const MILLISECONDS: Readonly<Record<string, number>> = {
  ns: 1e-6,
  us: 1e-3,
  µs: 1e-3,
  μs: 1e-3,
  ms: 1,
  msec: 1,
  s: 1000,
  sec: 1000,
  secs: 1000,
  second: 1000,
  seconds: 1000,
  min: 60_000,
  minute: 60_000,
  minutes: 60_000,
  hour: 3_600_000,
  hours: 3_600_000,
}

/** null when the word is no unit of time. */
export const millisecondsIn = (unit: string): number | null =>
  Object.hasOwn(MILLISECONDS, unit) ? (MILLISECONDS[unit] ?? null) : null
