/** Gains that cannot come from the change: a control moved with the metric, or the value is below what is possible. Pure. */
import type { Sample } from '../ledger/events.ts'
import { betterBy } from '../ledger/same-value.ts'
import { figure, roughly } from './figure.ts'
import { pairDifference, signFlipP } from './paired.ts'
import { median } from './stats.ts'

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
