/** The run's experiments as the search sees them, and the parents that its policy picks. */

import { orderKey } from '../ledger/best.ts'
import type { Judged, Pick } from '../ledger/events.ts'
import { type Experiment, lastJudged, type State, tainted } from '../ledger/state.ts'
import { ok, type Result } from '../result.ts'
import { liveSpec, type OpenRun } from '../run/open.ts'
import { frontierOf } from '../search/frontier.ts'
import { resolvePolicy } from '../search/policies.ts'
import type { Candidate } from '../search/policy.ts'
import { rngOf } from '../search/random.ts'

export function candidatesOf(state: State): Candidate[] {
  const metric = state.run?.metric
  if (!metric) return []
  const bad = tainted(state)
  const all = [...state.experiments.values()].filter(({ created }) => created.arm === undefined)
  return frontierOf(
    // What the baseline arm found is no parent: the two could not be compared any more.
    all.map((node) => ({
      id: node.id,
      parent: node.parent,
      status: node.status,
      value: node.value,
      tasks: taskScores(lastJudged(node), metric.direction === 'maximize' ? 1 : -1),
      tainted: bad.has(node.id),
      epoch: node.epoch,
      confirmed: isConfirmed(node),
      flagged: node.flagged !== null,
      order: orderKey(node),
    })),
    { direction: metric.direction, epoch: state.epoch, deterministic: state.noise.mode === 'deterministic' },
  )
}

function isConfirmed(node: Experiment): boolean {
  return lastJudged(node)?.confirmed ?? false
}

/** Higher is better, like `score`. */
function taskScores(judged: Judged | null, sign: number): Record<string, number> | null {
  if (!judged?.tasks) return null
  return Object.fromEntries(Object.entries(judged.tasks).map(([task, score]) => [task, sign * score]))
}

export interface Frontier {
  policy: string
  seed: number
  picks: Pick[]
}

/** Chance comes from hash(seed, round): the same ledger picks the same parents. */
export function pickParents(
  run: OpenRun,
  options: { policy?: string | null; k?: number; seed?: number; round: number },
): Result<Frontier> {
  const { state } = run.ledger
  const candidates = candidatesOf(state)
  const policy = resolvePolicy(options.policy ?? state.knobs?.policy ?? 'auto', candidates)
  if (!policy.ok) return policy
  const seed = options.seed ?? run.started.seed
  const k = options.k ?? state.knobs?.k ?? 1
  const picks = policy.value.pick(candidates, k, rngOf(seed, options.round), liveSpec(run).search.params)
  return ok({ policy: policy.value.name, seed, picks })
}
