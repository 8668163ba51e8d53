/** Whether one tree gave values as a candidate that its values as a parent contradict. Pure. */
import { variesByNature } from './calibrate.ts'
import { figure } from './figure.ts'
import { median } from './stats.ts'

export interface Sides {
  experiment: string
  metric: { name: string; unit: string | undefined }
  /** Of its own verdict. */
  asCandidate: readonly number[]
  /** Now, when another experiment is compared with it. */
  asParent: readonly number[]
}

/** With fewer there is no spread to speak of. */
const FEWEST = 4

/**
 * A sentence when the values of the two sides lie further apart than the values of either side do, else null. Times are
 * not looked at: a machine may be slower tonight, and only the pairs tell that from a program that is.
 */
export function differsBySide({ experiment, metric, asCandidate, asParent }: Sides): string | null {
  if (asCandidate.length < FEWEST || asParent.length < FEWEST) return null
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
