/** The run's experiments as the search sees them, and the parents that its policy picks. */

import { orderKey } from '../ledger/best.ts'
import type { Pick } from '../ledger/events.ts'
import { lastJudged, type Selected, type State, select, tainted } from '../ledger/state.ts'
import { ok, type Result } from '../result.ts'
import type { OpenRun } from '../run/open.ts'
import { byScore, type Candidate, type FrontierNode, frontierOf } from '../search/frontier.ts'
import { policyNamed, policyOfRun } from '../search/policies.ts'

export function candidatesOf(state: State): Candidate[] {
  const metric = state.run?.metric
  if (!metric) return []
  const kept = select(state, ({ status }) => status === 'kept')
  const deterministic = state.noise.mode === 'deterministic'
  return frontierOf(nodesOf(state, kept), { direction: metric.direction, epoch: state.epoch, deterministic })
}

/** As the search sees them. There may be many of them, of which few are read. */
function nodesOf(state: State, kept: Selected): SearchNode[] {
  const [keys, parents, values] = [kept.numbers('key'), kept.numbers('parent'), kept.numbers('value')]
  const tries = kept.numbers('tries')
  // In the first epoch there is no other one.
  const epochs = state.epoch === 1 ? null : kept.numbers('epoch')
  // Few runs have any of these.
  const rare = select(state, ({ status, special, flagged }) => status === 'kept' && (special || flagged))
  const special = rare.length === 0 ? null : kept.numbers('special')
  const flagged = rare.length === 0 ? null : kept.numbers('flagged')
  const bad = new Set(Array.from(tainted(state), (id) => kept.keyOf(id)))
  const nodeAt = (at: number): SearchNode => {
    const node = new SearchNode(kept, at, keys[at] as number, parents[at] as number, values[at] as number)
    node.children = tries[at] as number
    if (epochs !== null) node.epoch = epochs[at] as number
    if (flagged !== null) node.flagged = flagged[at] !== 0
    if (bad.size > 0) node.tainted = bad.has(node.key)
    if (special !== null && special[at] !== 0) node.otherKeys = otherParents(kept, at)
    return node
  }
  // What the baseline arm found is no parent: the two could not be compared any more.
  const isOfSearch = (at: number) =>
    special === null || special[at] === 0 || kept.at(at).created.arm === undefined
  return Array.from(keys.keys()).filter(isOfSearch).map(nodeAt)
}

const otherParents = (kept: Selected, at: number): number[] =>
  kept
    .at(at)
    .parents.slice(1)
    .map((id) => kept.keyOf(id))

const NONE: readonly number[] = []

class SearchNode implements FrontierNode {
  readonly #kept: Selected
  readonly #at: number
  readonly key: number
  readonly parentKey: number
  readonly value: number
  readonly status = 'kept'
  otherKeys = NONE
  epoch = 1
  children = 0
  flagged = false
  tainted = false
  score = Number.NaN
  keptChildren = 0

  constructor(kept: Selected, at: number, key: number, parentKey: number, value: number) {
    this.#kept = kept
    this.#at = at
    this.key = key
    this.parentKey = parentKey
    this.value = value
  }

  get id(): string {
    return this.#kept.at(this.#at).id
  }
  get parent(): string | null {
    return this.#kept.at(this.#at).parent
  }
  get confirmed(): boolean {
    return lastJudged(this.#kept.at(this.#at))?.confirmed ?? false
  }
  get order(): string {
    return orderKey(this.#kept.at(this.#at))
  }
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
  options: { policy?: string | null; k?: number | null; candidates?: readonly Candidate[] } = {},
): Result<Frontier> {
  const { state } = run.ledger
  const policy = options.policy ? policyNamed(options.policy) : ok(policyOfRun(state.knobs?.policy ?? 'auto'))
  if (!policy.ok) return policy
  const { candidates = candidatesOf(state) } = options
  const k = options.k ?? state.knobs?.k ?? 1
  const pinned = pinnedOf(state, candidates)
  const first = pinned.slice(0, k).map(
    ({ id, value }, at): Pick => ({
      experiment: id,
      value,
      rank: at + 1,
      why: pinnedBecause(state, id),
    }),
  )
  const isPinned = new Set(pinned.map(({ id }) => id))
  // Picked among all, so that the reasons are true.
  const rest = policy.value
    .pick(candidates, k + pinned.length)
    .filter(({ experiment }) => !isPinned.has(experiment))
    .slice(0, k - first.length)
    .map((pick, at) => ({ ...pick, rank: first.length + at + 1 }))
  return ok({ policy: policy.value.name, picks: [...first, ...rest], eligible: candidates.length })
}

/** Those of the candidates that a person pinned, the best first. */
export function pinnedOf({ pins }: State, candidates: readonly Candidate[]): Candidate[] {
  if (pins.length === 0) return []
  const ids = new Set(pins.map(({ experiment }) => experiment))
  return candidates.filter(({ id }) => ids.has(id)).sort(byScore)
}

function pinnedBecause({ pins }: State, id: string): string {
  const why = pins.find(({ experiment }) => experiment === id)?.why ?? ''
  return `pinned by a person: ${why}`
}
