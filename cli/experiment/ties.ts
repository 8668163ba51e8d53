/** What decides when candidate and parent are equally good. */

import { variedMetrics, variesByNature } from '../evaluate/calibrate.ts'
import { breakTie, type TieBreaker } from '../evaluate/compare.ts'
import { summaryOfMetrics } from '../evaluate/summary.ts'
import type { Sample } from '../ledger/events.ts'
import type { OpenRun } from '../run/open.ts'
import type { StageAnswer } from './pairs.ts'
import type { Trial } from './trial.ts'

/** Under noise only what does not vary can break a tie: the rest would be decided by chance. */
export function tieInPairs({ run }: Trial, { candidate, other }: StageAnswer): ReturnType<typeof breakTie> {
  const varied = new Set([...variedMetrics(candidate), ...variedMetrics(other)])
  const breakers = run.spec.tie_breakers.filter(({ metric }) => !varied.has(metric))
  return breakTie(breakers, summaryOfMetrics(candidate), summaryOfMetrics(other))
}

/** The tie-breakers for single samples: those that nothing has shown to vary, in the run or in these samples. */
export function steadyBreakers(run: OpenRun, samples: readonly Sample[]): TieBreaker[] {
  const varied = new Set([...run.ledger.state.noise.varied, ...variedMetrics(samples)])
  const units = samples[0]?.units ?? {}
  return run.spec.tie_breakers.filter(
    ({ metric }) => !varied.has(metric) && !variesByNature(metric, units[metric]),
  )
}
