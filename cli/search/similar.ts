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
  const groups: T[][] = []
  const sizes: number[] = []
  const withWord = new Map<string, number[]>()
  /** Words that the item at hand shares with each group. */
  const shared = new Uint32Array(items.length)
  for (const item of items) {
    const shape = shapeOf(hypothesis(item))
    shared.fill(0, 0, groups.length)
    for (const word of shape) countIn(withWord.get(word) ?? NONE, shared)
    const first = firstLike(shared, sizes, shape.size)
    const found = groups[first]
    if (found) {
      found.push(item)
      continue
    }
    for (const word of shape) {
      const others = withWord.get(word)
      if (others) others.push(groups.length)
      else withWord.set(word, [groups.length])
    }
    groups.push([item])
    sizes.push(shape.size)
  }
  return groups
}

const NONE: readonly number[] = []

// Two small loops that run very often: in functions of their own they are soon quick.

/** Counts one more shared word for these groups. */
function countIn(groups: readonly number[], shared: Uint32Array): void {
  for (let at = 0; at < groups.length; at++) {
    const group = groups[at] as number
    shared[group] = (shared[group] as number) + 1
  }
}

/** The first group that a shape of this size is like; -1 when there is none. Without words it is like the other one without. */
function firstLike(shared: Uint32Array, sizes: readonly number[], size: number): number {
  const least = size * SAME_SHAPE - 1e-6
  for (let at = 0; at < sizes.length; at++) {
    const count = shared[at] as number
    // A like one shares so many words, at least.
    if (count >= least && alikeBy(count, sizes[at] as number, size) >= SAME_SHAPE) return at
  }
  return -1
}

const alikeBy = (shared: number, size: number, other: number): number => {
  const all = size + other - shared
  return all === 0 ? 1 : shared / all
}

/** The first of each structure, in order; of so many structures, at most. */
export function distinctShapes<T>(
  items: readonly T[],
  hypothesis: (item: T) => string,
  most = Number.POSITIVE_INFINITY,
): T[] {
  const found: { item: T; shape: HypothesisShape }[] = []
  for (const item of items) {
    if (found.length >= most) break
    const shape = shapeOf(hypothesis(item))
    if (!found.some((other) => likeness(other.shape, shape) >= SAME_SHAPE)) found.push({ item, shape })
  }
  return found.map(({ item }) => item)
}
