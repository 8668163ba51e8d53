/** Candidates that behave alike: different code, but the same score on every task. Pure. */
import type { Judged } from './events.ts'
import type { State } from './state.ts'

type Scores = NonNullable<Judged['tasks']>

/** One task alone says no more than its value does. */
const FEWEST = 2

/**
 * The earliest other experiment of this epoch with these very scores; null when there is none. It is looked for when a
 * verdict is made, and not kept by the fold: every command would pay for that, and almost no two vectors share a score.
 */
export function sameScores(state: State, experiment: string, scores: Scores | null): string | null {
  const entries = Object.entries(scores ?? {})
  if (entries.length < FEWEST) return null
  for (const node of state.experiments.values()) {
    if (node.id === experiment) continue
    for (const { claim, judged } of node.attempts) {
      if (!judged?.tasks || judged.status === 'failed' || claim?.epoch !== state.epoch) continue
      const { tasks } = judged
      if (entries.every(([task, score]) => tasks[task] === score) && entries.length === count(tasks))
        return node.id
    }
  }
  return null
}

const count = (scores: Scores): number => Object.keys(scores).length
