import { type ChildProcess, spawn } from 'node:child_process'
import { registerChild } from './cpu-accounting.ts'
import { type Ended, notYet, signalGroup, startErrorOf } from './execute.ts'

export interface Channel {
  /** JSON values. Lost, without an error, once the child has ended: `ended` tells that. */
  send(message: unknown): void
  /** Must be called in the same turn as `startWithChannel`; messages keep their order. */
  onMessage(receive: (message: unknown) => void): void
  /** After the last message. Never rejects; `timedOut` stays false: the caller has the clock. */
  ended: Promise<Ended>
  /** SIGKILL to the child's group. */
  kill(): void
}

/** How long messages are still read after the exit. */
const DRAIN_MS = 500

/** Starts a child with an IPC channel, in its own group; its stderr is ours. When we die it sees `disconnect`. */
export function startWithChannel(command: {
  argv: [string, ...string[]]
  cwd: string
  env: NodeJS.ProcessEnv
}): Channel {
  const started = performance.now()
  const ended = notYet()
  const registered = registerChild()
  let child: ChildProcess
  try {
    const [program, ...args] = command.argv
    child = spawn(program, args, {
      cwd: command.cwd,
      env: command.env,
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
      detached: true,
    })
  } catch (error) {
    registered.ended()
    const ready = Promise.resolve({ ...ended, startError: startErrorOf(error) })
    return { send: () => {}, onMessage: () => {}, ended: ready, kill: () => {} }
  }
  const whenEnded = new Promise<Ended>((resolve) => {
    const finish = () => {
      registered.ended()
      resolve(ended)
    }
    child.on('error', (error) => {
      if (child.pid !== undefined) return
      ended.startError = startErrorOf(error)
      finish()
    })
    child.on('exit', (code, signal) => {
      Object.assign(ended, { code, signal, ms: performance.now() - started })
      if (!child.connected) return finish()
      const drain = setTimeout(finish, DRAIN_MS)
      child.once('disconnect', () => {
        clearTimeout(drain)
        finish()
      })
    })
  })
  return {
    send: (message) => {
      if (child.connected) child.send(message as object, () => {})
    },
    onMessage: (receive) => {
      child.on('message', receive)
    },
    ended: whenEnded,
    kill: () => {
      ended.cancelled = true
      signalGroup(child.pid, 'SIGKILL')
    },
  }
}
