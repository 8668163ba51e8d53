/** What went wrong in the tasks of a suite, in the words that their runs left. Pure. */
import type { Sample, TaskScore } from '../../ledger/events.ts'

export interface TaskDefects {
  task: string
  /** Mean over the samples. */
  loss: number
  samples: number
  /** Parts of the loss, the worst first; null = the signal was missing. */
  parts: { part: string; mean: number | null }[]
  /** Word for word, the most frequent first; `times`: in how many of the samples. */
  recurring: { text: string; times: number }[]
}

/** More would not be read. */
const MOST = 8

/** Of all samples of one candidate, the worst task first. With several samples, what occurred once did not recur. */
export function defectsOf(samples: readonly Pick<Sample, 'tasks'>[]): TaskDefects[] {
  const names = new Set(samples.flatMap(({ tasks }) => Object.keys(tasks ?? {})))
  return [...names]
    .map((task) => {
      const scores = samples.flatMap(({ tasks }) => tasks?.[task] ?? [])
      return {
        task,
        loss: meanOf(scores.map(({ score }) => score)) ?? 0,
        samples: scores.length,
        parts: partsOf(scores),
        recurring: recurringIn(scores),
      }
    })
    .sort((a, b) => b.loss - a.loss)
}

function partsOf(scores: readonly TaskScore[]): TaskDefects['parts'] {
  const names = new Set(scores.flatMap(({ parts }) => Object.keys(parts ?? {})))
  return [...names]
    .map((part) => ({ part, mean: meanOf(scores.flatMap(({ parts }) => parts?.[part] ?? [])) }))
    .sort((a, b) => (b.mean ?? 0) - (a.mean ?? 0))
}

function recurringIn(scores: readonly TaskScore[]): TaskDefects['recurring'] {
  const times = new Map<string, number>()
  for (const { defects = [], reason } of scores)
    for (const text of new Set([...(reason ? [reason] : []), ...defects]))
      times.set(text, (times.get(text) ?? 0) + 1)
  return [...times]
    .filter(([, count]) => scores.length === 1 || count > 1)
    .map(([text, count]) => ({ text, times: count }))
    .sort((a, b) => b.times - a.times)
    .slice(0, MOST)
}

const meanOf = (values: readonly number[]): number | null =>
  values.length === 0 ? null : values.reduce((sum, value) => sum + value, 0) / values.length
