/** Random numbers that are a function of their seed alone. Pure. */

export interface Random {
  /** Uniform in [0, 1). */
  next(): number
  /** Standard normal. */
  normal(): number
  /** A whole number from 0 to `below` − 1. */
  index(below: number): number
}

/** A generator for exactly this seed and these words: the same ones give the same numbers. */
export function randomFrom(seed: number, ...words: (number | string)[]): Random {
  let state = hash([seed, ...words].join('/'))
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
  return {
    next,
    // Box and Muller, 1958.
    normal: () => Math.sqrt(-2 * Math.log(1 - next())) * Math.cos(2 * Math.PI * next()),
    index: (below) => Math.floor(next() * below),
  }
}

/** FNV-1a, 32 bits, with a final mix: words that differ in one digit start far apart. */
function hash(text: string): number {
  let value = 0x811c9dc5
  for (let i = 0; i < text.length; i++) value = Math.imul(value ^ text.charCodeAt(i), 0x01000193)
  value = Math.imul(value ^ (value >>> 16), 0x85ebca6b)
  value = Math.imul(value ^ (value >>> 13), 0xc2b2ae35)
  return (value ^ (value >>> 16)) >>> 0
}
