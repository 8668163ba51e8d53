import { type ChildProcess, spawn } from 'node:child_process'
import { registerChild } from './cpu-accounting.ts'
import { type Isolation, isolatedArgv } from './isolation.ts'
import { besideWatcher } from './watcher.ts'

export interface Command {
  /** Program and arguments; no shell. */
  argv: [string, ...string[]]
  cwd?: string
  /** The whole environment; absent = this process's own. */
  env?: NodeJS.ProcessEnv
  input?: string | Buffer
  timeoutMs?: number
  /** Of each stream, kept in memory; what is beyond is dropped and `cut` is true. Default 64 MiB. */
  maxBytes?: number
  signal?: AbortSignal | undefined
  /**
   * Its group dies with this process, even if that is killed, and what is left of the group when the program ends is
   * ended too. A program that cannot be started is then exit 126 or 127, no `startError`.
   */
  diesWithUs?: boolean
  /** Absent or null: it shares the machine with us. */
  isolation?: Isolation | null | undefined
}

export interface Completed extends Ended {
  stdout: Buffer
  stderr: Buffer
  cut: boolean
}

/** How long the output is still read after the exit, when something else holds the pipe open. */
const DRAIN_MS = 500

/**
 * Runs a short command to its end, in its own process group; the group is killed at the limit. Never rejects.
 * It answers at most 0.5 s after the program's exit, even if a daemon that the program left keeps the pipe open.
 */
export function execute(command: Command): Promise<Completed> {
  const started = performance.now()
  const limit = command.maxBytes ?? 64 * 1024 * 1024
  const ended = notYet()
  const chunks: { stdout: Buffer[]; stderr: Buffer[] } = { stdout: [], stderr: [] }
  let cut = false
  const completed = (): Completed => ({
    ...ended,
    ms: performance.now() - started,
    stdout: Buffer.concat(chunks.stdout),
    stderr: Buffer.concat(chunks.stderr),
    cut,
  })
  if (command.signal?.aborted) return Promise.resolve({ ...completed(), cancelled: true })

  return new Promise((resolve) => {
    const registered = registerChild()
    let child: ChildProcess
    try {
      const { isolation, cwd = process.cwd() } = command
      const argv = isolation ? isolatedArgv(isolation, command.argv, cwd, { reports: false }) : command.argv
      const [program, ...args] = command.diesWithUs ? besideWatcher(argv) : argv
      child = spawn(program, args, {
        cwd: command.cwd,
        env: command.env ?? process.env,
        stdio: ['pipe', 'pipe', 'pipe', ...(command.diesWithUs ? ['pipe' as const] : [])],
        detached: true,
      })
    } catch (error) {
      registered.ended()
      ended.startError = startErrorOf(error)
      resolve(completed())
      return
    }
    const cancel = () => {
      ended.cancelled = true
      signalGroup(child.pid, 'SIGKILL')
    }
    const timer =
      command.timeoutMs === undefined
        ? undefined
        : after(command.timeoutMs, () => {
            ended.timedOut = true
            signalGroup(child.pid, 'SIGKILL')
          })
    let drain: NodeJS.Timeout | undefined
    const finish = () => {
      clearTimeout(timer)
      clearTimeout(drain)
      registered.ended()
      command.signal?.removeEventListener('abort', cancel)
      resolve(completed())
    }
    child.on('error', (error) => {
      if (child.pid !== undefined) return
      ended.startError = startErrorOf(error)
      finish()
    })
    if (child.pid === undefined) return

    command.signal?.addEventListener('abort', cancel, { once: true })
    const watched = child.stdio[3]
    watched?.on('error', () => {
      // The watcher's end is gone, and so is the program.
    })
    for (const name of ['stdout', 'stderr'] as const) {
      let size = 0
      child[name]?.on('data', (chunk: Buffer) => {
        const room = limit - size
        if (chunk.length > room) cut = true
        if (room > 0) chunks[name].push(chunk.subarray(0, room))
        size += chunk.length
      })
    }
    child.on('exit', (code, signal) => {
      clearTimeout(timer)
      ended.code = code
      ended.signal = signal
      watched?.destroy()
      drain = setTimeout(() => {
        child.stdout?.destroy()
        child.stderr?.destroy()
        finish()
      }, DRAIN_MS)
    })
    child.on('close', finish)
    child.stdin?.on('error', () => {
      // A program that does not read its input closes the pipe; its exit code tells the rest.
    })
    child.stdin?.end(command.input ?? '')
  })
}

// ---------------------------------------------------------------- how a process ended

/** How a process ended. Each fact has its own field: a null code is never a success. */
export interface Ended {
  code: number | null
  signal: NodeJS.Signals | null
  timedOut: boolean
  cancelled: boolean
  /** The program could not be started at all (ENOENT, EACCES, …). */
  startError: { code: string; message: string } | null
  /** Wall-clock time from the start to the exit, in milliseconds. */
  ms: number
}

export const notYet = (): Ended => ({
  code: null,
  signal: null,
  timedOut: false,
  cancelled: false,
  startError: null,
  ms: 0,
})

export function startErrorOf(error: unknown): { code: string; message: string } {
  const { code, message } = error as NodeJS.ErrnoException
  return { code: code ?? 'UNKNOWN', message }
}

/** Signals every process of the group that `leader` began; says whether there was one. */
export function signalGroup(leader: number | undefined, signal: NodeJS.Signals): boolean {
  if (leader === undefined) return false
  try {
    process.kill(-leader, signal)
    return true
  } catch {
    return false // The group is gone already.
  }
}

/** Node fires a longer timer at once. */
const LONGEST_TIMER = 2 ** 31 - 1

export function after(ms: number, act: () => void): NodeJS.Timeout {
  return setTimeout(act, Math.min(ms, LONGEST_TIMER))
}
