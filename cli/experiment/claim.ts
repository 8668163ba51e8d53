/** The claim on one attempt: it charges the budget, and the fold says who has it. */
import { refusal } from '../ledger/ledger.ts'
import { identify } from '../process.ts'
import { ok, type Result } from '../result.ts'
import type { OpenRun } from '../run/open.ts'

/** `takesOver` is the claim of a process that is proved dead. */
export function claimAttempt(
  run: OpenRun,
  experiment: string,
  attempt: number,
  takesOver: string | null,
): Result<void> {
  const owner = identify()
  if (!owner) throw new Error('this system does not tell when a process started (no /proc, no ps)')
  const proposal = run.ledger.propose<'started'>(
    { type: 'started', experiment, attempt, owner, ...(takesOver === null ? {} : { takes_over: takesOver }) },
    run.clock(),
  )
  if (!proposal.ok) return proposal
  return proposal.value.accepted ? ok(undefined) : refusal(proposal.value.because)
}
