/** Edit worktrees and measurement checkouts: linked to the store, detached, always removed by renaming. */
import { existsSync, lstatSync, mkdirSync, mkdtempSync, renameSync } from 'node:fs'
import { mkdir, readdir, readFile, realpath, rename, rm, writeFile } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { giveRights, type Obstacle, removeTree } from '../disk/remove.ts'
import { withLock } from '../lock.ts'
import { type Site, trashFolder, worktreeLock } from '../paths.ts'
import { fail, ok, type Result } from '../result.ts'
import { git } from './git.ts'
import { copyIndex, judgeFolder, judgeWorktreeOptions, withPrivateIndex } from './judge-folder.ts'
import { refuseDamaged } from './objects.ts'
import { giveFilters } from './rules.ts'

// ----------------------------------------------------------------
// Which folder of the store belongs to a worktree. Found by the store's own registry, never by the
// worktree's `.git` file: an agent may delete that, or put a repository of its own in its place.

/** `<store>/worktrees/<id>` of the worktree at `path`; null when there is none. */
export async function registeredFolder(site: Site, path: string): Promise<string | null> {
  const registry = join(site.store, 'worktrees')
  const name = basename(path)
  const pointer = join(await realFolder(dirname(path)), name, '.git')
  const leadsThere = async (one: string) =>
    (await readFile(join(registry, one, 'gitdir'), 'utf8').catch(() => '')).replace(/\n$/, '') === pointer
  if (await leadsThere(name)) return join(registry, name)
  // git numbers equal names: `a`, `a1`, `a2`.
  for (const one of await readdir(registry).catch(() => []))
    if (one.startsWith(name) && one !== name && (await leadsThere(one))) return join(registry, one)
  return null
}

const realFolder = (folder: string): Promise<string> => realpath(folder).catch(() => folder)

/**
 * The judge's index of a worktree: as git left the files, with their stat data. Its presence means that the checkout
 * is complete. It lies beside git's own files, so that it goes when the registration goes.
 */
export const judgeIndex = (folder: string): string => join(folder, 'judge-index')

export const isComplete = (folder: string, path: string): boolean =>
  existsSync(judgeIndex(folder)) && existsSync(path)

/**
 * Makes `index` the judge's index of a worktree and gives a copy to the agent's own git. `tree`: what the index holds, if
 * the caller knows it.
 */
export async function publishIndex(
  site: Site,
  index: string,
  folder: string,
  tree: string | null,
): Promise<void> {
  if (tree !== null) await keepTreeIndex(index, folder, tree)
  const theirs = `${index}-theirs`
  await copyIndex(index, theirs)
  await rename(theirs, join(folder, 'index'))
  await rename(index, judgeIndex(folder))
  if (!(await hasRulesOf(site, folder))) await writeFile(rulesStamp(folder), site.rules ?? '')
}

const rulesStamp = (folder: string): string => join(folder, 'judge-rules')

/**
 * Whether the files of a worktree were written by the rules of this run: a slot serves several runs, and under other
 * rules the same blob is another file.
 */
export const hasRulesOf = async ({ rules = '' }: Site, folder: string): Promise<boolean> =>
  (await readFile(rulesStamp(folder), 'utf8').catch(() => '')) === rules

/** Says that files are being written again, for the case that this process dies before it has written them all. */
export const forgetRules = (folder: string): Promise<void> => writeFile(rulesStamp(folder), 'being written\n')

/** As `judgeIndex`, already brought to one tree: reading a tree into an index is a third of a seal. */
export const treeIndex = (folder: string, tree: string): string => join(folder, `judge-index-${tree}`)

/** Keeps a copy of an index that holds exactly `tree`, in place of those of other trees, except `beside`. */
export async function keepTreeIndex(
  index: string,
  folder: string,
  tree: string,
  beside: string | null = null,
): Promise<void> {
  const copy = `${index}-kept`
  await copyIndex(index, copy)
  await rename(copy, treeIndex(folder, tree))
  const kept = [tree, ...(beside === null ? [] : [beside])].map((one) => treeIndex(folder, one))
  for (const name of await readdir(folder)) {
    const other = join(folder, name)
    if (name.startsWith('judge-index-') && !kept.includes(other)) await rm(other, { force: true })
  }
}

// ---------------------------------------------------------------- the store's registry of worktrees against what is on disk

export interface Registration {
  /** `<store>/worktrees/<id>`. */
  folder: string
  /** Where the worktree should be; null when the registration does not say. */
  path: string | null
  exists: boolean
}

export async function registrations(site: Site): Promise<Registration[]> {
  const registry = join(site.store, 'worktrees')
  const ids = await readdir(registry).catch(() => [])
  const found: Registration[] = []
  for (const id of ids.sort()) found.push(await readRegistration(join(registry, id)))
  return found
}

async function readRegistration(folder: string): Promise<Registration> {
  const text = await readFile(join(folder, 'gitdir'), 'utf8').catch(() => '')
  const pointer = text.replace(/\n$/, '')
  const path = pointer === '' ? null : dirname(pointer)
  return { folder, path, exists: path !== null && existsSync(path) }
}

/** Removes a registration whose worktree is gone; false when the worktree is there by now. */
export function dropRegistration(site: Site, folder: string): Promise<boolean> {
  return withLock(worktreeLock(site), async () => {
    if (!existsSync(folder)) return true
    if ((await readRegistration(folder)).exists) return false
    moveToTrash(site, folder)
    return true
  })
}

