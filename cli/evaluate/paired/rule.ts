import { mostWorth } from './bets.ts'
import type { PairedDecision, PairedPlan, PairedStage } from './plan.ts'
import { ScaleWindow } from './scale.ts'
import { boundsOf, Stage } from './stage.ts'

export { calibrationResiduals, pairDifference, stageResiduals } from './difference.ts'
export type { PairedDecision, PairedPlan, PairedStage, Transform } from './plan.ts'
export { POOL } from './scale.ts'

/** With a smaller `max` the stage can never end as improved: not even n pairs that all speak for the candidate suffice. */
export function fewestPairs(stage: PairedStage, tries: number, look = 1): number {
  const { e, p } = boundsOf(stage, { tries, look })
  let pairs = 2
  while (mostWorth(pairs) < e && 0.5 ** pairs > p) pairs += 1
  return pairs
}

/**
 * What the pairs of one stage say about "the candidate is not better". Valid for any noise, as long as a seeded fair coin
 * drew which of the two ran first in each pair, and no pair was dropped or repeated because of its values. Method, proof
 * and sources: `references/verdict.md`.
 * @param d `pairDifference` of this stage's pairs, in order; those after `plan.max` are ignored.
 * @param pool the residuals known before this stage's first pair, oldest first; the newest `POOL` count. They decide how
 *   soon, never how often wrongly.
 */
export function decidePairs(
  stage: PairedStage,
  d: readonly number[],
  pool: readonly number[],
  plan: PairedPlan,
): PairedDecision {
  const running = new Stage(stage, new ScaleWindow(pool), plan)
  for (const value of d) running.add(value)
  return running.decision
}
