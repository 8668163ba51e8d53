/** Which gates an experiment must pass: those of the spec, and those that `gate add` gave to it or to an ancestor. */
import type { GateRule } from '../ledger/events.ts'
import { addedGates } from '../ledger/state.ts'
import type { RunRecord } from '../run/open.ts'

/** Includes gates that were added to the experiment itself. */
export function gatesOn(run: Pick<RunRecord, 'spec' | 'ledger'>, experiment: string): GateRule[] {
  return [...run.spec.gates, ...addedGates(run.ledger.state, experiment)]
}

export interface BindingGate extends GateRule {
  /** `spec`, or the experiment that it was added to. */
  from: string
}

/** The same gates, each with its origin. */
export function gatesWithOrigin(run: Pick<RunRecord, 'spec' | 'ledger'>, experiment: string): BindingGate[] {
  return [
    ...run.spec.gates.map((gate) => ({ ...gate, from: 'spec' })),
    ...addedGates(run.ledger.state, experiment),
  ]
}
