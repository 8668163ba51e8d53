import { setTimeout as pause } from 'node:timers/promises'
import { hasGivenUp } from './elsewhere.ts'
import { tryHold } from './hold.ts'

/** Between two tries, in milliseconds; the jitter keeps waiters from trying in step. */
const SHORTEST = 1
const LONGEST = 25

/**
 * One at a time across all processes (and within this one): waits for the lock, works, releases, whatever the work
 * does. Not fair, not re-entrant; meant for work of some milliseconds. The folder of `path` must exist.
 */
export async function withLock<T>(path: string, work: () => Promise<T>): Promise<T> {
  for (let wait = SHORTEST; ; wait = Math.min(LONGEST, wait * 1.5)) {
    const hold = tryHold(path, (owner) => hasGivenUp(path, owner))
    if (hold.held) {
      try {
        return await work()
      } finally {
        hold.release()
      }
    }
    await pause(wait * (0.5 + Math.random()))
  }
}
