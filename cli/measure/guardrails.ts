/** Guardrails: what must hold in addition to the comparison. Constraints, protected metrics, and reasons to doubt a gain. */
import { variedMetrics, variesByNature } from '../evaluate/calibrate.ts'
import { checkConstraints } from '../evaluate/constraints.ts'
import { differsBySide, doubt, movedControl } from '../evaluate/plausible.ts'
import { type Measured, type Regression, regressions } from '../evaluate/protected.ts'
import { summaryOfMetrics } from '../evaluate/stats.ts'
import type { Sample } from '../ledger/events.ts'
import { BASELINE, lastKept, nodeMetrics } from '../ledger/state.ts'
import { protectedPairs, type StageAnswer } from './pairs.ts'
import { otherMachine } from './same-here.ts'
import { recordedSamples } from './steps.ts'
import { placeOther, type RunInTrial, type Trial } from './trial.ts'

/** More pairs than the rule of protected metrics needs to refuse at 5 %, and few compared with the pairs of a keep under noise. */
const PROTECTED_PAIRS = 10

/** Checks constraints over all samples of the candidate: the median of a number; a boolean must hold in each. */
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
export function protectedPairsNeeded(
  run: RunInTrial,
  samples: readonly Sample[],
  among: readonly { metric: string }[] = run.spec.protected,
): number {
  const [first] = samples
  // A metric that varies only because of the candidate is protected all the same.
  const varied = new Set([...run.ledger.state.noise.varied, ...variedMetrics(samples)])
  const varies = ({ metric }: { metric: string }) =>
    varied.has(metric) || variesByNature(metric, first?.units[metric])
  return among.some(varies) ? Math.min(PROTECTED_PAIRS, run.spec.noise.pairs.max) : 1
}

/** The same for a candidate whose own metric does not vary: pairs are taken only if a protected one does. */
export async function protectedInPairs(trial: Trial): Promise<boolean> {
  const { run, node, evidence } = trial
  if (run.spec.protected.length === 0) return true
  const parent = run.ledger.state.experiments.get(node.parent ?? '')
  if (!parent) return true
  const count = protectedPairsNeeded(run, evidence.samples)
  if (count === 1 && otherMachine(trial, parent.id) === null) {
    const known = nodeMetrics(parent)
    return protectedHold(trial, [{ candidate: evidence.samples, other: [{ metrics: known }] }])
  }
  if (!(await placeOther(trial, parent.id))) return false
  const pairs = await protectedPairs(trial, () => count)
  return pairs !== null && protectedHold(trial, [pairs])
}

/**
 * The same against the baseline, with which `finish` compares: losses that are allowed at each step must not add up. A metric that
 * varies is measured only if its value in the record is too bad.
 */
export async function protectedSinceBaseline(trial: Trial): Promise<boolean> {
  const { run, node, evidence, record } = trial
  const baseline = run.ledger.state.experiments.get(BASELINE)
  // The verdicts of a run that an earlier version began stay what they were.
  if (!baseline || node.parent === BASELINE || run.spec.measure.isolation === undefined) return true
  const seen = [{ metrics: summaryOfMetrics(evidence.samples) }]
  const worse = regressions(run.spec.protected, seen, [{ metrics: nodeMetrics(baseline) }])
  if (worse.length === 0) return true
  const isHere = otherMachine(trial, BASELINE) === null
  const steady = worse.filter((one) => isHere && protectedPairsNeeded(run, evidence.samples, [one]) === 1)
  const found = steady.length > 0 ? steady : await worseInPairs(trial)
  if (found === null) return false
  evidence.facts.protected = found.map((one) => ({ ...one, message: `against ${BASELINE}, ${one.message}` }))
  record.step('constraints', 'ended', evidence.facts.protected)
  return found.length === 0
}

async function worseInPairs(trial: Trial): Promise<Regression[] | null> {
  const { run } = trial
  if (!(await placeOther(trial, BASELINE))) return null
  const most = Math.min(PROTECTED_PAIRS, run.spec.noise.pairs.max)
  // Numbers that pairs with the parent do not have.
  const pairs = await protectedPairs(trial, () => most, PROTECTED_PAIRS)
  return pairs && regressions(run.spec.protected, pairs.candidate, pairs.other)
}

// ----------------------------------------------------------------
// Whether a gain is in doubt: no clock of Assay's shows it, or the other side differs from its own verdict.

/** Why a gain over a different experiment in these stages is in doubt, as a sentence; else null. */
export function doubtOn(run: RunInTrial, stages: readonly StageAnswer[]): string | null {
  const { spec } = run
  const { name, direction } = spec.metric
  const pairs = stages.flatMap(({ candidate, other }) =>
    candidate.flatMap((sample, pair) => {
      const parent = other[pair]
      return parent ? [{ candidate: sample, parent }] : []
    }),
  )
  const unit = pairs[0]?.candidate.units[name] ?? spec.metric.unit ?? null
  // The spec of a run that an earlier version began says nothing of isolation.
  const asBefore = spec.measure.isolation === undefined
  return (
    doubt({ direction, metricName: name, unit, asBefore, pairs }) ??
    movedControl(spec.controls ?? [], pairs) ??
    otherChanged(run, stages)
  )
}

/**
 * Why a gain that was measured once stays in doubt until a person clears it: a control differs from the parent's record,
 * though neither varies. null: none does.
 */
export function steadyControlMoved(
  run: RunInTrial,
  parent: Pick<Sample, 'value' | 'metrics'>,
  samples: readonly Sample[],
): string | null {
  const varied = new Set([...run.ledger.state.noise.varied, ...variedMetrics(samples)])
  const controls = (run.spec.controls ?? []).filter(
    (name) => !varied.has(name) && !variesByNature(name, samples[0]?.units[name]),
  )
  return movedControl(
    controls,
    samples.slice(0, 1).map((candidate) => ({ candidate, parent })),
  )
}

/** Samples of the other side, now and in its own verdict of this epoch. Not for the baseline, which is the user's own code. */
function otherChanged(run: RunInTrial, stages: readonly StageAnswer[]): string | null {
  const [first] = stages
  const other = run.ledger.state.experiments.get(first?.comparison.against ?? '')
  const kept = other && lastKept(other)
  if (!first || !other || other.id === BASELINE || !kept || kept.claim?.epoch !== run.ledger.state.epoch)
    return null
  const own = recordedSamples(run, other.id, kept.attempt).filter(
    ({ side, stage }) => side === 'candidate' && (stage === 'judge' || stage === 'confirm'),
  )
  const { name } = run.spec.metric
  return differsBySide({
    experiment: other.id,
    metric: { name, unit: first.other[0]?.units[name] },
    asCandidate: own.flatMap(({ value }) => value ?? []),
    asParent: stages.flatMap((stage) => stage.other.flatMap(({ value }) => value ?? [])),
  })
}
