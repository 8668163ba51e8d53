/** How many lanes a round has, and how deep they may go. Pure. */
import type { Round, State } from '../ledger/state.ts'

/**
 * What the rest of the budget allows a round: every lane may go as deep as `depth`, so that no lane is cut off in
 * the middle and the last places do not go to whichever lane is quicker.
 */
export function roundSize(state: State): { width: number; depth: number } {
  const { knobs } = state
  if (!knobs) return { width: 0, depth: 0 }
  if (knobs.experiments === null) return { width: knobs.width, depth: knobs.depth }
  const left = Math.max(0, knobs.experiments - state.claims)
  const width = Math.min(knobs.width, left)
  return { width, depth: width === 0 ? 0 : Math.min(knobs.depth, Math.max(1, Math.floor(left / width))) }
}

/**
 * How many of the next round's lanes try from the baseline: as many as keep their share of all lanes at, or just below,
 * `share`. It follows from the rounds before, not from chance.
 */
export function baselineArmLanes(state: State, share: number, width: number): number {
  const laid = [...state.rounds].reduce((sum, { opened }) => sum + opened.width, width)
  const before = [...state.rounds].reduce((sum, { opened }) => sum + (opened.arm ?? 0), 0)
  // A share like 0.2 has no exact double: five lanes of it are one.
  return Math.min(width, Math.max(0, Math.floor(share * laid + 1e-9) - before))
}

export const searchLanes = ({ opened }: Round): number => opened.width - (opened.arm ?? 0)
