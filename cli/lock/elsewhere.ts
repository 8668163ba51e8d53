/** Owners of another machine, or of a container: never proved dead. They beat while they hold, so silence is their end; else a person's word is. */
import { lstatSync, lutimesSync } from 'node:fs'
import { isAlive, isElsewhere, type ProcessIdentity } from '../process.ts'
import { linkTarget } from './hold.ts'

/** As long as a driver of another machine may be silent. */
export const SILENCE_MS = 15 * 60_000
const BEAT_MS = 20_000

/** Whether the owner of the link at `path` holds it no more: proved dead, or silent where nothing can be proved. */
export const hasGivenUp = (path: string, owner: ProcessIdentity): boolean =>
  !isAlive(owner) || (isElsewhere(owner) && isSilent(path))

/** Beats until the answer is called. `path` is asked each time: a ticket becomes a lease. */
export function beat(path: () => string, text: string): () => void {
  const timer = setInterval(() => {
    try {
      const now = new Date()
      if (linkTarget(path()) === text) lutimesSync(path(), now, now)
    } catch {
      // It was taken over, or the disk does not let us: then silence speaks.
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
