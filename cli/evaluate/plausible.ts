/** Whether a claimed gain in time shows on a clock that the candidate cannot reach. Pure. */

import type { Direction, Sample } from '../ledger/events.ts'
import { variesByNature } from './calibrate.ts'
import { figure, roughly } from './figure.ts'
import { median, medianDeviation } from './stats.ts'
import { convert, millisecondsIn, millisecondsOfWord } from './units.ts'

type Timed = Pick<Sample, 'value' | 'wall_ms' | 'cpu_ms'>

export interface MetricClaim {
  direction: Direction
  metricName: string
  /** As the benchmark printed it; null when it printed none. */
  unit: string | null
  /** The rule for runs from before 0.1.0: a latency, and a name without a unit, are never in doubt. */
  asBefore?: boolean
  /** Two samples of the same seed each. */
  pairs: readonly { parent: Timed; candidate: Timed }[]
}

/** Measured by Assay's own clocks, so not checked. */
const RECORDED = ['wall_ms', 'cpu_ms']
/** A tail latency, or the slowest of many calls, may fall far while the total time hardly changes. */
const PART_OF_A_RUN = /^(p\d+|max|worst|tail)$/
/** Of the claimed gain, that wall or CPU time has to show. */
const SHOWN = 1 / 4
/** Standard errors of the wall differences that a claimed gain must exceed before it is checked. */
const CLEARLY = 6
/**
 * Of its wall time, that a sample must claim to be the time of. A benchmark that repeats its work for a fixed time reports
 * a small part, and takes no less wall time for a true gain.
 */
const WHOLE = 1 / 2
/** What claims to have taken more than so many times its wall time is simulated time: no machine has so many processors. */
const SIMULATED = 1024
/** With fewer there is no spread to speak of. */
const FEWEST = 2
/** From a median absolute deviation to a standard deviation, for normal noise. */
const NORMAL = 1.4826
/** Clocks of processes tick in about ten of them. */
const LEAST_MS = 5

/**
 * A sentence when a time fell by much more than the wall and the CPU time of the same samples, else null. Rates and tails
 * are never doubted: a benchmark that runs for a fixed time reports true gains of those without taking less time.
 */
export function doubt({ direction, metricName, unit, pairs, asBefore = false }: MetricClaim): string | null {
  if (asBefore && wordsOf(metricName).includes('latency')) return null
  if (metricName === 'cpu_ms') return asBefore ? null : hiddenWork(pairs)
  const scale = scaleOf(metricName, unit) ?? (asBefore ? null : scaleByClock(metricName, unit, pairs))
  if (scale === null || direction !== 'minimize' || pairs.length < FEWEST) return null
  const parts = pairs.map(({ parent }) => ((parent.value ?? 0) * scale) / parent.wall_ms)
  if (!(median(parts) >= WHOLE) || (!asBefore && median(parts) > SIMULATED)) return null
  const claimed = falls(pairs, ({ value }) => (value === null ? null : value * scale))
  const wall = falls(pairs, ({ wall_ms }) => wall_ms)
  const cpu = falls(pairs, ({ cpu_ms }) => cpu_ms)
  if (!claimed || !wall || !cpu) return null
  const gain = median(claimed)
  const shown = Math.max(median(wall), median(cpu))
  if (shown >= gain * SHOWN || gain < LEAST_MS + CLEARLY * standardError(wall)) return null
  const name = unit === null ? metricName : `${metricName} (${unit})`
  return `${name} fell by ${roughly(gain, 2)} ms, but wall time ${fall(median(wall))} and CPU time ${fall(median(cpu))}: does the benchmark time itself?`
}

/** Of its wall time, that a run must compute: with less it waits, and may compute less in the same time. */
const COMPUTES = 0.8

/**
 * A sentence when the CPU time of runs that only compute fell and their wall time did not: something else did the work,
 * which is not counted. Threads share the fall; of what is left of it, wall time has to show as much as of a claim.
 */
function hiddenWork(pairs: MetricClaim['pairs']): string | null {
  const cpu = falls(pairs, ({ cpu_ms }) => cpu_ms)
  const wall = falls(pairs, ({ wall_ms }) => wall_ms)
  if (!cpu || !wall || pairs.length < FEWEST) return null
  const threads = median(pairs.map(({ parent }) => (parent.cpu_ms ?? 0) / parent.wall_ms))
  if (!(threads >= COMPUTES)) return null
  const gain = median(cpu)
  const expected = gain / Math.max(1, threads)
  const shown = median(wall)
  if (shown >= expected * SHOWN || expected < LEAST_MS + CLEARLY * standardError(wall)) return null
  return `CPU time fell by ${roughly(gain, 2)} ms, but wall time ${fall(shown)}: does something else do the work?`
}

/** null when it is no time of a whole run, or in no unit that is known. */
function scaleOf(name: string, unit: string | null): number | null {
  const words = wordsOf(name)
  if (RECORDED.includes(name) || words.some((word) => PART_OF_A_RUN.test(word))) return null
  if (unit !== null) return millisecondsIn(unit)
  // `ms_per_op` is a time, `ops_per_ms` is not; `min` more often means the minimum than a minute.
  const word = words[(words.includes('per') ? words.indexOf('per') : words.length) - 1]
  return word === undefined || word === 'min' ? null : millisecondsOfWord(word)
}

