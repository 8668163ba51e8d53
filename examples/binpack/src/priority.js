// The heuristic: how much a bin is wanted for the item that has just arrived. This is the file to improve.

/**
 * A broken line over the room that would be left over, as a share of the capacity. As delivered it falls evenly,
 * which is best fit: the less is left, the better.
 */
const LINE = [
  { at: 0, value: /* k00 */ 1 },
  { at: 0.02, value: /* k02 */ 0.98 },
  { at: 0.06, value: /* k06 */ 0.94 },
  { at: 0.1, value: /* k10 */ 0.9 },
  { at: 0.14, value: /* k14 */ 0.86 },
  { at: 0.2, value: /* k20 */ 0.8 },
  { at: 0.3, value: /* k30 */ 0.7 },
  { at: 0.4, value: /* k40 */ 0.6 },
  { at: 0.55, value: /* k55 */ 0.45 },
  { at: 0.75, value: /* k75 */ 0.25 },
]

/**
 * The bin with the highest priority gets the item; an empty bin is always one of the choices.
 *
 * @param {number} leftover room in the bin after the item is in, from 0
 * @param {number} _item size of the item
 * @param {number} capacity size of an empty bin
 * @returns {number} any finite number
 */
export function priority(leftover, _item, capacity) {
  const share = leftover / capacity
  let right = 1
  while (right < LINE.length - 1 && LINE[right].at < share) right++
  const [from, to] = [LINE[right - 1], LINE[right]]
  return from.value + ((to.value - from.value) * (share - from.at)) / (to.at - from.at)
}
