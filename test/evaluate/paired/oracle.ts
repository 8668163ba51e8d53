/**
 * The rule once more, from its formulas and with none of its code: slow, plain, for minImprovement 0. Bars and constants
 * are repeated on purpose.
 */
const BARS = {
  judge: { e: 31, p: 0.008, start: 1.55, slope: 0.5 },
  confirm: { e: 123, p: 0.0044, start: 4, slope: 0.3 },
}

/** The s with mean(min(r²/s², 2.25)) = 0.7784655, by halving; without one the root mean square. */
export function scaleByHalving(residuals: readonly number[]): number {
  const r = residuals.slice(-200).map(Math.abs)
  const most = Math.max(0, ...r)
  if (most === 0) return 0
  const share = (s: number) => r.reduce((sum, x) => sum + Math.min((x / s) ** 2, 2.25), 0) / r.length
  let [low, high] = [most * 1e-9, most * 2]
  if (share(low) < 0.7784655) return Math.sqrt(r.reduce((sum, x) => sum + x * x, 0) / r.length)
  for (let i = 0; i < 200; i++) {
    const middle = (low + high) / 2
    if (share(middle) > 0.7784655) low = middle
    else high = middle
  }
  return high
}

/** Over each of the 2ⁿ signs. */
export function signFlipByEnumeration(d: readonly number[]): number {
  const signed = d.filter((x) => x !== 0)
  const n = signed.length
  if (n === 0) return 1
  const sizes = signed.map(Math.abs)
  const sorted = [...sizes].sort((a, b) => a - b)
  const middle = ((sorted[(n - 1) >> 1] ?? 0) + (sorted[n >> 1] ?? 0)) / 2
  const scores = sizes.map((x) =>
    Math.max(1, Math.round((12 * Math.min(x, 1.25 * middle)) / (1.25 * middle))),
  )
  const sumOf = (chosen: (i: number) => boolean) =>
    scores.reduce((sum, score, i) => sum + (chosen(i) ? score : 0), 0)
  const seen = sumOf((i) => (signed[i] ?? 0) > 0)
  let asGood = 0
  for (let signs = 0; signs < 2 ** n; signs++) if (sumOf((i) => ((signs >> i) & 1) === 1) >= seen) asGood++
  return asGood / 2 ** n
}

/** `worth` after each pair, when the scale before pair i is `scales[i]`. */
export function worths(d: readonly number[], scales: readonly number[]): number[] {
  return d.map((_, last) => {
    const purse = (strength: number) =>
      d.slice(0, last + 1).reduce((product, x, i) => {
        const s = scales[i] ?? 0
        return product * (1 + 0.99 * (s === 0 ? Math.sign(x) : Math.tanh((strength * x) / s)))
      }, 1)
    return (purse(1) + purse(2)) / 2
  })
}

export function oracle(
  stage: 'judge' | 'confirm',
  d: readonly number[],
  pool: readonly number[],
  max: number,
) {
  const bar = BARS[stage]
  const n = d.length
  const known = (pairs: number) => [
    ...pool,
    ...d.slice(1, pairs).map((x, i) => (x - (d[i] ?? 0)) / Math.SQRT2),
  ]
  const scales = d.map((_, i) => scaleByHalving(known(i)))
  const e = Math.max(1, ...worths(d, scales))
  const s = scaleByHalving(known(n))
  if (n < 2) return { outcome: null, e, s }
  const sorted = [...d].sort((a, b) => a - b)
  const middle = ((sorted[(n - 1) >> 1] ?? 0) + (sorted[n >> 1] ?? 0)) / 2
  if (e >= bar.e || (n === max && signFlipByEnumeration(d) <= bar.p))
    return { outcome: middle >= 0 ? 'improved' : 'not_better', e, s }
  const hope = d.reduce((sum, x) => sum + (s === 0 ? 2 * Math.sign(x) : Math.max(-2, Math.min(2, x / s))), 0)
  if (hope <= bar.slope * n - bar.start) return { outcome: middle > 0 ? 'inconclusive' : 'not_better', e, s }
  return { outcome: n === max ? 'inconclusive' : null, e, s }
}
