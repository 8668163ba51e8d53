/** What decides when candidate and parent are equally good. */

import { variedMetrics } from '../evaluate/calibrate.ts'
import { summaryOfMetrics } from '../evaluate/summary.ts'
import { breakTie } from '../evaluate/tie.ts'
import type { StageAnswer } from './pairs.ts'
import type { Trial } from './trial.ts'

/** Under noise only what does not vary can break a tie: the rest would be decided by chance. */
export function tieInPairs({ run }: Trial, { candidate, other }: StageAnswer): ReturnType<typeof breakTie> {
  const varied = new Set([...variedMetrics(candidate), ...variedMetrics(other)])
  const breakers = run.spec.tie_breakers.filter(({ metric }) => !varied.has(metric))
  return breakTie(breakers, summaryOfMetrics(candidate), summaryOfMetrics(other))
}
