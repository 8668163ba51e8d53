/**
 * What the trials so far say about points not tried: a Gaussian process with a Matérn 5/2 kernel over the unit
 * cube, a length scale for each coordinate (Rasmussen and Williams, Gaussian Processes for Machine Learning, 2006,
 * algorithm 2.1 and section 5.1). Pure.
 */

// ---------------------------------------------------------------- linear algebra of a Gaussian process: lower triangles as rows, row i with i + 1 numbers

export interface Factored {
  /** L of K + noise·I = L·Lᵀ. */
  lower: number[][]
  /** (K + noise·I)⁻¹ · scores. */
  weights: number[]
  /** Log marginal likelihood of the scores, without its constant. */
  likelihood: number
}

/** Null when the matrix is not positive definite to working precision. */
function factor(kernel: number[][], scores: number[], noise: number): Factored | null {
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
function forward(lower: number[][], right: number[]): number[] {
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

export interface Observation {
  /** Each in [0, 1]. */
  point: number[]
  /** Higher is better. */
  score: number
}

export interface Surrogate {
  /** Expected score and its standard deviation, both in standard deviations of the observed scores. */
  predict(point: number[]): { mean: number; deviation: number }
}

/** Length scales and noises tried first, with all coordinates alike. */
const LENGTHS = [0.15, 0.3, 0.6, 1.2, 2.4]
const NOISES = [1e-4, 1e-2, 0.2]
/** Then each coordinate's own length is changed by these factors while the likelihood grows. */
const FACTORS = [0.4, 2.5]
const SWEEPS = 2
/** Keeps a call short when there are very many coordinates. */
const MOST_UPDATES = 120
const LENGTH = { least: 0.05, most: 15 }

interface Fitted extends Factored {
  lengths: number[]
  noise: number
}

/** Fits lengths and noise by the greatest likelihood. The same observations give the same surrogate. */
export function surrogate(observations: Observation[]): Surrogate {
  const points = observations.map((o) => o.point)
  const scores = standardise(observations.map((o) => o.score))
  const dimensions = points[0]?.length ?? 0
  const fitted = (lengths: number[], noise: number): Fitted | null => {
    const kernel = points.map((a, i) => points.slice(0, i + 1).map((b) => matern(distance(a, b, lengths))))
    const factored = factor(kernel, scores, noise)
    return factored && { ...factored, lengths, noise }
  }
  let best: Fitted | null = null
  for (const length of LENGTHS) {
    for (const noise of NOISES) best = likelier(best, fitted(Array<number>(dimensions).fill(length), noise))
  }
  for (let i = 0; best && i < Math.min(SWEEPS * dimensions, MOST_UPDATES); i++) {
    const { lengths, noise }: Fitted = best
    for (const by of FACTORS) {
      const length = (lengths[i % dimensions] ?? 1) * by
      if (length < LENGTH.least || length > LENGTH.most) continue
      best = likelier(best, fitted(lengths.with(i % dimensions, length), noise))
    }
  }
  return predictor(points, best)
}

function predictor(points: number[][], fitted: Fitted | null): Surrogate {
  if (!fitted) return { predict: () => ({ mean: 0, deviation: 1 }) }
  return {
    predict(point) {
      const row = points.map((other) => matern(distance(point, other, fitted.lengths)))
      const mean = row.reduce((sum, k, i) => sum + k * (fitted.weights[i] ?? 0), 0)
      const explained = forward(fitted.lower, row).reduce((sum, v) => sum + v * v, 0)
      return { mean, deviation: Math.sqrt(Math.max(1 - explained, 1e-12)) }
    },
  }
}

function likelier(a: Fitted | null, b: Fitted | null): Fitted | null {
  return !a || (b && b.likelihood > a.likelihood) ? b : a
}

/** To mean 0 and deviation 1. Scores far below the median are pulled in first: how bad a bad one is says little. */
function standardise(scores: number[]): number[] {
  const sorted = [...scores].sort((a, b) => a - b)
  const median = sorted[Math.floor(sorted.length / 2)] ?? 0
  const floor = median - 2 * ((sorted.at(-1) ?? 0) - median)
  const clipped = scores.map((s) => Math.max(s, floor))
  const mean = clipped.reduce((sum, s) => sum + s, 0) / clipped.length
  const deviation = Math.sqrt(clipped.reduce((sum, s) => sum + (s - mean) ** 2, 0) / clipped.length)
  return clipped.map((s) => (deviation > 0 ? (s - mean) / deviation : 0))
}

function matern(distance: number): number {
  const r = Math.sqrt(5) * distance
  return (1 + r + (r * r) / 3) * Math.exp(-r)
}

function distance(a: number[], b: number[], lengths: number[]): number {
  let sum = 0
  for (let i = 0; i < lengths.length; i++) {
    const apart = ((a[i] ?? 0) - (b[i] ?? 0)) / (lengths[i] ?? 1)
    sum += apart * apart
  }
  return Math.sqrt(sum)
}
