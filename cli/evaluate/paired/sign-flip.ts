import { median } from '../stats.ts'

/** Scores are whole numbers up to this, so that the distribution of their sum is exact and small. */
const LEVELS = 12
/** In medians of |d|: what lies beyond scores no more, so that one slow sample decides nothing. */
const CAP = 1.25

/**
 * The exact one-sided p of "not better" over all 2ⁿ signs that the pairs could have had: the probability that the sum of
 * the scores of positive d is at least the one seen. Zeros have no sign and are left out; 1 when nothing remains.
 */
export function signFlipP(d: readonly number[]): number {
  const signed = d.filter((value) => value !== 0)
  if (signed.length === 0) return 1
  const scores = scoresOf(signed.map(Math.abs))
  const seen = scores.reduce((sum, score, i) => sum + ((signed[i] ?? 0) > 0 ? score : 0), 0)
  let probabilities = [1]
  for (const score of scores) {
    const next = new Array<number>(probabilities.length + score).fill(0)
    probabilities.forEach((probability, sum) => {
      next[sum] = (next[sum] ?? 0) + probability / 2
      next[sum + score] = (next[sum + score] ?? 0) + probability / 2
    })
    probabilities = next
  }
  return probabilities.slice(seen).reduce((total, probability) => total + probability, 0)
}

function scoresOf(sizes: readonly number[]): number[] {
  const cap = CAP * median(sizes)
  return sizes.map((size) => {
    if (!Number.isFinite(cap)) return Number.isFinite(size) ? 1 : LEVELS
    return Math.max(1, Math.round((LEVELS * Math.min(size, cap)) / cap))
  })
}
