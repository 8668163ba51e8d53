/** The run's experiments as the search sees them, and the parents that its policy picks. */

import { orderKey } from '../ledger/best.ts'
import type { Pick } from '../ledger/events.ts'
import { type Experiment, lastJudged, type State, tainted, withTraits } from '../ledger/state.ts'
import { ok, type Result } from '../result.ts'
import type { OpenRun } from '../run/open.ts'
import { type Candidate, type FrontierNode, frontierOf } from '../search/frontier.ts'
import { policyNamed, policyOfRun } from '../search/policies.ts'

export function candidatesOf(state: State): Candidate[] {
  const metric = state.run?.metric
  if (!metric) return []
  const bad = tainted(state)
  const kept = withTraits(state, ({ status }) => status === 'kept').filter(
    // What the baseline arm found is no parent: the two could not be compared any more.
    ({ created }) => created.arm === undefined,
  )
  return frontierOf(
    kept.map((node) => new SearchNode(node, bad.has(node.id))),
    { direction: metric.direction, epoch: state.epoch, deterministic: state.noise.mode === 'deterministic' },
  )
}

/** Asks an experiment what the search asks: few are asked for their order. */
class SearchNode implements FrontierNode {
  readonly #node: Experiment
  readonly id: string
  readonly parent: string | null
  readonly tainted: boolean

  constructor(node: Experiment, tainted: boolean) {
    this.#node = node
    this.id = node.id
    this.parent = node.parent
    this.tainted = tainted
  }

  get others(): readonly string[] {
    return this.#node.parents.slice(1)
  }
  get children(): number {
    return this.#node.tries
  }
  get status(): FrontierNode['status'] {
    return this.#node.status
  }
  get value(): number | null {
    return this.#node.value
  }
  get epoch(): number {
    return this.#node.epoch
  }
  get confirmed(): boolean {
    return isConfirmed(this.#node)
  }
  get flagged(): boolean {
    return this.#node.flagged !== null
  }
  get order(): string {
    return orderKey(this.#node)
  }
}

function isConfirmed(node: Experiment): boolean {
  return lastJudged(node)?.confirmed ?? false
}

export interface Frontier {
  policy: string
  picks: Pick[]
  /** How many experiments may become parents. */
  eligible: number
}

/** The same ledger picks the same parents. `policy` and `k`: null = as the knobs say. */
export function pickParents(
  run: OpenRun,
  options: { policy?: string | null; k?: number | null } = {},
): Result<Frontier> {
  const { state } = run.ledger
  const policy = options.policy ? policyNamed(options.policy) : ok(policyOfRun(state.knobs?.policy ?? 'auto'))
  if (!policy.ok) return policy
  const candidates = candidatesOf(state)
  const picks = policy.value.pick(candidates, options.k ?? state.knobs?.k ?? 1)
  return ok({ policy: policy.value.name, picks, eligible: candidates.length })
}
