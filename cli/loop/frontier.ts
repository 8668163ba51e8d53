/** The run's experiments as the search sees them, and the parents that its policy picks. */

import { orderKey } from '../ledger/best.ts'
import type { Pick } from '../ledger/events.ts'
import { type Experiment, lastJudged, type State, tainted, withTraits } from '../ledger/state.ts'
import { ok, type Result } from '../result.ts'
import type { OpenRun } from '../run/open.ts'
import { type Candidate, frontierOf } from '../search/frontier.ts'
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
    kept.map((node) => ({
      id: node.id,
      parent: node.parent,
      others: node.parents.slice(1),
      children: node.tries,
      status: node.status,
      value: node.value,
      tainted: bad.has(node.id),
      epoch: node.epoch,
      confirmed: isConfirmed(node),
      flagged: node.flagged !== null,
      // Asked for among equals only.
      get order() {
        return orderKey(node)
      },
    })),
    { direction: metric.direction, epoch: state.epoch, deterministic: state.noise.mode === 'deterministic' },
  )
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
