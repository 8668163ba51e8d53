/** Brings a folder back to a tree: a measurement checkout after something ran in it, and a worktree after changes that do not count. */

import { mkdir, mkdtemp, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { type Site, trashFolder } from '../paths.ts'
import { fail, ok, type Result } from '../result.ts'
import { type GitOptions, git, nulTerminated } from './git.ts'
import { holdsIndex, holdsOneOf, SMALL } from './index-file.ts'
import { copyIndex, judgeWorktreeOptions, withPrivateIndex } from './judge-folder.ts'
import { refuseDamaged } from './objects.ts'
import { differences, observe } from './observe.ts'
import type { TreeChange } from './trees.ts'
import {
  addWorktree,
  commitAt,
  forgetRules,
  hasRulesOf,
  isComplete,
  judgeIndex,
  publishIndex,
  registeredFolder,
} from './worktrees.ts'

/** Tracked files of `tree` that are no longer as the tree has them. */
export async function changedFiles(site: Site, checkout: string, tree: string): Promise<Result<string[]>> {
  if (await holdsOneOf(site, checkout, [tree], () => true, SMALL)) return ok([])
  return withPrivateIndex(site, async (index) => {
    const found = await observe(site, checkout, tree, index)
    return found.ok ? ok(found.value.changed) : found
  })
}

// ---------------------------------------------------------------- brings a measurement checkout to exactly one tree

export interface Freshening {
  /** Untracked and ignored paths that survive, as `besidePaths` lists them: a folder ends with `/`. */
  keep?: readonly string[]
  /** The tree of the commit, if the caller knows it: then the next look at the checkout is quicker. */
  tree?: string
}

/**
 * After it, tracked files are exactly those of `commit`, and HEAD is detached at `commit`. Makes the checkout if there is none.
 * The caller has the slot, and has removed all that neither `commit` nor `keep` has (`keepOnly`), ignored files as well: a later
 * candidate would read what an earlier one left in them. Problem `checkout_not_exact` names untracked files that are still
 * there, `objects_damaged` what the store has not whole.
 */
export async function freshenCheckout(
  site: Site,
  path: string,
  commit: string,
  { keep = [], tree }: Freshening = {},
): Promise<Result<void>> {
  const added = await addWorktree(site, path, commit)
  if (!added.ok) return added
  const folder = await registeredFolder(site, path)
  if (!folder || !isComplete(folder, path)) {
    return fail(notExact(path, 'it was removed while it was being prepared'))
  }
  const hasOurRules = await hasRulesOf(site, folder)
  const intact = await refuseDamaged(site, commit, hasOurRules ? await commitAt(site, path) : null)
  if (!intact.ok) return intact
  return withPrivateIndex(site, async (index) => {
    // Without an index every file is written again.
    if (hasOurRules) await copyIndex(judgeIndex(folder), index)
    else await forgetRules(folder)
    const excludes = `${index}-keep`
    await writeFile(excludes, keep.map((one) => `/${escapeGlob(one)}\n`).join(''))
    const options = judgeWorktreeOptions(site, path, index)
    const kept = ['-c', `core.excludesFile=${excludes}`]
    const done = await git(['read-tree', '-u', '--reset', commit], options)
    if (!done.ok) return done
    await rm(join(folder, 'index.lock'), { force: true })
    if (!isExact(path, index, keep)) {
      const exact = await verify(path, options, kept)
      if (!exact.ok) return exact
    }
    await pointHead(folder, path, commit)
    await publishIndex(site, index, folder, tree ?? null)
    return ok(undefined)
  })
}

/**
 * Makes the index of a measurement checkout know its files again after they were written again with the same content. What git keeps
 * of the checkout is then as young as they are.
 */
export async function recognizeFiles(
  site: Site,
  path: string,
  { commit, tree }: { commit: string; tree: string },
): Promise<Result<void>> {
  const folder = await registeredFolder(site, path)
  if (!folder || !isComplete(folder, path)) return fail(notExact(path, 'it was removed while it was used'))
  return withPrivateIndex(site, async (index) => {
    await copyIndex(judgeIndex(folder), index)
    const seen = await git(['update-index', '-q', '--refresh'], judgeWorktreeOptions(site, path, index))
    if (!seen.ok) return seen
    await pointHead(folder, path, commit)
    await publishIndex(site, index, folder, tree)
    return ok(undefined)
  })
}

const isExact = (path: string, index: string, keep: readonly string[]): boolean =>
  keep.every((one) => !one.endsWith('/')) && holdsIndex(path, index, (one) => keep.includes(one))

/**
 * A file that git calls modified right after it wrote it is one whose committed line endings are not the normal
 * ones. So it is written again instead of being compared: then it has the tree's content by construction.
 */
async function verify(path: string, options: GitOptions, kept: string[]): Promise<Result<void>> {
  const found = await differences(options, kept)
  if (!found.ok) return found
  const { changed, untracked, nested } = found.value
  const strange = [...untracked, ...nested]
  if (strange.length > 0) {
    return fail(notExact(path, `these files could not be removed: ${strange.slice(0, 10).join(', ')}`))
  }
  if (changed.length === 0) return ok(undefined)
  for (const one of changed) await rm(join(path, one), { recursive: true, force: true })
  const written = await git(['checkout-index', '-z', '--force', '--index', '--stdin'], {
    ...options,
    input: nulTerminated(changed),
  })
  return written.ok ? ok(undefined) : written
}

/** A benchmark may ask git where it is. Written by renaming, so that no reader sees half a line. */
async function pointHead(folder: string, path: string, commit: string): Promise<void> {
  await writeFile(join(folder, 'HEAD-new'), `${commit}\n`)
  await rename(join(folder, 'HEAD-new'), join(folder, 'HEAD'))
  const pointer = join(path, '.git')
  const text = `gitdir: ${folder}\n`
  if ((await readFile(pointer, 'utf8').catch(() => '')) === text) return
  await rm(pointer, { recursive: true, force: true })
  await writeFile(pointer, text)
}

const escapeGlob = (path: string): string => path.replace(/[\\*?[\]]/g, '\\$&').replace(/ $/, '\\ ')

const notExact = (path: string, why: string) =>
  ({
    kind: 'failed',
    code: 'checkout_not_exact',
    message: `the measurement checkout is not the tree that was asked for: ${why}`,
    hint: 'delete that folder and repeat the command: Assay makes a deleted slot again',
    at: path,
  }) as const

// ---------------------------------------------------------------- Edits of a worktree that are undone

/**
 * Undoes changes of a worktree that lead away from `tree`; nothing else in it is touched. Answers the folder in the trash
 * where what lay there is, by its paths, until that is emptied: it may have been a person's after all.
 */
export async function bringBack(
  site: Site,
  worktree: string,
  tree: string,
  changes: readonly TreeChange[],
): Promise<Result<string>> {
  await mkdir(trashFolder(site), { recursive: true })
  const trash = await mkdtemp(join(trashFolder(site), 'undone-'))
  // What is gone is not looked for: the way to it may lead through a link by now.
  for (const { path, status } of changes) {
    if (status === 'D') continue
    await mkdir(dirname(join(trash, path)), { recursive: true })
    await rename(join(worktree, path), join(trash, path)).catch(() => {})
  }
  const wanted = changes.filter(({ status }) => status !== 'A').map(({ path }) => path)
  if (wanted.length === 0) return ok(trash)
  return withPrivateIndex(site, async (index) => {
    const options = judgeWorktreeOptions(site, worktree, index)
    const read = await git(['read-tree', tree], options)
    if (!read.ok) return read
    const written = await git(['checkout-index', '-z', '--force', '--stdin'], {
      ...options,
      input: nulTerminated(wanted),
    })
    return written.ok ? ok(trash) : written
  })
}
