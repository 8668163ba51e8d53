/** Reads locks and queues without taking them, and removes locks of dead owners. */
import { lstatSync, readlinkSync } from 'node:fs'
import { join } from 'node:path'
import { namesIn } from '../files.ts'
import { isAlive, isElsewhere, type ProcessIdentity } from '../process.ts'
import { linkTarget, ownerOf, remove, removeDead, withLock } from './hold.ts'

export interface LockSeen {
  path: string
  /** `foreign`: something is there that Assay did not make; no lock can be taken while it lies there. */
  state: 'free' | 'alive' | 'dead' | 'foreign'
  owner: ProcessIdentity | null
}

export function seeLock(path: string): LockSeen {
  const text = linkText(path)
  if (text === null) return { path, state: exists(path) ? 'foreign' : 'free', owner: null }
  try {
    const owner = ownerOf(text, path)
    return { path, state: isAlive(owner) ? 'alive' : 'dead', owner }
  } catch {
    return { path, state: 'foreign', owner: null }
  }
}

/** The lock under which a dead lock is removed is named after it (`removeDead`): `line~0123456789ab`. */
const LEASE = /^(?:(?:q-\d+|s-\d+|line)(?:~[0-9a-f]{12})*)$/

/** The locks in a folder of leases. */
export function seeLeases(folder: string): LockSeen[] {
  return namesIn(folder)
    .filter((name) => LEASE.test(name))
    .sort()
    .map((name) => seeLock(join(folder, name)))
}

/** Removes the lock when its owner is proved dead; false when there is nothing to remove any more. */
export function removeLockIfDead(path: string): boolean {
  const text = linkText(path)
  return text !== null && seeLock(path).state === 'dead' && removeDead(path, text)
}

/** Removes the lock of an owner elsewhere that the user says is gone; answers that owner, or null. */
export function removeLockElsewhere(
  path: string,
  isMeant: (owner: ProcessIdentity) => boolean,
): ProcessIdentity | null {
  const { owner } = seeLock(path)
  const text = owner && isElsewhere(owner) && isMeant(owner) ? linkTarget(path) : null
  return text !== null && removeDead(path, text) ? owner : null
}

/** The same for all leases of a line. */
export async function removeLeasesElsewhere(
  folder: string,
  isMeant: (owner: ProcessIdentity) => boolean,
): Promise<ProcessIdentity[]> {
  removeLockElsewhere(join(folder, 'line'), isMeant)
  const meant = ({ owner }: LockSeen) => owner !== null && isElsewhere(owner) && isMeant(owner)
  if (!seeLeases(folder).some(meant)) return []
  return withLock(join(folder, 'line'), async () =>
    seeLeases(folder)
      .filter(meant)
      .flatMap(({ path, owner }) => {
        remove(path)
        return owner ?? []
      }),
  )
}

/** Removes what dead owners left in a line; under the line's own lock, so that admitting and removing are apart. */
export async function dropDeadLeases(folder: string): Promise<string[]> {
  const dead = seeLeases(folder).filter(({ state }) => state === 'dead')
  if (dead.length === 0) return []
  await withLock(join(folder, 'line'), async () => {
    for (const { path, state } of seeLeases(folder)) if (state === 'dead') remove(path)
  })
  return dead.map(({ path }) => path).filter((path) => !exists(path))
}

function linkText(path: string): string | null {
  try {
    return readlinkSync(path)
  } catch {
    return null
  }
}

function exists(path: string): boolean {
  try {
    lstatSync(path)
    return true
  } catch {
    return false
  }
}
