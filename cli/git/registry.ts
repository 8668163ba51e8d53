/**
 * Which folder of the store belongs to a worktree. Found by the store's own registry, never by the worktree's `.git`
 * file: an agent may delete that, or put a repository of its own in its place.
 */
import { existsSync } from 'node:fs'
import { readdir, readFile, realpath, rename, rm, writeFile } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import type { Site } from '../paths.ts'
import { copyIndex } from './judge.ts'

/** `<store>/worktrees/<id>` of the worktree at `path`; null when there is none. */
export async function registeredFolder(site: Site, path: string): Promise<string | null> {
  const registry = join(site.store, 'worktrees')
  const names = await readdir(registry).catch(() => [])
  const name = basename(path)
  const pointer = join(await realFolder(dirname(path)), name, '.git')
  for (const one of names) {
    // git numbers equal names: `a`, `a1`, `a2`.
    if (!one.startsWith(name)) continue
    const text = await readFile(join(registry, one, 'gitdir'), 'utf8').catch(() => '')
    if (text.replace(/\n$/, '') === pointer) return join(registry, one)
  }
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

/** Makes `index` the judge's index of a worktree and gives a copy to the agent's own git. */
export async function publishIndex(site: Site, index: string, folder: string): Promise<void> {
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

/** Keeps a copy of an index that holds exactly `tree`, in place of the one of another tree. */
export async function keepTreeIndex(index: string, folder: string, tree: string): Promise<void> {
  const copy = `${index}-kept`
  await copyIndex(index, copy)
  await rename(copy, treeIndex(folder, tree))
  for (const name of await readdir(folder)) {
    const other = join(folder, name)
    if (name.startsWith('judge-index-') && other !== treeIndex(folder, tree)) await rm(other, { force: true })
  }
}
