/** Several samples of one candidate as one answer. Pure. */
import type { Sample } from '../ledger/events.ts'
import { median, sum } from './stats.ts'

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
