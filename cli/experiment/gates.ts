/** The gates that bind an experiment: the spec's, and those that were added on its way from the baseline. */
import type { GateRule } from '../ledger/events.ts'
import { addedGates, pathTo } from '../ledger/state.ts'
import type { OpenRun } from '../run/open.ts'

/** Its own ones too: a gate binds the experiment that it was added to. */
export function gatesOn(run: OpenRun, experiment: string): GateRule[] {
  return [...run.spec.gates, ...addedGates(run.ledger.state, experiment)]
}

export interface BindingGate extends GateRule {
  /** `spec`, or the experiment that it was added to. */
  from: string
}

/** The same, with where each comes from. */
export function gatesWithOrigin(run: OpenRun, experiment: string): BindingGate[] {
  const added = new Map<string, BindingGate>()
  for (const node of pathTo(run.ledger.state, experiment)) {
    for (const gate of node.gates) added.set(gate.name, { ...gate, from: node.id })
    for (const name of node.droppedGates) added.delete(name)
  }
  return [...run.spec.gates.map((gate) => ({ ...gate, from: 'spec' })), ...added.values()]
}
