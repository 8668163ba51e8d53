/** What the scanners of a round read. Pure. */
import type { Knobs, Pick } from '../ledger/events.ts'
import { BASELINE, type Experiment, type State } from '../ledger/state.ts'

/**
 * What was judged since the last turn began, newest last, in bounded batches. When it is too much, what was kept stays:
 * the next rounds start from there. Places that are left in the last batch go to the parents of the round, which cost
 * nothing more there.
 */
export function scanBatches(state: State, knobs: Knobs, parents: readonly Pick[]): string[][] {
  const { scan_batch: size, scan_max: most } = knobs
  const since = state.rounds.at(-2)?.openedSeq ?? 0
  const judged = [...state.experiments.values()].filter(
    (node) => node.id !== BASELINE && (node.judgedSeq ?? -1) >= since,
  )
  const chosen = new Set(
    [...judged]
      .reverse()
      .sort((a, b) => Number(isKept(b)) - Number(isKept(a)))
      .slice(0, most),
  )
  const read = judged.filter((node) => chosen.has(node)).map(({ id }) => id)
  const places = Math.min(most, Math.ceil(read.length / size) * size) - read.length
  const beside = parents
    .map(({ experiment }) => experiment)
    .filter((id) => id !== BASELINE && !read.includes(id))
    .slice(0, places)
  const all = [...beside, ...read]
  const batches: string[][] = []
  for (let i = 0; i < all.length; i += size) batches.push(all.slice(i, i + size))
  return batches
}

const isKept = (node: Experiment): boolean => node.status === 'kept'
