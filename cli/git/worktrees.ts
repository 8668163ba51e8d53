/** Edit worktrees and measurement checkouts: linked to the store, detached, always removed by renaming. */
import { existsSync, lstatSync } from 'node:fs'
import { mkdir, mkdtemp, readdir, readFile, rename } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { giveRights, type Obstacle, removeTree } from '../disk/remove.ts'
import { withLock } from '../lock.ts'
import { type Site, trashFolder, worktreeLock } from '../paths.ts'
import { fail, ok, type Result } from '../result.ts'
import { git } from './git.ts'
import { inStore, judging, withPrivateIndex } from './judge.ts'
import { isComplete, publishIndex, registeredFolder } from './registry.ts'
import { giveFilters } from './rules.ts'

/**
 * A detached worktree of `commit` at `path`. Idempotent: a complete one is left as it is, whatever its commit; a
 * half-made one is completed. The registry's lock is not held while files are written.
 */
export async function addWorktree(site: Site, path: string, commit: string): Promise<Result<void>> {
  const found = await registeredFolder(site, path)
  if (found && isComplete(found, path)) return ok(undefined)
  const folder = await withLock(worktreeLock(site), () => register(site, path, commit))
  return folder.ok ? fill(site, path, folder.value, commit) : folder
}

async function register(site: Site, path: string, commit: string): Promise<Result<string>> {
  const found = await registeredFolder(site, path)
  if (found) {
    // git keeps `locked` while it registers: with it, the owner died half-way (we hold the lock).
    if (existsSync(join(path, '.git')) && !existsSync(join(found, 'locked'))) return ok(found)
    await moveToTrash(site, found)
  }
  if (isThere(path)) await moveToTrash(site, path)
  await mkdir(dirname(path), { recursive: true })
  const added = await git(
    ['worktree', 'add', '--quiet', '--no-checkout', '--detach', path, commit],
    inStore(site),
  )
  if (!added.ok) return added
  const folder = await registeredFolder(site, path)
  if (folder) return ok(folder)
  return fail({
    kind: 'failed',
    code: 'worktree_not_registered',
    message: 'git made a worktree and did not register it',
    hint: 'another program may have pruned it: repeat the command',
    at: path,
  })
}

async function fill(site: Site, path: string, folder: string, commit: string): Promise<Result<void>> {
  return withLock(join(folder, 'judge-lock'), async () => {
    if (isComplete(folder, path)) return ok(undefined)
    await giveFilters(site, folder)
    return withPrivateIndex(site, async (index) => {
      const written = await git(['read-tree', '-u', '--reset', commit], judging(site, path, index))
      if (!written.ok) return written
      await publishIndex(site, index, folder)
      return ok(undefined)
    })
  })
}

/** The commit that a measurement checkout was brought to last; null when that is not known. */
export async function commitAt(site: Site, path: string): Promise<string | null> {
  const folder = await registeredFolder(site, path)
  const text = folder && (await readFile(join(folder, 'HEAD'), 'utf8').catch(() => ''))
  return (text && /^[0-9a-f]{40,}$/m.exec(text)?.[0]) || null
}

/** Removes a worktree in the time of two renames; nothing happens when there is none. `emptyTrash` frees the space. */
export async function removeWorktree(site: Site, path: string): Promise<Result<void>> {
  await withLock(worktreeLock(site), async () => {
    const folder = await registeredFolder(site, path)
    if (isThere(path)) await moveToTrash(site, path)
    if (folder) await moveToTrash(site, folder)
  })
  return ok(undefined)
}

/** A link that leads nowhere is there as well. */
const isThere = (path: string): boolean => lstatSync(path, { throwIfNoEntry: false }) !== undefined

/** A link is moved as the link that it is. */
export async function moveToTrash(site: Site, path: string): Promise<void> {
  const trash = trashFolder(site)
  if (isThere(trash) && !lstatSync(trash).isDirectory()) removeTree(trash)
  await mkdir(trash, { recursive: true })
  const place = await mkdtemp(join(trash, 'w-'))
  // To change its place, a folder must be writable by its owner.
  if (lstatSync(path).isDirectory()) giveRights(path)
  await rename(path, join(place, basename(path)))
}

/** Deletes what was removed, and answers what stays because it cannot be. Safe at any time, also from several processes. */
export async function emptyTrash(site: Site): Promise<Obstacle[]> {
  const trash = trashFolder(site)
  // Behind a link lies what is not ours.
  if (!lstatSync(trash, { throwIfNoEntry: false })?.isDirectory()) return []
  const names = await readdir(trash).catch(() => [])
  return names.flatMap((name) => removeTree(join(trash, name)) ?? [])
}
