/** Shortens what agents say until the event fits into one line of the ledger: a refused event would end the loop. */
import { MAX_LINE } from '../ledger/append.ts'

/** Bytes for what stands around it: names, times, a key. */
const AROUND = 4096
const SHORTEST = 20

/** What `make` makes of texts of `most` characters, or of as many fewer as fit. */
export function fitted<T>(most: number, make: (most: number) => T): T {
  let made = make(most)
  for (let less = most; less > SHORTEST && bytesOf(made) > MAX_LINE - AROUND; ) {
    less = Math.floor(less * 0.7)
    made = make(less)
  }
  return made
}

const bytesOf = (value: unknown): number => Buffer.byteLength(JSON.stringify(value))

interface Refusal {
  index: number
  reason: string
  message: string
}

const REFUSED = { most: 20, characters: 300 }

/** The first refusals: a caller that sent hundreds learns nothing from the others. */
export const firstRefused = (refused: readonly Refusal[]): Refusal[] =>
  refused.slice(0, REFUSED.most).map((one) => ({ ...one, message: one.message.slice(0, REFUSED.characters) }))

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
