import { answered } from '../ledger/answered.ts'
import type { Noted } from '../ledger/events.ts'
import type { Result } from '../result.ts'
import type { OpenRun } from './open.ts'

export interface NoteData {
  at: string
  kind: Noted['kind']
  experiment: string | null
  text: string
}

const data = ({ at, kind, experiment, text }: Noted): NoteData => ({ at, kind, experiment, text })

/** What the next rounds are told: a learning among the learnings, the rest among the notes. */
export function note(
  run: OpenRun,
  { text, kind, key }: { text: string; kind: Noted['kind']; key: string | null },
): Result<NoteData & { repeated?: true }> {
  const recorded = run.ledger.record<'noted'>(
    { type: 'noted', kind, experiment: null, text: text.slice(0, 2000) },
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
  const found = run.ledger.state.notes.filter((one) => kind === null || one.kind === kind)
  return { notes: found.slice(-limit).map(data), truncated: found.length > limit }
}
