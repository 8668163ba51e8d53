/** Stages of pairs: the candidate and the other side are run in turns, in an order that a coin draws, until the evidence is clear. */

import { incomparable } from '../evaluate/comparable.ts'
import { comparePairs, type PairOfValues, type StageContext } from '../evaluate/compare-pairs.ts'
import { checkConstraints } from '../evaluate/constraints.ts'
import { isCandidates, isSpoiltByCrowd, pairInCrowd } from '../evaluate/crowd.ts'
import { calibrationResiduals, fewestPairs, POOL, stageResiduals } from '../evaluate/paired.ts'
import type { Comparison, Sample, SampleFault, Side } from '../ledger/events.ts'
import { nodeValue, type State } from '../ledger/state.ts'
import { type PairedStageName, stepOfStage } from './decisions.ts'
import { judgedPair } from './judged-pairs.ts'
import { baselineSample } from './steps.ts'
import { accept, addFault, type RunInTrial, sampleOnce, type Trial, throwIfOrphaned } from './trial.ts'

/** How many pairs of a stage may be lost because the other side failed; after that the machine is taken to be at fault. */
const SPOILT = 2

/** Both samples of a pair; null when something ended the stage. */
type TakePair = (pair: number) => Promise<TakenPair | null>

interface TakenPair {
  candidate: Sample
  other: Sample
  /** How much better the candidate is, where a judge says it; absent = the values of the samples say it. */
  judged?: number
}

export interface StageAnswer extends Pairs {
  comparison: Comparison
  /** The candidate's. */
  score: number
  differences: number[]
}

/**
 * Takes pairs until the evidence is clear. A pair whose other side fails is left out, the candidate's half with it; after
 * `SPOILT` of them the fault is the answer. null when `take` ended it.
 */
async function untilClear(
  context: StageContext,
  take: TakePair,
  faultOfOther: (sample: Sample) => SampleFault | null,
): Promise<StageAnswer | { broken: SampleFault } | null> {
  const done: Pairs = { candidate: [], other: [] }
  const values: PairOfValues[] = []
  for (let pair = 0, spoilt = 0; ; pair++) {
    const { comparison, differences, score } = comparePairs(context, values)
    if (comparison !== null && score !== null) return { comparison, score, differences, ...done }
    const taken = await take(pair)
    if (taken === null) return null
    const broken = faultOfOther(taken.other)
    if (broken && ++spoilt > SPOILT) return { broken }
    if (broken || taken.candidate.value === null || taken.other.value === null) continue
    values.push({
      candidate: taken.judged ?? taken.candidate.value,
      other: taken.judged === undefined ? taken.other.value : 0,
      crowded: pairInCrowd(taken.candidate, taken.other),
    })
    done.candidate.push(taken.candidate)
    done.other.push(taken.other)
  }
}

/** Residuals of this epoch, newest last; the scale of the noise is estimated from them. */
function poolOf({ noise }: State): number[] {
  return [
    ...calibrationResiduals(noise.values, noise.transform),
    ...noise.stages.flatMap((stage) => stageResiduals(stage)),
  ].slice(-POOL)
}

function stageContext(run: RunInTrial, stage: PairedStageName, against: string): StageContext {
  const other = run.ledger.state.experiments.get(against)
  const score = other ? nodeValue(other) : null
  if (score === null) throw new Error(`${against} has no score to compare with`)
  return contextAgainst(run, stage, { against, score })
}

/** `score`: of what is compared with, which need not be an experiment. */
export function contextAgainst(
  { spec, ledger: { state } }: RunInTrial,
  stage: PairedStageName,
  { against, score }: Pick<StageContext, 'against' | 'score'>,
): StageContext {
  return {
    rule: stage === 'judge' ? 'judge' : 'confirm',
    direction: spec.metric.direction,
    transform: state.noise.transform,
    against,
    score,
    min_improvement: spec.metric.min_improvement,
    pairs: spec.noise.pairs,
    // A tie with the best proves nothing.
    seeks_tie: stage !== 'best' && spec.tie_breakers.length > 0,
    ...(isSpoiltByCrowd(spec.metric.name) ? { needs_quiet: true } : {}),
    typical: true,
    tries: Math.max(state.claims, state.knobs?.experiments ?? 0),
    pool: poolOf(state),
  }
}

/**
 * null when a fault, a constraint that is broken for good, or an interruption ended it. `from`: the pairs of the stage that
 * were not taken yet. Samples from before the metric was seen to vary do not count, because their values decided what was measured next.
 */
export async function runPairs(
  trial: Trial,
  stage: PairedStageName,
  against: string,
  from = trial.evidence.varied === null ? 0 : 1,
): Promise<StageAnswer | null> {
  const context = contextFor(trial, stage, against)
  const answer = await untilClear(
    context,
    (pair) => takePairToCompare(trial, stage, pair + from),
    (sample) => faultOfOther(trial.run, sample),
  )
  if (answer === null) return null
  if ('broken' in answer) return addFault(trial, answer.broken, 'parent') || null
  trial.evidence.differences[stage] = answer.differences
  trial.evidence.others.push(...answer.other)
  trial.record.step(stepOfStage(stage), 'ended', answer.comparison)
  return answer
}

