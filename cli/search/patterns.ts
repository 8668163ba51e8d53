import { axisWarnings } from './axis.ts'
import type { Observed, Pattern } from './observed.ts'
import { figure } from './policy.ts'
import { together } from './together.ts'

/** Only so many of the latest experiments are looked at: old habits say little, and the cost stays bounded. */
const WINDOW = 2_000
const MOST_OF_A_KIND = 5
const MOST_NAMED = 12

/**
 * Patterns for the next briefs, at most five of a kind: gates and zero tasks that fail, alone and together; the
 * changes that improved most on their parents; and warnings that an axis is exhausted. Pure; the same list gives
 * the same patterns.
 */
export function patternsOf(experiments: readonly Observed[]): Pattern[] {
  const recent = experiments.slice(-WINDOW)
  return [...axisWarnings(recent), ...together(recent), ...improvers(recent)].map((pattern) => ({
    ...pattern,
    experiments: pattern.experiments.slice(-MOST_NAMED),
  }))
}

function improvers(experiments: readonly Observed[]): Pattern[] {
  const values = new Map(experiments.map(({ id, value }) => [id, value]))
  const gains = experiments.flatMap(({ id, parent, status, reason, value, hypothesis }) => {
    const before = parent === null ? null : (values.get(parent) ?? null)
    // Kept as improved means better in the metric's direction, so the size of the change is the gain.
    if (status !== 'kept' || reason !== 'improved' || value === null || before === null) return []
    const gain = before === 0 ? Math.abs(value) : Math.abs((value - before) / before)
    return [{ id, before, value, gain, relative: before !== 0, hypothesis }]
  })
  return gains
    .sort((a, b) => Number(b.relative) - Number(a.relative) || b.gain - a.gain)
    .slice(0, MOST_OF_A_KIND)
    .map(({ id, before, value, gain, relative, hypothesis }) => ({
      kind: 'improver',
      experiments: [id],
      message: `${id} improved ${figure(before)} → ${figure(value)}${relative ? ` (${figure(Number((gain * 100).toPrecision(3)))}%)` : ''}: ${short(hypothesis)}`,
    }))
}

/** A hypothesis within a message; the whole text is on the experiment. */
const short = (text: string): string => {
  const line = text.replace(/\s+/gu, ' ').trim()
  return line.length > 160 ? `${line.slice(0, 159)}…` : line
}
