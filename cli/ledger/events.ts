/**
 * The on-disk contract: every event of `ledger.jsonl`, every line of an attempt's `steps.jsonl`, and the nouns
 * that they persist. Nothing here imports anything of ours, so every layer may use these types.
 *
 * Fields are snake_case because they are data that other programs read. A value that is not known is null, never 0.
 */
import type * as attempt from './attempt-events.ts'
import type * as loop from './loop-events.ts'
import type * as run from './run-events.ts'

export * from './attempt-events.ts'
export * from './edits.ts'
export * from './envelope.ts'
export * from './loop-events.ts'
export * from './nouns.ts'
export * from './run-events.ts'

export type Event =
  | run.RunStarted
  | run.Configured
  | run.EpochOpened
  | run.Noted
  | run.Healed
  | run.Isolated
  | attempt.Created
  | attempt.Sealed
  | attempt.Started
  | attempt.Judged
  | attempt.Confirmed
  | attempt.Audited
  | attempt.Discarded
  | attempt.Pruned
  | attempt.Restored
  | attempt.GateAdded
  | attempt.GateRemoved
  | attempt.Annotated
  | loop.RoundOpened
  | loop.RoundBriefed
  | loop.RoundClosed
  | loop.Proposed
  | loop.Leased
  | loop.Drove
  | loop.Entrusted
  | loop.UsageRecorded
  | loop.Stopped
  | loop.Paused
  | loop.Resumed
  | loop.Steered
  | loop.SteeringDelivered
  | loop.Alerted
  | loop.MetaTicked
  | loop.Adjusted

export type EventType = Event['type']
/** What a writer supplies; the ledger adds the envelope. */
export type Draft = Event extends infer E ? (E extends Event ? Omit<E, 'v' | 'id' | 'at'> : never) : never
