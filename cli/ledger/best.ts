/** Which experiment stands best, and the order among equals. Pure. */
import { tainted } from './ancestry.ts'
import type { Direction } from './events.ts'
import { type Experiment, lastJudged, nodeValue, type State } from './state.ts'

/** Positive when `a` is better. */
export function better(direction: Direction, a: number, b: number): number {
  return direction === 'minimize' ? b - a : a - b
}

/** The best value that stands; a pruned node still counts, ties go to the earlier. null before the baseline. */
export function bestOf(state: State): Experiment | null {
  const direction = state.run?.metric.direction ?? 'minimize'
  const bad = tainted(state)
  let best: Experiment | null = null
  let bestValue = 0
  for (const node of state.experiments.values()) {
    if (!stands(state, node, bad) || !isHeldOut(state, node)) continue
    const rival = node.lostTo === null ? undefined : state.experiments.get(node.lostTo)
    if (rival && stands(state, rival, bad)) continue
    const value = nodeValue(node)
    if (value === null) continue
    if (best === null || better(direction, value, bestValue) > 0 || tieGoesTo(node, value, best, bestValue)) {
      best = node
      bestValue = value
    }
  }
  return best
}

/** With held-out data, only what was measured there may be the best; the baseline is what it is measured against. */
const isHeldOut = ({ run }: State, node: Experiment): boolean =>
  !run?.holdout || node.parent === null || lastJudged(node)?.held_out === true

const stands = (state: State, node: Experiment, bad: ReadonlySet<string>): boolean =>
  (node.status === 'kept' || node.status === 'pruned') &&
  node.flagged === null &&
  node.epoch === state.epoch &&
  !bad.has(node.id)

function tieGoesTo(node: Experiment, value: number, best: Experiment, bestValue: number): boolean {
  return value === bestValue && orderKey(node) < orderKey(best)
}

/**
 * Where a node stands among equals: by round, lane and depth, which do not depend on timing, then by id.
 * Lanes run side by side, so ids alone would make two runs of one seed differ.
 */
export function orderKey(node: Experiment): string {
  const { round, lane, depth } = node.created
  return [round ?? 0, lane ?? 0, depth ?? 0, Number(node.id.slice(4))]
    .map((n) => String(n).padStart(8, '0'))
    .join('.')
}
