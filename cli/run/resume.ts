import type { OpenRun } from './open.ts'
import { IDENTICAL_FAILURES, stopReason } from './stop.ts'

/**
 * Lifts the stops that nothing but a new start can lift: a person's, a row of identical failures, a round for which
 * nobody had an idea. Whoever starts the loop again has mended the cause, or wants it to be tried once more.
 */
export function resumeLoop(run: OpenRun): void {
  const { state } = run.ledger
  const stop = stopReason(state)
  const row = stop === 'failures' && (state.streak?.count ?? 0) >= IDENTICAL_FAILURES
  if (stop !== 'user' && stop !== 'no_hypothesis' && !row) return
  run.ledger.propose<'resumed'>({ type: 'resumed', why: 'the loop was started again' }, run.clock())
}
