/**
 * What is wrong with a packing, or null. It looks at the packing alone and shares no code with the packer.
 *
 * @param {number[]} items in order of arrival
 * @param {number} capacity
 * @param {number[]} bins for each item, the number of its bin
 * @returns {string | null}
 */
export function flaw(items, capacity, bins) {
  if (bins.length !== items.length) return `${items.length} items, but ${bins.length} places`
  const loads = []
  for (const [i, bin] of bins.entries()) {
    if (!Number.isInteger(bin) || bin < 0 || bin > loads.length) return `item ${i} is in no bin: ${bin}`
    if (bin === loads.length) loads.push(0)
    loads[bin] += items[i]
    if (loads[bin] > capacity) return `bin ${bin} holds ${loads[bin]} of ${capacity} after item ${i}`
  }
  return null
}

/**
 * Whether each item was placed without knowledge of the later ones: cutting the list short must not change where
 * the items before the cut went.
 *
 * @param {(items: number[]) => number[]} packer
 * @returns {string | null}
 */
export function foresight(items, packer) {
  const whole = packer(items)
  for (const length of [1, Math.ceil(items.length / 3), Math.ceil(items.length / 2)]) {
    const cut = packer(items.slice(0, length))
    const moved = cut.findIndex((bin, i) => bin !== whole[i])
    if (moved >= 0) return `item ${moved} is placed differently when only ${length} items arrive`
  }
  return null
}
