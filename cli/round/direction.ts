/** When the search stands on a plateau, and what the next round does otherwise. Pure. */
import type { Knobs, NewDirection } from '../ledger/events.ts'
import { type State, stallOf } from '../ledger/state.ts'
import type { Candidate } from '../search/policy.ts'

/** Rounds without a new best that are a plateau; fewer than those that end the loop, so that something is tried before. */
export const plateauOf = ({ ideate_stall, stall }: Knobs): number =>
  Math.max(1, Math.min(ideate_stall, stall - 1))

/**
 * Null while there is no plateau. The other parent is the best of the frontier that no lane of the plateau started
 * from, and that the policy did not pick anyway.
 */
export function newDirection(
  state: State,
  candidates: readonly Candidate[],
  picked: readonly string[],
): NewDirection | null {
  const { knobs } = state
  const stall = stallOf(state)
  if (!knobs || stall < plateauOf(knobs)) return null
  const lanes = state.rounds
    .slice(-stall)
    .flatMap(({ briefed }) => briefed?.lanes ?? [])
    .filter(({ arm }) => arm === undefined)
  const tried = new Set([...lanes.map(({ parent }) => parent), ...picked])
  const [other] = candidates
    .filter(({ id }) => !tried.has(id))
    .sort((a, b) => b.score - a.score || (a.order < b.order ? -1 : 1))
  const kinds = [...new Set(lanes.map(({ brief }) => brief.kind))].slice(0, MOST_KINDS)
  const steps = [
    other ? `start from ${other.id} too` : 'no other parent is left to start from',
    ...(kinds.length > 0 ? [`leave what was done (${kinds.join(', ')})`] : []),
    'and count every brief as hard',
  ]
  return {
    change: { parent: other?.id ?? null, kinds, hard: true },
    why: `${rounds(stall)} without a new best: ${steps.join(', ')}`,
  }
}

/** A number of rounds in words. */
export const rounds = (count: number): string => (count === 1 ? '1 round' : `${count} rounds`)

const MOST_KINDS = 10
