/** A ledger line by line, whatever is in it: where `Ledger.open` stops at the first error, this continues. */
import { readFileSync } from 'node:fs'
import { splitLines } from '../ledger/append.ts'
import { type Event, FORMAT } from '../ledger/events.ts'
import { fold } from '../ledger/fold.ts'
import { isKnownEvent } from '../ledger/ledger.ts'
import { emptyState, type State } from '../ledger/state.ts'

export interface BadLine {
  /** From 1. */
  line: number
  /** Its first bytes, everything but printable ASCII escaped. */
  bytes: string
}

export interface ScannedLedger {
  /** null when there is no file; a message when it cannot be read. */
  bytes: Buffer | null
  unreadable: string | null
  corrupt: BadLine[]
  /** Of the first line whose format this Assay does not read. */
  newer: { line: number; v: string } | null
  /** The first line that is a JSON object and no event. */
  unfoldable: (BadLine & { message: string }) | null
  /** The first event about something that no counting line before it made; no race leaves one behind. */
  groundless: (BadLine & { message: string }) | null
  /** Lines that end in CR LF. */
  crlf: number
  /** Bytes after the last newline. */
  tail: number
  state: State
}

const SHOWN = 160

/** Why the fold refuses what no writer proposes: it looked for the experiment and the seal before, and they never go. */
const GROUNDLESS = ['not_started', 'unknown_experiment', 'no_seal']

export function scanLedger(file: string): ScannedLedger {
  const scanned: ScannedLedger = {
    bytes: null,
    unreadable: null,
    corrupt: [],
    newer: null,
    unfoldable: null,
    groundless: null,
    crlf: 0,
    tail: 0,
    state: emptyState(),
  }
  let bytes: Buffer
  try {
    bytes = readFileSync(file)
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    if (code !== 'ENOENT') scanned.unreadable = message
    return scanned
  }
  scanned.bytes = bytes
  scanned.tail = bytes.length - (bytes.lastIndexOf(10) + 1)
  let start = 0
  for (const [index, { end, value }] of splitLines(bytes, 0).entries()) {
    const raw = bytes.subarray(start, end - 1)
    start = end
    if (raw.at(-1) === 13) scanned.crlf++
    look(scanned, index + 1, raw, value)
  }
  return scanned
}

function look(
  scanned: ScannedLedger,
  line: number,
  raw: Buffer,
  value: Record<string, unknown> | null,
): void {
  if (value === null) {
    scanned.corrupt.push({ line, bytes: escapeBytes(raw) })
    return
  }
  if (Object.keys(value).length === 0) return
  if (Number(String(value.v).split('.')[0]) !== FORMAT.major) {
    scanned.newer ??= { line, v: String(value.v) }
    return
  }
  if (!isKnownEvent(String(value.type))) return
  try {
    const outcome = fold(scanned.state, value as unknown as Event)
    if (outcome.accepted || !GROUNDLESS.includes(outcome.because.code)) return
    scanned.groundless ??= { line, bytes: escapeBytes(raw), message: outcome.because.message }
  } catch (error) {
    scanned.unfoldable ??= { line, bytes: escapeBytes(raw), message: (error as Error).message }
  }
}

function escapeBytes(raw: Buffer): string {
  const shown = raw.subarray(0, SHOWN)
  let text = ''
  for (const byte of shown)
    text +=
      byte >= 0x20 && byte < 0x7f ? String.fromCharCode(byte) : `\\x${byte.toString(16).padStart(2, '0')}`
  return raw.length > SHOWN ? `${text}… (${raw.length} bytes)` : text
}

/** Whether every reader can go through the whole file. */
export const isWhole = (ledger: ScannedLedger): boolean =>
  ledger.bytes !== null && ledger.corrupt.length === 0 && ledger.newer === null && ledger.unfoldable === null
