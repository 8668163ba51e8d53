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
  return alikeBy(shared, a.size, b.size)
}

/**
 * Items of one structure together, in the order of their first ones: each joins the first group whose first item is like it. Only groups
 * that share a word with it are compared.
 */
export function groupedByShape<T>(items: readonly T[], hypothesis: (item: T) => string): T[][] {
  const groups: { size: number; members: T[] }[] = []
  const withWord = new Map<string, number[]>()
  for (const item of items) {
    const shape = shapeOf(hypothesis(item))
    const shared = new Uint32Array(groups.length)
    for (const word of shape)
      for (const group of withWord.get(word) ?? []) shared[group] = (shared[group] ?? 0) + 1
    const found = groups.find(({ size }, at) => alikeBy(shared[at] ?? 0, size, shape.size) >= SAME_SHAPE)
    if (found) {
      found.members.push(item)
      continue
    }
    for (const word of shape) {
      const others = withWord.get(word)
      if (others) others.push(groups.length)
      else withWord.set(word, [groups.length])
    }
    groups.push({ size: shape.size, members: [item] })
  }
  return groups.map(({ members }) => members)
}

const alikeBy = (shared: number, size: number, other: number): number => {
  const all = size + other - shared
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
