/** What agents and people object to: that the benchmark, a gate or the spec is wrong. A person reads it; the CLI never acts on it. */
import type { State } from '../ledger/state.ts'

export interface RaisedObjection {
  at: string
  /** The role of the agent; null = a person, or an agent by `assay note`. */
  role: string | null
  /** The experiment that shows it. */
  experiment: string | null
  text: string
}

/** In the order in which they were raised; the same sentence once. */
export function objectionsOf(state: State): RaisedObjection[] {
  const raised = state.objections.flatMap((event): RaisedObjection[] => {
    const { at, experiment } = event
    if (event.type === 'noted') return [{ at, role: null, experiment, text: event.text }]
    const text = typeof event.answer?.objection === 'string' ? event.answer.objection.trim() : ''
    return text === '' ? [] : [{ at, role: roleOf(event.task), experiment, text }]
  })
  const seen = new Set<string>()
  return raised
    .sort((a, b) => (a.at < b.at ? -1 : a.at > b.at ? 1 : 0))
    .filter(({ text }) => !seen.has(text) && seen.add(text))
}

/** `r7/l1/d1/revise.2` → `revise`. */
export const roleOf = (task: string): string => /([a-z]+)(?:\.\d+)?$/.exec(task)?.[1] ?? task
