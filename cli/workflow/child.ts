/** Entry of the script's process: owns the realms and speaks `protocol.ts` over the IPC channel. */
import { Worker } from 'node:worker_threads'
import { freezeBuiltIns, OF_THE_LANGUAGE } from './freeze.ts'
import type { ToChild, ToParent } from './protocol.ts'
import { startScript } from './sandbox.ts'

/**
 * A script that spins never lets `disconnect` arrive, so a thread of its own watches whether the parent is still there, and
 * ends the process when it is not.
 */
new Worker(
  `const { workerData: parent } = require('node:worker_threads')
   setInterval(() => process.ppid === parent || process.kill(process.pid, 'SIGKILL'), 250)`,
  { eval: true, workerData: process.ppid },
).unref()

freezeBuiltIns(OF_THE_LANGUAGE)

process.on('disconnect', () => process.exit(0))
// Un-awaited failures do not fail a run, as in the hosts.
process.on('unhandledRejection', () => {})

let queue: ToParent[] = []
const flush = (then?: () => void) => {
  const batch = queue
  queue = []
  if (process.connected && process.send !== undefined) process.send(batch, () => then?.())
}
const send = (message: ToParent) => {
  // First: at the end of a stack that a script fills, this throws, and what is in the queue is never sent.
  if (queue.length === 0) setImmediate(() => queue.length > 0 && flush())
  queue.push(message)
}

let receive: ((message: ToChild) => void) | null = null
process.on('message', (batch: ToChild[]) => {
  for (const message of batch) {
    if (message.type === 'start') {
      receive = startScript(message, send, () => flush(() => process.exit(0)))
    } else receive?.(message)
  }
})
