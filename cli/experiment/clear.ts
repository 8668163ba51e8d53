/** A checkout of a slot before a candidate comes into it: it is the one that was made, and holds nothing of what ran there before. */
import { lstatSync } from 'node:fs'
import { dirname } from 'node:path'
import { type Keep, keepOnly } from '../disk/keep-only.ts'
import { removeTree } from '../disk/remove.ts'
import { treePaths } from '../git/files.ts'
import { freshenCheckout } from '../git/slots.ts'
import { moveToTrash, removeWorktree } from '../git/worktrees.ts'
import type { SampleFault } from '../ledger/events.ts'
import { slotPath } from '../paths.ts'
import { ok, type Result } from '../result.ts'
import { dataOfRun } from '../run/data.ts'
import type { OpenRun } from '../run/open.ts'
import { dataPaths } from './data.ts'
import type { DiskWatch } from './disk-filled.ts'
import type { Manifest } from './manifest.ts'

type Place = 'a' | 'b'

/** Where entries of a checkout lie for a moment while a folder of it is made again: on the same disk. */
export const asideOf = (checkout: string): string => `${checkout}.aside`

/** A slot lies in folders of ours: a program may have put a link there, and what it leads to is not ours. */
export function ownFolders(run: Pick<OpenRun, 'site'>, slot: number): void {
  const folder = dirname(slotPath(run.site, slot, 'a'))
  for (const one of [dirname(folder), folder]) {
    const found = lstatSync(one, { throwIfNoEntry: false })
    if (found && !found.isDirectory()) removeTree(one)
  }
}

/**
 * Whether the checkout is the folder that was made there. A link is removed as the link that it is; another folder is
 * moved into the trash, since nobody knows whose it is. Nothing behind a link is looked at. `made`: see `SlotFacts`.
 */
export async function isOurs(
  run: OpenRun,
  slot: number,
  place: Place,
  made: number | null,
): Promise<boolean> {
  ownFolders(run, slot)
  const path = slotPath(run.site, slot, place)
  removeTree(asideOf(path))
  const found = lstatSync(path, { throwIfNoEntry: false })
  if (!found) return false
  if (!found.isDirectory()) {
    removeTree(path)
    return false
  }
  if (made === null || found.ino === made) return true
  run.tell({
    type: 'warning',
    message: `${path} is not the checkout that was made there; it was moved into the trash and is made again`,
  })
  await moveToTrash(run.site, path)
  return false
}

/** The inode of the checkout; null when none is there. */
export const madeAt = (path: string): number | null => lstatSync(path, { throwIfNoEntry: false })?.ino ?? null

/**
 * Exactly the candidate, and of all other files only those that stay and the data: nothing of what ran there before.
 * A checkout that cannot be brought there is moved into the trash and made again: then the answer is `again`, and
 * nothing stayed.
 */
export async function clear(
  run: OpenRun,
  path: string,
  candidate: { commit: string; tree: string },
  stays: Manifest,
): Promise<Result<'as_wanted' | 'again'>> {
  const listed = dataOfRun(run)
  if (!listed.ok) return listed
  const data = listed.value.map((one) => one.path)
  const swept = await sweep(run, path, candidate, { ...stays, data })
  if (!swept.ok) return swept
  if (swept.value === null) {
    const fresh = await freshenCheckout(run.site, path, candidate.commit, { keep: [...stays.roots, ...data] })
    if (fresh.ok) return ok('as_wanted')
    if (fresh.problem.code === 'disk_full') return fresh
  }
  if (lstatSync(path, { throwIfNoEntry: false })) {
    const why = swept.value === null ? '' : ` (${swept.value})`
    run.tell({
      type: 'warning',
      message: `${path} could not be cleaned${why}; it was moved into the trash and is made again`,
    })
  }
  const removed = await removeSlotOr(run, path)
  if (!removed.ok) return removed
  const fresh = await freshenCheckout(run.site, path, candidate.commit)
  return fresh.ok ? ok('again') : fresh
}

/** What was in the way, as a text; null when all is gone that had to go. */
async function sweep(
  run: OpenRun,
  path: string,
  { tree }: { tree: string },
  stays: Manifest & { data: string[] },
): Promise<Result<string | null>> {
  if (!lstatSync(path, { throwIfNoEntry: false })) return ok(null)
  const keep = await belonging(run, tree, stays)
  if (!keep.ok) return keep
  const obstacle = keepOnly(path, keep.value)
  return ok(obstacle && `${obstacle.path}: ${obstacle.code}`)
}

/** What may lie in a checkout of a tree, beside what stays. */
export async function belonging(
  run: Pick<OpenRun, 'site'>,
  treeish: string,
  { files, folders = [], data }: Manifest & { data: readonly string[] },
): Promise<Result<Keep>> {
  const tracked = await treePaths(run.site, treeish)
  if (!tracked.ok) return tracked
  return ok({
    files: ['.git', ...tracked.value.files, ...Object.keys(files), ...data],
    folders,
    closed: tracked.value.submodules,
  })
}

/** Why a build failed; one that filled the disk is to blame for that, and what it left goes. */
export async function faultOfBuild(
  run: OpenRun,
  path: string,
  tree: string,
  { disk, fault }: { disk: DiskWatch; fault: SampleFault | null },
): Promise<SampleFault | null> {
  disk.ended()
  if (fault === null || !disk.isFull) return fault
  const keep = await belonging(run, tree, { roots: [], files: {}, data: [...dataPaths(run)] })
  if (keep.ok) keepOnly(path, keep.value)
  return disk.blame(fault)
}

/** A checkout of which even the top does not yield goes with the folder that holds it, which is ours. */
async function removeSlotOr(run: OpenRun, path: string): Promise<Result<void>> {
  try {
    return await removeWorktree(run.site, path)
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code !== 'EACCES' && code !== 'EPERM') throw error
    await moveToTrash(run.site, path.slice(0, path.lastIndexOf('/')))
    return removeWorktree(run.site, path)
  }
}
