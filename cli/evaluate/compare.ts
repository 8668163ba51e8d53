import type { Comparison, Direction } from '../ledger/events.ts'
import { betterBy } from '../ledger/same-value.ts'

/** The smallest improvement that counts: a fraction of the other's value, or in metric units. Never negative. */
export type MinImprovement = { relative: number } | { absolute: number }

/** A threshold such as 7 % of 100 is not exact in binary: a difference of this fraction of it still reaches it. */
const ROUNDING = 1e-9

/** `betterBy` / |other|; null when the other is 0, or the quotient is too large for a number. */
export const relativeTo = (improvementAbs: number, other: number): number | null => {
  const part = improvementAbs / Math.abs(other)
  return other === 0 || !Number.isFinite(part) ? null : part
}

/** In metric units. A fraction of 0 is 0: then any improvement counts. */
export const thresholdOf = (min: MinImprovement, other: number): number =>
  'absolute' in min ? min.absolute : min.relative * Math.abs(other)

/** Of a metric without noise: equal is a tie, better by less than `minImprovement` is a tie, any worse is not better. */
export function compareDeterministic(facts: {
  direction: Direction
  value: number
  other: number
  against: string
  minImprovement: MinImprovement
}): Comparison {
  const { direction, value, other, against, minImprovement } = facts
  const improvementAbs = betterBy(direction, value, other)
  const threshold = thresholdOf(minImprovement, other)
  return {
    outcome:
      improvementAbs < 0
        ? 'not_better'
        : improvementAbs > 0 && improvementAbs >= threshold * (1 - ROUNDING)
          ? 'improved'
          : 'tie',
    against,
    improvement: relativeTo(improvementAbs, other),
    improvement_abs: improvementAbs,
    interval: null,
    inputs: { rule: 'deterministic', direction, value, other, min_improvement: minImprovement, threshold },
  }
}

export interface TieBreaker {
  metric: string
  direction: Direction
}

type Metrics = Readonly<Record<string, number | boolean>>

/** The first tie-breaker on which the two differ decides; null when none does. A metric that one side lacks is skipped. */
export function breakTie(
  breakers: readonly TieBreaker[],
  candidate: Metrics,
  other: Metrics,
): { metric: string; better: boolean; message: string } | null {
  for (const { metric, direction } of breakers) {
    const [mine, theirs] = [candidate[metric], other[metric]]
    if (typeof mine !== 'number' || typeof theirs !== 'number') continue
    const difference = betterBy(direction, mine, theirs)
    if (difference === 0) continue
    const better = difference > 0
    return {
      metric,
      better,
      message: `${metric} ${theirs} → ${mine} ${better ? 'breaks the tie' : 'is worse'}`,
    }
  }
  return null
}
