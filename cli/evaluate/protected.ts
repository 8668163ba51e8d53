/** Metrics that a candidate must not make worse, held to the same statistics as the primary one. Pure. */
import type { Direction, Sample } from '../ledger/events.ts'
import { betterBy } from '../ledger/same-value.ts'
import { type MinImprovement, thresholdOf } from './compare.ts'
import { leastDifference } from './compare-pairs.ts'
import { crowdBehind, type Objection, objection } from './crowd.ts'
import { figure } from './figure.ts'
import { pairDifference, signFlipP } from './paired.ts'
import { median } from './stats.ts'

export interface ProtectedConfig {
  metric: string
  direction: Direction
  max_regression: MinImprovement
}

export interface Regression extends Objection {
  metric: string
}

export type Measured = Pick<Sample, 'metrics' | 'processors'>

/** Chance of refusing a metric that did not get worse than allowed, for each such metric. */
const LEVEL = 0.05
const ROUNDING = 1e-9

/**
 * The metrics that got worse by more than allowed, over samples of both in pair order. Values that do not vary are
 * compared as they are. Others are refused when the median regression is beyond the allowance and an exact sign-flip
 * test of "no worse than allowed" says so at 5 %: chance alone rejects no candidate, and an unclear loss is accepted.
 * With too few pairs for that test the medians decide.
 */
export function regressions(
  configs: readonly ProtectedConfig[],
  candidate: readonly Measured[],
  other: readonly Measured[],
): Regression[] {
  return configs.flatMap((config) => {
    const found = regression(config, candidate, other)
    return found === null ? [] : [{ metric: config.metric, ...found }]
  })
}

function regression(
  { metric, direction, max_regression: allowed }: ProtectedConfig,
  candidate: readonly Measured[],
  other: readonly Measured[],
): Objection | null {
  const [mine, theirs] = [numbers(metric, candidate), numbers(metric, other)]
  if (theirs === null)
    return { message: `${metric} cannot be protected: what it is compared with does not report it` }
  if (mine === null) return { message: `${metric} is missing, or no number` }
  const [before, after] = [median(theirs), median(mine)]
  const worse = -betterBy(direction, after, before)
  const told = objection(
    `${metric} went from ${figure(before)} to ${figure(after)}, and ${allowance(allowed)} is allowed`,
    crowdBehind(metric, candidate, other),
  )
  if (new Set(mine).size === 1 && new Set(theirs).size === 1)
    return worse > thresholdOf(allowed, before) * (1 + ROUNDING) ? told : null
  const pairs = Math.min(mine.length, theirs.length)
  const transform = [...mine, ...theirs].every((value) => value > 0) ? 'log' : 'linear'
  // An allowance to get worse is the least difference the other way round.
  const opposite = direction === 'minimize' ? 'maximize' : 'minimize'
  const least = leastDifference({ direction: opposite, transform, score: before }, allowed)
  const beyond = mine
    .slice(0, pairs)
    .map((value, pair) => -pairDifference(direction, transform, value, theirs[pair] ?? value) - least)
  const canTell = 0.5 ** pairs <= LEVEL
  return median(beyond) > 0 && (!canTell || signFlipP(beyond) <= LEVEL) ? told : null
}

function numbers(metric: string, samples: readonly Measured[]): number[] | null {
  const values = samples.flatMap(({ metrics }) => {
    const value = metrics[metric]
    return typeof value === 'number' ? [value] : []
  })
  return values.length > 0 && values.length === samples.length ? values : null
}

const allowance = (allowed: MinImprovement): string =>
  'absolute' in allowed ? `a loss of ${allowed.absolute}` : `a loss of ${figure(allowed.relative * 100)} %`
