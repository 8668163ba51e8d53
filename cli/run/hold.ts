/** What a person does to the loop as a whole: hold it, end it, let it go on. The ledger keeps it, so it outlives a crash. */
import { ok, type Result } from '../result.ts'
import type { OpenRun } from './open.ts'

export interface HoldData {
  state: 'going' | 'paused' | 'stopped'
  why: string | null
  /** It was so before. */
  repeated?: true
}

export function pauseLoop(run: OpenRun, why: string): Result<HoldData> {
  return change(run, 'paused', why)
}

export function stopLoop(run: OpenRun, why: string): Result<HoldData> {
  return change(run, 'stopped', why)
}

function change(run: OpenRun, type: 'paused' | 'stopped', why: string): Result<HoldData> {
  const { state } = run.ledger
  if (state[type] !== null) return ok({ state: type, why: state[type], repeated: true })
  const recorded = run.ledger.record<'paused' | 'stopped'>({ type, why: why.slice(0, 1000) }, run.clock())
  return recorded.ok ? ok({ state: type, why: recorded.value.event.why }) : recorded
}

/** Lifts a pause; a stop too, when the loop has not ended over it yet. */
export function continueLoop(run: OpenRun, why: string): Result<HoldData> {
  const { paused, stopped } = run.ledger.state
  if (paused === null && stopped === null) return ok({ state: 'going', why: null, repeated: true })
  const recorded = run.ledger.record<'resumed'>({ type: 'resumed', why: why.slice(0, 1000) }, run.clock())
  return recorded.ok ? ok({ state: 'going', why: recorded.value.event.why }) : recorded
}
