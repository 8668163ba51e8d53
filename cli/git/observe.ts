/** Compares the files of a worktree with a tree. HEAD, the agent's commits and the agent's index do not matter. */

import { readFileSync } from 'node:fs'
import { lstat, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { Site } from '../paths.ts'
import { fail, ok, type Result } from '../result.ts'
import { fields, type GitOptions, git, gitFields, nulTerminated } from './git.ts'
import { copyIndex, judgeWorktreeOptions, withPrivateIndex } from './judge-folder.ts'
import { ORIGINS } from './rules.ts'
import { hashFiles, treePaths } from './trees.ts'
import { judgeIndex, keepTreeIndex, registeredFolder, treeIndex } from './worktrees.ts'

export interface TreeDifferences {
  /** Tracked paths whose content, mode or type differs, or that are gone. */
  changed: string[]
  /** Files that the tree does not have and that no .gitignore names. */
  untracked: string[]
  /** Untracked folders that are repositories of their own; they end with `/`. */
  nested: string[]
}

/**
 * Fills the private index with `tree`, keeping the stat data of the judge's index of the worktree, and compares the
 * files with it. Nothing in the worktree is written.
 */
export async function observe(
  site: Site,
  worktree: string,
  tree: string,
  index: string,
): Promise<Result<TreeDifferences>> {
  const options = judgeWorktreeOptions(site, worktree, index)
  const read = await fillIndex(site, worktree, tree, index)
  if (!read.ok) return read
  const found = await differences(options)
  if (!found.ok) return found
  const [shadowing, genuine] = await Promise.all([
    shadows(options, found.value.untracked),
    reallyChanged(site, worktree, tree, found.value.changed),
  ])
  if (!shadowing.ok) return shadowing
  if (!genuine.ok) return genuine
  return ok({
    ...found.value,
    changed: [...genuine.value, ...shadowing.value],
    untracked: found.value.untracked.filter((path) => !shadowing.value.includes(path)),
  })
}

/**
 * A file committed with line endings that its attributes do not allow looks modified to git although it is, byte for
 * byte, what was committed.
 */
async function reallyChanged(
  site: Site,
  worktree: string,
  tree: string,
  paths: readonly string[],
): Promise<Result<string[]>> {
  if (paths.length === 0) return ok([])
  const [listed, hashes] = await Promise.all([treePaths(site, tree), hashFiles(worktree, paths)])
  if (!listed.ok) return listed
  if (!hashes.ok) return hashes
  const same = new Set<string>()
  for (const path of paths) {
    const { mode, oid } = listed.value.entries.get(path) ?? {}
    if (oid === undefined || hashes.value.get(path) !== oid) continue
    const found = await lstat(join(worktree, path)).catch(() => null)
    if (found?.isFile() && mode === ((found.mode & 0o100) === 0 ? '100644' : '100755')) same.add(path)
  }
  return ok(paths.filter((path) => !same.has(path)))
}

async function fillIndex(site: Site, worktree: string, tree: string, index: string): Promise<Result<null>> {
  const options = judgeWorktreeOptions(site, worktree, index)
  const folder = await registeredFolder(site, worktree)
  if (folder) {
    if (await copied(treeIndex(folder, tree), index)) return ok(null)
    if (await copied(judgeIndex(folder), index)) {
      const read = await git(['read-tree', '--reset', tree], options)
      if (read.ok) {
        await keepTreeIndex(index, folder, tree)
        return ok(null)
      }
      await rm(index, { force: true })
    }
  }
  // Without stat data: every file is read, which is slow and right.
  const read = await git(['read-tree', '--reset', tree], options)
  return read.ok ? ok(null) : read
}

const copied = (from: string, to: string): Promise<boolean> =>
  copyIndex(from, to).then(
    () => true,
    () => false,
  )

/** Compares files with an index. `before` goes in front of the sub-command (`-c` options). Ignore rules count. */
export async function differences(
  options: GitOptions,
  before: readonly string[] = [],
): Promise<Result<TreeDifferences>> {
  const listed = await gitFields(
    [...before, 'ls-files', '-z', '-t', '-m', '-d', '-o', '--exclude-standard'],
    options,
  )
  if (!listed.ok) return listed
  const changed = new Set<string>()
  const untracked: string[] = []
  const nested: string[] = []
  for (const line of listed.value) {
    const path = line.slice(2)
    if (path.includes('\ufffd')) return fail(unreadableName(path, options.dir))
    if (!line.startsWith('? ')) changed.add(path)
    else if (path.endsWith('/')) nested.push(path)
    else untracked.push(path)
  }
  return ok({ changed: [...changed], untracked, nested })
}

/**
 * What a worktree has beyond a tree, also what the ignore rules hide: files, and folders of only such files as one path that
 * ends with `/`. Recorded after setup in a measurement checkout, it is what `freshenCheckout` keeps.
 */
export function besidePaths(site: Site, worktree: string, tree: string): Promise<Result<string[]>> {
  return withPrivateIndex(site, async (index) => {
    const read = await fillIndex(site, worktree, tree, index)
    if (!read.ok) return read
    return gitFields(
      ['ls-files', '-z', '-o', '--directory', '--no-empty-directory'],
      judgeWorktreeOptions(site, worktree, index),
    )
  })
}

/**
 * Untracked symbolic links that stand where the tree has a folder. git looks through them and may find every tracked
 * file unchanged, although none of them is where the tree says.
 */
async function shadows(options: GitOptions, untracked: readonly string[]): Promise<Result<string[]>> {
  const links: string[] = []
  for (const path of untracked) {
    const found = await lstat(join(options.workTree ?? '', path)).catch(() => null)
    if (found?.isSymbolicLink()) links.push(path)
  }
  if (links.length === 0) return ok([])
  const tracked = await gitFields(['ls-files', '-z'], options)
  if (!tracked.ok) return tracked
  const folders = new Set<string>()
  for (const path of tracked.value) {
    for (let cut = path.indexOf('/'); cut > 0; cut = path.indexOf('/', cut + 1))
      folders.add(path.slice(0, cut))
  }
  return ok(links.filter((path) => folders.has(path)))
}

const unreadableName = (path: string, at: string | undefined) =>
  ({
    kind: 'refused',
    code: 'path_not_utf8',
    message: `a file's name is not valid UTF-8: ${path}`,
    hint: 'rename it; Assay keeps paths as text',
    ...(at === undefined ? {} : { at }),
  }) as const

// ---------------------------------------------------------------- Ignored files that an agent may believe to be part of its candidate

export interface IgnoredFile {
  path: string
  /** `.gitignore:3`, `/home/me/.config/git/ignore:1` */
  rule: string
}

const MOST = 20

/** Ignored files at paths that `inScope` takes, created or changed after `since`; 20 at most, with the rule of each. */
export async function ignoredSince(
  options: GitOptions,
  inScope: (path: string) => boolean,
  since: Date,
): Promise<Result<IgnoredFile[]>> {
  const listed = await gitFields(['ls-files', '-z', '-o', '-i', '--exclude-standard'], options)
  if (!listed.ok) return listed
  const newer: string[] = []
  for (const path of listed.value) {
    if (!inScope(path)) continue
    // Not mtime: a copy that keeps times is new all the same.
    const found = await lstat(join(options.workTree ?? '', path)).catch(() => null)
    if (found && found.ctimeMs > since.getTime()) newer.push(path)
    if (newer.length === MOST) break
  }
  if (newer.length === 0) return ok([])
  const asked = await git(['check-ignore', '-v', '-z', '--stdin'], {
    ...options,
    input: nulTerminated(newer),
    okCodes: [0, 1],
  })
  if (!asked.ok) return asked
  const origins = originsOf(options)
  return ok(
    parseRules(fields(asked.value)).map(({ path, file, line }) => ({
      path,
      rule: (file === origins.file ? origins.rules[line - 1] : null) ?? `${file}:${line}`,
    })),
  )
}

/** The rules of the user and Assay's own lie in one file of the judge, whose path tells a person nothing. */
function originsOf({ gitDir = '' }: GitOptions): { file: string; rules: string[] } {
  const info = join(gitDir, 'info')
  try {
    const rules = JSON.parse(readFileSync(join(info, ORIGINS), 'latin1')) as string[]
    return { file: join(info, 'exclude'), rules }
  } catch {
    return { file: '', rules: [] }
  }
}

/** Four fields each: file with the rule, its line, the pattern, the path. */
function parseRules(parts: readonly string[]): { path: string; file: string; line: number }[] {
  const found: { path: string; file: string; line: number }[] = []
  for (let at = 0; at + 3 < parts.length; at += 4) {
    found.push({ path: parts[at + 3] ?? '', file: parts[at] ?? '', line: Number(parts[at + 1]) })
  }
  return found
}

/** Which of these paths the user's own ignore rules name. */
export async function ignoredAmong(top: string, paths: readonly string[]): Promise<Result<Set<string>>> {
  const asked = await git(['check-ignore', '-z', '--stdin'], {
    dir: top,
    config: 'user',
    input: nulTerminated(paths),
    okCodes: [0, 1],
  })
  return asked.ok ? ok(new Set(fields(asked.value))) : asked
}
