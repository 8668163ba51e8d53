/** Runs each task of a suite once. Whatever becomes of a task, it has a loss, so the run of the suite has one too. */

import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { removeTree } from '../disk/remove.ts'
import type { SampleFault, TaskScore } from '../ledger/events.ts'
import { isOfMachine } from '../ledger/state.ts'
import { type Isolation, type Supervised, seenAs, supervise } from '../process.ts'
import type { SuiteConfig, SuiteTask } from './config.ts'
import { meanLoss, NO_SIGNALS, type TaskLoss, taskLoss } from './loss.ts'
import { readLeft } from './read.ts'
import { alone, type Pace } from './turns.ts'

export interface SuiteRequest {
  suite: SuiteConfig
  /** Runs once for each task, with `ASSAY_TASK` and `ASSAY_RESULT`. */
  command: string | string[]
  cwd: string
  env: Record<string, string>
  isolation: Isolation | null
  /** Exists, and the tasks may write there: each gets a folder of its own. */
  desk: string
  /** The same for temporary files. */
  temporary: string
  /** Where `stdout` and `stderr` of the whole run go: what each task came to, and the end of what it printed. */
  stdout: string
  stderr: string
  /** Of a task without `max_wall_time`, in milliseconds. */
  timeoutMs: number
  /** Bytes that one task may print. */
  outputBytes: number
  /** Folders that only the tasks may use. */
  folders: readonly string[]
  /** When each task runs; absent = this run has nothing to wait for. */
  pace?: Pace | undefined
  signal?: AbortSignal | undefined
  /** Why a process did not do its job; null when it did. */
  faultOf(ended: Supervised, limitMs: number, stderr: string): SampleFault | null
  /** The end of a file. */
  tailOf(path: string, bytes: number): string
}

export interface SuiteRun {
  /** In the order of the suite. */
  tasks: Record<string, TaskScore>
  /** The mean loss of the tasks. */
  loss: number
  /** Of all processes together: times as a sum, memory as the largest. */
  ended: Supervised
  /** What says nothing about the texts: it was interrupted, or the machine could not run it. */
  fault: SampleFault | null
}

const TAIL = 2000

export async function runSuite(request: SuiteRequest): Promise<SuiteRun> {
  const { tasks, concurrency } = request.suite
  const done: TaskRun[] = []
  const clock = new BusyClock()
  await (request.pace ?? alone)({ tasks: tasks.length, concurrency }, async (at) => {
    const task = tasks[at]
    if (task === undefined) throw new Error(`the suite has no task ${at}`)
    const run = await clock.during(() => runTask(request, task, at))
    done[at] = run
    return run.fault === null
  })
  const all = done.filter(Boolean).map((one) => ({ ...one, score: cut(one.score, tasks.length) }))
  writeFileSync(request.stdout, all.map((one) => `${JSON.stringify(summaryOf(one))}\n`).join(''))
  writeFileSync(request.stderr, all.map(saidBy).join(''))
  return {
    tasks: Object.fromEntries(all.map(({ task, score }) => [task.name, score])),
    loss: meanLoss(all.map(({ score }) => score.score)),
    ended: together(all, clock.ms),
    fault: all.find(({ fault }) => fault !== null)?.fault ?? null,
  }
}

/** How long any of its tasks was running, in milliseconds: what ran in turns with them does not count. */
class BusyClock {
  ms = 0
  #running = 0
  #since = 0

