import type { SampleFault } from '../ledger/events.ts'
import type { Supervised } from '../process.ts'
import { lastLine } from './tail.ts'

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
