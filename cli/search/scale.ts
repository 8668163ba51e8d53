/** Robust middle and spread of scores: one outlier cannot move them. */
export interface Scale {
  median: number
  /** Median absolute deviation; the mean absolute deviation where that is 0; 0 when all are equal. */
  spread: number
}

/** Expected linear time; `scores` is not changed. At least one score. */
export function scaleOf(scores: Float64Array): Scale {
  const median = medianOf(scores.slice())
  const away = new Float64Array(scores.length)
  for (let at = 0; at < away.length; at++) away[at] = Math.abs((scores[at] ?? 0) - median)
  const mad = medianOf(away.slice())
  // The sum is divided term by term: it must not overflow.
  const spread = mad > 0 ? mad : away.reduce((sum, distance) => sum + distance / away.length, 0)
  return { median, spread }
}

/** Rearranges `values`. Of an even number of values, the mean of the middle two. */
function medianOf(values: Float64Array): number {
  const upper = values.length >> 1
  const high = nth(values, upper)
  if (values.length % 2 === 1) return high
  let low = Number.NEGATIVE_INFINITY
  for (let at = 0; at < upper; at++) low = Math.max(low, values[at] ?? 0)
  return low / 2 + high / 2
}

function nth(values: Float64Array, rank: number): number {
  let low = 0
  let high = values.length - 1
  while (low < high) {
    const pivot = values[(low + high) >> 1] ?? 0
    let left = low
    let right = high
    while (left <= right) {
      while ((values[left] ?? 0) < pivot) left++
      while ((values[right] ?? 0) > pivot) right--
      if (left <= right) {
        const swapped = values[left] ?? 0
        values[left++] = values[right] ?? 0
        values[right--] = swapped
      }
    }
    if (rank <= right) high = right
    else if (rank >= left) low = left
    else break
  }
  return values[rank] ?? 0
}
