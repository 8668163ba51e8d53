// Seeded instances of two published families. The same seed gives the same items on every machine.

/** @typedef {{ name: string, capacity: number, items: number[] }} Instance */

/** Each family draws one item from a uniform number in [0, 1). */
export const FAMILIES = {
  /** Whole sizes 20 to 100, all equally likely (the OR-Library's `u` sets). */
  uniform: { capacity: 150, draw: (u) => 20 + Math.floor(u * 81) },
  /** Weibull with scale 45 and shape 3 by its inverse distribution function, rounded, clipped to 1 to 100. */
  weibull: {
    capacity: 100,
    draw: (u) => Math.min(100, Math.max(1, Math.round(45 * Math.cbrt(-Math.log(1 - u))))),
  },
}

/**
 * @param {keyof typeof FAMILIES} family
 * @param {number} seed a 32-bit integer
 * @param {number} size how many items
 * @returns {Instance}
 */
export function instance(family, seed, size) {
  const { capacity, draw } = FAMILIES[family]
  const random = mulberry32(seed)
  return { name: `${family}-${seed}`, capacity, items: Array.from({ length: size }, () => draw(random())) }
}

/** Tommy Ettinger's mulberry32: 32 bits of state, uniform in [0, 1). */
function mulberry32(seed) {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}
