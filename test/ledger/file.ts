/** Ledger files whose bytes a test chooses. The events are notes, since every state accepts one. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Ledger } from '../../cli/ledger/ledger.ts'
import { makeTemp } from '../rig/temp.ts'
import { noted, stamped } from './drafts.ts'

/** A ledger file with exactly these bytes. */
export function fileOf(...parts: string[]): string {
  const file = join(makeTemp('ledger'), 'ledger.jsonl')
  writeFileSync(file, parts.join(''))
  return file
}

/** A whole line with its newline: a note with that text. */
export const lineOf = (text: string, more: Record<string, unknown> = {}): string =>
  `${JSON.stringify({ ...stamped(noted(text), text), ...more })}\n`

export function opened(file: string): Ledger {
  const ledger = Ledger.open(file)
  if (!ledger.ok) throw new Error(`${ledger.problem.code}: ${ledger.problem.message}`)
  return ledger.value
}

/** Appends a note, which must be acknowledged. */
export function write(ledger: Ledger, text: string): void {
  const wrote = ledger.propose<'noted'>(noted(text), new Date(0))
  if (!wrote.ok || !wrote.value.accepted) throw new Error(`not written: ${JSON.stringify(wrote)}`)
}

/** The notes that count, in order. */
export const texts = (ledger: Ledger): string[] => Array.from(ledger.state.notes, (note) => note.text)
