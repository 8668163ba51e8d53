/** What a closed round proposed to prune, and what became of it. Pure. */

import { isPinned, type State } from '../ledger/state.ts'
import { roundPlace } from '../ledger/task-id.ts'

/** The key of the loop's own `prune`: it tells whether the loop pruned the experiment once, whatever became of it later. */
export const pruneKey = (round: number, experiment: string): string =>
  `${roundPlace(round)}/prune/${experiment}`

export const prunedByLoop = (state: State, experiment: string): boolean =>
  Array.from({ length: state.rounds.length }, (_, before) => pruneKey(before + 1, experiment)).some((key) =>
    state.keys.has(key),
  )

/** What the newest closed round proposed to prune and what neither the loop nor the user has decided about. */
export function prunesLeft(state: State): string[] {
  const last = state.rounds.findLast(({ closed }) => closed !== null)
  return (last?.closed?.prune ?? [])
    .map(({ experiment }) => experiment)
    .filter(
      (id) =>
        state.experiments.get(id)?.status === 'kept' && !prunedByLoop(state, id) && !isPinned(state, id),
    )
}
