/** What `run` answers: the verdict on the last attempt, as data. */
import type { FailureClass, GatePhase, Judged, JudgedStatus, Reason } from '../ledger/events.ts'
import { bestOf, type Experiment, lastJudged, type State } from '../ledger/state.ts'

export interface RunAnswer {
  experiment: string
  attempt: number
  status: JudgedStatus
  /** null for the baseline. */
  reason: Reason | null
  failure_class: FailureClass | null
  value: number | null
  parent_value: number | null
  improvement: number | null
  improvement_abs: number | null
  interval: [number, number] | null
  samples: number
  against: string | null
  /** Whether it is the best of the run as of this answer. */
  best: boolean
  gates: { name: string; phase: GatePhase; passed: boolean }[]
  message: string
  repeated?: true
}

export function runAnswer(state: State, node: Experiment, repeated = false): RunAnswer | null {
  const judged = lastJudged(node)
  return (
    judged && {
      ...fromEvent(judged, bestOf(state)?.id === node.id),
      ...(repeated ? { repeated: true as const } : {}),
    }
  )
}

function fromEvent(judged: Judged, best: boolean): RunAnswer {
  return {
    experiment: judged.experiment,
    attempt: judged.attempt,
    status: judged.status,
    reason: judged.reason,
    failure_class: judged.failure_class,
    value: judged.value,
    parent_value: judged.parent_value,
    improvement: judged.improvement,
    improvement_abs: judged.improvement_abs,
    interval: judged.interval,
    samples: judged.samples,
    against: judged.against,
    best,
    gates: judged.gates,
    message: judged.message,
  }
}
