import type { Observed, Pattern } from './observed.ts'
import { figure } from './policy.ts'
import { distinctShapes } from './similar.ts'

/** Warnings say that more of the same is not worth paying for: the next brief should turn another way. */

/** How many of the latest scored experiments may form a plateau. */
const LATEST = 12
/** Scores within this share of the larger one are "about one score". */
const ABOUT = 0.005
const ENOUGH = 3
const MOST_PARENTS = 3

export function axisWarnings(experiments: readonly Observed[]): Pattern[] {
  return [...plateau(experiments), ...deadEnds(experiments)]
}

/**
 * Three structurally distinct hypotheses among the latest ended at about one score, and none of the later
 * experiments was kept with another score. Failed experiments have no score and never count, nor does one that the
 * machine spoilt.
 */
export function plateau(experiments: readonly Observed[]): Pattern[] {
  const scored = experiments
    .filter(({ parent, status, failure_class: place }) => {
      return parent !== null && (status === 'kept' || (status === 'rejected' && place !== 'environment'))
    })
    .flatMap((each) => (each.value === null ? [] : [{ ...each, value: each.value }]))
    .slice(-LATEST)
  let best: typeof scored = []
  for (const { value } of scored) {
    const near = scored.filter((other) => about(value, other.value))
    const last = near.at(-1)
    const left =
      last !== undefined && scored.slice(scored.indexOf(last) + 1).some(({ status }) => status === 'kept')
    const distinct = distinctShapes(near, ({ hypothesis }) => hypothesis)
    if (!left && distinct.length >= ENOUGH && distinct.length > best.length) best = distinct
  }
  const [first] = best
  if (first === undefined) return []
  return [
    {
      kind: 'axis_warning',
      experiments: best.map(({ id }) => id),
      message: `${best.length} structurally different hypotheses ended at about ${figure(first.value)}: what they have in common does not move the metric; try another axis`,
    },
  ]
}

const about = (a: number, b: number): boolean => Math.abs(a - b) <= ABOUT * Math.max(Math.abs(a), Math.abs(b))

/**
 * Three hypotheses in a row around one parent were discarded or rejected as ideas. Build, eval and environment
 * failures neither count nor break the row; a kept child does.
 */
export function deadEnds(experiments: readonly Observed[]): Pattern[] {
  const rows = new Map<string, { ids: string[]; last: number }>()
  for (const [at, { id, parent, status, failure_class }] of experiments.entries()) {
    if (parent === null) continue
    if (status === 'kept') rows.delete(parent)
    else if ((status === 'discarded' || status === 'rejected') && failure_class === 'hypothesis')
      rows.set(parent, { ids: [...(rows.get(parent)?.ids ?? []), id].slice(-50), last: at })
  }
  return [...rows]
    .filter(([, { ids }]) => ids.length >= ENOUGH)
    .sort(([, a], [, b]) => b.last - a.last)
    .slice(0, MOST_PARENTS)
    .map(([parent, { ids }]) => ({
      kind: 'axis_warning',
      experiments: ids,
      message: `${ids.length}${ids.length === 50 ? ' or more' : ''} hypotheses in a row failed on ${parent}: take another parent, or another axis`,
    }))
}
