import type { Direction, Status } from '../ledger/events.ts'

/** An experiment that may become a parent. */
export interface Candidate {
  id: string
  parent: string | null
  /** In metric units, as it is shown. */
  value: number
  /** Higher is better, whatever the metric's direction. */
  score: number
  /** How many experiments already have it as parent. */
  children: number
  /** How many of its children are on the frontier themselves: kept, standing, comparable. */
  keptChildren: number
  /** Unique and independent of timing: ties go to the lower one. */
  order: string
}

/** Better score first; ties go to the lower `order`. */
export const byScore = (a: Candidate, b: Candidate): number =>
  a.score === b.score ? (a.order < b.order ? -1 : 1) : b.score - a.score

/** The first `most` in an order, as sorting all of them would give them. */
export function firstOf<T>(items: readonly T[], most: number, order: (a: T, b: T) => number): T[] {
  if (most < 1) return []
  let first: T[] = []
  let worst: T | undefined
  for (const item of items) {
    if (worst !== undefined && order(item, worst) > 0) continue
    first.push(item)
    if (first.length < 2 * most) continue
    first = first.sort(order).slice(0, most)
    worst = first.at(-1)
  }
  return first.sort(order).slice(0, most)
}

/** What decides whether an experiment may become a parent, and what a policy then reads. */
export interface FrontierNode {
  /** Another one for each experiment. */
  key: number
  /** null or a key that no node has: what it is built on is not among the nodes. */
  parentKey: number | null
  /** Of a merge: the others that it contains. Absent = none. */
  otherKeys?: readonly number[]
  id: string
  parent: string | null
  /** How many experiments have it as a parent, whatever became of them. */
  children: number
  status: Status
  /** null or NaN when there is none. */
  value: number | null
  epoch: number
  confirmed: boolean
  /** It or one of its ancestors is revoked (`tainted` of the state). */
  tainted: boolean
  /** An audit's opinion that is not answered yet. */
  flagged: boolean
  /** See `Candidate.order`. */
  order: string
  /** Filled in, like the next one: see `Candidate`. */
  score?: number
  keptChildren?: number
}

export interface FrontierRules {
  direction: Direction
  /** Scores of other epochs are not comparable. */
  epoch: number
  /** Without noise nothing has to be confirmed. */
  deterministic: boolean
}

export type Ineligible =
  | 'not_kept'
  | 'other_epoch'
  | 'unconfirmed'
  | 'flagged'
  | 'revoked_ancestor'
  | 'no_value'

/**
 * The frontier: kept, of this epoch, confirmed (or deterministic), not flagged, without a revoked ancestor.
 * A pruned ancestor does not matter. `nodes` must hold all kept experiments, in any order.
 */
export function frontierOf<N extends FrontierNode>(
  nodes: readonly N[],
  rules: FrontierRules,
): (N & Candidate)[] {
  const eligible = nodes.filter((node) => whyNot(node, rules) === null)
  const kept = new Map<number, number>()
  const count = (key: number) => kept.set(key, (kept.get(key) ?? 0) + 1)
  for (const { parentKey, otherKeys = NONE } of eligible) {
    if (parentKey !== null) count(parentKey)
    for (const key of otherKeys) count(key)
  }
  const sign = rules.direction === 'maximize' ? 1 : -1
  // There may be many: each becomes a candidate in place.
  for (const node of eligible) {
    node.score = sign * (node.value ?? Number.NaN)
    node.keptChildren = kept.get(node.key) ?? 0
  }
  return eligible as (N & Candidate)[]
}

const NONE: readonly number[] = []

/** Why an experiment may not become a parent; null when it may. */
export function whyNot(
  node: FrontierNode,
  { epoch, deterministic }: Pick<FrontierRules, 'epoch' | 'deterministic'>,
): Ineligible | null {
  if (node.status !== 'kept') return 'not_kept'
  if (node.value === null || !Number.isFinite(node.value)) return 'no_value'
  if (node.epoch !== epoch) return 'other_epoch'
  if (node.tainted) return 'revoked_ancestor'
  if (node.flagged) return 'flagged'
  return deterministic || node.confirmed || node.parent === null ? null : 'unconfirmed'
}
