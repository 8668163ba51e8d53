/** The comparison under noise: what the pairs of one stage prove about the candidate and the other side. Pure. */
import type { Comparison, Direction, Transform } from '../ledger/events.ts'
import { betterBy } from '../ledger/same-value.ts'
import { type MinImprovement, relativeTo } from './compare.ts'
import { spoils } from './crowd.ts'
import {
  decidePairs,
  type PairedDecision,
  type PairedPlan,
  type PairedStage,
  pairDifference,
} from './paired.ts'
import { median } from './stats.ts'

/** Everything except its samples that a stage's answer depends on. Recorded when the stage begins, so that it can be recomputed. */
export interface StageContext {
  rule: PairedStage
  direction: Direction
  transform: Transform
  /** The node that the candidate is compared with, and its score. */
  against: string
  score: number
  min_improvement: MinImprovement
  pairs: { min: number; max: number }
  /** See `PairedPlan`. */
  seeks_tie: boolean
  tries: number
  /** As in `PairedPlan`. */
  look?: number
  /** As in `PairedPlan`; each stage that begins now asks for it. */
  typical?: true
  /** The metric cannot be used in a crowd; absent = it can. */
  needs_quiet?: boolean
  /** Residuals from before the stage's first pair. */
  pool: readonly number[]
}

export interface PairOfValues {
  candidate: number
  other: number
  /** One of the two was measured in a crowd; see `crowd.ts`. */
  crowded?: boolean
}

export interface Compared {
  /** null: another pair is needed. */
  comparison: Comparison | null
  differences: number[]
  /** The candidate's score: that of the other, moved by the estimate; its own values where a ratio does not exist. */
  score: number | null
}

/** Enough to decide by, and short enough to be in every verdict. */
const DIGITS = 7
/** Stands for an infinite log-ratio (one of the two is not positive), which JSON cannot hold: more than any real one. */
const FAR = 40

export function comparePairs(context: StageContext, pairs: readonly PairOfValues[]): Compared {
  const { direction, transform, score } = context
  const differences = pairs.map(({ candidate, other }) =>
    recordable(transform, pairDifference(direction, transform, candidate, other)),
  )
  const plan = planOf(context)
  const crowded = pairs.filter((pair) => pair.crowded).length
  const decided = withDoubt(context, decidePairs(context.rule, differences, context.pool, plan), crowded)
  if (decided.estimate === null) return { comparison: null, differences, score: null }
  const raw = median(pairs.map(({ candidate, other }) => betterBy(direction, candidate, other)))
  const moved =
    transform === 'linear' || Math.abs(decided.estimate) < FAR
      ? movedBy(context, decided.estimate, raw)
      : median(pairs.map(({ candidate }) => candidate))
  const estimated = betterBy(direction, moved, score)
  const decision = visible(context, decided, estimated)
  return {
    comparison: decision.outcome && {
      outcome: decision.outcome,
      against: context.against,
      improvement: relativeTo(estimated, score),
      improvement_abs: estimated,
      interval: decision.interval && intervalOf(context, decision.interval),
      inputs: inputsOf(context, plan, decision, differences, pairs.length),
    },
    differences,
    score: moved,
  }
}

/**
 * A gain that was seen only in a crowd does not count, nor does a tie that tie-breakers could decide: a slower candidate
 * may have had a larger share of the processors. A candidate that is not better even there needs no further proof.
 */
function withDoubt(context: StageContext, decision: PairedDecision, crowded: number): Decision {
  const speaksFor = decision.outcome === 'improved' || (context.seeks_tie && decision.outcome === 'tie')
  const doubt = context.needs_quiet && speaksFor && spoils(crowded, decision.pairs)
  return { ...decision, ...(doubt ? { outcome: 'inconclusive', why: 'crowd' } : {}), crowded }
}

/** A gain that rounding removes from the score does not count. */
function visible({ typical }: StageContext, decision: Decision, estimated: number): Decision {
  if (!typical || decision.outcome !== 'improved' || estimated > 0) return decision
  return { ...decision, outcome: 'inconclusive', why: 'not_typical' }
}

/** `crowded`: of the pairs. */
type Decision = Omit<PairedDecision, 'why'> & { why: PairedDecision['why'] | 'crowd'; crowded: number }

function recordable(transform: Transform, difference: number): number {
  const most = transform === 'log' ? FAR : Number.MAX_VALUE
  return Number.isFinite(difference) ? rounded(difference) : Math.sign(difference) * most
}

const rounded = (value: number): number => Number(value.toPrecision(DIGITS))

/** `m` of the rule: the least improvement in units of the differences. Infinite when no value is that much better. */
export function leastDifference(
  { direction, transform, score }: Pick<StageContext, 'direction' | 'transform' | 'score'>,
  least: MinImprovement,
): number {
  if (transform === 'linear') return 'absolute' in least ? least.absolute : least.relative * Math.abs(score)
  const ratio = 'relative' in least ? least.relative : score === 0 ? 0 : least.absolute / Math.abs(score)
  if (direction === 'maximize') return Math.log1p(ratio)
  return ratio < 1 ? -Math.log1p(-ratio) : Number.POSITIVE_INFINITY
}

const lookOf = ({ look }: StageContext): { look?: number } => (look === undefined ? {} : { look })
const typicalOf = ({ typical }: StageContext): { typical?: true } => (typical ? { typical } : {})

function planOf(context: StageContext): PairedPlan {
  return {
    ...context.pairs,
    // As the differences are: a gain of exactly this much counts.
    minImprovement: rounded(leastDifference(context, context.min_improvement)),
    seeksTie: context.seeks_tie,
    tries: context.tries,
    ...lookOf(context),
    ...typicalOf(context),
  }
}

/** A ratio is only of use between positive numbers; where there is none, the plain differences count. */
function movedBy({ direction, transform, score }: StageContext, estimate: number, raw: number): number {
  const sign = direction === 'minimize' ? -1 : 1
  if (transform === 'linear') return score + sign * estimate
  const moved = score * Math.exp(sign * estimate)
  return score > 0 && Number.isFinite(moved) && moved > 0 ? moved : score + sign * raw
}

/** Of `improvement_abs`. */
function intervalOf(context: StageContext, [low, high]: [number, number]): [number, number] | null {
  const at = (difference: number) =>
    betterBy(context.direction, movedBy(context, difference, difference), context.score)
  const interval: [number, number] = [at(low), at(high)]
  return interval.every(Number.isFinite) ? interval : null
}

function inputsOf(
  context: StageContext,
  plan: PairedPlan,
  decision: Decision,
  differences: readonly number[],
  pairs: number,
): Comparison['inputs'] {
  const { why, e, p, bounds, scale, estimate, crowded } = decision
  return {
    rule: 'paired',
    stage: context.rule,
    direction: context.direction,
    transform: context.transform,
    other: context.score,
    min_improvement: context.min_improvement,
    least_difference: Number.isFinite(plan.minImprovement) ? plan.minImprovement : null,
    tries: context.tries,
    ...lookOf(context),
    ...typicalOf(context),
    pairs,
    ...(crowded === 0 ? {} : { crowded }),
    why,
    e,
    p,
    bounds,
    scale,
    estimate,
    differences,
  }
}
