/** Several samples of one candidate as one answer. Pure. */
import type { Sample } from '../ledger/events.ts'
import { median, sum } from './stats.ts'

type Answer = Pick<Sample, 'metrics' | 'tasks'>

/** The median of each number, and of each boolean whether it held in all; metrics that some sample lacks are left out. */
export function summaryOfMetrics(samples: readonly Answer[]): Record<string, number | boolean> {
  const [first] = samples
  if (!first) return {}
  const summary: Record<string, number | boolean> = {}
  for (const name of Object.keys(first.metrics)) {
    const values = samples.map(({ metrics }) => metrics[name])
    const numbers = values.filter((value) => typeof value === 'number')
    if (numbers.length === samples.length) summary[name] = median(numbers)
    else if (values.every((value) => typeof value === 'boolean')) summary[name] = !values.includes(false)
  }
  return summary
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
