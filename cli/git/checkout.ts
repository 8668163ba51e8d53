/** Facts about the user's checkout. Reading only: not even its index is refreshed. */

import { existsSync } from 'node:fs'
import { lstat } from 'node:fs/promises'
import { join } from 'node:path'
import { fail, ok, type Problem, type Result } from '../result.ts'
import { fields, gitFields } from './git.ts'
import { porcelain } from './porcelain.ts'
import { hashFiles } from './trees.ts'

export interface DirtyPath {
  /** Relative to the top of the checkout. */
  path: string
  kind: 'added' | 'modified' | 'deleted' | 'type_changed' | 'unmerged' | 'submodule' | 'untracked'
}

export interface Checkout {
  /** Top of this checkout, symbolic links resolved. */
  top: string
  gitDir: string
  /** Shared by all linked worktrees; equal to `gitDir` in the main checkout. */
  commonDir: string
  /** The common folder has no checkout of its own, only linked worktrees. */
  bare: boolean
  /** null = no commit yet. */
  head: string | null
  /** null = detached. */
  branch: string | null
  shallow: boolean
  /** Against HEAD; `.assay` is never part of it. */
  dirty: DirtyPath[]
}

/**
 * Looks at the checkout around a folder. Problems: `not_a_repository`, `bare_repository` (a folder of git's, not a
 * checkout), `newline_in_path`, `unsafe_repository` (git distrusts its owner), `git_missing`, `git_failed`.
 */
export async function inspectCheckout(dir: string): Promise<Result<Checkout>> {
  if (!existsSync(dir)) return fail(noRepository(dir))
  const asked = await porcelain(
    dir,
    (git) => git.raw(['rev-parse', '--path-format=absolute', ...WHERE]),
    USERS,
  )
  if (!asked.ok) return fail(explained(asked.problem, dir))
  const lines = asked.value.replace(/\n$/, '').split('\n')
  if (lines.length > 4) return fail(newlineProblem(dir))
  const [inside, shallow, gitDir = '', commonDir = ''] = lines
  if (inside !== 'true') return fail(bareProblem(dir))
  const found = await porcelain(
    dir,
    async (git) => {
      const top = await git.raw(['rev-parse', '--path-format=absolute', '--show-toplevel'])
      const bare = await git.raw([`--git-dir=${commonDir}`, 'config', '--type=bool', '--get', 'core.bare'])
      const status = await git.raw([...STATUS])
      return {
        top: top.replace(/\n$/, ''),
        bare: bare.trim() === 'true',
        ...statusOf(fields(status)),
      }
    },
    // 1: the configuration does not say whether it is bare.
    { ...USERS, okCodes: [0, 1] },
  )
  return found.ok ? ok({ gitDir, commonDir, shallow: shallow === 'true', ...found.value }) : found
}

const USERS = { config: 'user' } as const
const WHERE = ['--is-inside-work-tree', '--is-shallow-repository', '--git-dir', '--git-common-dir']
const STATUS = ['status', '--porcelain=v2', '--branch', '-z', '--no-renames', '--untracked-files=all']

/** The problem of a checkout whose `head` is null, for verbs that need a commit. */
export const emptyRepository = (top: string): Problem => ({
  kind: 'refused',
  code: 'empty_repository',
  message: 'this repository has no commit yet, so there is nothing to compare with',
  hint: 'make a first commit: git add -A && git commit -m "start"',
  at: top,
})

type Status = Pick<Checkout, 'head' | 'branch' | 'dirty'>

/**
 * HEAD and everything that differs from it, of these files and folders when some are named. Untracked folders are listed file
 * by file.
 */
export async function readStatus(dir: string, places: readonly string[] = []): Promise<Result<Status>> {
  const out = await gitFields(['--literal-pathspecs', ...STATUS, '--', ...places], { dir, config: 'user' })
  return out.ok ? ok(statusOf(out.value)) : out
}

function statusOf(lines: readonly string[]): Status {
  const status: Status = { head: null, branch: null, dirty: [] }
  for (const line of lines) {
    if (line.startsWith('# branch.oid ')) {
      const oid = line.slice('# branch.oid '.length)
      status.head = oid === '(initial)' ? null : oid
    } else if (line.startsWith('# branch.head ')) {
      const branch = line.slice('# branch.head '.length)
      status.branch = branch === '(detached)' ? null : branch
    } else {
      const dirty = parseDirty(line)
      if (dirty && !isOurs(dirty.path)) status.dirty.push(dirty)
    }
  }
  return status
}

