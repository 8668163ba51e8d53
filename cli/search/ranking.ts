import type { Field } from './policy.ts'

/** The order of two positions: negative when `a` comes first. Must be total. */
export type Order = (a: number, b: number) => number

/** Above this many ranks one sort is cheaper than so many searches. */
const SORT_ABOVE = 16

/** Better score first; ties go to the lower `order`, then to the lower id. */
export function byScore(field: Field): Order {
  const { scores } = field
  const ties = byOrder(field)
  return (a, b) => {
    const difference = (scores[b] ?? 0) - (scores[a] ?? 0)
    return difference === 0 ? ties(a, b) : difference
  }
}

/** By keys of one's own, the largest first, then as `byScore`. */
export function byKey(field: Field, keys: Float64Array): Order {
  const ties = byScore(field)
  return (a, b) => {
    const left = keys[a] ?? 0
    const right = keys[b] ?? 0
    return left === right ? ties(a, b) : right > left ? 1 : -1
  }
}

function byOrder({ nodes }: Field): Order {
  return (a, b) => {
    const left = nodes[a]
    const right = nodes[b]
    if (left === undefined || right === undefined) return 0
    return compare(left.order, right.order) || compare(left.id, right.id)
  }
}

const compare = (a: string, b: string): number => (a === b ? 0 : a < b ? -1 : 1)

export const allPositions = (field: Field): Int32Array => upTo(field.nodes.length)

/** 0 … n−1. */
export function upTo(n: number): Int32Array {
  const positions = new Int32Array(n)
  for (let at = 0; at < n; at++) positions[at] = at
  return positions
}

/** The first `k` positions in order; expected linear time. Rearranges `positions`. */
export function firstOf(positions: Int32Array, k: number, order: Order): number[] {
  if (k < positions.length) select(positions, k, 0, positions.length - 1, order)
  return [...positions.subarray(0, k).sort(order)]
}

/**
 * The positions that hold the given ranks (from 0, distinct), in the order of `ranks`. Rearranges `positions`.
 * The largest rank is found first, so that each search goes on in what is left below it.
 */
export function atRanks(positions: Int32Array, ranks: readonly number[], order: Order): number[] {
  if (ranks.length > SORT_ABOVE) {
    positions.sort(order)
    return ranks.map((rank) => positions[rank] ?? 0)
  }
  const found = new Map<number, number>()
  let end = positions.length - 1
  for (const rank of [...ranks].sort((a, b) => b - a)) {
    select(positions, rank, 0, end, order)
    found.set(rank, positions[rank] ?? 0)
    end = rank - 1
  }
  return ranks.map((rank) => found.get(rank) ?? 0)
}

/** Quickselect: afterwards position `rank` holds what sorting would put there, smaller ones before it. */
function select(positions: Int32Array, rank: number, from: number, to: number, order: Order): void {
  let low = from
  let high = to
  while (low < high) {
    const pivot = middle(positions, low, high, order)
    let left = low
    let right = high
    while (left <= right) {
      while (order(positions[left] ?? 0, pivot) < 0) left++
      while (order(positions[right] ?? 0, pivot) > 0) right--
      if (left <= right) {
        const swapped = positions[left] ?? 0
        positions[left++] = positions[right] ?? 0
        positions[right--] = swapped
      }
    }
    if (rank <= right) high = right
    else if (rank >= left) low = left
    else return
  }
}

/** Median of three. */
function middle(positions: Int32Array, low: number, high: number, order: Order): number {
  const a = positions[low] ?? 0
  const b = positions[(low + high) >> 1] ?? 0
  const c = positions[high] ?? 0
  if (order(a, b) < 0) return order(b, c) < 0 ? b : order(a, c) < 0 ? c : a
  return order(a, c) < 0 ? a : order(b, c) < 0 ? c : b
}
