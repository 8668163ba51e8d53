import type { Reason } from '../../ledger/events.ts'
import { type Experiment, failureClassOf, lastJudged } from '../../ledger/state.ts'
import { likeness, SAME_SHAPE, type Shape, shapeOf } from '../../search/similar.ts'

/** Hypotheses of one kind that were tried, and did not hold. */
export interface Avoided {
  /** The latest of them. */
  hypothesis: string
  times: number
  /** Latest last, at most five. */
  experiments: string[]
  reason: Reason | 'discarded' | null
  why: string
}

/** Older ones are left out: comparing texts costs their number squared. */
const WINDOW = 1_000
const MOST_NAMED = 5

/**
 * What not to try again: hypotheses whose experiment was rejected, discarded or revoked, grouped by likeness; the ones
 * that were tried most often first. Failures that say nothing about the idea (build, evaluation, environment) are not
 * among them. Pure.
 */
export function avoided(experiments: readonly Experiment[]): Avoided[] {
  const groups: { shape: Shape; members: Experiment[] }[] = []
  const byText = new Map<string, { shape: Shape; members: Experiment[] }>()
  for (const node of experiments.filter(speaksAgainst).slice(-WINDOW)) {
    const shape = shapeOf(node.hypothesis)
    const text = [...shape].sort().join(' ')
    const group = byText.get(text) ?? groups.find((other) => likeness(other.shape, shape) >= SAME_SHAPE)
    if (group) group.members.push(node)
    else groups.push({ shape, members: [node] })
    byText.set(text, group ?? groups[groups.length - 1] ?? { shape, members: [node] })
  }
  // The latest first among equals: what is fresh is repeated most easily.
  return groups
    .map(({ members }) => describe(members))
    .reverse()
    .sort((a, b) => b.times - a.times)
}

function speaksAgainst(node: Experiment): boolean {
  if (node.parent === null) return false
  if (node.status === 'revoked') return true
  if (node.status !== 'rejected' && node.status !== 'discarded') return false
  return (failureClassOf(node) ?? 'hypothesis') === 'hypothesis'
}

function describe(members: readonly Experiment[]): Avoided {
  const last = members[members.length - 1]
  const judged = last && lastJudged(last)
  return {
    hypothesis: last?.hypothesis ?? '',
    times: members.length,
    experiments: members.slice(-MOST_NAMED).map(({ id }) => id),
    reason: judged?.reason ?? (last?.status === 'discarded' ? 'discarded' : null),
    why: last?.why ?? judged?.message ?? '',
  }
}
