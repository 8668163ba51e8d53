import type { FailureClass, Reason, Status } from '../ledger/events.ts'
import { sixDigits } from './policies.ts'
import { distinctShapes } from './similar.ts'

/** An experiment as patterns read it, in the order of the run. */
export interface Observed {
  id: string
  parent: string | null
  status: Status
  reason: Reason | null
  failure_class: FailureClass | null
  value: number | null
  hypothesis: string
  gates: readonly { name: string; passed: boolean }[]
  tasks: Readonly<Record<string, number>> | null
  /** Equal for experiments that failed in the same way; null when it did not fail. */
  signature: string | null
  /** Of its verdict. */
  message: string
}

/** What the record says beyond single verdicts. `experiments` names at most 12 of those concerned, latest last. */
export interface Pattern {
  kind: 'gates' | 'tasks' | 'errors' | 'improver' | 'axis_warning'
  experiments: string[]
  message: string
}

/** Warnings say that more of the same is not worth paying for: the next brief should take a different direction. */

/** How many of the latest scored experiments may form a plateau. */
const LATEST = 12
/** Scores within this share of the larger one are "about one score". */
const ABOUT = 0.005
const ENOUGH = 3
const MOST_PARENTS = 3

function axisWarnings(experiments: readonly Observed[]): Pattern[] {
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
    .filter(({ value }) => value !== null)
    .slice(-LATEST)
  let best: typeof scored = []
  for (const { value } of scored) {
    const near = scored.filter((other) => about(value ?? 0, other.value ?? 0))
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
      message: `${best.length} structurally different hypotheses ended at about ${sixDigits(first.value ?? 0)}: what they have in common does not move the metric; try a new axis`,
    },
  ]
}

const about = (a: number, b: number): boolean => Math.abs(a - b) <= ABOUT * Math.max(Math.abs(a), Math.abs(b))

/**
 * Three distinct hypotheses in a row around one parent were discarded or rejected as ideas; one idea with three numbers
 * is one hypothesis. Build, eval and environment failures neither count nor break the row; a kept child does.
 */
export function deadEnds(experiments: readonly Observed[]): Pattern[] {
  const rows = new Map<string, { tried: Observed[]; last: number }>()
  const add = (parent: string, one: Observed, last: number): void => {
    const tried = rows.get(parent)?.tried ?? []
    tried.push(one)
    if (tried.length > 50) tried.shift()
    rows.set(parent, { tried, last })
  }
  for (const [at, tried] of experiments.entries()) {
    const { parent, status, failure_class } = tried
    if (parent === null) continue
    if (status === 'kept') rows.delete(parent)
    else if ((status === 'discarded' || status === 'rejected') && failure_class === 'hypothesis')
      add(parent, tried, at)
  }
  const found: Pattern[] = []
  // The newest first, so that few texts are read.
  for (const [parent, { tried }] of [...rows].sort(([, a], [, b]) => b.last - a.last)) {
    if (found.length === MOST_PARENTS) break
    if (distinctShapes(tried, ({ hypothesis }) => hypothesis, ENOUGH).length < ENOUGH) continue
    found.push({
      kind: 'axis_warning',
      experiments: tried.map(({ id }) => id),
      message: `${tried.length}${tried.length === 50 ? ' or more' : ''} hypotheses in a row failed on ${parent}: take a new parent, or a new axis`,
    })
  }
  return found
}

/** Something that went wrong in an experiment: a failed gate, or a task that scored zero. */
interface Signal {
  kind: 'gates' | 'tasks'
  name: string
  /** Indexes of the experiments, ascending. */
  seen: number[]
}

/** The commonest signals are compared in pairs, so the cost is bounded by their number squared. */
const MOST_SIGNALS = 32
const AT_LEAST = 2

/**
 * Gate failures and zero tasks that occur at least twice, and which of them occur together. Signals that failed in
 * exactly the same experiments are reported as one.
 */
function together(experiments: readonly Observed[]): Pattern[] {
  const signals = signalsOf(experiments)
  const groups = new Map<string, { signals: Set<Signal>; seen: number[] }>()
  const add = (members: readonly Signal[], seen: number[]) => {
    if (seen.length < AT_LEAST) return
    const key = seen.join(' ')
    const group = groups.get(key) ?? { signals: new Set(), seen }
    for (const member of members) group.signals.add(member)
    groups.set(key, group)
  }
  for (const [index, first] of signals.entries()) {
    add([first], first.seen)
    for (const second of signals.slice(index + 1)) add([first, second], shared(first.seen, second.seen))
  }
  const found = [...groups.values()].map(({ signals, seen }) => pattern([...signals], seen, experiments))
  found.sort((a, b) => b.count - a.count || (a.pattern.message < b.pattern.message ? -1 : 1))
  return (['gates', 'tasks'] as const).flatMap((kind) =>
    found
      .map((each) => each.pattern)
      .filter((each) => each.kind === kind)
      .slice(0, MOST_OF_A_KIND),
  )
}