/** Why a sample of the other side cannot be used; null when it can. */
export function faultOfOther(run: RunInTrial, sample: Sample): SampleFault | null {
  if (sample.fault) return sample.fault
  const difference = incomparable(baselineSample(run), sample)
  return difference === null ? null : { reason: 'metric_error', message: difference }
}

/** The context from when the stage began, also in a process that resumes the attempt: the rule uses nothing later. */
function contextFor(trial: Trial, stage: PairedStageName, against: string): StageContext {
  const known = trial.record
    .decided('stage')
    .find((one) => one.stage === stage && one.context.against === against)
  if (known) return known.context
  const context = forLook(stageContext(trial.run, stage, against), trial.plan.look)
  trial.record.decide({ is: 'stage', stage, context })
  return context
}

/** More evidence takes more pairs: with as many as the first look had, a small `pairs.max` would let no later one pass. */
function forLook(context: StageContext, look: number): StageContext {
  if (look === 1) return context
  const fewest = (look: number) => fewestPairs(context.rule, context.tries, look)
  const max = Math.ceil((context.pairs.max * fewest(look)) / fewest(1))
  return { ...context, look, pairs: { ...context.pairs, max } }
}

/** With the judge's comparison of the answers, where a judge scores. */
async function takePairToCompare(
  trial: Trial,
  stage: PairedStageName,
  pair: number,
): Promise<TakenPair | null> {
  const taken = await takePair(trial, stage, pair)
  if (taken === null || trial.run.spec.judge === undefined || faultOfOther(trial.run, taken.other))
    return taken
  const batch = await judgedPair(trial, { stage, pair, ...taken })
  return batch && { ...taken, judged: batch.d }
}

async function takePair(
  trial: Trial,
  stage: PairedStageName | 'guard',
  pair: number,
): Promise<{ candidate: Sample; other: Sample } | null> {
  await takeInTurns(trial, stage, pair)
  const taken: Partial<Record<Side, Sample>> = {}
  for (const side of trial.choices.order(stage, pair)) {
    const sample = await sampleOnce(trial, { stage, pair, side })
    taken[side] = sample
    if (sample.fault?.reason === 'aborted') return addFault(trial, sample.fault, side) || null
    if (side === 'candidate' && !(accept(trial, sample) && holdsSoFar(trial, sample))) {
      if (sample.fault) await blame(trial, stage, pair)
      return null
    }
  }
  const { candidate, parent } = taken
  return candidate && parent ? { candidate, other: parent } : null
}

/**
 * Of a suite: records both samples of a pair, whose tasks were run in turns; one that was recorded before is not taken again.
 * Not where `before` and `after` of the two samples would overlap: they may start what there can be only one of.
 */
async function takeInTurns(trial: Trial, stage: PairedStageName | 'guard', pair: number): Promise<void> {
  const { run, choices, record, source } = trial
  const { suite, before, after } = run.spec.measure
  const order = choices.order(stage, pair)
  const isBegun = order.some((side) => record.paidSample(stage, pair, side))
  if (suite === undefined || before !== null || after !== null || isBegun) return
  throwIfOrphaned(trial)
  const taken = await source.pair({ stage, pair }, (task) => choices.first(stage, pair, task))
  // If the candidate fails, its parent is asked alone.
  for (const side of order)
    if (side === 'candidate' || taken.candidate.fault === null) record.sample(taken[side])
}

/** A fault is the candidate's only if its parent works in this slot now; else the machine is at fault. */
async function blame(trial: Trial, stage: PairedStageName | 'guard', pair: number): Promise<void> {
  const parents = await sampleOnce(trial, { stage, pair, side: 'parent' })
  if (parents.fault) addFault(trial, parents.fault, 'parent')
}

/** Constraints that no further sample can satisfy: a boolean that does not hold, a metric that is missing. */
function holdsSoFar({ run, plan, evidence }: Trial, sample: Sample): boolean {
  if (!plan.endsEarly) return true
  const broken = checkConstraints(run.spec.constraints, [sample])
  // A judge costs money, so it looks only at what holds so far.
  const isRefuted =
    run.spec.judge !== undefined &&
    checkConstraints(run.spec.constraints, evidence.samples).some(isCandidates)
  if (!isRefuted && broken.every(({ actual }) => typeof actual === 'number')) return true
  evidence.facts.constraints = checkConstraints(run.spec.constraints, evidence.samples)
  return false
}

export interface Pairs {
  candidate: Sample[]
  other: Sample[]
}

/**
 * Pairs for protected metrics, numbered from `from`, as many as `needed` says of those so far. null as in `runPairs`.
 */
export async function protectedPairs(
  trial: Trial,
  needed: (sofar: Pairs) => number,
  from = 0,
): Promise<Pairs | null> {
  const pairs: Pairs = { candidate: [], other: [] }
  for (let pair = from; pair - from < needed(pairs); pair++) {
    const taken = await takePair(trial, 'guard', pair)
    if (taken === null) return null
    if (taken.other.fault) return addFault(trial, taken.other.fault, 'parent') || null
    pairs.candidate.push(taken.candidate)
    pairs.other.push(taken.other)
    trial.evidence.others.push(taken.other)
  }
  return pairs
}
