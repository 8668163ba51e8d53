/** Which of the parents that a round found exhausted the loop prunes. It leaves the others to the user. */
import { prune } from '../experiment/manual-decisions.ts'
import { bestOf } from '../ledger/best.ts'
import type { RoundClosed } from '../ledger/events.ts'
import { BASELINE, isPinned, lineageOf, type State } from '../ledger/state.ts'
import { roundPlace } from '../ledger/task-id.ts'
import { ok, type Result } from '../result.ts'
import type { OpenRun } from '../run/open.ts'
import { candidatesOf } from './frontier.ts'

/** Of one round. */
const MOST = 2
const FEWEST_PARENTS = 3

/**
 * After the newest round was closed, and again when its close is repeated. What the loop pruned once and the user restored
 * is not pruned a second time.
 */
export function applyPrunes(run: OpenRun, closed: RoundClosed): Result<void> {
  const { state } = run.ledger
  if (state.rounds.at(-1)?.round !== closed.round) return ok(undefined)
  const done = closed.prune.filter(({ experiment }) => state.keys.has(pruneKey(closed.round, experiment)))
  let left = MOST - done.length
  for (const { experiment, why } of closed.prune) {
    if (left <= 0) return ok(undefined)
    if (!mayPrune(state, experiment)) continue
    const pruned = prune(run, experiment, { why, key: pruneKey(closed.round, experiment) })
    // A refusal means that its status changed in the meantime: someone else has decided about it.
    if (!pruned.ok && pruned.problem.kind !== 'refused') return pruned
    left--
  }
  return ok(undefined)
}

/** Not the best path, not what is at work or pinned, and never so many that the search has too few parents to choose from. */
function mayPrune(state: State, experiment: string): boolean {
  const parents = candidatesOf(state)
  if (parents.length <= Math.max(FEWEST_PARENTS, (state.knobs?.k ?? 1) + 1)) return false
  if (experiment === BASELINE || !parents.some(({ id }) => id === experiment)) return false
  if (prunedByLoop(state, experiment) || isPinned(state, experiment)) return false
  const best = bestOf(state)
  if (best && lineageOf(state, best.id).some(({ id }) => id === experiment)) return false
  const children = state.experiments.get(experiment)?.children ?? []
  return children.every((id) => !AT_WORK.has(state.experiments.get(id)?.status ?? ''))
}

const AT_WORK: ReadonlySet<string> = new Set(['open', 'running'])

// ---------------------------------------------------------------- what a closed round proposed to prune, and what became of it

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
