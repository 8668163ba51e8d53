// Online packing: items arrive one by one, and each goes at once, and for good, into the bin that the heuristic
// likes best.

/** @typedef {(leftover: number, item: number, capacity: number) => number} Priority */

/**
 * Packs `items` into bins of `capacity`. Every bin with enough room is a candidate, and so is an empty one. The
 * highest priority wins; at a tie the fuller bin does.
 *
 * Bins with equal room are interchangeable. They share one stack for each amount of room, so an item costs at most
 * `capacity` steps however many bins there are. Each priority is asked for once and remembered.
 *
 * @param {number[]} items whole sizes from 1 to `capacity`, in order of arrival
 * @param {number} capacity
 * @param {Priority} priority
 * @returns {number[]} for each item, the number of its bin; bins are numbered from 0 as they are opened
 * @throws {Error} when a priority is not a finite number
 */
export function pack(items, capacity, priority) {
  const binsByRoom = Array.from({ length: capacity + 1 }, () => [])
  const known = new Map()
  let opened = 0
  return items.map((item) => {
    if (!known.has(item)) known.set(item, priorities(item, capacity, priority))
    const wanted = known.get(item)
    let best = -1
    for (let leftover = 0; leftover <= capacity - item; leftover++) {
      const isChoice = leftover === capacity - item || binsByRoom[leftover + item].length > 0
      if (isChoice && (best < 0 || wanted[leftover] > wanted[best])) best = leftover
    }
    const bin = best === capacity - item ? opened++ : binsByRoom[best + item].pop()
    binsByRoom[best].push(bin)
    return bin
  })
}

/** The priority for each possible leftover of one item size. */
function priorities(item, capacity, priority) {
  return Array.from({ length: capacity - item + 1 }, (_, leftover) => {
    const wanted = priority(leftover, item, capacity)
    if (!Number.isFinite(wanted)) {
      throw new Error(`priority(${leftover}, ${item}, ${capacity}) is ${wanted}, not a finite number`)
    }
    return wanted
  })
}

/** No packing can use fewer bins than this. */
export function lowerBound(items, capacity) {
  return Math.ceil(items.reduce((sum, item) => sum + item, 0) / capacity)
}

/** Bins above the lower bound, in percent of it. */
export function excessPercent(items, capacity, priority) {
  const bins = new Set(pack(items, capacity, priority)).size
  const bound = lowerBound(items, capacity)
  return (100 * (bins - bound)) / bound
}
