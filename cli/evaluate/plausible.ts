/** Whether a gain can be believed: it shows on a clock that the candidate cannot reach, and could come from the change. Pure. */

import type { Direction, Sample } from '../ledger/events.ts'
import { betterBy } from '../ledger/same-value.ts'
import { variesByNature } from './calibrate.ts'
import { figure, roughly } from './figure.ts'
import { pairDifference, signFlipP } from './paired.ts'
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

// ---------------------------------------------------------------- gains that cannot come from the change

type Measured = Pick<Sample, 'value' | 'metrics'>

/** Two samples of the same seed. */
export interface ControlPair {
  candidate: Measured
  parent: Measured
}

/** The probability that any control is said to have moved when none did. */
const LEVEL = 0.01
/** Of the gain in the metric, that a control has to move: less of it explains no gain. */
const PART = 1 / 4

/**
 * A sentence when a control, which the change cannot touch, moved in the same pairs: then something else may have made the
 * gain. Under noise both directions count, by an exact sign-flip test at 1 % over all controls, which needs eight pairs. A
 * control must also move by a quarter of the gain. null: none moved.
 */
export function movedControl(controls: readonly string[], pairs: readonly ControlPair[]): string | null {
  if (pairs.length === 0) return null
  const gain = Math.abs(
    centre(pairs.map(({ candidate, parent }) => [parent.value, candidate.value] as const)) ?? 0,
  )
  for (const name of controls) {
    const values = pairs.map(
      ({ candidate, parent }) => [numberOf(parent, name), numberOf(candidate, name)] as const,
    )
    const moved = centre(values)
    if (moved === null) return `the control ${name} is missing in a sample, or is no number`
    const differences = differencesOf(values) ?? []
    const constant = new Set(values.map(String)).size === 1
    const p = 2 * Math.min(signFlipP(differences), signFlipP(differences.map((d) => -d)))
    const real = constant ? moved !== 0 : p * controls.length <= LEVEL
    if (!real || Math.abs(moved) < gain * PART) continue
    const [before, after] = [0, 1].map((side) => figure(median(values.map((pair) => pair[side] ?? 0))))
    return `the control ${name} went from ${before} to ${after} in the same samples, and the change cannot touch it: something else may have made the gain`
  }
  return null
}

const numberOf = ({ metrics }: Measured, name: string): number | null => {
  const value = metrics[name]
  return typeof value === 'number' ? value : null
}

type Values = readonly (readonly [number | null, number | null])[]

/** Logarithms of ratios where all values are above 0, so that metrics in different units can be held against each other. */
function differencesOf(values: Values): number[] | null {
  const known = values.flatMap(([before, after]) =>
    before === null || after === null ? [] : [[before, after] as const],
  )
  if (known.length < values.length) return null
  const transform = known.flat().every((value) => value > 0) ? 'log' : 'linear'
  return known.map(([before, after]) => pairDifference('maximize', transform, after, before))
}

function centre(values: Values): number | null {
  const differences = differencesOf(values)
  return differences === null ? null : median(differences)
}

/** A sentence when a sample is below the least that the spec calls possible, else null. */
export function belowFloor(
  { name, floor, unit }: { name: string; floor?: number | undefined; unit: string | null },
  values: readonly number[],
): string | null {
  const least = Math.min(...values)
  if (floor === undefined || betterBy('maximize', least, floor) >= 0) return null
  const said = unit === null ? '' : ` ${unit}`
  return `${name} = ${roughly(least, 3)}${said} is below metric.floor (${figure(floor)}${said}), so no true change can do it: look at what the benchmark measures`
}

/** Why a sample of the baseline does not fit `controls` and `metric.floor`, as a sentence; null when it does. */
export function unfitFor(
  { controls, metric }: { controls: readonly string[]; metric: { name: string; floor?: number } },
  { value, metrics }: Measured,
): string | null {
  const missing = controls.find((name) => typeof metrics[name] !== 'number')
  if (missing !== undefined)
    return `the control ${missing} is missing, or is no number; the benchmark reported ${Object.keys(metrics).slice(0, 20).join(', ')}`
  return metric.floor !== undefined && value !== null && betterBy('maximize', value, metric.floor) < 0
    ? `the baseline gives ${metric.name} = ${figure(value)}, which is below metric.floor (${figure(metric.floor)}): correct the floor, or the benchmark`
    : null
}
