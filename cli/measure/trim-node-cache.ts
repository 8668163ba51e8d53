/** What jobs of earlier runs left in the cache of a node. */
import { existsSync, lstatSync, mkdirSync, readdirSync, utimesSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { removeTree } from '../disk/remove.ts'
import { freeBytes } from '../files.ts'
import { seeLock } from '../lock/inspect.ts'
import { siteAt, slotLock } from '../paths.ts'

const DAY_MS = 24 * 3600 * 1000
/** Longer than a run rests, usually. What is removed is made again by the next job. */
const UNUSED_MS = 14 * DAY_MS
/** With less space than that on the disk, a place that was used before this day is removed as well, the oldest first. */
const LITTLE = 4 * 1024 ** 3

/** Removes places of other runs that were not used for long. `place`: the one that is used now. */
export function trimNodeCache(cache: string, { place, now }: { place: string; now: Date }): void {
  const own = join(cache, place)
  mkdirSync(own, { recursive: true, mode: 0o700 })
  utimesSync(own, now, now)
  for (const { path, used } of placesIn(cache, place)) {
    const unused = now.getTime() - used
    if (unused < DAY_MS) break
    const isNeeded = unused < UNUSED_MS && (freeBytes(cache) ?? LITTLE) >= LITTLE
    if (!isNeeded && !isMeasuredIn(path)) removeTree(path)
  }
}

/** The one that was used longest ago first. */
function placesIn(cache: string, own: string): { path: string; used: number }[] {
  return readdirSync(cache)
    .filter((name) => /^r-[0-9a-f]{12}$/.test(name) && name !== own)
    .flatMap((name) => {
      const path = join(cache, name)
      const found = lstatSync(path, { throwIfNoEntry: false })
      return found?.isDirectory() ? [{ path, used: found.mtimeMs }] : []
    })
    .sort((one, other) => one.used - other.used)
}

function isMeasuredIn(path: string): boolean {
  const site = siteAt(path)
  const slots = dirname(slotLock(site, 0))
  return (
    existsSync(slots) &&
    readdirSync(slots).some(
      (name) => /^\d+$/.test(name) && seeLock(slotLock(site, Number(name))).state === 'alive',
    )
  )
}
