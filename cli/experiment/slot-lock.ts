/** Who uses the checkouts of a slot: one process at a time, named to those who wait, and taken over by silence or by word. */
import { mkdirSync, readdirSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { beat, buryElsewhere, dropLeasesElsewhere, hasGivenUp, tryHold } from '../lock.ts'
import { leaseFolder, type Site, slotLock } from '../paths.ts'
import { isElsewhere, nameOfProcess, type ProcessIdentity } from '../process.ts'
import type { OpenRun } from '../run/open.ts'
import { ownFolders } from './clear.ts'

const LOOK_MS = 50

/** Waits for the lock of the slot's checkouts; the answer gives it back. Rejects with the signal's reason. */
export async function holdSlot(run: OpenRun, slot: number): Promise<() => void> {
  ownFolders(run, slot)
  const lock = slotLock(run.site, slot)
  mkdirSync(dirname(lock), { recursive: true })
  let told = ''
  for (;;) {
    const hold = tryHold(lock, (owner) => hasGivenUp(lock, owner))
    if (hold.held) {
      const quiet = beat(() => lock, hold.text)
      return () => {
        quiet()
        hold.release()
      }
    }
    const what = `the checkouts of slot ${slot}, which ${nameOfProcess(hold.owner)} uses (${lock})${isElsewhere(hold.owner) ? '; if that machine is gone: assay run ID --take-over' : ''}`
    if (what !== told) run.tell({ type: 'waiting', what })
    told = what
    await pause(LOOK_MS, undefined, { signal: run.signal })
  }
}

/** Locks of slots, as they lie there. */
export function slotLocks(site: Site): string[] {
  const folder = dirname(slotLock(site, 0))
  try {
    return readdirSync(folder).flatMap((name) => (/^\d+\.lock$/.test(name) ? [join(folder, name)] : []))
  } catch {
    return []
  }
}

/**
 * A person said that these owners of another machine, or of a container, are gone: what they hold of slots, here and in
 * the line of this machine, is free. Answers whose it was. One of this machine is never meant.
 */
export async function freeSlots(
  run: Pick<OpenRun, 'site' | 'env'>,
  isMeant: (owner: ProcessIdentity) => boolean = () => true,
): Promise<ProcessIdentity[]> {
  const held = slotLocks(run.site).flatMap((lock) => buryElsewhere(lock, isMeant) ?? [])
  return [...held, ...(await dropLeasesElsewhere(leaseFolder(run.env), isMeant))]
}

export const isSameProcess = (one: ProcessIdentity, other: ProcessIdentity): boolean =>
  one.pid === other.pid &&
  one.started === other.started &&
  one.host === other.host &&
  one.space === other.space
