/**
 * The space in which constants are tuned: each parameter is mapped to [0, 1] by its scale, so that one step
 * size means the same for all. Pure.
 */

/** A number in a file that may be moved. Exactly one of `pointer` and `pattern` says where it stands. */
export interface TuneParameter {
  /** What reports call it. */
  name?: string | null
  /** Relative to the spec's folder. */
  file: string
  /** JSON pointer (RFC 6901) of a number in a JSON file. */
  pointer?: string | null
  /**
   * JavaScript regular expression with one capture group, which holds the number; it must match exactly
   * once. `^` and `$` match at line breaks.
   */
  pattern?: string | null
  min: number
  max: number
  /** `log` needs `min > 0`. */
  scale: 'linear' | 'log' | 'integer'
}

/** A parameter's range; where its number stands does not matter to the search. */
export type Range = Pick<TuneParameter, 'min' | 'max' | 'scale'>

/** The value's place in its range, from 0 to 1; a value outside the range counts as the nearest bound. */
export function toUnit(range: Range, value: number): number {
  const { min, max, scale } = range
  if (max <= min) return 0
  const at = Math.min(max, Math.max(min, value))
  return scale === 'log' ? Math.log(at / min) / Math.log(max / min) : (at - min) / (max - min)
}

/**
 * The value at a place of the range, rounded so that a diff reads well: to a whole number, to a thousandth of
 * the range or finer (linear), to three significant digits (log). Always within the bounds.
 */
export function fromUnit(range: Range, place: number): number {
  const { min, max, scale } = range
  const inside = (value: number) => Math.min(max, Math.max(min, value))
  switch (scale) {
    case 'integer':
      return Math.min(Math.floor(max), Math.max(Math.ceil(min), Math.round(min + place * (max - min))))
    case 'log':
      return inside(Number((min * (max / min) ** place).toPrecision(3)))
    case 'linear': {
      if (max <= min) return min
      const digits = Math.min(100, Math.max(0, Math.ceil(3 - Math.log10(max - min))))
      return inside(Number((min + place * (max - min)).toFixed(digits)))
    }
  }
}

/** How many values an integer range holds; Infinity for the other scales. */
export function sizeOf(range: Range): number {
  return range.scale === 'integer'
    ? Math.floor(range.max) - Math.ceil(range.min) + 1
    : Number.POSITIVE_INFINITY
}
