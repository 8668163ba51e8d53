/** Linear algebra of a Gaussian process: lower triangles as rows, row i with i + 1 numbers. Pure. */

export interface Factored {
  /** L of K + noise·I = L·Lᵀ. */
  lower: number[][]
  /** (K + noise·I)⁻¹ · scores. */
  weights: number[]
  /** Log marginal likelihood of the scores, without its constant. */
  likelihood: number
}

/** Null when the matrix is not positive definite to working precision. */
export function factor(kernel: number[][], scores: number[], noise: number): Factored | null {
  const lower: number[][] = []
  let logDiagonal = 0
  for (const [i, given] of kernel.entries()) {
    const row: number[] = []
    for (const [j, other] of lower.entries()) {
      row.push(((given[j] ?? 0) - dot(row, other, j)) / (other[j] ?? 1))
    }
    const rest = (given[i] ?? 0) + noise - dot(row, row, i)
    if (!(rest > 0)) return null
    row.push(Math.sqrt(rest))
    logDiagonal += Math.log(rest) / 2
    lower.push(row)
  }
  const half = forward(lower, scores)
  return {
    lower,
    weights: backward(lower, half),
    likelihood: -dot(half, half, half.length) / 2 - logDiagonal,
  }
}

/** x of L·x = right. */
export function forward(lower: number[][], right: number[]): number[] {
  const out: number[] = []
  for (const [i, row] of lower.entries()) out.push(((right[i] ?? 0) - dot(row, out, i)) / (row[i] ?? 1))
  return out
}

/** x of Lᵀ·x = right. */
function backward(lower: number[][], right: number[]): number[] {
  const out = [...right]
  for (let i = lower.length - 1; i >= 0; i--) {
    const row = lower[i] ?? []
    const value = (out[i] ?? 0) / (row[i] ?? 1)
    out[i] = value
    for (let k = 0; k < i; k++) out[k] = (out[k] ?? 0) - (row[k] ?? 0) * value
  }
  return out
}

/** Of the first `length` numbers. */
function dot(a: number[], b: number[], length: number): number {
  let sum = 0
  for (let i = 0; i < length; i++) sum += (a[i] ?? 0) * (b[i] ?? 0)
  return sum
}