function signalsOf(experiments: readonly Observed[]): Signal[] {
  const signals = new Map<string, Signal>()
  const see = (kind: Signal['kind'], name: string, at: number) => {
    const signal = signals.get(`${kind} ${name}`) ?? { kind, name, seen: [] }
    signals.set(`${kind} ${name}`, signal)
    if (signal.seen.at(-1) !== at) signal.seen.push(at)
  }
  for (const [at, { gates, tasks }] of experiments.entries()) {
    for (const { name, passed } of gates) if (!passed) see('gates', name, at)
    for (const [name, score] of Object.entries(tasks ?? {})) if (score === 0) see('tasks', name, at)
  }
  return [...signals.values()]
    .sort((a, b) => b.seen.length - a.seen.length || (a.name < b.name ? -1 : 1))
    .slice(0, MOST_SIGNALS)
}

function shared(a: readonly number[], b: readonly number[]): number[] {
  const others = new Set(b)
  return a.filter((at) => others.has(at))
}

function pattern(
  signals: readonly Signal[],
  seen: readonly number[],
  experiments: readonly Observed[],
): { pattern: Pattern; count: number } {
  const gates = signals.filter(({ kind }) => kind === 'gates').map(({ name }) => name)
  const tasks = signals.filter(({ kind }) => kind === 'tasks').map(({ name }) => name)
  const parts = [
    ...(gates.length > 0 ? [`${gates.length === 1 ? 'gate' : 'gates'} ${list(gates)} failed`] : []),
    ...(tasks.length > 0 ? [`${tasks.length === 1 ? 'task' : 'tasks'} ${list(tasks)} scored 0`] : []),
  ]
  return {
    count: seen.length,
    pattern: {
      kind: tasks.length > 0 ? 'tasks' : 'gates',
      experiments: seen.map((at) => experiments[at]?.id ?? '').filter((id) => id !== ''),
      message: `${parts.join(' and ')}${signals.length > 1 ? ' together' : ''} in ${seen.length} experiments`,
    },
  }
}

const list = (names: readonly string[]): string => {
  const shown = names.slice(0, 6).map((name) => (name.length > 60 ? `${name.slice(0, 59)}…` : name))
  return names.length > 6 ? `${shown.join(', ')} and ${names.length - 6} more` : shown.join(', ')
}

/** Only so many of the latest experiments are looked at: old habits say little, and the cost stays bounded. */
export const OBSERVED = 500
const MOST_OF_A_KIND = 5
const MOST_NAMED = 12

/** Failures with one signature in several experiments: the same error, and so perhaps one cause. The commonest first. */
function sameErrors(experiments: readonly Observed[]): Pattern[] {
  const groups = new Map<string, Observed[]>()
  for (const each of experiments) {
    if (each.signature === null || each.status === 'kept') continue
    groups.set(each.signature, [...(groups.get(each.signature) ?? []), each].slice(-OBSERVED))
  }
  return [...groups.values()]
    .filter(({ length }) => length >= AT_LEAST)
    .sort((a, b) => b.length - a.length)
    .slice(0, MOST_OF_A_KIND)
    .map((failed) => ({
      kind: 'errors',
      experiments: failed.map(({ id }) => id),
      message: `${failed.length} experiments failed with the same error: ${short(failed.at(-1)?.message ?? '')}`,
    }))
}

/**
 * Patterns for the next briefs, at most five of a kind: gates and zero tasks that fail, alone and together; errors that
 * several experiments share; the changes that improved most on their parents; and warnings that an axis is exhausted. Pure; the same list gives
 * the same patterns.
 */
export function patternsOf(experiments: readonly Observed[]): Pattern[] {
  const recent = experiments.slice(-OBSERVED)
  return [...axisWarnings(recent), ...together(recent), ...sameErrors(recent), ...improvers(recent)].map(
    (pattern) => ({
      ...pattern,
      experiments: pattern.experiments.slice(-MOST_NAMED),
    }),
  )
}

function improvers(experiments: readonly Observed[]): Pattern[] {
  const values = new Map(experiments.map(({ id, value }) => [id, value]))
  const gains = experiments.flatMap((experiment) => {
    const { parent, status, reason, value } = experiment
    const before = parent === null ? null : (values.get(parent) ?? null)
    // Kept as improved means better in the metric's direction, so the size of the change is the gain.
    if (status !== 'kept' || reason !== 'improved' || value === null || before === null) return []
    const gain = before === 0 ? Math.abs(value) : Math.abs((value - before) / before)
    return [{ experiment, before, value, gain, relative: before !== 0 }]
  })
  return gains
    .sort((a, b) => Number(b.relative) - Number(a.relative) || b.gain - a.gain)
    .slice(0, MOST_OF_A_KIND)
    .map(({ experiment: { id, hypothesis }, before, value, gain, relative }) => ({
      kind: 'improver',
      experiments: [id],
      message: `${id} improved ${sixDigits(before)} → ${sixDigits(value)}${relative ? ` (${sixDigits(Number((gain * 100).toPrecision(3)))}%)` : ''}: ${short(hypothesis)}`,
    }))
}

/** A text within a message; the whole of it is on the experiment. */
const short = (text: string): string => {
  const line = text.replace(/\s+/gu, ' ').trim()
  return line.length > 160 ? `${line.slice(0, 159)}…` : line
}
