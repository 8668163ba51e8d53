/** What a sample's benchmark wrote under ASSAY_TRACES: `<task>.json` = `{task, score, status, reason, log}`. */

import { closeSync, openSync, readdirSync, readSync } from 'node:fs'
import { join } from 'node:path'
import { objectIn } from '../json.ts'

export interface TaskTrace {
  task: string
  score: number | null
  status: string | null
  reason: string | null
  /** The end of its log, or of the whole file when that is no such object. */
  log: string
  /** Something was left out of `log`. */
  cut: boolean
}

const LOG_CHARACTERS = 16_000
const FILE_BYTES = 1024 * 1024
/** A benchmark may write more files; the CLI shows at most so many at once. */
export const MOST_TRACES = 500

/** The names of the trace files of a folder, sorted; empty when there is none. */
export function traceFiles(folder: string): string[] {
  try {
    return readdirSync(folder, { withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map(({ name }) => name)
      .sort()
  } catch {
    return []
  }
}

/** A file that is no such object is a log by itself. */
export function readTrace(folder: string, name: string): TaskTrace {
  const { text, cut } = head(join(folder, name))
  const named = name.replace(/\.json$/, '')
  const value = cut ? null : objectIn(text)
  if (value === null) return { task: named, score: null, status: null, reason: null, ...end(text, cut) }
  const { task, score, status, reason, log } = value
  const lines = Array.isArray(log) ? log.map(line).join('\n') : log === undefined ? '' : line(log)
  return {
    task: typeof task === 'string' ? task : named,
    score: typeof score === 'number' ? score : null,
    status: typeof status === 'string' ? status.slice(0, 200) : null,
    reason: typeof reason === 'string' ? reason.slice(0, 2000) : null,
    ...end(lines, false),
  }
}

const line = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value))

function end(text: string, cut: boolean): { log: string; cut: boolean } {
  return { log: text.slice(-LOG_CHARACTERS), cut: cut || text.length > LOG_CHARACTERS }
}

function head(path: string): { text: string; cut: boolean } {
  let fd: number
  try {
    fd = openSync(path, 'r')
  } catch {
    return { text: '', cut: false }
  }
  try {
    const buffer = Buffer.alloc(FILE_BYTES + 1)
    const length = readSync(fd, buffer, 0, buffer.length, 0)
    return { text: buffer.toString('utf8', 0, Math.min(length, FILE_BYTES)), cut: length > FILE_BYTES }
  } finally {
    closeSync(fd)
  }
}
