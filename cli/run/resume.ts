import type { OpenRun } from './open.ts'

/** Lifts a person's stop: whoever starts the loop again wants it to run. */
export function resumeLoop(run: OpenRun): void {
  if (run.ledger.state.stopped === null) return
  run.ledger.propose<'resumed'>({ type: 'resumed', why: 'the loop was started again' }, run.clock())
}
