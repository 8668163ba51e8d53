/** What a killed measurement left in checkouts where nobody measures now: the next one would remove it, and a full disk lets none begin. */
import { existsSync, lstatSync, readdirSync } from 'node:fs'
import { dirname } from 'node:path'
import { keepOnly, strangersIn } from '../disk/keep-only.ts'
import { commitAt } from '../git/worktrees.ts'
import { seeLock, tryHold } from '../lock.ts'
import { listRuns, runPaths, type Site, slotLock, slotPath } from '../paths.ts'
import { readData } from '../run/data.ts'
import { belonging } from './clear.ts'
import { diskSizeOf } from './room.ts'
import { readFacts } from './slot-facts.ts'

export interface Leftover {
  path: string
  bytes: number
}

/** Removes it, unless `dryRun`. A checkout that is not the one that was made is left alone. */
export async function slotLeftovers(site: Site, { dryRun }: { dryRun: boolean }): Promise<Leftover[]> {
  const found: Leftover[] = []
  for (const slot of slotsOf(site)) {
    // Who only looks takes no lock: that would be to write.
    const hold = dryRun ? null : tryHold(slotLock(site, slot))
    if (hold ? !hold.held : seeLock(slotLock(site, slot)).state === 'alive') continue
    try {
      for (const place of ['a', 'b'] as const) found.push(...(await inCheckout(site, slot, place, dryRun)))
    } finally {
      if (hold?.held) hold.release()
    }
  }
  return found
}

async function inCheckout(site: Site, slot: number, place: 'a' | 'b', dryRun: boolean): Promise<Leftover[]> {
  const path = slotPath(site, slot, place)
  const facts = readFacts({ site }, { slot }, place)
  const top = lstatSync(path, { throwIfNoEntry: false })
  const commit = await commitAt(site, path)
  if (!top?.isDirectory() || facts.made === null || top.ino !== facts.made || commit === null) return []
  const { afterSetup, afterBuild } = facts
  const keep = await belonging({ site }, commit, {
    roots: [],
    files: { ...afterSetup.files, ...afterBuild.files },
    folders: [...(afterSetup.folders ?? []), ...(afterBuild.folders ?? [])],
    data: [...dataOfAnyRun(site)],
  })
  if (!keep.ok) return []
  const strange = strangersIn(path, keep.value).map((one) => ({ path: one, bytes: diskSizeOf(one) }))
  if (!dryRun && strange.length > 0) keepOnly(path, keep.value)
  return strange
}

const dataOfAnyRun = (site: Site): Set<string> =>
  new Set(listRuns(site).flatMap((run) => readData(runPaths(site, run)).map(({ path }) => path)))

function slotsOf(site: Site): number[] {
  const folder = dirname(slotLock(site, 0))
  if (!existsSync(folder)) return []
  return readdirSync(folder).flatMap((name) => (/^\d+$/.test(name) ? [Number(name)] : []))
}
