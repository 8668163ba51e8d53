import type { FailureClass, Reason, Status } from '../ledger/events.ts'

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
}

/** What the record says beyond single verdicts. `experiments` names at most 12 of those concerned, latest last. */
export interface Pattern {
  kind: 'gates' | 'tasks' | 'improver' | 'axis_warning'
  experiments: string[]
  message: string
}
