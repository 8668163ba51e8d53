import type { Sample } from '../ledger/events.ts'

/** How the scores of tasks become one value. */
const AGGREGATES = ['mean', 'sum', 'min', 'max'] as const
export type Aggregate = (typeof AGGREGATES)[number]

/** Values must not be empty. */
export function aggregate(values: readonly number[], how: Aggregate): number {
  if (values.length === 0) throw new Error('there is nothing to aggregate')
  switch (how) {
    case 'mean':
      return sum(values) / values.length
    case 'sum':
      return sum(values)
    // Not by spreading: a call has a limit of arguments.
    case 'min':
      return values.reduce((least, value) => Math.min(least, value))
    case 'max':
      return values.reduce((most, value) => Math.max(most, value))
  }
}

/** Compensated (Neumaier 1974), so that the order of tasks does not decide a tie. */
export function sum(values: readonly number[]): number {
  let total = 0
  let lost = 0
  for (const value of values) {
    const next = total + value
    lost += Math.abs(total) >= Math.abs(value) ? total - next + value : value - next + total
    total = next
  }
  return Number.isFinite(total) ? total + lost : total
}

/** The middle value; the mean of the two middle ones of an even number. Values must not be empty. */
export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b)
  const high = sorted[Math.floor(sorted.length / 2)]
  const low = sorted[Math.floor((sorted.length - 1) / 2)]
  if (high === undefined || low === undefined) throw new Error('there is no median of nothing')
  return low === high ? low : low / 2 + high / 2
}

/** Median absolute deviation from the median: the spread that a single outlier cannot move. */
export function medianDeviation(values: readonly number[]): number {
  const middle = median(values)
  return median(values.map((value) => Math.abs(value - middle)))
}

// ---------------------------------------------------------------- several samples as one answer
// Several samples of one candidate as one answer.

type Answer = Pick<Sample, 'metrics' | 'tasks'>

/** The median of each number, and of each boolean whether it held in all; metrics that some sample lacks are left out. */
export function summaryOfMetrics(samples: readonly Answer[]): Record<string, number | boolean> {
  const [first] = samples
  if (!first) return {}
  // By entries: an assignment to `__proto__` would be lost.
  return Object.fromEntries(
    Object.keys(first.metrics).flatMap((name): [string, number | boolean][] => {
      const values = samples.map(({ metrics }) => (Object.hasOwn(metrics, name) ? metrics[name] : undefined))
      const numbers = values.filter((value) => typeof value === 'number')
      if (numbers.length === samples.length) return [[name, median(numbers)]]
      return values.every((value) => typeof value === 'boolean') ? [[name, !values.includes(false)]] : []
    }),
  )
}

/** The mean score of each task over the samples; null without tasks. */
export function summaryOfTasks(samples: readonly Answer[]): Record<string, number> | null {
  const [first] = samples
  if (!first?.tasks) return null
  const scores = (task: string) => samples.flatMap(({ tasks }) => tasks?.[task]?.score ?? [])
  return Object.fromEntries(
    Object.keys(first.tasks).map((task) => {
      const all = scores(task)
      const [one] = all
      // Equal scores stay what they are: a mean of them may differ in the last digit.
      return [task, one !== undefined && new Set(all).size === 1 ? one : sum(all) / all.length]
    }),
  )
}
