/** What a person says to a run: instructions for its agents, notes for its rounds, and whether the loop continues. */

import type { Noted } from '../ledger/events.ts'
import { answered } from '../ledger/ledger.ts'
import type { State, Steer } from '../ledger/state.ts'
import { call, next } from '../next.ts'
import { fail, ok, type Result } from '../result.ts'
import type { OpenRun } from './open.ts'

/** Of one instruction, in characters. */
const LONGEST = 2000

/** Instructs the next round's briefs, or the next agent call of the experiment. Calls with the same key count once. */
export function steer(
  run: OpenRun,
  { experiment, text, key }: { experiment: string | null; text: string; key: string | null },
): Result<Steer & { repeated?: true }> {
  const status = experiment === null ? null : run.ledger.state.experiments.get(experiment)?.status
  if (status === 'discarded' || status === 'pruned' || status === 'revoked') {
    return fail({
      kind: 'refused',
      code: `is_${status}`,
      message: `${experiment} is ${status}, so no agent will work on it`,
      hint: next`to instruct the next round, leave out the experiment: ${call('steer', 'TEXT')}`,
    })
  }
  const recorded = run.ledger.record<'steered'>(
    { type: 'steered', experiment, text: text.slice(0, LONGEST) },
    run.clock(),
    key,
  )
  return answered(recorded, (event) => {
    const said = run.ledger.state.steers.find(({ id }) => id === event.id)
    if (!said) throw new Error('a word that was accepted is not there')
    return said
  })
}

/** The instructions that wait for this experiment; with null, for the next round. */
export const waitingSteers = ({ steers }: State, experiment: string | null): Steer[] =>
  steers.filter((one) => one.delivered === null && one.experiment === experiment)

/** Called after the agent that got the instructions has answered: a call that was cut short is repeated with its instructions. */
export function recordDelivery(
  run: OpenRun,
  { steers, role, experiment }: { steers: readonly Steer[]; role: string; experiment: string },
): void {
  run.ledger.propose<'steering_delivered'>(
    { type: 'steering_delivered', steering: steers.map(({ id }) => id), role, experiment },
    run.clock(),
  )
}

export interface NoteData {
  at: string
  kind: Noted['kind']
  experiment: string | null
  text: string
}

const data = ({ at, kind, experiment, text }: Noted): NoteData => ({ at, kind, experiment, text })

/**
 * A note for the next rounds: they read a learning among the learnings, other kinds among the notes. An objection is for
 * people only.
 */
export function note(
  run: OpenRun,
  {
    text,
    kind,
    experiment,
    key,
  }: { text: string; kind: Noted['kind']; experiment: string | null; key: string | null },
): Result<NoteData & { repeated?: true }> {
  const recorded = run.ledger.record<'noted'>(
    { type: 'noted', kind, experiment, text: text.slice(0, 2000) },
    run.clock(),
    key,
  )
  return answered(recorded, data)
}

/** The newest `limit` notes, in order. */
export function listNotes(
  run: OpenRun,
  kind: Noted['kind'] | null,
  limit: number,
): { notes: NoteData[]; truncated: boolean } {
  const found = [...run.ledger.state.notes].filter((one) => kind === null || one.kind === kind)
  return { notes: found.slice(-limit).map(data), truncated: found.length > limit }
}

// ----------------------------------------------------------------
// What a person does to the loop as a whole: pause it, stop it, resume it. The ledger keeps it, so it
// outlives a crash.

export interface HoldData {
  state: 'going' | 'paused' | 'stopped'
  why: string | null
  /** The loop was in this state before. */
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

/** Lifts a pause, and also a stop if the loop has not ended because of it yet. */
export function continueLoop(run: OpenRun, why: string): Result<HoldData> {
  const { paused, stopped } = run.ledger.state
  if (paused === null && stopped === null) return ok({ state: 'going', why: null, repeated: true })
  const recorded = run.ledger.record<'resumed'>({ type: 'resumed', why: why.slice(0, 1000) }, run.clock())
  return recorded.ok ? ok({ state: 'going', why: recorded.value.event.why }) : recorded
}

/** A sentence that a person should read. Agents do not get it. */
export function recordAlert(
  run: OpenRun,
  alert: { role: string; experiment: string | null; paths: readonly string[]; text: string },
): void {
  const { role, experiment, paths, text } = alert
  // If it cannot be written, the next command that must write reports why.
  run.ledger.propose<'alerted'>(
    { type: 'alerted', role, experiment, paths: paths.slice(0, 20), text: text.slice(0, 1000) },
    run.clock(),
  )
}
