/**
 * Files of one JSON object a line that many processes append to at once. Nobody ever truncates: a tail without a
 * newline is often another's write in flight. One `O_APPEND` write a line, then `fdatasync`, then it counts.
 */
import { closeSync, constants, fdatasyncSync, fstatSync, openSync, readSync, writeSync } from 'node:fs'
import { fail, ok, type Result } from '../result.ts'

export const MAX_LINE = 64 * 1024

/** Bytes of a line that its writer never finished. */
export interface Torn {
  offset: number
  bytes: number
}

/**
 * Appends `text` as one line, durably. When the file ends in an unfinished line, a newline goes before ours in the
 * same write, and `healed` makes the line that names the unfinished bytes, so that readers may skip exactly them.
 */
export function appendLine(file: string, text: string, healed: (torn: Torn) => string): Result<void> {
  if (Buffer.byteLength(text) + 1 > MAX_LINE)
    throw new Error(`a line of ${text.length} characters is over the limit`)
  let fd: number
  try {
    fd = openSync(file, constants.O_APPEND | constants.O_RDWR | constants.O_CREAT, 0o644)
  } catch (error) {
    return unwritable(file, error)
  }
  try {
    const torn = unfinishedTail(fd)
    const line = Buffer.from(torn ? `\n${healed(torn)}\n${text}\n` : `${text}\n`)
    const written = writeSync(fd, line)
    // A short write is an error and is never continued: the rest would land behind another's line.
    if (written !== line.length)
      return unwritable(file, new Error(`wrote ${written} of ${line.length} bytes`))
    fdatasyncSync(fd)
    return ok(undefined)
  } catch (error) {
    return unwritable(file, error)
  } finally {
    closeSync(fd)
  }
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

function unwritable(file: string, error: unknown): { ok: false; problem: import('../result.ts').Problem } {
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

/** A line as read: parsed, or not. */
export interface Line {
  offset: number
  /** Without the newline. */
  bytes: number
  /** From 1, counted from where reading began. */
  number: number
  value: Record<string, unknown> | null
}

/** The complete lines of `buffer`, which begins at `offset` of its file; `rest` is where the unfinished tail begins. */
export function splitLines(buffer: Buffer, offset: number): { lines: Line[]; rest: number } {
  const lines: Line[] = []
  let start = 0
  for (let end = buffer.indexOf(10); end !== -1; end = buffer.indexOf(10, start)) {
    const text = buffer.toString('utf8', start, end).trimEnd()
    const number = lines.length + 1
    // An empty line is what a writer leaves that took a write in flight for an unfinished one.
    lines.push({ offset: offset + start, bytes: end - start, number, value: text === '' ? {} : parse(text) })
    start = end + 1
  }
  return { lines, rest: offset + start }
}

function parse(text: string): Record<string, unknown> | null {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? (value as Record<string, unknown>)
      : null
  } catch {
    return null
  }
}

/** The bytes of `file` from `offset` to its end; empty when it does not exist. */
export function readFrom(file: string, offset: number): Buffer {
  let fd: number
  try {
    fd = openSync(file, constants.O_RDONLY)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return Buffer.alloc(0)
    throw error
  }
  try {
    const { size } = fstatSync(fd)
    const buffer = Buffer.alloc(Math.max(0, size - offset))
    let read = 0
    while (read < buffer.length) {
      const n = readSync(fd, buffer, read, buffer.length - read, offset + read)
      if (n === 0) break
      read += n
    }
    return buffer.subarray(0, read)
  } finally {
    closeSync(fd)
  }
}
