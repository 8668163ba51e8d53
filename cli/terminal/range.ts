/**
 * The y range that shows what matters: the values in `must` (best path, baseline) always, and of the others all
 * that lie within three times the interquartile range of the middle half (Tukey's outer fences). What lies outside
 * is clipped by the chart, so that one wild value does not flatten the rest. Null when there is nothing to show.
 */
export function rangeOf(
  values: readonly number[],
  must: readonly number[],
): { low: number; high: number } | null {
  if (values.length === 0 && must.length === 0) return null
  const sorted = Float64Array.from(values).sort()
  const quarter = (share: number) => sorted[Math.floor((sorted.length - 1) * share)] ?? 0
  let low = must.reduce((least, value) => Math.min(least, value), Number.POSITIVE_INFINITY)
  let high = must.reduce((most, value) => Math.max(most, value), Number.NEGATIVE_INFINITY)
  if (sorted.length > 0) {
    low = Math.min(low, quarter(0.25))
    high = Math.max(high, quarter(0.75))
    // Where the middle half is one value, the path tells the scale; where that is flat too, all is shown.
    const reach = 3 * (quarter(0.75) - quarter(0.25)) || high - low || Number.POSITIVE_INFINITY
    const fence = { low: Math.min(low, quarter(0.25) - reach), high: Math.max(high, quarter(0.75) + reach) }
    for (const value of sorted) {
      if (value < fence.low || value > fence.high) continue
      low = Math.min(low, value)
      high = Math.max(high, value)
    }
  }
  return { low, high }
}
