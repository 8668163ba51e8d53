/** Which kept experiments are in no other one, so that merging them may add up their gains. Pure. */
import { bestAmong, orderKey } from '../ledger/best.ts'
import { betterBy } from '../ledger/same-value.ts'
import {
  attemptsUsed,
  BASELINE,
  type Experiment,
  hasArtifacts,
  isTried,
  lastJudged,
  lastKept,
  lineageOf,
  nodeValue,
  type State,
  tainted,
} from '../ledger/state.ts'
import type { Mergeable, MergePlan } from './merge.ts'

/** How often one experiment alone is tried on top of a merge. What was refused together with one experiment alone is a clash. */
export const TRIES_ALONE = 2

/** Why an experiment cannot be merged, as the end of a sentence about it; null when it can. */
export function whyNotMerged(state: State, node: Experiment, bad = tainted(state)): string | null {
  const { id, status, flagged, created, epoch } = node
  const judged = lastJudged(node)
  if (id === BASELINE) return 'is the baseline, which all others contain'
  if (status !== 'kept') return `is ${status}, not kept`
  if (flagged !== null) return `is in doubt: ${flagged}`
  if (bad.has(id)) return 'is built on an experiment that was revoked'
  if (epoch !== state.epoch) return `was measured in epoch ${epoch}, and this is epoch ${state.epoch}`
  if (nodeValue(node) === null) return 'has no value'
  if (state.noise.mode !== 'deterministic' && !judged?.confirmed) return 'is not confirmed'
  if (created.arm) return 'is of the baseline arm, which knows nothing of the search'
  if (hasArtifacts(node)) return 'has artifacts, which cannot be merged'
  return null
}

/**
 * The experiments that may be merged and are in no other one, best first. Of an experiment and the smaller diff that an
 * attribution found in it, only the smaller diff; of those with the same files, the first. `wanted`: only of these, and of what was merged of them alone.
 */
export function unmerged(state: State, wanted: readonly string[] | null = null): Experiment[] {
  const bad = tainted(state)
  const parts = new Set((wanted ?? []).flatMap((id) => mergedIn(state, id)))
  const all = [...state.experiments.values()].filter(
    (node) =>
      whyNotMerged(state, node, bad) === null &&
      (wanted === null ||
        wanted.includes(node.id) ||
        (node.created.merge && mergedIn(state, node.id).every((id) => parts.has(id)))),
  )
  const members = new Set(all.map(({ id }) => id))
  const covered = new Set(all.flatMap(({ created }) => created.reduces?.experiment ?? []))
  // Parents come first, so one pass from the end finds all that is above a member.
  for (const node of [...state.experiments.values()].reverse()) {
    if (members.has(node.id) || covered.has(node.id)) for (const parent of node.parents) covered.add(parent)
  }
  const direction = state.run?.metric.direction ?? 'minimize'
  const free = all.filter(({ id }) => !covered.has(id))
  // A higher value is not enough to be the best: pairs may have shown otherwise.
  const best = bestAmong(state, free)
  const rank = (a: Experiment, b: Experiment) =>
    Number(b === best) - Number(a === best) ||
    betterBy(direction, nodeValue(b) ?? 0, nodeValue(a) ?? 0) ||
    (orderKey(a) < orderKey(b) ? -1 : 1)
  const trees = new Set<string>()
  return free.sort(rank).filter((node) => {
    const tree = treeOf(node)
    return !trees.has(tree) && trees.add(tree)
  })
}

/** Of its candidate that was kept. */
const treeOf = (node: Experiment): string => lastKept(node)?.sealed.tree ?? node.id

/** Those of `unmerged` that an experiment does not contain. */
export function notIn(state: State, experiment: string): Experiment[] {
  const line = lineageOf(state, experiment)
  const held = new Set(line.flatMap(({ id, created }) => [id, created.reduces?.experiment ?? id]))
  const trees = new Set(line.map(treeOf))
  return unmerged(state).filter(
    (node) =>
      !held.has(node.id) &&
      !held.has(node.created.reduces?.experiment ?? node.id) &&
      !trees.has(treeOf(node)),
  )
}

/** The experiments that were put together in one by the CLI; of any other, itself. */
export function mergedIn(state: State, id: string): string[] {
  const found = new Set<string>()
  const seen = new Set<string>()
  const left = [id]
  // Iterative, and each merge once: a chain of ten thousand merges is an ordinary run.
  for (let next = left.pop(); next !== undefined; next = left.pop()) {
    const node = state.experiments.get(next)
    if (!node?.created.merge) found.add(next)
    else if (!seen.has(next)) left.push(...[...node.parents].reverse())
    seen.add(next)
  }
  return [...found]
}

/** What it is made of and built on. */
export const mergeable = (state: State, id: string): Mergeable => ({
  id,
  parts: mergedIn(state, id),
  contains: new Set(lineageOf(state, id).map((node) => node.id)),
})

/** A person or the controller ended it, other than for the machine's sake, or its attempts are used up. */
function isGivenUp(state: State, node: Experiment): boolean {
  const judged = lastJudged(node)
  if (node.status === 'discarded') return true
  if (node.status === 'running') return false
  if (judged?.reason === 'aborted') return judged.failure_class !== 'environment'
  return judged !== null && attemptsUsed(node) >= (state.knobs?.max_attempts ?? Number.POSITIVE_INFINITY)
}

/** `wanted`: as in `unmerged`. */
export function mergePlan(state: State, wanted: readonly string[] | null = null): MergePlan {
  const merges = [...state.experiments.values()].filter(
    (node) => node.created.merge && isTried(state, node) && node.epoch === state.epoch,
  )
  const refused = merges.filter(({ status }) => status === 'rejected' || status === 'failed')
  const alone = (id: string) =>
    refused.filter(({ parents }) => parents.length === 2 && parents[1] === id).length
  const [best, ...others] = unmerged(state, wanted)
  const left = others.filter(({ id }) => wanted !== null || alone(id) < TRIES_ALONE)
  const tried = [...state.experiments.values()]
    .filter(
      (node) =>
        node.created.merge && node.epoch === state.epoch && (isTried(state, node) || isGivenUp(state, node)),
    )
    .map(({ id }) => mergedIn(state, id))
  return {
    ranked: (best ? [best, ...left] : []).map(({ id }) => mergeable(state, id)),
    tried,
    clashes: [
      ...state.conflicts.map(({ experiments }) => experiments),
      // A duplicate of what was kept shows that the two go together.
      ...refused
        .filter((node) => lastJudged(node)?.reason !== 'duplicate')
        .map(({ id }) => mergedIn(state, id))
        .filter((set) => set.length === 2),
    ],
  }
}

export interface Conflict {
  experiments: [string, string]
  /** The paths. */
  files: string[]
}

/** Two that conflict as text, are both in no other one, and that no agent was asked to combine: the better one first. */
export function combinable(state: State): Conflict[] {
  const order = unmerged(state).map(({ id }) => id)
  const asked = [...state.experiments.values()].filter(({ created }) => created.parents && !created.merge)
  return state.conflicts.flatMap(({ experiments, files }) => {
    const [first, second, ...more] = order.filter((id) =>
      experiments.some((one) => mergedIn(state, id).includes(one)),
    )
    if (first === undefined || second === undefined || more.length > 0 || experiments.length !== 2) return []
    const done = asked.some(({ parents }) => parents.includes(first) && parents.includes(second))
    return done ? [] : [{ experiments: [first, second], files }]
  })
}
