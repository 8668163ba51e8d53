import type { Pick } from '../ledger/events.ts'

/** An experiment that may become a parent. */
export interface Candidate {
  id: string
  parent: string | null
  /** In metric units, as it is shown. */
  value: number
  /** Higher is better, whatever the metric's direction. */
  score: number
  /** Per-task scores, higher is better; null when the benchmark reports none. */
  tasks: Readonly<Record<string, number>> | null
  /** How many experiments already have it as parent. */
  children: number
  /** How many of its children are on the frontier themselves: kept, standing, comparable. */
  keptChildren: number
  /** Unique and independent of timing: ties go to the lower one, and random draws depend on it. */
  order: string
}

export interface Param {
  default: number
  min: number
  max: number
  doc: string
}

/**
 * How parents are picked from the frontier.
 *
 * `pick` answers min(k, nodes it takes) distinct picks with ranks from 1, the first pick first. It must be pure, must
 * not depend on the order of `nodes`, nor on the metric's unit or zero point, and takes all randomness from `rng`.
 * A node whose score is not finite is never taken. Missing params take their defaults, others are clamped.
 */
export interface Policy {
  name: string
  summary: string
  params: Readonly<Record<string, Param>>
  /** Whether it would ever pick the node, whatever else is there. */
  takes(node: Candidate): boolean
  pick(
    nodes: readonly Candidate[],
    k: number,
    rng: () => number,
    params?: Readonly<Record<string, number>>,
  ): Pick[]
}

/** The usable nodes, and their scores scaled so that differences cannot overflow. */
export interface Field {
  nodes: readonly Candidate[]
  scores: Float64Array
}

/** A chosen position in the field. */
export interface Choice {
  at: number
  why: string
}

interface Definition<Params extends Readonly<Record<string, Param>>> {
  name: string
  summary: string
  params: Params
  /** Default: every node. */
  takes?: (node: Candidate) => boolean
  /** Called with 1 ≤ k ≤ nodes; answers exactly k distinct positions. */
  choose(field: Field, k: number, rng: () => number, params: { [P in keyof Params]: number }): Choice[]
}

/** Wraps what every policy owes its callers around the choice that makes it different. */
export function policy<const Params extends Readonly<Record<string, Param>>>(
  definition: Definition<Params>,
): Policy {
  return {
    name: definition.name,
    summary: definition.summary,
    params: definition.params,
    takes: (node) => Number.isFinite(node.score) && (definition.takes?.(node) ?? true),
    pick(nodes, k, rng, given = {}) {
      const field = fieldOf(definition.takes === undefined ? nodes : nodes.filter(definition.takes))
      const wanted = Math.min(Math.floor(k), field.nodes.length)
      if (!(wanted >= 1)) return []
      const choices = definition.choose(field, wanted, rng, settle(definition.params, given))
      return choices.map(({ at, why }, index) => {
        const node = nodeAt(field, at)
        return { experiment: node.id, value: node.value, rank: index + 1, why }
      })
    },
  }
}

/** The node at a position that a policy itself computed. */
export function nodeAt(field: Field, at: number): Candidate {
  const node = field.nodes[at]
  if (node === undefined) throw new Error(`no candidate at ${at} of ${field.nodes.length}`)
  return node
}

/** A number for a person: six significant digits at most. */
export const sixDigits = (value: number): string => String(Number(value.toPrecision(6)))

function fieldOf(given: readonly Candidate[]): Field {
  const nodes = given.every((node) => Number.isFinite(node.score))
    ? given
    : given.filter((node) => Number.isFinite(node.score))
  const scores = new Float64Array(nodes.length)
  let largest = 0
  // Plain loops: `Float64Array.from` with a function is ten times slower, and a frontier may hold 100,000 nodes.
  for (let at = 0; at < scores.length; at++) {
    const score = nodes[at]?.score ?? 0
    scores[at] = score
    largest = Math.max(largest, Math.abs(score))
  }
  // A power of two keeps every ratio exact.
  if (largest > 2 ** 1000)
    for (let at = 0; at < scores.length; at++) scores[at] = (scores[at] ?? 0) / 2 ** 100
  return { nodes, scores }
}

function settle<Params extends Readonly<Record<string, Param>>>(
  params: Params,
  given: Readonly<Record<string, number>>,
): { [P in keyof Params]: number } {
  const settled: Record<string, number> = {}
  for (const [name, param] of Object.entries(params)) {
    const value = given[name]
    settled[name] =
      value === undefined || Number.isNaN(value)
        ? param.default
        : Math.min(param.max, Math.max(param.min, value))
  }
  return settled as { [P in keyof Params]: number }
}

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
 * The largest rank is found first, so that each search continues in what is left below it.
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
