/**
 * A lock is a symbolic link whose *text* names its owner: made in one system call that fails if the link exists, never
 * half-written, read in one call. It is taken from an owner only on proof of death.
 */
import { createHash, randomBytes } from 'node:crypto'
import { lstatSync, lutimesSync, readlinkSync, symlinkSync, unlinkSync } from 'node:fs'
import { setTimeout as pause } from 'node:timers/promises'
import { asIdentity, identify, isAlive, isElsewhere, type ProcessIdentity } from '../process.ts'

export type Hold = { held: true; text: string; release(): void } | { held: false; owner: ProcessIdentity }

/**
 * Takes the lock, or names the living owner; never blocks. The folder must exist. A lock is not re-entrant: the same
 * process that asks again finds itself the owner. When a process ends without `release`, its lock is free.
 * `isGone`: what counts as a death, for a caller that knows more than this machine can prove.
 */
export function tryHold(path: string, isGone = (owner: ProcessIdentity) => !isAlive(owner)): Hold {
  const mine = claim({})
  for (;;) {
    if (createLink(path, mine)) return { held: true, text: mine, release: () => withdraw(path, mine) }
    const text = linkTarget(path)
    if (text === null) continue
    const owner = ownerOf(text, path)
    if (!isGone(owner)) return { held: false, owner }
    if (!removeDead(path, text)) return { held: false, owner }
  }
}

/** The text of a link of ours: who made it, a nonce that makes this very link unique, and what else it says. */
export function claim(more: Record<string, unknown>, owner = ourselves()): string {
  return JSON.stringify({ ...owner, nonce: randomBytes(8).toString('hex'), ...more })
}

export function ourselves(): ProcessIdentity {
  const self = identify()
  if (self === null) throw new Error('this system does not tell when a process started (no /proc, no ps)')
  return self
}

/** Creates the link; false if there is one. */
export function createLink(path: string, text: string): boolean {
  try {
    symlinkSync(text, path)
    return true
  } catch (error) {
    if (codeOf(error) === 'EEXIST') return false
    throw error
  }
}

export function linkTarget(path: string): string | null {
  try {
    return readlinkSync(path)
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return null
    if (codeOf(error) === 'EINVAL') throw new Error(`${path} is not a lock of Assay; move it away`)
    throw error
  }
}

export function ownerOf(text: string, path: string): ProcessIdentity {
  try {
    const owner = asIdentity(JSON.parse(text))
    if (owner) return owner
  } catch {
    // Said below.
  }
  throw new Error(`${path} is not a lock of Assay; move it away`)
}

/** Removes the link if it is still the same. Only its owner may call it: no other process removes the lock of a living owner. */
export function withdraw(path: string, text: string): void {
  if (linkTarget(path) === text) remove(path)
}

/**
 * Removes the link of a dead owner. Two that saw the same dead link must not both remove: the slower one could remove
 * the link of an owner that came in between. So the removal itself takes a lock, named after the text of the link, and reads
 * the link again under it. If its owner dies, that lock is removed the same way. False: a different process is removing it.
 */
export function removeDead(path: string, text: string): boolean {
  const removalLock = `${path}~${createHash('sha256').update(text).digest('hex').slice(0, 12)}`
  const hold = tryHold(removalLock)
  if (!hold.held) return false
  withdraw(path, text)
  hold.release()
  return true
}

export function remove(path: string): void {
  try {
    unlinkSync(path)
  } catch (error) {
    if (codeOf(error) !== 'ENOENT') throw error
  }
}

const codeOf = (error: unknown) => (error as NodeJS.ErrnoException).code

// ----------------------------------------------------------------
// Owners on a different machine or in a container cannot be proved dead. They renew their lock while they hold it: it is
// free after a silence, or when a user says that the owner is gone.

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

// ---------------------------------------------------------------- waits for a lock

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
