/**
 * Whether two hypotheses propose the same kind of change. "Set the buffer to 64" and "set the buffer to 128 KiB"
 * have one structure: numbers do not count, nor do the little words around them.
 */
export type HypothesisShape = ReadonlySet<string>

/** At or above this share of common words (Jaccard), two shapes are one idea. */
export const SAME_SHAPE = 0.6

const LITTLE = new Set(
  'a an and as at be by for from in instead into is it its more of on or per so than that the then this to use using via with'.split(
    ' ',
  ),
)

export function shapeOf(hypothesis: string): HypothesisShape {
  const words =
    hypothesis
      .slice(0, 4_000)
      .toLowerCase()
      .match(/[\p{L}_]+/gu) ?? []
  return new Set(words.filter((word) => !LITTLE.has(word)))
}

/** Shared words over all words; two shapes without words are the same. */
export function likeness(a: HypothesisShape, b: HypothesisShape): number {
  let shared = 0
  for (const word of a) if (b.has(word)) shared++
  const all = a.size + b.size - shared
  return all === 0 ? 1 : shared / all
}

/** The first of each structure, in order. */
export function distinctShapes<T>(items: readonly T[], hypothesis: (item: T) => string): T[] {
  const found: { item: T; shape: HypothesisShape }[] = []
  for (const item of items) {
    const shape = shapeOf(hypothesis(item))
    if (!found.some((other) => likeness(other.shape, shape) >= SAME_SHAPE)) found.push({ item, shape })
  }
  return found.map(({ item }) => item)
}
