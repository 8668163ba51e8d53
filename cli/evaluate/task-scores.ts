/** What the scores of tasks say about the primary metric. Pure. */
import type { TaskScore } from '../ledger/events.ts'
import { type Aggregate, aggregate } from './stats.ts'

type Tasks = Record<string, TaskScore>

/** A sum in another order, in another program, differs by about this fraction of its largest part. */
const ROUNDING = 1e-9
/** `1` is no rounding of 0.6, though 0.4 is less than half of its last digit. */
const MOST = 0.02

/** The primary metric that a benchmark left to be made of its tasks; a sentence when there is none. */
export function valueOfTasks(name: string, tasks: Tasks, how: Aggregate): number | string {
  const scores = scoresOf(tasks)
  if (scores.length === 0) return `"tasks" is empty and ${name} is missing`
  const value = aggregate(scores, how)
  return Number.isFinite(value) ? value : `the ${how} of the tasks' scores is too large for a number`
}

/**
 * Why a printed value cannot stand beside its tasks, as a sentence; null when it is their aggregate as far as it was
 * written out (`0.33` for a third). Scores that do not make up the value would rank parents by something else.
 */
export function disagrees(name: string, value: number, tasks: Tasks, how: Aggregate): string | null {
  const made = valueOfTasks(name, tasks, how)
  if (typeof made === 'string') return made
  const scale = Math.max(...[value, made].map(Math.abs), largest(scoresOf(tasks)))
  const written = Math.min(halfLastDigit(value), MOST * Math.abs(made))
  if (Math.abs(value - made) <= Math.max(written, ROUNDING * scale)) return null
  return `${name} is ${value}, but the ${how} of the scores of its ${Object.keys(tasks).length} tasks is ${Number(made.toPrecision(6))}: correct one of them, or set tasks.aggregate`
}

const scoresOf = (tasks: Tasks): number[] => Object.values(tasks).map(({ score }) => score)

// Not by spreading: a call has a limit of arguments.
const largest = (values: readonly number[]): number =>
  values.reduce((most, value) => Math.max(most, Math.abs(value)), 0)

/** Half of one unit of the last digit with which the number is written: 0.005 for 0.33. */
function halfLastDigit(value: number): number {
  const [digits = '', exponent = '0'] = value.toExponential().split('e')
  return 0.5 * 10 ** (Number(exponent) - (digits.split('.')[1]?.length ?? 0))
}
