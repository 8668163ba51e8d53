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
    const least = shape.size * SAME_SHAPE - 1e-6
    const near: number[] = []
    shared.fill(0, 0, groups.length)
    for (const word of shape) countIn(withWord.get(word) ?? [], shared, least, near)
    const like = near.filter((at) => alikeBy(shared[at] ?? 0, sizes[at] ?? 0, shape.size) >= SAME_SHAPE)
    // Without words it is like the other one without.
    const first = shape.size === 0 ? sizes.indexOf(0) : Math.min(...like)
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

/** Counts one more shared word for these groups; `near` gets those that come to share so many as a like one must. */
function countIn(groups: readonly number[], shared: Uint32Array, least: number, near: number[]): void {
  for (let at = 0; at < groups.length; at++) {
    const group = groups[at] as number
    const count = (shared[group] as number) + 1
    shared[group] = count
    if (count >= least && count - 1 < least) near.push(group)
  }
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
