/** `traces`: what the benchmark of the last attempt wrote of each task. */

import { closeSync, openSync, readdirSync, readSync } from 'node:fs'
import { basename, join } from 'node:path'
import { objectIn } from '../json.ts'
import { type Attempt, type Experiment, lastJudged } from '../ledger/state.ts'
import { call, next } from '../next.ts'
import { attemptFolder } from '../paths.ts'
import { fail, ok, type Result } from '../result.ts'
import type { OpenRun } from '../run/open.ts'

export interface TracesAnswer {
  experiment: string
  attempt: number
  /** The sample that wrote them: `judge-0-b`. */
  sample: string
  /** Without logs, unless one task was asked for. */
  traces: Omit<TaskTrace, 'log' | 'cut'>[]
  truncated: boolean
}

export interface TraceAnswer extends TaskTrace {
  experiment: string
  attempt: number
  sample: string
}

const EXTENSION = '.traces'

export function traces(run: OpenRun, node: Experiment, limit: number): Result<TracesAnswer> {
  const found = lastTraces(run, node)
  if (!found.ok) return found
  const { attempt, folder, files, sample } = found.value
  return ok({
    experiment: node.id,
    attempt,
    sample,
    traces: files.slice(0, limit).map((name) => {
      const { task, score, status, reason } = readTrace(folder, name)
      return { task, score, status, reason }
    }),
    truncated: files.length > limit,
  })
}

/** The trace of one task, by the name of its file or the `task` in it. */
export function traceOf(run: OpenRun, node: Experiment, task: string): Result<TraceAnswer> {
  const found = lastTraces(run, node)
  if (!found.ok) return found
  const { attempt, folder, files, sample } = found.value
  const named = files.find((name) => name === task || name === `${task}.json`)
  const inside = (name: string) => readTrace(folder, name).task === task
  const file = named ?? files.slice(0, MOST_TRACES).find(inside)
  if (file !== undefined) return ok({ experiment: node.id, attempt, sample, ...readTrace(folder, file) })
  return fail({
    kind: 'usage',
    code: 'unknown_task',
    message: `attempt ${attempt} of ${node.id} has no trace of ${task}`,
    hint: next`${call('traces', node.id)} lists them`,
  })
}

interface Found {
  attempt: number
  folder: string
  sample: string
  files: string[]
}

function lastTraces(run: OpenRun, node: Experiment): Result<Found> {
  for (const attempt of [...node.attempts].reverse()) {
    const found = inAttempt(run, node, attempt)
    if (found) return ok(found)
  }
  const judged = lastJudged(node)
  if (judged?.reason === 'duplicate')
    return fail({
      kind: 'refused',
      code: 'no_traces',
      message: `no benchmark of ${node.id} wrote traces: ${judged.message}`,
      hint: next`ask for the traces of that experiment: ${call('traces', 'ID')}`,
    })
  return fail({
    kind: 'refused',
    code: 'no_traces',
    message: `no benchmark of ${node.id} wrote traces`,
    hint: next`a benchmark writes <task>.json into the folder ASSAY_TRACES: ${call('guide', 'spec')}`,
  })
}

/** Of the samples that wrote traces, one answers: the candidate's before the parent's, the first look before the confirmation. */
function inAttempt(run: OpenRun, node: Experiment, { attempt }: Attempt): Found | null {
  const samples = join(attemptFolder(run.paths, node.id, attempt), 'samples')
  let names: string[]
  try {
    names = readdirSync(samples).filter((name) => name.endsWith(EXTENSION))
  } catch {
    return null
  }
  const [name] = names.sort((a, b) => rank(a) - rank(b) || (a < b ? -1 : 1))
  if (name === undefined) return null
  const folder = join(samples, name)
  const files = traceFiles(folder)
  return files.length === 0 ? null : { attempt, folder, sample: basename(name, EXTENSION), files }
}

const ORDER = ['judge', 'calibrate', 'confirm', 'check']
const rank = (name: string): number => {
  const stage = ORDER.findIndex((one) => name.startsWith(`${one}-`))
  return (name.includes(`-b${EXTENSION}`) ? 0 : 10) + (stage === -1 ? ORDER.length : stage)
}

// ----------------------------------------------------------------
// What a sample's benchmark wrote under ASSAY_TRACES: `<task>.json` = `{task, score, status, reason, log}`.

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