const wordsOf = (name: string): string[] =>
  name
    .replace(/([a-z])([A-Z])/g, '$1_$2')
    .toLowerCase()
    .split(/[^\p{L}\d]+/u)

const TIMES = /^(?:time|latency|duration|elapsed|runtime|took)$/
/** Milliseconds in ns, µs, ms and s. */
const SCALES = [1e-6, 1e-3, 1, 1e3]
/** A time of a run is no longer than the run, as far as the clocks agree. */
const LONGEST = 1.1

/**
 * A name that says time and no unit (`elapsed`): the unit in which it takes a large part of the wall time of its run.
 * The units are 1,000 apart, so at most one fits. null = none fits, or the name is of no time of a whole run.
 */
function scaleByClock(name: string, unit: string | null, pairs: MetricClaim['pairs']): number | null {
  const words = wordsOf(name)
  if (unit !== null || words.includes('per') || words.some((word) => PART_OF_A_RUN.test(word))) return null
  if (!words.some((word) => TIMES.test(word))) return null
  const part = median(pairs.map(({ parent }) => (parent.value ?? 0) / parent.wall_ms))
  return SCALES.find((scale) => part * scale >= WHOLE && part * scale <= LONGEST) ?? null
}

/** Whether a value below 0 is impossible: a time, alone or for each operation (`ns/op`), by its unit or else its name. */
export function belowZeroIsNone(name: string, unit: string | null): boolean {
  if (unit !== null) return millisecondsIn(unit.split('/')[0] ?? '') !== null
  return scaleOf(name, null) !== null || wordsOf(name).some((word) => TIMES.test(word))
}

/** Amounts of memory and of bytes; how much more or less they are may be below 0. */
const SIZES = /^(?:bytes|kb|mb|gb|kib|mib|gib|size|rss)$/
const CHANGES = /^(?:delta|diff|difference|change|saved|saving|savings|growth|margin|gain)$/

/** Whether a value below 0 is impossible as it is for a time: of an amount of bytes. */
export function isSize(name: string, unit: string | null): boolean {
  const words = wordsOf(name)
  if (words.some((word) => CHANGES.test(word))) return false
  return (unit !== null && convert(1, unit, 'B') !== null) || words.some((word) => SIZES.test(word))
}

/** A sentence when the direction asks for more time, or for a lower rate: few mean that; else null. */
export function oddDirection(direction: Direction, name: string, unit: string | null): string | null {
  const shown = unit === null ? name : `${name} (${unit})`
  if (direction === 'maximize' && belowZeroIsNone(name, unit))
    return `${shown} is a time, and direction: maximize keeps what takes longer`
  const per = unit?.split('/')[1]
  const rate =
    unit !== null && (convert(1, unit, 'Hz') !== null || (per !== undefined && millisecondsIn(per) !== null))
  if (direction === 'minimize' && rate)
    return `${shown} is a rate, and direction: minimize keeps what gets less done`
  return null
}

/** Parent minus candidate, pair by pair; null when one of them is unknown. */
function falls(pairs: MetricClaim['pairs'], of: (sample: Timed) => number | null): number[] | null {
  const found = pairs.flatMap(({ parent, candidate }) => {
    const [before, after] = [of(parent), of(candidate)]
    return before === null || after === null ? [] : [before - after]
  })
  return found.length === pairs.length ? found : null
}

const standardError = (values: readonly number[]): number =>
  (NORMAL * medianDeviation(values)) / Math.sqrt(values.length)

const fall = (ms: number): string =>
  ms < 0 ? `rose by ${roughly(-ms, 2)} ms` : `fell by ${roughly(ms, 2)} ms`

// ---------------------------------------------------------------- whether one tree gave values as a candidate that its values as a parent contradict

export interface Sides {
  experiment: string
  metric: { name: string; unit: string | undefined }
  /** Of its own verdict. */
  asCandidate: readonly number[]
  /** Now, when another experiment is compared with it. */
  asParent: readonly number[]
}

/** With fewer there is no spread to speak of. */
const FEWEST_OF_A_SIDE = 4

/**
 * A sentence when the values of the two sides lie further apart than the values of either side do, else null. Times are
 * not looked at: a machine may be slower tonight, and only the pairs tell that from a program that is.
 */
export function differsBySide({ experiment, metric, asCandidate, asParent }: Sides): string | null {
  if (asCandidate.length < FEWEST_OF_A_SIDE || asParent.length < FEWEST_OF_A_SIDE) return null
  if (variesByNature(metric.name, metric.unit)) return null
  const [one, two] = [rangeOf(asCandidate), rangeOf(asParent)]
  const gap = Math.max(two.least - one.most, one.least - two.most)
  if (gap <= Math.max(one.most - one.least, two.most - two.least)) return null
  const [before, now] = [median(asCandidate), median(asParent)].map(figure)
  return `${experiment} gave ${metric.name} ${before} as a candidate and gives ${now} as what others are compared with: does it know its side?`
}

function rangeOf(values: readonly number[]) {
  return { least: Math.min(...values), most: Math.max(...values) }
}
