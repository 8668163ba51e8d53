/** Which experiment stands best, and the order among equals. Pure. */

import type { Judged } from './events.ts'
import { betterBy, isSameValue } from './same-value.ts'
import {
  type Experiment,
  lastJudged,
  nodeValue,
  type State,
  select,
  type Traits,
  tainted,
  withTraits,
} from './state.ts'

/**
 * The best of each state that was asked for, by its id, so that a run is not searched again for each round; absent = to be
 * searched. It follows from the state, so it is no part of it.
 */
const known = new WeakMap<State, string | null>()

/** The best value that stands; a pruned node still counts, ties go to the earlier. null before the baseline. */
export function bestOf(state: State): Experiment | null {
  const id = known.get(state)
  if (id !== undefined) return id === null ? null : (state.experiments.get(id) ?? null)
  const best = bestAmong(state, withTraits(state, mayStand))
  known.set(state, best?.id ?? null)
  return best
}

/** The best of a state that was not folded from its beginning. */
export const knowBest = (state: State, id: string | null): void => void known.set(state, id)

/** What of an experiment decides whether it is the best. Two that are equal give the same answer. */
const claimOf = (state: State, node: Experiment): string =>
  stands(state, node, tainted(state)) ? `${node.value} ${node.lostTo} ${isHeldOut(state, node)}` : ''

/**
 * To be called around each change of one experiment; answers what to call after it. A new contender is compared with the best that
 * is known. If an experiment that stood changes, the run is searched again when its best is asked for.
 */
export function watchBest(state: State, id: string): () => void {
  const node = state.experiments.get(id)
  const before = node ? claimOf(state, node) : ''
  return () => {
    const after = state.experiments.get(id)
    const now = after ? claimOf(state, after) : ''
    const best = known.get(state)
    if (now === before || best === undefined) return
    const other = best === null ? undefined : state.experiments.get(best)
    // What had lost to the new one is no contender any more.
    if (before !== '' || !after || !other || other.lostTo === id) return forgetBest(state)
    if (isContender(state, after) && beats(state, after, other)) known.set(state, id)
  }
}

/** Several experiments have changed at once: the next question searches the run again. */
export const forgetBest = (state: State): void => void known.delete(state)

function isStanding(state: State, id: string): boolean {
  const node = state.experiments.get(id)
  return node !== undefined && stands(state, node, tainted(state))
}

/** The same of these nodes alone: as if the run had no others. */
export const bestAmong = (state: State, nodes: readonly Experiment[]): Experiment | null =>
  contendersAmong(state, nodes).reduce<Experiment | null>(
    (best, node) => (best === null || beats(state, node, best) ? node : best),
    null,
  )

/**
 * Those that became the best when they were judged, in that order, of what may still be the best; the baseline first and
 * `bestOf` last.
 */
export function bestsInOrder(state: State): Experiment[] {
  const may = select(state, mayStand)
  const [values, parents, seqs] = [may.numbers('value'), may.numbers('parent'), may.numbers('judgedSeq')]
  // A node of an earlier epoch that was measured again keeps the place of its verdict, before the new baseline's.
  const places = Array.from(values.keys()).sort((a, b) => placeOf(a) - placeOf(b))
  function placeOf(at: number): number {
    return parents[at] === -1 ? -1 : Math.max(0, seqs[at] as number)
  }
  const direction = state.run?.metric.direction ?? 'minimize'
  const bests: Experiment[] = []
  for (const at of places) {
    const best = bests.at(-1)
    const value = values[at] as number
    // Most are behind the best of their time, and there may be many: these are not read.
    if (Number.isNaN(value) || (best && betterBy(direction, value, nodeValue(best) ?? value) < 0)) continue
    const node = may.at(at)
    if (!isContender(state, node) || (best !== undefined && !beats(state, node, best))) continue
    // Of equals only one is the best.
    if (best !== undefined && isSameValue(nodeValue(node), nodeValue(best))) bests.pop()
    bests.push(node)
  }
  return bests
}

/** Whether it may be the best: it stands, has a value, and lost to none that stands. */
const isContender = (state: State, node: Experiment): boolean =>
  stands(state, node, tainted(state)) &&
  nodeValue(node) !== null &&
  isHeldOut(state, node) &&
  !(node.lostTo && isStanding(state, node.lostTo))

/** Of these nodes, those that may be the best: they stand, have a value, and lost to none of the others that stands. */
function contendersAmong(state: State, nodes: readonly Experiment[]): Experiment[] {
  const bad = tainted(state)
  const standing = nodes.filter((node) => stands(state, node, bad))
  let ids: ReadonlySet<string> | null = null
  const isIn = (id: string): boolean => {
    ids ??= new Set(standing.map((node) => node.id))
    return ids.has(id)
  }
  return standing.filter((node) => {
    if (nodeValue(node) === null || !isHeldOut(state, node)) return false
    const { lostTo } = node
    return lostTo === null || lostTo === '' || !isIn(lostTo)
  })
}

/** Whether a contender is ahead of another one; of equals the earlier is. */
function beats(state: State, node: Experiment, other: Experiment): boolean {
  const [value, than] = [nodeValue(node), nodeValue(other)]
  if (value === null || than === null) return than === null && value !== null
  const lead = betterBy(state.run?.metric.direction ?? 'minimize', value, than)
  return lead > 0 || (lead === 0 && orderKey(node) < orderKey(other))
}

/** With held-out data, only what was measured there may be the best; the baseline is what it is measured against. */
const isHeldOut = ({ run }: State, node: Experiment): boolean =>
  !run?.holdout || node.parent === null || lastJudged(node)?.held_out === true

const mayStand = ({ status }: Traits): boolean => status === 'kept' || status === 'pruned'

const stands = (state: State, node: Experiment, bad: ReadonlySet<string>): boolean =>
  (node.status === 'kept' || node.status === 'pruned') &&
  node.flagged === null &&
  node.epoch === state.epoch &&
  !(bad.size > 0 && bad.has(node.id))

/**
 * Where a node stands among equals: by round, lane and depth, which do not depend on timing, then by id.
 * Lanes run side by side, so ids alone would make two runs of one seed differ.
 */
export function orderKey(node: Experiment): string {
  const { round, lane, depth } = node.created
  return [round ?? 0, lane ?? 0, depth ?? 0, Number(node.id.slice(4))]
    .map((n) => String(n).padStart(8, '0'))
    .join('.')
}

// ---------------------------------------------------------------- candidates that behave alike
// Candidates that behave alike: different code, but the same score on every task.

type Scores = NonNullable<Judged['tasks']>

/** One task alone says no more than its value does. */
const FEWEST = 2

/**
 * The earliest other experiment of this epoch with these very scores; null when there is none. It is looked for when a
 * verdict is made, and not kept by the fold: every command would pay for that, and almost no two vectors share a score.
 */
export function sameScores(state: State, experiment: string, scores: Scores | null): string | null {
  const entries = Object.entries(scores ?? {})
  if (entries.length < FEWEST) return null
  for (const node of state.experiments.values()) {
    if (node.id === experiment) continue
    for (const { claim, judged } of node.attempts) {
      if (!judged?.tasks || judged.status === 'failed' || claim?.epoch !== state.epoch) continue
      const { tasks } = judged
      if (entries.every(([task, score]) => tasks[task] === score) && entries.length === count(tasks))
        return node.id
    }
  }
  return null
}

const count = (scores: Scores): number => Object.keys(scores).length
