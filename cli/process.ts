/** The only spawner. Every function tells the whole truth about how the process ended, and none rejects. */
import { spawn } from 'node:child_process'

/** How a process ended. Each fact has its own field: a null code is never a success. */
export interface Ended {
  code: number | null
  signal: NodeJS.Signals | null
  timedOut: boolean
  cancelled: boolean
  /** The program could not be started at all (ENOENT, EACCES, …). */
  startError: { code: string; message: string } | null
  ms: number
}

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
  signal?: AbortSignal
}

export interface Completed extends Ended {
  stdout: Buffer
  stderr: Buffer
  cut: boolean
}

/** Runs a short command to its end, in its own process group; the group is killed at the limit. */
export function execute(command: Command): Promise<Completed> {
  const started = performance.now()
  const limit = command.maxBytes ?? 64 * 1024 * 1024
  return new Promise((resolve) => {
    const [program, ...args] = command.argv
    const child = spawn(program, args, {
      cwd: command.cwd,
      env: command.env ?? process.env,
      stdio: ['pipe', 'pipe', 'pipe'],
      detached: true,
    })
    const ended: Ended = {
      code: null,
      signal: null,
      timedOut: false,
      cancelled: false,
      startError: null,
      ms: 0,
    }
    const chunks: { stdout: Buffer[]; stderr: Buffer[] } = { stdout: [], stderr: [] }
    let cut = false
    const collect = (name: 'stdout' | 'stderr') => {
      let size = 0
      child[name].on('data', (chunk: Buffer) => {
        const room = limit - size
        if (chunk.length > room) cut = true
        if (room > 0) chunks[name].push(chunk.subarray(0, room))
        size += chunk.length
      })
    }
    collect('stdout')
    collect('stderr')
    const kill = () => {
      if (child.pid === undefined) return
      try {
        process.kill(-child.pid, 'SIGKILL')
      } catch {
        // The group is gone already.
      }
    }
    const cancel = () => {
      ended.cancelled = true
      kill()
    }
    const timer =
      command.timeoutMs === undefined
        ? undefined
        : setTimeout(() => {
            ended.timedOut = true
            kill()
          }, command.timeoutMs)
    command.signal?.addEventListener('abort', cancel, { once: true })
    const finish = () => {
      clearTimeout(timer)
      command.signal?.removeEventListener('abort', cancel)
      ended.ms = performance.now() - started
      resolve({ ...ended, stdout: Buffer.concat(chunks.stdout), stderr: Buffer.concat(chunks.stderr), cut })
    }
    child.on('error', (error: NodeJS.ErrnoException) => {
      if (child.pid !== undefined) return
      ended.startError = { code: error.code ?? 'UNKNOWN', message: error.message }
      finish()
    })
    child.on('close', (code, signal) => {
      ended.code = code
      ended.signal = signal
      finish()
    })
    child.stdin.on('error', () => {
      // A program that does not read its input closes the pipe; its exit code tells the rest.
    })
    child.stdin.end(command.input ?? '')
  })
}
