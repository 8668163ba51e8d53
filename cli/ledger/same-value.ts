/** When two numbers are the same value, and which of two is better: the one rule for all who compare. Pure. */
import type { Direction } from './events.ts'

/** The order of a sum changes its last digits: numbers that differ by a smaller part than this are equal. */
const LAST_DIGITS = 1e-12

/** Whole numbers are exact. */
const differs = (value: number, other: number): boolean => {
  const apart = Math.abs(value - other)
  if (apart === Number.POSITIVE_INFINITY || (Number.isInteger(value) && Number.isInteger(other)))
    return value !== other
  return apart > LAST_DIGITS * Math.max(Math.abs(value), Math.abs(other))
}

/** Whether two measurements say the same: nothing but rounding tells them apart. */
export const isSameValue = (value: number | null, other: number | null): boolean =>
  value === null || other === null ? value === other : !differs(value, other)

/** The first of each group of values that are the same. */
export const distinctValues = <T extends number | null>(values: readonly T[]): T[] =>
  values.filter((value, at) => !values.slice(0, at).some((one) => isSameValue(one, value)))

/** By how much `value` is better than `other`, in metric units. 0 when only rounding tells the two apart. */
export const betterBy = (direction: Direction, value: number, other: number): number => {
  if (!differs(value, other)) return 0
  return direction === 'minimize' ? other - value : value - other
}
