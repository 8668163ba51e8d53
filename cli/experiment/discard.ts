/** `discard`: an experiment is given up. Its record and its candidates stay. */

import type { FailureClass, Status } from '../ledger/events.ts'
import { answered } from '../ledger/ledger.ts'
import { BASELINE } from '../ledger/state.ts'
import { fail, ok, type Result } from '../result.ts'
import type { OpenRun } from '../run/open.ts'
import { nodeFor } from './seal.ts'
import { neverBaseline } from './settle.ts'

export interface DiscardAnswer {
  experiment: string
  status: Status
  repeated?: true
}

export function discard(
  run: OpenRun,
  experiment: string,
  { why, failureClass, key }: { why: string; failureClass: FailureClass | null; key: string | null },
): Result<DiscardAnswer> {
  const node = nodeFor(run, experiment)
  if (!node.ok) return node
  if (experiment === BASELINE) return fail(neverBaseline('discarded'))
  if (node.value.status === 'discarded') return ok({ experiment, status: 'discarded', repeated: true })
  const recorded = run.ledger.record<'discarded'>(
    { type: 'discarded', experiment, why: why.slice(0, 1000), failure_class: failureClass },
    run.clock(),
    key,
  )
  return answered(recorded, (event) => ({
    experiment: event.experiment,
    status: run.ledger.state.experiments.get(event.experiment)?.status ?? node.value.status,
  }))
}
