import { closeSync, fstatSync, openSync, readSync } from 'node:fs'
import { redact } from '../redact.ts'
import { stripAnsi } from './lines.ts'

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
