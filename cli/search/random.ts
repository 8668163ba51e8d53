/**
 * Seeded random numbers. The same parts give the same stream on every machine: only 32-bit integer arithmetic is used.
 * Not for secrets.
 */

/**
 * A stream of numbers in [0, 1), seeded by the parts in order: `rngOf(seed, round, lane, depth)`.
 * `sfc32` of Chris Doty-Humphrey's PractRand, warmed up twelve steps.
 */
export function rngOf(...parts: readonly (string | number)[]): () => number {
  // The type is part of the text, so that 1 and '1' differ, and the length, so that parts never run together.
  const text = parts.map((part) => `${typeof part}:${String(part).length}:${part}`).join('|')
  let a = mix(text, 0x9e3779b9)
  let b = mix(text, 0x243f6a88)
  let c = mix(text, 0xb7e15162)
  let counter = 1
  const next = (): number => {
    const sum = (a + b + counter) | 0
    counter = (counter + 1) | 0
    a = b ^ (b >>> 9)
    b = (c + (c << 3)) | 0
    c = ((c << 21) | (c >>> 11)) + sum
    c |= 0
    return sum >>> 0
  }
  for (let step = 0; step < 12; step++) next()
  return () => next() / 2 ** 32
}

/** A 32-bit hash: FNV-1a steps, then the finaliser of MurmurHash3. */
function mix(text: string, seed: number): number {
  let hash = seed ^ text.length
  for (let at = 0; at < text.length; at++) {
    hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193)
    hash ^= hash >>> 15
  }
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b)
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35)
  return (hash ^ (hash >>> 16)) >>> 0
}
