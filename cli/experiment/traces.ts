/** `traces`: what the benchmark of the last attempt wrote of each task. */

import { readdirSync } from 'node:fs'
import { basename, join } from 'node:path'
import { MOST_TRACES, readTrace, type TaskTrace, traceFiles } from '../evaluate/traces.ts'
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
