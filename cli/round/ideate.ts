/** Whether a round asks for new ideas, and why. Pure. */
import { BASELINE, type State, stallOf } from '../ledger/state.ts'
import { plateauOf, rounds } from './direction.ts'

/**
 * Ideas are asked for when the loop stalls, and when much was kept since they were last asked for, or since the first
 * round: what was kept before is no reason to begin with it.
 */
export function ideateBecause(state: State): { why: string } | null {
  const { knobs } = state
  if (!knobs) return null
  const stall = stallOf(state)
  const asked = state.rounds.findLast((round) => round.opened.ideate)
  const sinceAsked = state.rounds.length - ((asked?.round ?? 1) - 1)
  const plateau = plateauOf(knobs)
  if (stall >= plateau && sinceAsked >= plateau) {
    return { why: `${rounds(stall)} without a new best` }
  }
  const since = (asked ?? state.rounds[0])?.openedSeq ?? state.seq
  const keeps = [...state.experiments.values()].filter(
    (node) => node.status === 'kept' && node.id !== BASELINE && (node.judgedSeq ?? 0) >= since,
  ).length
  return keeps >= knobs.ideate_keeps
    ? { why: `${keeps} experiments kept since ideas were last asked for` }
    : null
}