  async during<T>(run: () => Promise<T>): Promise<T> {
    if (this.#running++ === 0) this.#since = performance.now()
    try {
      return await run()
    } finally {
      if (--this.#running === 0) this.ms += performance.now() - this.#since
    }
  }
}

/** A sample is one line of the record, whose length is limited. */
const DEFECTS_IN_ALL = 2400

function cut(score: TaskScore, tasks: number): TaskScore {
  const most = Math.min(300, Math.max(40, Math.floor(DEFECTS_IN_ALL / tasks)))
  return score.defects ? { ...score, defects: score.defects.map((text) => text.slice(0, most)) } : score
}

interface TaskRun {
  task: SuiteTask
  score: TaskScore
  ended: Supervised
  fault: SampleFault | null
  said: { stdout: string; stderr: string }
}

async function runTask(request: SuiteRequest, task: SuiteTask, at: number): Promise<TaskRun> {
  const { isolation, env } = request
  const folder = join(request.desk, String(at))
  const temporary = join(request.temporary, String(at))
  for (const path of [folder, temporary]) {
    // A task that ran before may have left an answer for this one.
    removeTree(path)
    mkdirSync(path, { recursive: true })
  }
  const result = join(folder, 'result.json')
  const [stdout, stderr] = [join(folder, 'out'), join(folder, 'err')]
  const { max_wall_time: seconds } = task.budget
  const timeoutMs = seconds === null ? request.timeoutMs : seconds * 1000
  const ended = await supervise({
    command: request.command,
    cwd: request.cwd,
    env: {
      ...env,
      ASSAY_TASK: JSON.stringify(givenTo(task)),
      ASSAY_RESULT: seenAs(isolation, result),
      TMPDIR: seenAs(isolation, temporary),
    },
    timeoutMs,
    stdout,
    stderr,
    outputCap: request.outputBytes,
    isolation,
    // The end of one task must not end the processes of another, which use the same folders.
    folders: request.suite.concurrency > 1 ? [] : request.folders,
    signal: request.signal,
  })
  const said = { stdout: request.tailOf(stdout, TAIL), stderr: request.tailOf(stderr, TAIL) }
  const failed = request.faultOf(ended, timeoutMs, said.stderr)
  return {
    task,
    score: scoreOf(task, result, failed),
    ended,
    fault: failed && isOfMachine(failed) ? failed : null,
    said,
  }
}

/** What a program is told of its task. */
const givenTo = ({ name, task, workflow, model, worker_model, budget, extra }: SuiteTask) => ({
  name,
  task,
  workflow,
  model,
  worker_model,
  budget: Object.fromEntries(Object.entries(budget).filter(([, limit]) => limit !== null)),
  extra,
})

/** A process that failed may have left signals; one that left none has failed as well, whatever its exit code is. */
function scoreOf(task: Pick<SuiteTask, 'weights'>, path: string, failed: SampleFault | null): TaskScore {
  const left = readLeft(path)
  const isRead = typeof left !== 'string'
  const found = taskLoss(isRead ? left.signals : NO_SIGNALS, task.weights, {
    crashed: failed !== null || !isRead,
  })
  const reason = failed?.message ?? (isRead ? null : left)
  return {
    score: found.loss,
    status: statusOf(found, isRead ? left.signals.status : null),
    ...(reason === null ? {} : { reason: reason.slice(0, 200) }),
    parts: found.parts,
    ...(isRead && left.defects.length > 0 ? { defects: left.defects } : {}),
  }
}

const statusOf = ({ crashed }: TaskLoss, said: string | null): string =>
  crashed ? (said === 'aborted' ? said : 'failed') : (said ?? 'unknown')

const summaryOf = ({ task, score }: TaskRun) => ({
  task: task.name,
  loss: score.score,
  ...score,
  score: undefined,
})

const saidBy = ({ task, said: { stdout, stderr } }: TaskRun): string =>
  [stdout, stderr]
    .map((text, which) =>
      text === '' ? '' : `== ${task.name}, ${which === 0 ? 'stdout' : 'stderr'}\n${text}\n`,
    )
    .join('')

/** As if it were one process, which ended well. */
function together(all: readonly TaskRun[], ms: number): Supervised {
  const ends = all.map(({ ended }) => ended)
  const [first] = ends
  if (first === undefined) throw new Error('a suite has tasks')
  const known = (values: readonly (number | null)[]) => values.filter((value) => value !== null)
  const cpu = known(ends.map(({ cpuMs }) => cpuMs))
  const peaks = known(ends.map(({ peakMb }) => peakMb))
  return {
    ...first,
    ms,
    code: 0,
    signal: null,
    timedOut: false,
    outputCut: false,
    cancelled: ends.some(({ cancelled }) => cancelled),
    startError: ends.find(({ startError }) => startError)?.startError ?? null,
    cpuMs: cpu.length === ends.length ? cpu.reduce((sum, value) => sum + value, 0) : null,
    peakMb: peaks.length === 0 ? null : Math.max(...peaks),
    escaped: ends.reduce((sum, { escaped }) => sum + escaped, 0),
    left: ends.reduce((sum, { left }) => sum + left, 0),
  }
}