/**
 * A detached worktree of `commit` at `path`. Idempotent: a complete one is left as it is, whatever its commit; a
 * half-made one is completed. The registry's lock is not held while files are written. `tree`: the one of the commit, if the
 * caller knows it; then the first look at the worktree is quicker. Problem `objects_damaged`.
 */
export async function addWorktree(
  site: Site,
  path: string,
  commit: string,
  tree: string | null = null,
): Promise<Result<void>> {
  const found = await registeredFolder(site, path)
  if (found && isComplete(found, path)) return ok(undefined)
  const folder = await withLock(worktreeLock(site), () => register(site, path, commit))
  return folder.ok ? fill(site, path, folder.value, { commit, tree }) : folder
}

async function register(site: Site, path: string, commit: string): Promise<Result<string>> {
  const found = await registeredFolder(site, path)
  if (found) {
    // git keeps `locked` while it registers: with it, the owner died half-way (we hold the lock).
    if (existsSync(join(path, '.git')) && !existsSync(join(found, 'locked'))) return ok(found)
    moveToTrash(site, found)
  }
  if (isThere(path)) moveToTrash(site, path)
  return enrol(site, path, commit)
}

async function enrol(site: Site, path: string, commit: string): Promise<Result<string>> {
  try {
    return ok(await writeRegistration(site, path, commit))
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    if (code !== 'ENOSPC' && code !== 'EDQUOT') throw error
    return fail({
      kind: 'failed',
      code: 'disk_full',
      message: `the worktree could not be registered: ${message}`,
      hint: 'free some space and repeat the command; nothing that was acknowledged is lost',
      at: path,
    })
  }
}

/**
 * Writes what `git worktree add --detach --no-checkout` writes (`gitrepository-layout`). git itself reads all registrations
 * first, which takes six times as long when there are 1,000. The registration appears whole, by renaming; the file that
 * leads to it comes last. For one caller at a time.
 */
async function writeRegistration(site: Site, path: string, commit: string): Promise<string> {
  await mkdir(path, { recursive: true })
  const registry = join(site.store, 'worktrees')
  const draft = join(judgeFolder(site.store), 'registration')
  const pointer = join(await realFolder(path), '.git')
  await rm(draft, { recursive: true, force: true })
  await mkdir(registry, { recursive: true })
  await mkdir(draft)
  await writeFile(join(draft, 'commondir'), '../..\n')
  await writeFile(join(draft, 'HEAD'), `${commit}\n`)
  await writeFile(join(draft, 'gitdir'), `${pointer}\n`)
  let folder = join(registry, basename(path))
  for (let n = 1; isThere(folder); n++) folder = join(registry, `${basename(path)}${n}`)
  await rename(draft, folder)
  await writeFile(`${pointer}-new`, `gitdir: ${folder}\n`)
  await rename(`${pointer}-new`, pointer)
  return folder
}

async function fill(
  site: Site,
  path: string,
  folder: string,
  { commit, tree }: { commit: string; tree: string | null },
): Promise<Result<void>> {
  return withLock(join(folder, 'judge-lock'), async () => {
    if (isComplete(folder, path)) return ok(undefined)
    const intact = await refuseDamaged(site, commit)
    if (!intact.ok) return intact
    await giveFilters(site, folder)
    return withPrivateIndex(site, async (index) => {
      const written = await git(
        ['read-tree', '-u', '--reset', commit],
        judgeWorktreeOptions(site, path, index),
      )
      if (!written.ok) return written
      await publishIndex(site, index, folder, tree)
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

/** Removes worktrees, each in the time of two renames; nothing happens where there is none. `emptyTrash` frees the space. */
export async function removeWorktrees(site: Site, paths: readonly string[]): Promise<void> {
  if (paths.length === 0) return
  await withLock(worktreeLock(site), async () => {
    let place: string | null = null
    for (const path of paths) {
      const folder = await registeredFolder(site, path)
      for (const one of [path, folder]) {
        if (one === null || !isThere(one)) continue
        place ??= placeInTrash(site)
        moveTo(place, one)
      }
    }
  })
}

export async function removeWorktree(site: Site, path: string): Promise<Result<void>> {
  await removeWorktrees(site, [path])
  return ok(undefined)
}

/** A link that leads nowhere is there as well. */
const isThere = (path: string): boolean => lstatSync(path, { throwIfNoEntry: false }) !== undefined

export const moveToTrash = (site: Site, path: string): void => moveTo(placeInTrash(site), path)

/** A new folder in the trash. */
function placeInTrash(site: Site): string {
  const trash = trashFolder(site)
  if (isThere(trash) && !lstatSync(trash).isDirectory()) removeTree(trash)
  mkdirSync(trash, { recursive: true })
  return mkdtempSync(join(trash, 'w-'))
}

/** A link is moved as the link that it is. */
function moveTo(place: string, path: string): void {
  // To change its place, a folder must be writable by its owner.
  if (lstatSync(path).isDirectory()) giveRights(path)
  let there = join(place, basename(path))
  for (let n = 1; isThere(there); n++) there = join(place, `${basename(path)}~${n}`)
  renameSync(path, there)
}

/** Deletes what was removed, and answers what stays because it cannot be. Safe at any time, also from several processes. */
export async function emptyTrash(site: Site): Promise<Obstacle[]> {
  const trash = trashFolder(site)
  // Behind a link lies what is not ours.
  if (!lstatSync(trash, { throwIfNoEntry: false })?.isDirectory()) return []
  const names = await readdir(trash).catch(() => [])
  return names.flatMap((name) => removeTree(join(trash, name)) ?? [])
}
