import { type ChildProcess, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import {
  closeSync,
  constants,
  existsSync,
  fstatSync,
  ftruncateSync,
  openSync,
  readSync,
  writeSync,
} from 'node:fs'
import { CpuAccounting, registerChild } from './cpu-accounting.ts'
import { after, type Ended, notYet, signalGroup, startErrorOf } from './execute.ts'
import { makeToken } from './identity.ts'
import {
  type Isolation,
  type IsolationStatus,
  isolatedArgv,
  letBegin,
  openStatus,
  signalOfCode,
} from './isolation.ts'
import { endEscaped, endEscapedNow, type JobMarks } from './orphans.ts'
import {
  type FileId,
  isDead,
  type Processors,
  pids,
  processorsBetween,
  processorTimes,
  readStat,
  realPathOf,
} from './proc.ts'
import { besideWatcher, isWatcher, watchMark } from './watcher.ts'

export interface Job {
  /** A string goes to `/bin/sh -c`; a list is program and arguments, without a shell. */
  command: string | string[]
  cwd: string
  /** The whole environment; ASSAY_TOKEN is added, and holds the mark that is there already (`markOf`). */
  env: Record<string, string>
  timeoutMs: number
  /** Paths of the files that the output goes to, emptied first. May be the same file. */
  stdout: string
  stderr: string
  /** Bytes, both files together. */
  outputCap: number
  /** Absent or null: the job shares the machine with us. */
  isolation?: Isolation | null | undefined
  /** Folders that only the job may use: a process that works there after the job's end is ended as a stray. */
  folders?: readonly string[]
  /** Whether the processes that it leaves running are counted (`left`). */
  countsLeft?: boolean
  /** Standard input; absent = none. */
  input?: string
  /** Without growth of its output for so long, the job is ended as at its limit. */
  quietMs?: number
  signal?: AbortSignal | undefined
}

export interface Supervised extends Ended {
  /** The output went over the cap: the job was killed, and the files keep head and tail only. */
  outputCut: boolean
  /** It was ended because it printed nothing for `quietMs`. */
  quiet: boolean
  /** User and system time of the job and all that it started, as far as it was waited for or seen; null when it cannot be told. */
  cpuMs: number | null
  /** MiB: the sum over its processes of the largest resident size of each, polled; null when never seen. */
  peakMb: number | null
  /** What the machine's processors did meanwhile; null when it cannot be told. */
  processors: Processors | null
  /** How many processes had left the group and were ended afterwards. */
  escaped: number
  /** How many processes it left running, which were ended with it; 0 unless the job asks. */
  left: number
}

/** Between SIGTERM and SIGKILL, in milliseconds. */
const GRACE_MS = 700
const WATCH_OUTPUT_MS = 20

/** Jobs that have not ended. A process that must exit at once cannot wait, and processes that left a job's group would live on. */
const running = new Set<JobMarks>()
process.on('exit', () => {
  for (const marks of running) endEscapedNow(marks)
})

/**
 * Runs a job to its end and leaves nothing of it behind. Never rejects, never waits for an inherited descriptor:
 * SIGTERM to the group at the limit, SIGKILL 0.7 s later. A missing program is exit 127 (126 if it is not executable);
 * a missing `cwd` or an output file that cannot be made is a `startError`.
 */
export async function supervise(job: Job): Promise<Supervised> {
  const result: Supervised = {
    ...notYet(),
    outputCut: false,
    quiet: false,
    cpuMs: null,
    peakMb: null,
    processors: null,
    escaped: 0,
    left: 0,
  }
  if (job.signal?.aborted) return { ...result, cancelled: true }
  let output: Output | undefined
  let status: IsolationStatus | null
  try {
    output = openOutput(job.stdout, job.stderr)
    status = job.isolation ? openStatus(job.stdout) : null
  } catch (error) {
    output?.close()
    return { ...result, startError: startErrorOf(error) }
  }
  try {
    return await superviseInto(output, status, job, result)
  } finally {
    status?.close()
    output.close()
  }
}

async function superviseInto(
  output: Output,
  status: IsolationStatus | null,
  job: Job,
  result: Supervised,
): Promise<Supervised> {
  const token = makeToken(randomBytes(16).toString('hex'), job.env.ASSAY_TOKEN)
  const folders = (job.folders ?? []).flatMap((folder) => realPathOf(folder) ?? [])
  const unwatch = status && watchMark(token)
  const registered = registerChild()
  const cpuBefore = readStat('self')?.childrenCpuMs
  const machineBefore = processorTimes()
  const started = performance.now()
  let child: ChildProcess
  try {
    const argv = typeof job.command === 'string' ? ['/bin/sh', '-c', job.command] : job.command
    const { isolation } = job
    const [program, ...args] = isolation
      ? isolatedArgv(isolation, argv, job.cwd, { reports: true })
      : besideWatcher(argv)
    child = spawn(program, args, {
      cwd: job.cwd,
      // A job that runs Assay itself keeps the outer token in the inner one, so the outer run finds it too.
      env: { ...job.env, ASSAY_TOKEN: [process.env.ASSAY_TOKEN, token].filter(Boolean).join('.') },
      stdio: [
        job.input === undefined ? 'ignore' : 'pipe',
        ...[output.stdout, output.stderr, 'pipe' as const],
        ...(status ? [status.fd, status.fd] : []),
      ],
      detached: true,
    })
  } catch (error) {
    unwatch?.()
    registered.ended()
    return { ...result, startError: startErrorOf(error) }
  }
  const since = child.pid === undefined ? undefined : readStat(child.pid)?.started
  const marks: JobMarks | null =
    child.pid === undefined
      ? null
      : { token, files: output.ids, folders, since: since ?? 0, group: child.pid }
  if (marks !== null) running.add(marks)
  if (status) letBegin(child, status)
  const accounting = child.pid === undefined || marks === null ? null : new CpuAccounting(child.pid, marks)
  const polls = watch(child, output, job, result, status)
  child.stdin?.on('error', () => {
    // A job that does not read its input closes the pipe; how it ended tells the rest.
  })
  child.stdin?.end(job.input)
  await new Promise<void>((resolve) => {
    child.on('error', (error) => {
      if (child.pid !== undefined) return
      result.startError = job.isolation && existsSync(job.cwd) ? NO_BUBBLEWRAP : startErrorOf(error)
      resolve()
    })
    child.on('exit', (code, signal) => {
      result.ms = performance.now() - started
      result.code = code
      result.signal = signal
      const cpuAfter = readStat('self')?.childrenCpuMs
      if (cpuBefore !== undefined && cpuAfter !== undefined && registered.alone())
        result.cpuMs = accounting?.cpuMs(cpuAfter - cpuBefore, { allEnded: endedWhole(job, result) }) ?? null
      const { ms, cpuMs } = result
      result.processors = processorsBetween(machineBefore, processorTimes(), { ms, cpuMs })
      result.peakMb = accounting?.peakMb ?? null
      resolve()
    })
  })
  polls.stop()
  accounting?.stop()
  registered.ended()
  const whole = endedWhole(job, result)
  if (status) endOfIsolated(status, result)
  if (marks !== null) {
    const group = job.countsLeft && !status ? membersOf(marks.group) : []
    signalGroup(child.pid, 'SIGKILL')
    const escaped = whole ? [] : [...(await endEscaped(marks))]
    result.escaped = escaped.length
    // One that left the group in between is in both.
    if (job.countsLeft) result.left = status?.left() ?? new Set([...group, ...escaped]).size
    running.delete(marks)
    polls.letGo()
  }
  unwatch?.()
  if (output.size() > job.outputCap) result.outputCut = true
  if (result.outputCut) output.cut()
  return result
}

/** bubblewrap itself waits for the end of the process table: then nothing is left of the job. */
const endedWhole = ({ isolation }: Job, { code }: Supervised): boolean => Boolean(isolation) && code !== null

const NO_BUBBLEWRAP = { code: 'EISOLATION', message: 'bubblewrap (bwrap) is not installed any more' }

/** Of a job that ran isolated, the code is that of the shell which started it; 1 is also what bubblewrap ends with. */
function endOfIsolated(status: IsolationStatus, result: Supervised): void {
  if (result.signal !== null || result.code === null) return
  if (result.code === 1 && !status.ran()) {
    result.startError = { code: 'EISOLATION', message: 'bubblewrap could not isolate it' }
    return
  }
  const signal = result.code > 128 ? signalOfCode(result.code) : null
  if (signal !== null) Object.assign(result, { code: null, signal })
}

/** Living processes of the group, without the watcher. */
const membersOf = (group: number): number[] =>
  pids().filter((pid) => {
    const stat = readStat(pid)
    return stat?.group === group && !isDead(stat.state) && !isWatcher(pid)
  })

/** Everything that happens while the job runs: its limit, cancelling, the output cap. */
function watch(
  child: ChildProcess,
  output: Output,
  job: Job,
  result: Supervised,
  status: IsolationStatus | null,
) {
  const pid = child.pid
  const pipe = child.stdio[3]
  pipe?.on('error', () => {
    // The watcher's end is gone, and so is the job.
  })
  let kill: NodeJS.Timeout | undefined
  const end = () => {
    // bubblewrap itself would end at once, and everything with it; its first process is deaf to the signal.
    signalGroup(status ? (status.first() ?? undefined) : pid, 'SIGTERM')
    kill ??= setTimeout(() => signalGroup(pid, 'SIGKILL'), GRACE_MS)
  }
  const cancel = () => {
    result.cancelled = true
    end()
  }
  const limit = after(job.timeoutMs, () => {
    result.timedOut = true
    end()
  })
  let seen = 0
  let grew = performance.now()
  const size = setInterval(() => {
    const now = output.size()
    if (now !== seen) grew = performance.now()
    seen = now
    if (now > job.outputCap) {
      result.outputCut = true
      signalGroup(pid, 'SIGKILL')
    } else if (!result.quiet && performance.now() - grew > (job.quietMs ?? Number.POSITIVE_INFINITY)) {
      result.quiet = true
      end()
    }
  }, WATCH_OUTPUT_MS)
  job.signal?.addEventListener('abort', cancel, { once: true })
  return {
    stop() {
      for (const timer of [limit, kill, size]) clearTimeout(timer)
      job.signal?.removeEventListener('abort', cancel)
    },
    letGo: () => pipe?.destroy(),
  }
}

// ---------------------------------------------------------------- the files that a job writes to

const HEAD = 64 * 1024
const TAIL = 256 * 1024

/** The files that a job writes to. stdout and stderr may be one file: then the order between them is kept. */
export interface Output {
  stdout: number
  stderr: number
  ids: FileId[]
  /** Bytes in both files together. */
  size(): number
  /** Keeps the head and the tail of each file, with a line between them that says how much was cut. */
  cut(): void
  close(): void
}

/** Empties and opens the files. Throws what the file system says. */
export function openOutput(stdout: string, stderr: string): Output {
  // Appending: a writer that outlives a cut must not leave a hole behind it.
  const flags = constants.O_RDWR | constants.O_CREAT | constants.O_TRUNC | constants.O_APPEND
  const out = openSync(stdout, flags)
  let err = out
  try {
    if (stderr !== stdout) err = openSync(stderr, flags)
  } catch (error) {
    closeSync(out)
    throw error
  }
  const all = [...new Set([out, err])]
  return {
    stdout: out,
    stderr: err,
    ids: all.map((fd) => {
      const { dev, ino } = fstatSync(fd)
      return { dev, ino }
    }),
    size: () => all.reduce((sum, fd) => sum + fstatSync(fd).size, 0),
    cut: () => all.forEach(cutMiddle),
    close: () => all.forEach(closeSync),
  }
}

/** Keeps head and tail of a file that was written. A link, or what is no file, is left alone. */
export function cutStored(path: string): void {
  let fd: number
  try {
    fd = openSync(path, constants.O_RDWR | constants.O_NOFOLLOW | constants.O_NONBLOCK)
  } catch {
    return
  }
  try {
    if (fstatSync(fd).isFile()) cutMiddle(fd)
  } finally {
    closeSync(fd)
  }
}

function cutMiddle(fd: number): void {
  const { size } = fstatSync(fd)
  if (size <= HEAD + TAIL) return
  const tail = Buffer.alloc(TAIL)
  const length = readSync(fd, tail, 0, TAIL, size - TAIL)
  ftruncateSync(fd, HEAD)
  const said = `\n[assay: ${size - HEAD - length} bytes cut here]\n`
  const rest = Buffer.concat([Buffer.from(said), tail.subarray(0, length)])
  writeSync(fd, rest, 0, rest.length, HEAD)
}
