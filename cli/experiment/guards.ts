/** What must hold beside the comparison: constraints, and the metrics that the spec protects. */
import { variedMetrics, variesByNature } from '../evaluate/calibrate.ts'
import { checkConstraints } from '../evaluate/constraints.ts'
import { type Measured, regressions } from '../evaluate/protected.ts'
import type { Sample } from '../ledger/events.ts'
import { lastJudged } from '../ledger/state.ts'
import type { OpenRun } from '../run/open.ts'
import { guardPairs } from './pairs.ts'
import { placeOther, type Trial } from './trial.ts'

/** More than the rule of protected metrics needs to refuse at 5 %, and few beside what a keep costs under noise. */
const GUARD_PAIRS = 10

/** Over all samples of the candidate: the median of numbers, booleans in all. */
export function constraintsHold({ run, evidence, record }: Trial): boolean {
  evidence.facts.constraints = checkConstraints(run.spec.constraints, evidence.samples)
  if (evidence.facts.constraints.length > 0) record.step('constraints', 'ended', evidence.facts.constraints)
  return evidence.facts.constraints.length === 0
}

/** Over the pairs of all stages, in order. */
export function protectedHold(trial: Trial, stages: { candidate: Measured[]; other: Measured[] }[]): boolean {
  const { facts } = trial.evidence
  facts.protected = regressions(
    trial.run.spec.protected,
    stages.flatMap(({ candidate }) => candidate),
    stages.flatMap(({ other }) => other),
  )
  return facts.protected.length === 0
}

/** How many pairs it takes to compare the protected metrics, by the samples so far: 1 when none of them varies. */
export function guardsNeeded(run: OpenRun, samples: readonly Sample[]): number {
  const [first] = samples
  // A candidate that makes a metric vary is no less held to it.
  const varied = new Set([...run.ledger.state.noise.varied, ...variedMetrics(samples)])
  const varies = ({ metric }: { metric: string }) =>
    varied.has(metric) || variesByNature(metric, first?.units[metric])
  return run.spec.protected.some(varies) ? Math.min(GUARD_PAIRS, run.spec.noise.pairs.max) : 1
}

/** The same for a candidate whose own metric does not vary: pairs are taken only if a protected one does. */
export async function protectedInPairs(trial: Trial): Promise<boolean> {
  const { run, node, evidence } = trial
  if (run.spec.protected.length === 0) return true
  const parent = run.ledger.state.experiments.get(node.parent ?? '')
  if (!parent) return true
  const count = guardsNeeded(run, evidence.samples)
  if (count === 1) {
    const known = lastJudged(parent)?.metrics ?? {}
    return protectedHold(trial, [{ candidate: evidence.samples, other: [{ metrics: known }] }])
  }
  if (!(await placeOther(trial, parent.id))) return false
  const pairs = await guardPairs(trial, count)
  return pairs !== null && protectedHold(trial, [pairs])
}
