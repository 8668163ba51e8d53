/** Whether a different slot of this repository measured during a session, so that nobody can tell whose run changed a file. */
import { lstatSync, readdirSync } from 'node:fs'
import { dirname } from 'node:path'
import { fileStamp } from '../disk/inventory.ts'
import { seeLock } from '../lock/inspect.ts'
import { type Site, slotFacts, slotLock } from '../paths.ts'
import type { LeasedSlot } from './slot.ts'

/**
 * Whether one has measured since this was called, or measured then. Never in isolation, where other slots cannot be reached.
 * A different run may use more slots than this one, so those count that are there.
 */
export function watchOtherSlots({ site, slot, isolation }: LeasedSlot): () => boolean {
  if (isolation?.method) return () => false
  const isUsed = (other: number) => seeLock(slotLock(site, other)).state === 'alive'
  // Not compared with our clock: that of the file system may differ, and either may be set meanwhile.
  const stamps = (other: number) =>
    [slotFacts(site, other, 'a'), slotFacts(site, other, 'b')].map(stampOf).join()
  const others = () => slotsOf(site).filter((other) => other !== slot)
  const atFirst = new Map(others().map((other) => [other, stamps(other)]))
  const wasUsed = [...atFirst.keys()].some(isUsed)
  return () => wasUsed || others().some((other) => isUsed(other) || stamps(other) !== atFirst.get(other))
}

function slotsOf(site: Site): number[] {
  const names = readdirSync(dirname(slotLock(site, 0)))
  return [...new Set(names.flatMap((name) => /^(\d+)(?:\.lock)?$/.exec(name)?.[1] ?? []))].map(Number)
}

function stampOf(path: string): string {
  const found = lstatSync(path, { throwIfNoEntry: false })
  return found ? fileStamp(found) : ''
}
