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
