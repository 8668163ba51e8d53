/** The claim on one attempt: it charges the budget, and the fold says who has it. */
import { identify } from '../process.ts'
import { ok, type Result } from '../result.ts'
import type { OpenRun } from '../run/open.ts'
import { drawNonce } from './chance.ts'

/** `takesOver` is the claim of a process that is proved dead: its chance goes on. */
export function claimAttempt(
  run: OpenRun,
  experiment: string,
  attempt: number,
  { takesOver, key = null }: { takesOver?: string; key?: string | null },
): Result<void> {
  const owner = identify()
  if (!owner) throw new Error('this system does not tell when a process started (no /proc, no ps)')
  const recorded = run.ledger.record<'started'>(
    {
      type: 'started',
      experiment,
      attempt,
      owner,
      ...(takesOver === undefined ? { nonce: drawNonce(run) } : { takes_over: takesOver }),
    },
    run.clock(),
    key,
  )
  return recorded.ok ? ok(undefined) : recorded
}
