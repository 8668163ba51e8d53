/** Shared words ÷ all words (Jaccard) from which two texts are taken for the same assignment. */
const SAME = 0.9

/** Whether two texts say the same in other order or with other small words; numbers count as words. Pure. */
export const alike = (a: string, b: string): boolean => sameWords(wordsOf(a), wordsOf(b))

/** The same for texts that are compared with many others. */
export function sameWords(left: ReadonlySet<string>, right: ReadonlySet<string>): boolean {
  if (left.size === 0 && right.size === 0) return true
  let shared = 0
  for (const word of left) if (right.has(word)) shared++
  return shared / (left.size + right.size - shared) >= SAME
}

export function wordsOf(text: string): ReadonlySet<string> {
  return new Set(text.toLowerCase().match(/[\p{L}\p{N}_.]+/gu) ?? [])
}
