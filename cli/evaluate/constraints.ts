import type { Bound, Sample } from '../ledger/events.ts'
import { betterBy } from '../ledger/same-value.ts'
import { unreachable } from '../result.ts'
import { crowdBehindBound, type Objection, objection } from './crowd.ts'
import { median } from './stats.ts'

export type ConstraintConfig = Bound

export interface Violation extends Objection {
  constraint: ConstraintConfig
  /** The median of a number, the offending boolean, null when the metric is missing. */
  actual: number | boolean | null
}

/**
 * What a candidate's samples violate, in the order of the constraints. The median of the samples counts for numbers;
 * a boolean must hold in all. A metric that is missing in any sample, or of another type than the bound, violates.
 * A limit that is kept in a crowd is kept: waiting makes nothing faster.
 */
export function checkConstraints(
  constraints: readonly ConstraintConfig[],
  samples: readonly Measured[],
): Violation[] {
  return constraints.flatMap((constraint) => {
    const found = check(constraint, samples)
    if (found === null) return []
    const { actual, message } = found
    const keeps = (quiet: readonly Measured[]) => check(constraint, quiet) === null
    const crowd = mayBeWaiting(constraint, actual)
      ? crowdBehindBound(constraint.metric, samples, keeps)
      : null
    return [{ constraint, actual, ...objection(message, crowd) }]
  })
}

type Measured = Pick<Sample, 'metrics' | 'processors'>

/** A lower bound that is broken in a crowd would be broken on a quiet machine as well. */
const mayBeWaiting = ({ op, value }: ConstraintConfig, actual: Violation['actual']): boolean =>
  typeof actual === 'number' && typeof value === 'number' && op !== '>=' && op !== '>'

function check(
  { metric, op, value: bound }: ConstraintConfig,
  samples: readonly Measured[],
): Pick<Violation, 'actual' | 'message'> | null {
  const asked = `${metric} ${op} ${bound}`
  const values = samples.flatMap(({ metrics }) => (Object.hasOwn(metrics, metric) ? [metrics[metric]] : []))
  if (values.length < samples.length || values.length === 0) {
    const printed = Object.keys(samples[0]?.metrics ?? {}).slice(0, 20)
    const known =
      printed.length > 0 ? `the benchmark reported ${printed.join(', ')}` : 'no metric was reported'
    return { actual: null, message: `${asked} cannot be checked: ${metric} is missing; ${known}` }
  }
  if (typeof bound === 'boolean') {
    if (op !== '==' && op !== '!=')
      return { actual: null, message: `${asked} cannot be checked: ${op} needs a number` }
    const wrong = values.find((value) => typeof value !== 'boolean' || (value === bound) !== (op === '=='))
    if (wrong === undefined) return null
    const count = values.filter((value) => value === wrong).length
    return {
      actual: wrong,
      message: `${asked} does not hold: it is ${wrong} in ${count} of ${values.length} samples`,
    }
  }
  const numbers = values.filter((value) => typeof value === 'number')
  if (numbers.length < values.length)
    return { actual: null, message: `${asked} cannot be checked: ${metric} is a boolean` }
  const actual = median(numbers)
  if (holds(actual, op, bound)) return null
  const of = numbers.length > 1 ? `the median of ${numbers.length} samples is` : 'it is'
  return { actual, message: `${asked} does not hold: ${of} ${actual}` }
}

function holds(actual: number, op: Bound['op'], bound: number): boolean {
  const above = betterBy('maximize', actual, bound)
  switch (op) {
    case '>=':
      return above >= 0
    case '<=':
      return above <= 0
    case '>':
      return above > 0
    case '<':
      return above < 0
    case '==':
      return above === 0
    case '!=':
      return above !== 0
    default:
      return unreachable(op)
  }
}

/** Of an experiment as it was judged: `metrics` has the median of each number. What is missing does not hold. */
export function meets(
  { metric, op, value }: Bound,
  metrics: Readonly<Record<string, number | boolean>>,
): boolean {
  const actual = Object.hasOwn(metrics, metric) ? metrics[metric] : undefined
  if (typeof value === 'boolean') return typeof actual === 'boolean' && (actual === value) === (op === '==')
  return typeof actual === 'number' && holds(actual, op, value)
}
