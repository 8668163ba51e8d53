import { setTimeout as pause } from 'node:timers/promises'
import { identify, isAlive, isElsewhere, type ProcessIdentity } from './identity.ts'
import { family } from './proc.ts'

/** `elsewhere`: it is of another host or container, and nothing was done. `alive`: it could not be ended (another user's). */
export type EndedBy = 'gone' | 'asked' | 'killed' | 'elsewhere' | 'alive'

const LOOK_MS = 20
/** A process that still lives this long after SIGKILL cannot be ended by us. */
const BURIAL_MS = 2000

/**
 * Ends a process, identified by pid and start time, and its descendants: SIGTERM, so that it can clean up; after
 * `graceMs` SIGKILL for all that still live. Never signals a pid that was reused.
 */
export async function endProcess(identity: ProcessIdentity, graceMs: number): Promise<EndedBy> {
  if (isElsewhere(identity)) return 'elsewhere'
  if (!isAlive(identity)) return 'gone'
  const below = family(identity.pid)
    .filter((pid) => pid !== identity.pid)
    .flatMap((pid) => identify(pid) ?? [])
  signal(identity, 'SIGTERM')
  const asked = await until(() => !isAlive(identity), graceMs)
  if (!asked) signal(identity, 'SIGKILL')
  const ended = asked || (await until(() => !isAlive(identity), BURIAL_MS))
  for (const one of below) signal(one, 'SIGKILL')
  if (!ended) return 'alive'
  return asked ? 'asked' : 'killed'
}

function signal(identity: ProcessIdentity, name: NodeJS.Signals): void {
  if (!isAlive(identity)) return
  try {
    process.kill(identity.pid, name)
  } catch {
    // It ended by itself, or belongs to a different user.
  }
}

async function until(holds: () => boolean, ms: number): Promise<boolean> {
  const deadline = performance.now() + ms
  while (!holds()) {
    if (performance.now() >= deadline) return false
    await pause(LOOK_MS)
  }
  return true
}
