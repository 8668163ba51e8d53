import { closeSync, fstatSync, openSync, readSync } from 'node:fs'
import type { SampleFault } from '../ledger/events.ts'
import type { Supervised } from '../process.ts'
import { redact } from '../redact.ts'
import { stripAnsi } from './lines.ts'

/** A string is a line for `/bin/sh`, a list is program and arguments without a shell. */
export type CommandLine = string | string[]

/** Puts values in place of `{name}`: quoted for the shell in a string, as they are in a list. Others stay. */
export function fillIn(command: CommandLine, values: Record<string, string>): CommandLine {
  const fill = (text: string, quote: (value: string) => string) =>
    text.replace(/\{(\w+)\}/g, (whole, name: string) =>
      Object.hasOwn(values, name) ? quote(values[name] ?? '') : whole,
    )
  return typeof command === 'string'
    ? fill(command, shellQuote)
    : command.map((word) => fill(word, (value) => value))
}

export const shellQuote = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`

const DISK_FULL = /\bENOSPC\b|\bEDQUOT\b|No space left on device|Disk quota exceeded/i
const NOT_FOUND = /not found|No such file|[Pp]ermission denied|cannot execute|Exec format error/

/**
 * Why a command did not do its job, from how it ended and the end of its stderr; null when it exited 0. A missing
 * interpreter or a full disk is the environment's fault: it says nothing about the candidate.
 */
export function faultOfEnding(ended: Supervised, limitMs: number, stderr: string): SampleFault | null {
  const last = lastLine(stderr)
  const said = last === '' ? {} : { raw: last }
  const fault = (reason: SampleFault['reason'], message: string): SampleFault => ({
    reason,
    message,
    ...said,
  })
  if (ended.startError) return fault('environment', `it could not be started: ${ended.startError.message}`)
  if (ended.cancelled) return fault('aborted', 'it was interrupted')
  if (ended.outputCut) return fault('crash', 'output limit: it printed more than it may, and was ended')
  if (ended.timedOut) return fault('timeout', `it was ended at its time limit of ${seconds(limitMs)}`)
  if (ended.code === 0) return null
  const how =
    ended.code === null ? `it was ended by ${ended.signal ?? 'an unknown signal'}` : `exit ${ended.code}`
  const message = last === '' ? `${how}, without a word on stderr` : `${how}: ${last}`
  if (DISK_FULL.test(stderr)) return fault('environment', message)
  if ((ended.code === 126 || ended.code === 127) && NOT_FOUND.test(last)) return fault('environment', message)
  if (ended.signal === 'SIGKILL') return fault('crash', `${message} (out of memory?)`)
  return fault('crash', message)
}

const seconds = (ms: number): string => `${Number((ms / 1000).toPrecision(3))} s`

// ---------------------------------------------------------------- the end of what it printed

/** The end of a text file, without terminal codes and secrets, cut between lines if it has to be cut. Empty if there is none. */
export function tailOf(path: string, bytes: number): string {
  let fd: number
  try {
    fd = openSync(path, 'r')
  } catch {
    return ''
  }
  try {
    const { size } = fstatSync(fd)
    const buffer = Buffer.alloc(Math.min(size, bytes))
    const length = readSync(fd, buffer, 0, buffer.length, size - buffer.length)
    const text = buffer.subarray(0, length).toString('utf8')
    return redact(stripAnsi(size > bytes ? fromWhole(text) : text))
  } finally {
    closeSync(fd)
  }
}

/** Without the rest of a line, or at least of a word, that began before: half a secret is none that can be recognised. */
function fromWhole(text: string): string {
  const line = text.indexOf('\n')
  return line === -1 ? text.replace(/^\S*/, '') : text.slice(line + 1)
}

/** The last line that says something: programs end their report of an error with lines about themselves. */
export function lastLine(text: string): string {
  const lines = text.split(/[\r\n]+/).filter((line) => line.trim() !== '')
  const last = lines.findLast((line) => !FOOTER.test(line)) ?? lines.at(-1) ?? ''
  const uncaught = lines.at(-1)?.startsWith('Node.js v')
    ? lines.findLast((line) => UNCAUGHT.test(line))
    : undefined
  return (uncaught ?? last).trim().slice(0, 300)
}

const FOOTER =
  /^(Node\.js v\d|npm (ERR!|error|notice)( A complete log| {4}\S|\s*$| New |.*changelog)|note: run with `RUST_BACKTRACE)/i
/** What Node prints for an uncaught exception stands before its stack. */
const UNCAUGHT = /^(Uncaught )?[A-Za-z_$][\w$.]*(Error|Exception)?\b( \[\w+\])?: ./
