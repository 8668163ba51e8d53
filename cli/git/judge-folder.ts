/**
 * A second git folder inside the store, for judging: the same objects, but a configuration, ignore rules and indexes that no
 * `git config`, `update-index` or hook of an agent reaches. Every command that decides which files a candidate has uses
 * it; the store itself is used only for refs and the registry of worktrees.
 */

import { copyFile, lstat, mkdtemp, rm, stat, utimes } from 'node:fs/promises'
import { join } from 'node:path'
import type { Site } from '../paths.ts'
import { ok, type Result } from '../result.ts'
import { type GitOptions, git, nulTerminated } from './git.ts'

export const judgeFolder = (store: string): string => join(store, 'judge')

/** Options for a git command on the store itself. */
export const storeOptions = (site: Site): GitOptions => ({ gitDir: site.store })

/** Where git finds the rules of a run; runs that were started by an older Assay have those of the store. */
export const rulesFolder = ({ store, rules }: Site): string =>
  rules === undefined ? judgeFolder(store) : join(judgeFolder(store), rules)

/** Options for a git command on objects only, without a worktree: also not the one that this process was started in. */
export const judgeOptions = (site: Site): GitOptions => ({
  dir: judgeFolder(site.store),
  gitDir: judgeFolder(site.store),
  objects: join(site.store, 'objects'),
})

/** Options for a git command on the files of a worktree, through a private index. */
export const judgeWorktreeOptions = (site: Site, worktree: string, index: string): GitOptions => ({
  ...judgeOptions(site),
  gitDir: rulesFolder(site),
  dir: worktree,
  workTree: worktree,
  index,
})

/** Lends the path of an index that does not exist yet; it is gone afterwards, unless `work` renamed it away. */
export async function withPrivateIndex<T>(site: Site, work: (index: string) => Promise<T>): Promise<T> {
  const folder = await mkdtemp(join(judgeFolder(site.store), 'index-'))
  try {
    return await work(join(folder, 'index'))
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

/**
 * Copies an index with the time of the original (in whole seconds, rounded down). git compares the contents of a
 * file that is as young as its index; with the time of the copy an edit of equal size in that same second is missed.
 */
export async function copyIndex(from: string, to: string): Promise<void> {
  const { mtimeMs } = await stat(from)
  await copyFile(from, to)
  const seconds = Math.floor(mtimeMs / 1000)
  await utimes(to, seconds, seconds)
}

// ---------------------------------------------------------------- Putting files from disk into a private index

export type EntryKind = 'file' | 'folder' | 'repository' | 'gone'

/** What stands at a path, without looking through symbolic links in front of it. */
export async function entryKind(top: string, path: string): Promise<EntryKind> {
  const parts = path.split('/')
  let place = top
  for (const [n, part] of parts.entries()) {
    place = join(place, part)
    const found = await lstat(place).catch(() => null)
    if (!found) return 'gone'
    if (n < parts.length - 1) {
      if (!found.isDirectory()) return 'gone'
    } else if (found.isDirectory()) {
      const own = await lstat(join(place, '.git')).catch(() => null)
      return own ? 'repository' : 'folder'
    }
  }
  return 'file'
}

/**
 * Makes the index say what the disk says about these paths: added, changed, or removed when nothing (or a folder) is
 * there. Contents go into the object database of `options`, through the filters of its configuration.
 */
export async function stagePaths(options: GitOptions, paths: readonly string[]): Promise<Result<void>> {
  const there: string[] = []
  const gone: string[] = []
  for (const path of paths) {
    const list = (await entryKind(options.workTree ?? '', path)) === 'file' ? there : gone
    list.push(path)
  }
  if (gone.length > 0) {
    const removed = await git(['update-index', '-z', '--force-remove', '--stdin'], {
      ...options,
      input: nulTerminated(gone),
    })
    if (!removed.ok) return removed
  }
  if (there.length > 0) {
    const added = await git(['update-index', '-z', '--add', '--remove', '--replace', '--stdin'], {
      ...options,
      input: nulTerminated(there),
    })
    if (!added.ok) return added
  }
  return ok(undefined)
}
