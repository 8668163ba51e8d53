/** Whether the search helped: its lanes beside those that tried from the baseline, per experiment that was judged. */
import { bestAmong } from '../ledger/best.ts'
import { type Experiment, nodeValue, type State } from '../ledger/state.ts'

/** The search beside tries that knew nothing of it. Values are in metric units; null when nothing was kept. */
export interface Arms {
  baseline: { experiments: number; best: number | null }
  /** `best_at_same`: after as many experiments as the baseline arm had; null when it had fewer, or kept none. */
  search: { experiments: number; best: number | null; best_at_same: number | null }
}

/** null without a baseline arm. What people opened belongs to neither. */
export function armsOf(state: State): Arms | null {
  const lanes = [...state.experiments.values()]
    .filter(({ created, judgedSeq }) => created.lane !== null && judgedSeq !== null)
    // What was rejected free of charge took no part of the budget.
    .filter(({ attempts }) => attempts.some(({ claim }) => claim !== null))
    .sort((a, b) => (a.judgedSeq ?? 0) - (b.judgedSeq ?? 0))
  const arm = lanes.filter(({ created }) => created.arm === 'baseline')
  if (arm.length === 0) return null
  const search = lanes.filter(({ created }) => created.arm === undefined)
  return {
    baseline: { experiments: arm.length, best: bestIn(state, arm) },
    search: {
      experiments: search.length,
      best: bestIn(state, search),
      best_at_same: search.length < arm.length ? null : bestIn(state, search.slice(0, arm.length)),
    },
  }
}

function bestIn(state: State, nodes: readonly Experiment[]): number | null {
  const best = bestAmong(state, nodes)
  return best && nodeValue(best)
}
