/** `discard`: an experiment is given up. Its record and its candidates stay. */
import type { FailureClass, Status } from '../ledger/events.ts'
import { refusal } from '../ledger/ledger.ts'
import { ok, type Result } from '../result.ts'
import type { OpenRun } from '../run/open.ts'
import { nodeFor } from './seal.ts'

export interface DiscardAnswer {
  experiment: string
  status: Status
  repeated?: true
}

export function discard(
  run: OpenRun,
  experiment: string,
  { why, failureClass }: { why: string; failureClass: FailureClass | null },
): Result<DiscardAnswer> {
  const node = nodeFor(run, experiment)
  if (!node.ok) return node
  if (node.value.status === 'discarded') return ok({ experiment, status: 'discarded', repeated: true })
  const proposal = run.ledger.propose<'discarded'>(
    { type: 'discarded', experiment, why: why.slice(0, 1000), failure_class: failureClass },
    run.clock(),
  )
  if (!proposal.ok) return proposal
  return proposal.value.accepted
    ? ok({ experiment, status: node.value.status })
    : refusal(proposal.value.because)
}
