/** What `run` answers: the verdict on the last attempt, as data. */

import { bestOf } from '../ledger/best.ts'
import type { Judged } from '../ledger/events.ts'
import { type Experiment, lastingDoubt, lastJudged, type State } from '../ledger/state.ts'

/** In the order in which they are shown. */
const FIELDS = [
  'experiment',
  'attempt',
  'status',
  'reason',
  'failure_class',
  'value',
  'parent_value',
  'improvement',
  'improvement_abs',
  'interval',
  'samples',
  'against',
  'gates',
  'message',
] as const satisfies readonly (keyof Judged)[]

export type RunAnswer = Pick<Judged, (typeof FIELDS)[number]> & {
  /** Whether it is the best of the run as of this answer. */
  best: boolean
  /** Why a kept experiment may not become a parent yet; null = nothing speaks against it. */
  doubt: string | null
  /** The part of `doubt` that only a person can remove. */
  lasting_doubt: string | null
  /** Why the verdict no longer stands; absent when the experiment was not revoked. */
  revoked?: string
  repeated?: true
}

export function runAnswer(state: State, node: Experiment, repeated = false): RunAnswer | null {
  const judged = lastJudged(node)
  return (
    judged && {
      ...fromEvent(judged, bestOf(state)?.id === node.id),
      doubt: node.status === 'kept' ? node.flagged : null,
      lasting_doubt: node.status === 'kept' ? lastingDoubt(node) : null,
      ...(node.status === 'revoked' ? { revoked: node.why ?? 'no reason was given' } : {}),
      ...(repeated ? { repeated: true as const } : {}),
    }
  )
}

function fromEvent(judged: Judged, best: boolean): Omit<RunAnswer, 'doubt' | 'lasting_doubt'> {
  const shown = Object.fromEntries(FIELDS.map((field) => [field, judged[field]]))
  return { ...(shown as Pick<Judged, (typeof FIELDS)[number]>), best }
}
