import type { State } from '../ledger/state.ts'

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
