/**
 * Files of one JSON object a line that many processes append to at once. No process ever truncates: a tail without a
 * newline is often another's write in flight. One `O_APPEND` write a line, then `fdatasync`, then it counts.
 */
import { closeSync, constants, fdatasyncSync, fstatSync, openSync, readSync, writeSync } from 'node:fs'
import { objectIn } from '../json.ts'
import { redact } from '../redact.ts'
import { fail, ok, type Problem, type Result } from '../result.ts'

export const MAX_LINE = 64 * 1024

/**
 * Ends a line that its writer never finished (ASCII "cancel"). JSON never has it raw, so the line says by itself that
 * it does not count: also when the write that put it there was cut short in turn.
 */
const CANCEL = '\u0018'

/** Bytes of a line that its writer never finished. */
export interface Torn {
  offset: number
  bytes: number
}

/**
 * Appends `json` as one line, durably, without the secrets in it. When the file ends in an unfinished line, that one is cancelled in the same
 * write, and `healed` makes the line that tells so. If it was another's write in flight, it has landed whole before
 * ours, and what is cancelled is an empty line.
 */
export function appendLine(file: string, json: string, healed: (torn: Torn) => string): Result<void> {
  const text = redact(json)
  if (Buffer.byteLength(text) + 1 > MAX_LINE) return tooLong(text)
  const written = write(file, `${text}\n`, healed)
  return written.ok ? ok(undefined) : written
}

/**
 * Ends an unfinished line as the next writer would, without a line of its own behind it: answers what was cancelled,
 * null when the file ends whole. The file must exist.
 */
export const endUnfinished = (file: string, healed: (torn: Torn) => string): Result<Torn | null> =>
  write(file, '', healed)

function write(file: string, text: string, healed: (torn: Torn) => string): Result<Torn | null> {
  let fd: number
  try {
    const creates = text === '' ? 0 : constants.O_CREAT
    fd = openSync(file, constants.O_APPEND | constants.O_RDWR | creates, 0o644)
  } catch (error) {
    return unwritable(file, error)
  }
  try {
    const torn = unfinishedTail(fd)
    if (torn === null && text === '') return ok(null)
    const line = Buffer.from(torn ? `${CANCEL}\n${healed(torn)}\n${text}` : text)
    const written = writeSync(fd, line)
    // A short write is an error and is never continued: the rest would land behind another's line.
    if (written !== line.length)
      return unwritable(file, new Error(`wrote ${written} of ${line.length} bytes`))
    fdatasyncSync(fd)
    return ok(torn)
  } catch (error) {
    return unwritable(file, error)
  } finally {
    closeSync(fd)
  }
}

function tooLong(text: string): { ok: false; problem: Problem } {
  return fail({
    kind: 'usage',
    code: 'too_long',
    message: `a record of ${Buffer.byteLength(text)} bytes is over the limit of ${MAX_LINE}; nothing was written`,
    hint: 'shorten the text, or split it over several calls',
  })
}

function unfinishedTail(fd: number): Torn | null {
  const { size } = fstatSync(fd)
  if (size === 0) return null
  const end = Buffer.alloc(Math.min(size, MAX_LINE))
  readSync(fd, end, 0, end.length, size - end.length)
  const newline = end.lastIndexOf(10)
  if (newline === end.length - 1) return null
  const bytes = end.length - 1 - newline
  return { offset: size - bytes, bytes }
}

function unwritable(file: string, error: unknown): { ok: false; problem: Problem } {
  const message = error instanceof Error ? error.message : String(error)
  const full = /ENOSPC|EDQUOT|wrote \d+ of/.test(message)
  return fail({
    kind: 'failed',
    code: full ? 'disk_full' : 'not_written',
    message: `could not append to the record: ${message}`,
    hint: full ? 'free some disk space, then run the same command again' : 'check the permissions of .assay',
    at: file,
  })
}

/** A line as read. */
export interface LedgerLine {
  /** Where the next line begins. */
  end: number
  /** `{}` when nothing is in it or it was cancelled, null when it cannot be read. */
  value: Record<string, unknown> | null
}

/** The complete lines of `buffer`, which begins at `offset` of its file; an unfinished tail is left out. */
export function splitLines(buffer: Buffer, offset: number): LedgerLine[] {
  const lines: LedgerLine[] = []
  let start = 0
  for (let end = buffer.indexOf(10); end !== -1; end = buffer.indexOf(10, start)) {
    const text = buffer.toString('utf8', start, end).trimEnd()
    start = end + 1
    const counts = text !== '' && !text.endsWith(CANCEL)
    lines.push({ end: offset + start, value: counts ? parse(text) : {} })
  }
  return lines
}

/** How every line begins. Inside a line it cannot stand in a text, where quotes are escaped. */
const START = '{"v":"'

/** A writer that dies in the middle may come between another's look at the tail and its write: then two share a line. */
function parse(text: string): Record<string, unknown> | null {
  for (let at = 0; at !== -1; at = text.indexOf(START, at + 1)) {
    const value = objectIn(text.slice(at))
    if (value) return value
  }
  return null
}

/** The bytes of `file` from `offset` to its end; empty when it does not exist. */
export function readFrom(file: string, offset: number): Result<Buffer> {
  let fd: number | null = null
  try {
    fd = openSync(file, constants.O_RDONLY)
    const { size } = fstatSync(fd)
    const buffer = Buffer.alloc(Math.max(0, size - offset))
    let read = 0
    while (read < buffer.length) {
      const n = readSync(fd, buffer, read, buffer.length - read, offset + read)
      if (n === 0) break
      read += n
    }
    return ok(buffer.subarray(0, read))
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return ok(Buffer.alloc(0))
    return fail({
      kind: 'failed',
      code: 'not_read',
      message: `could not read the record: ${error instanceof Error ? error.message : String(error)}`,
      hint: 'check the permissions of .assay',
      at: file,
    })
  } finally {
    if (fd !== null) closeSync(fd)
  }
}
