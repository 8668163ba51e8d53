import { spawn } from 'node:child_process'
import { closeSync, openSync } from 'node:fs'
import { startErrorOf } from './execute.ts'

export interface DetachedCommand {
  argv: [string, ...string[]]
  cwd: string
  env: NodeJS.ProcessEnv
  /** Its stdout and stderr are appended here. */
  logFile: string
}

export interface Detached {
  pid: number
  /** Whether it has ended, as far as this process was told. */
  exited(): boolean
}

/**
 * Starts a process in its own session that outlives this one. Whatever it does is its own record
 * to keep. Throws if the program cannot be started: it is Assay's own entry.
 */
export function startDetached(command: DetachedCommand): Detached {
  const log = openSync(command.logFile, 'a')
  try {
    const [program, ...args] = command.argv
    const child = spawn(program, args, {
      cwd: command.cwd,
      env: command.env,
      stdio: ['ignore', log, log],
      detached: true,
    })
    child.on('error', () => {
      // Told by the missing pid.
    })
    if (child.pid === undefined) throw new Error(`cannot start ${program} in ${command.cwd}`)
    child.unref()
    return { pid: child.pid, exited: () => child.exitCode !== null || child.signalCode !== null }
  } catch (error) {
    throw new Error(`cannot start a worker: ${startErrorOf(error).message}`, { cause: error })
  } finally {
    closeSync(log)
  }
}
