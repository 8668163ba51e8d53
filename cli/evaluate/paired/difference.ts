import type { Direction } from '../../ledger/events.ts'
import { betterBy } from '../compare.ts'
import type { Transform } from './plan.ts'

/**
 * How much better the candidate is in one pair; positive is better. A log ratio, or metric units when linear.
 * Swapping the two values negates it exactly, which is all that the guarantee asks of it. Where a logarithm does not
 * exist (a value of 0 or below under `log`, such as an error count that falls to 0) it is ±Infinity by their order.
 * Never NaN for finite values.
 */
export function pairDifference(
  direction: Direction,
  transform: Transform,
  candidate: number,
  parent: number,
): number {
  const plain = betterBy(direction, candidate, parent)
  if (candidate === parent || transform === 'linear') return plain
  if (candidate > 0 && parent > 0) return betterBy(direction, Math.log(candidate), Math.log(parent))
  return plain * Number.POSITIVE_INFINITY
}

/**
 * What one stage tells about the spread of d: (dᵢ − dᵢ₋₁)/√2, which neither the effect nor slow drift enters. A
 * difference of infinite values tells nothing and is left out.
 */
export function stageResiduals(d: readonly number[]): number[] {
  return d.flatMap((value, i) => {
    const before = d[i - 1]
    return before === undefined ? [] : finite(residual(before, value))
  })
}

export const residual = (before: number, value: number): number => (value - before) * Math.SQRT1_2

/** What samples of one and the same program tell about the spread of d: each next one against the one before. */
export function calibrationResiduals(values: readonly number[], transform: Transform): number[] {
  return values.flatMap((value, i) => {
    const before = values[i - 1]
    return before === undefined ? [] : finite(pairDifference('maximize', transform, value, before))
  })
}

const finite = (value: number): number[] => (Number.isFinite(value) ? [value] : [])
