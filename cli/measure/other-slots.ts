/** Whether a different slot of this repository measured during a session, so that nobody can tell whose run changed a file. */
import { readdirSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { seeLock } from '../lock/inspect.ts'
import { type Site, slotFacts, slotLock } from '../paths.ts'
import type { LeasedSlot } from './slot.ts'

/**
 * Whether one has measured since this was called, or measured then. Never in isolation, where other slots cannot be reached.
 * A different run may use more slots than this one, so those count that are there.
 */
export function watchOtherSlots({ site, slot, isolation }: LeasedSlot): () => boolean {
  if (isolation?.method) return () => false
  const since = Date.now()
  const isUsed = (other: number) => seeLock(slotLock(site, other)).state === 'alive'
  const others = () => slotsOf(site).filter((other) => other !== slot)
  const atFirst = others().some(isUsed)
  const began = (other: number) =>
    [slotFacts(site, other, 'a'), slotFacts(site, other, 'b')].some((file) => timeOf(file) >= since)
  return () => atFirst || others().some((other) => isUsed(other) || began(other))
}

function slotsOf(site: Site): number[] {
  const names = readdirSync(dirname(slotLock(site, 0)))
  return [...new Set(names.flatMap((name) => /^(\d+)(?:\.lock)?$/.exec(name)?.[1] ?? []))].map(Number)
}

const timeOf = (file: string): number => statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? 0
