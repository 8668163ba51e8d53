import { type Field, nodeAt } from './policy.ts'
import { chanceByText } from './random.ts'
import { allPositions, byKey, firstOf, upTo } from './ranking.ts'

/**
 * `k` positions without replacement, each draw in proportion to exp(logWeight). Adding a Gumbel number to the
 * log-weight and taking the largest is the same as drawing one after another (Gumbel-top-k; Vieira 2014,
 * Kool et al. 2019), and no weight can underflow to "never".
 */
export function drawByWeight(
  field: Field,
  k: number,
  rng: () => number,
  logWeight: (at: number) => number,
): number[] {
  const chance = chanceByText(rng)
  const keys = new Float64Array(field.nodes.length)
  for (let at = 0; at < keys.length; at++)
    keys[at] = logWeight(at) - Math.log(-Math.log(chance(nodeAt(field, at).order)))
  return firstOf(allPositions(field), k, byKey(field, keys))
}

/** `k` of the ranks 0 … n−1 without replacement, rank r with weight (r+1)^−exponent, in the order drawn. */
export function drawRanks(n: number, k: number, exponent: number, rng: () => number): number[] {
  const keys = new Float64Array(n)
  for (let rank = 0; rank < n; rank++)
    keys[rank] = -exponent * Math.log(rank + 1) - Math.log(-Math.log(rng() + 2 ** -33))
  const order = (a: number, b: number) => (keys[b] ?? 0) - (keys[a] ?? 0) || a - b
  return firstOf(upTo(n), k, order)
}
