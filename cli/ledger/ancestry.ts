/** What stands above an experiment, and what falls with it. Pure. */
import { ANSWERS } from './events.ts'
import { attemptsUsed, BASELINE, type Experiment, lastJudged, type State } from './state.ts'

/** Ids of experiments with a revoked one among their ancestors or themselves; one pass, parents come first. */
export function tainted(state: State): Set<string> {
  const found = new Set<string>()
  for (const node of state.experiments.values()) {
    if (node.status === 'revoked' || (node.parent !== null && found.has(node.parent))) found.add(node.id)
  }
  return found
}

/**
 * Rejected or failed for something that can be mended, with attempts left, and built on nothing that was revoked. What
 * somebody stopped from outside is not taken up again by itself.
 */
export function repairable(state: State): Experiment[] {
  const bad = tainted(state)
  const limit = state.knobs?.max_attempts ?? 0
  return [...state.experiments.values()].filter((node) => {
    if (node.status !== 'rejected' && node.status !== 'failed') return false
    const judged = lastJudged(node)
    const answered = judged?.reason != null && ANSWERS.includes(judged.reason)
    return !answered && judged?.aborted === undefined && attemptsUsed(node) < limit && !bad.has(node.id)
  })
}

export interface Undermined {
  code: 'parent_revoked'
  /** Names the nearest ancestor that was revoked, and why. */
  message: string
  /** How to go on from what still stands. */
  hint: string
}

/** Why nothing more is to be paid for an experiment: what it is built on was revoked. null when all of that stands. */
export function undermined(
  state: State,
  { id, parent }: Pick<Experiment, 'id' | 'parent'>,
): Undermined | null {
  if (state.counts.revoked === 0) return null
  let nearest: Experiment | null = null
  /** Nothing below the uppermost revoked one can be a parent. */
  let sound = BASELINE
  let found = false
  for (let node = nodeOf(state, parent); node; node = nodeOf(state, node.parent)) {
    if (node.status === 'revoked') {
      nearest ??= node
      found = false
    } else if (nearest && !found && node.status === 'kept' && !node.flagged && node.epoch === state.epoch) {
      sound = node.id
      found = true
    }
  }
  return (
    nearest && {
      code: 'parent_revoked',
      message: `${id} is built on ${nearest.id}, which was revoked: ${nearest.why ?? 'no reason was given'}`,
      hint: `begin again from what stands: assay new --parent ${sound} -m TEXT; the change itself: assay diff ${id}`,
    }
  )
}

const nodeOf = (state: State, id: string | null): Experiment | undefined =>
  id === null ? undefined : state.experiments.get(id)