const isOurs = (path: string): boolean => path === '.assay' || path.startsWith('.assay/')

function parseDirty(line: string): DirtyPath | null {
  if (line.startsWith('? ')) return { path: line.slice(2), kind: 'untracked' }
  if (line.startsWith('u ')) {
    const path = /^u (?:\S+ ){9}(.*)$/s.exec(line)?.[1]
    return path === undefined ? null : { path, kind: 'unmerged' }
  }
  const match = /^1 (\S)(\S) (\S)\S* (?:\S+ ){5}(.*)$/s.exec(line)
  if (!match) return null
  const [, staged = '.', onDisk = '.', submodule, path = ''] = match
  if (submodule === 'S') return { path, kind: 'submodule' }
  const letter = onDisk === '.' ? staged : onDisk
  if (letter === 'D') return { path, kind: 'deleted' }
  if (letter === 'T') return { path, kind: 'type_changed' }
  return { path, kind: staged === 'A' || letter === 'A' ? 'added' : 'modified' }
}

function explained(problem: Problem, dir: string): Problem {
  if (problem.code !== 'git_failed') return problem
  if (/dubious ownership/.test(problem.message)) {
    return {
      kind: 'refused',
      code: 'unsafe_repository',
      message: 'git refuses to read this repository, since another user owns it',
      hint: `if you trust it: git config --global --add safe.directory '${dir}'`,
      at: dir,
    }
  }
  if (/not a git repository/.test(problem.message)) return noRepository(dir)
  // `--path-format`, or rev-parse without a work tree, in a bare repository.
  return /must be run in a work tree/.test(problem.message) ? bareProblem(dir) : problem
}

const noRepository = (dir: string): Problem => ({
  kind: 'refused',
  code: 'not_a_repository',
  message: 'this folder is not inside a git repository',
  hint: 'go to your project, or start one: git init && git add -A && git commit -m "start"',
  at: dir,
})

/** git and the shells of benchmarks list paths line by line. */
const newlineProblem = (dir: string): Problem => ({
  kind: 'refused',
  code: 'newline_in_path',
  message: `the path of this repository has a line break in it: ${JSON.stringify(dir)}`,
  hint: 'rename that folder',
  at: dir,
})

const bareProblem = (dir: string): Problem => ({
  kind: 'refused',
  code: 'bare_repository',
  message: 'this is a folder of git itself, not a checkout with files',
  hint: 'run Assay inside a checkout; for a bare repository make one: git worktree add ../work',
  at: dir,
})

// ---------------------------------------------------------------- notices edits in the user's checkout by an agent that should have worked in its own worktree

/** path → state, of the paths that differ from HEAD; HEAD itself stands under `HEAD_KEY`. Plain JSON. */
export type Fingerprint = Record<string, string>

/** No file of a checkout can have this path. */
export const HEAD_KEY = '.git/HEAD'

const HASHED = 1024 * 1024

/**
 * The state of a checkout as far as `inScope` goes. Files above 1 MiB count by size and time, not by content. `places`: files
 * and folders beside which nothing is in scope; git does not look there.
 */
export async function fingerprintCheckout(
  top: string,
  inScope: (path: string) => boolean,
  places: readonly string[] = [],
): Promise<Result<Fingerprint>> {
  const status = await readStatus(top, places)
  if (!status.ok) return status
  const paths = status.value.dirty.map((one) => one.path).filter(inScope)
  const found: Fingerprint = { [HEAD_KEY]: status.value.head ?? 'none' }
  const small: string[] = []
  for (const path of paths) {
    const info = await lstat(join(top, path)).catch(() => null)
    if (info?.isFile() && info.size > HASHED) found[path] = `${info.size}@${info.mtimeMs}`
    else small.push(path)
  }
  const hashes = await hashFiles(top, small)
  if (!hashes.ok) return hashes
  for (const [path, hash] of hashes.value) found[path] = hash ?? 'deleted'
  return ok(found)
}

/** The paths whose state differs, sorted; `HEAD_KEY` among them when there was a commit or a switch. */
export function pathsChangedSince(before: Fingerprint, after: Fingerprint): string[] {
  const paths = new Set([...Object.keys(before), ...Object.keys(after)])
  return [...paths].filter((path) => before[path] !== after[path]).sort()
}
