/** Owners on a different machine or in a container cannot be proved dead. They renew their lock while they hold it: it is free after a silence, or when a user says that the owner is gone. */
import { lstatSync, lutimesSync } from 'node:fs'
import { isAlive, isElsewhere, type ProcessIdentity } from '../process.ts'
import { linkTarget } from './hold.ts'

/** How long a driver on a different machine may be silent. */
export const SILENCE_MS = 15 * 60_000
const BEAT_MS = 20_000

/** Whether the owner of the link at `path` is gone: proved dead, or silent where nothing can be proved. */
export const hasGivenUp = (path: string, owner: ProcessIdentity): boolean =>
  !isAlive(owner) || (isElsewhere(owner) && isSilent(path))

/** Renews the lock until the answered function is called. `path` is asked each time: a ticket becomes a lease. */
export function beat(path: () => string, text: string): () => void {
  const timer = setInterval(() => {
    try {
      const now = new Date()
      if (linkTarget(path()) === text) lutimesSync(path(), now, now)
    } catch {
      // The lock was taken over, or the disk cannot be written: then the owner counts as silent.
    }
  }, BEAT_MS)
  timer.unref()
  return () => clearInterval(timer)
}

function isSilent(path: string): boolean {
  try {
    return Date.now() - lstatSync(path).mtimeMs >= SILENCE_MS
  } catch {
    return false
  }
}
