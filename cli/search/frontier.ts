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

/** What decides whether an experiment may become a parent, and what a policy then reads. */
export interface FrontierNode {
  id: string
  parent: string | null
  /** Of a merge: the others that it contains. Absent = none. */
  others?: readonly string[]
  /** How many experiments have it as a parent, whatever became of them. */
  children: number
  status: Status
  value: number | null
  epoch: number
  confirmed: boolean
  /** It or one of its ancestors is revoked (`tainted` of the state). */
  tainted: boolean
  /** An audit's opinion that is not answered yet. */
  flagged: boolean
  /** See `Candidate.order`. */
  order: string
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
export function frontierOf(nodes: readonly FrontierNode[], rules: FrontierRules): Candidate[] {
  const verdicts = eligibility(nodes, rules)
  const above = ({ parent, others = [] }: FrontierNode) => (parent === null ? [] : [parent, ...others])
  const kept = new Map<string, number>()
  for (const node of nodes)
    if (!verdicts.has(node.id)) for (const id of above(node)) kept.set(id, (kept.get(id) ?? 0) + 1)
  const sign = rules.direction === 'maximize' ? 1 : -1
  const candidates: Candidate[] = []
  for (const node of nodes) {
    const { id, parent, children, value } = node
    if (verdicts.has(id) || value === null) continue
    const known = { id, parent, value, score: sign * value, children, keptChildren: kept.get(id) ?? 0 }
    candidates.push(new Eligible(node, known))
  }
  return candidates
}

/** Its order is asked for among equals only, and takes longer than the rest. */
class Eligible implements Candidate {
  readonly #node: FrontierNode
  readonly id: string
  readonly parent: string | null
  readonly value: number
  readonly score: number
  readonly children: number
  readonly keptChildren: number

  constructor(node: FrontierNode, known: Omit<Candidate, 'order'>) {
    this.#node = node
    this.id = known.id
    this.parent = known.parent
    this.value = known.value
    this.score = known.score
    this.children = known.children
    this.keptChildren = known.keptChildren
  }

  get order(): string {
    return this.#node.order
  }
}

/** Why an experiment may not become a parent; those that may are absent. */
export function eligibility(
  nodes: readonly FrontierNode[],
  rules: Pick<FrontierRules, 'epoch' | 'deterministic'>,
): Map<string, Ineligible> {
  const verdicts = new Map<string, Ineligible>()
  for (const node of nodes) {
    const why = verdict(node)
    if (why !== null) verdicts.set(node.id, why)
  }
  return verdicts

  function verdict(node: FrontierNode): Ineligible | null {
    if (node.status !== 'kept') return 'not_kept'
    if (node.value === null || !Number.isFinite(node.value)) return 'no_value'
    if (node.epoch !== rules.epoch) return 'other_epoch'
    if (node.tainted) return 'revoked_ancestor'
    if (node.flagged) return 'flagged'
    return rules.deterministic || node.confirmed || node.parent === null ? null : 'unconfirmed'
  }
}
