import type { Observed, Pattern } from './observed.ts'

/** Something that went wrong in an experiment: a failed gate, or a task that scored zero. */
interface Signal {
  kind: 'gates' | 'tasks'
  name: string
  /** Indexes of the experiments, ascending. */
  seen: number[]
}

/** The commonest signals are compared in pairs, so the cost is bounded by their number squared. */
const MOST_SIGNALS = 32
const MOST_OF_A_KIND = 5
const AT_LEAST = 2

/**
 * Gate failures and zero tasks that occur at least twice, and which of them occur together. Signals that failed in
 * exactly the same experiments are told as one.
 */
export function together(experiments: readonly Observed[]): Pattern[] {
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
