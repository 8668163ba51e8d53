/** What is special about the user's repository, as far as it decides what a candidate gets to see; and which git this is. */

import { existsSync, lstatSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { type Site, STATE_FOLDER } from '../paths.ts'
import { fail, ok, type Problem, type Result } from '../result.ts'
import { type Checkout, readStatus } from './checkout.ts'
import { type GitOptions, git, gitFields, gitText, nulTerminated } from './git.ts'
import { judgeOptions, judgeWorktreeOptions, rulesFolder, withPrivateIndex } from './judge-folder.ts'
import { namesFilter } from './rules.ts'
import { listTree, readBlobs, type TreeEntry } from './trees.ts'

export interface RepositoryKind {
  shallow: boolean
  /** Objects may be missing here and are fetched when they are needed. */
  partial: boolean
  sparse: boolean
  /** `true`, `input`, or null. */
  autocrlf: string | null
  /** Paths of submodules. */
  submodules: string[]
  /** Files that should be content and are pointers of git-lfs. At most 1,000 files under LFS are looked at. */
  lfsPointers: string[]
  lfsInstalled: boolean
}

const MOST = 1000
/** A pointer file is at most 1,024 bytes by its own specification. */
const POINTER_BYTES = 1024
const POINTER = 'version https://git-lfs.github.com/spec/'

export async function repositoryKind(checkout: Checkout): Promise<Result<RepositoryKind>> {
  const dir = checkout.top
  const listed = await gitFields(['config', '--list', '-z'], { dir, config: 'user' })
  if (!listed.ok) return listed
  const entries = await gitFields(['ls-files', '-z', '--stage'], { dir, config: 'user' })
  if (!entries.ok) return entries
  const settings = new Map(listed.value.map(keyAndValue))
  const files = entries.value.map((line) => ({
    mode: line.slice(0, 6),
    path: line.slice(line.indexOf('\t') + 1),
  }))
  const lfs = await lfsFiles(
    dir,
    files.filter(({ mode }) => mode.startsWith('100')).map(({ path }) => path),
  )
  if (!lfs.ok) return lfs
  const pointers = lfs.value.slice(0, MOST).filter((path) => isPointer(join(dir, path)))
  const installed = lfs.value.length === 0 ? ok(false) : await lfsInstalled(dir)
  return ok({
    shallow: checkout.shallow,
    partial: [...settings.keys()].some((key) =>
      /^(extensions\.partialclone|remote\..+\.promisor)$/.test(key),
    ),
    sparse: settings.get('core.sparsecheckout') === 'true',
    autocrlf: settings.get('core.autocrlf') ?? null,
    submodules: files.filter(({ mode }) => mode === '160000').map(({ path }) => path),
    lfsPointers: pointers,
    lfsInstalled: installed.ok && installed.value,
  })
}

function keyAndValue(entry: string): [string, string] {
  const cut = entry.indexOf('\n')
  return cut < 0 ? [entry, 'true'] : [entry.slice(0, cut), entry.slice(cut + 1)]
}

async function lfsFiles(dir: string, paths: string[]): Promise<Result<string[]>> {
  // Attributes of every path of a large repository cost a second; without the file there is no LFS.
  if (!paths.some((path) => path === '.gitattributes' || path.endsWith('/.gitattributes'))) return ok([])
  const told = await gitFields(['check-attr', '-z', '--stdin', 'filter'], {
    dir,
    config: 'user',
    input: nulTerminated(paths),
  })
  if (!told.ok) return told
  const found: string[] = []
  for (let at = 0; at + 2 < told.value.length; at += 3)
    if (told.value[at + 2] === 'lfs') found.push(told.value[at] ?? '')
  return ok(found)
}

async function lfsInstalled(dir: string): Promise<Result<boolean>> {
  const asked = await git(['lfs', 'version'], { dir, config: 'user', okCodes: [0, 1] })
  return asked.ok ? ok(/^git-lfs\//.test(asked.value.toString('utf8'))) : ok(false)
}

function isPointer(file: string): boolean {
  try {
    return (
      existsSync(file) &&
      statSync(file).size <= POINTER_BYTES &&
      readFileSync(file, 'latin1').startsWith(POINTER)
    )
  } catch {
    return false
  }
}

// ----------------------------------------------------------------
// What in the user's repository would prevent a store and its checkouts. Checked before anything is
// created.

/** Problems: `state_taken` (something else is called `.assay`), `partial_clone` (files of HEAD were never fetched). */
export async function refuseUnusable(site: Site, checkout: Checkout): Promise<Result<void>> {
  const taken = await stateTaken(site, checkout)
  if (!taken.ok) return taken
  const missing = await missingFiles({ dir: checkout.top, config: 'user' })
  if (!missing.ok || missing.value.length === 0) return missing.ok ? ok(undefined) : missing
  return fail(partialProblem(checkout.top, missing.value))
}

/** Entries that only Assay makes: one of them, or nothing at all, and the folder is ours. */
const OURS = /^(\.git|runs|w|m|trash|worktrees\.lock.*|new-store-.*)$/

async function stateTaken(site: Site, { top }: Checkout): Promise<Result<void>> {
  const found = lstatSync(site.state, { throwIfNoEntry: false })
  const tracked = await gitFields(['ls-files', '-z', '--', STATE_FOLDER], { dir: top, config: 'user' })
  if (!tracked.ok) return tracked
  if (tracked.value.length > 0) return fail(takenProblem(site.state, 'git tracks it'))
  if (!found) return ok(undefined)
  if (!found.isDirectory()) return fail(takenProblem(site.state, 'it is not a folder'))
  const names = readdirSync(site.state)
  if (names.length === 0 || names.some((name) => OURS.test(name))) return ok(undefined)
  return fail(takenProblem(site.state, `it holds ${names.slice(0, 3).join(', ')}`))
}

const takenProblem = (at: string, how: string): Problem => ({
  kind: 'refused',
  code: 'state_taken',
  message: `Assay keeps its state in ${STATE_FOLDER}, but this repository uses that name for something else: ${how}`,
  hint: `rename it, or take it out of git: git mv ${STATE_FOLDER} another-name`,
  at,
})

/** Files of HEAD whose content a partial clone does not have; nothing is fetched to find out. */
async function missingFiles(options: GitOptions): Promise<Result<string[]>> {
  const partial = await git(
    ['config', '--get-regexp', '^(extensions\\.partialclone|remote\\..*\\.promisor)$'],
    { ...options, okCodes: [0, 1] },
  )
  if (!partial.ok || partial.value.length === 0) return partial.ok ? ok([]) : partial
  const listed = await gitText(['rev-list', '--objects', '--no-walk', '--missing=print', 'HEAD'], options)
  if (!listed.ok) return listed
  const missing = new Set(
    listed.value.split('\n').flatMap((line) => (line.startsWith('?') ? [line.slice(1)] : [])),
  )
  if (missing.size === 0) return ok([])
  const files = await gitFields(['ls-tree', '-r', '-z', 'HEAD'], options)
  if (!files.ok) return files
  return ok(
    files.value.flatMap((line) => {
      const [head = '', path = ''] = [line.slice(0, line.indexOf('\t')), line.slice(line.indexOf('\t') + 1)]
      return missing.has(head.split(' ')[2] ?? '') ? [path] : []
    }),
  )
}

const partialProblem = (at: string, paths: string[]): Problem => ({
  kind: 'refused',
  code: 'partial_clone',
  message: `${paths.length} files of HEAD were never fetched into this partial clone: ${paths.slice(0, 5).join(', ')}`,
  hint: 'every checkout needs all files; fetch them once: git fetch --refetch --no-filter',
  at,
  data: { paths: paths.slice(0, 100) },
})

/** `2.39.5`. Problems: those of `git`. */
export async function gitVersion(): Promise<Result<string>> {
  const said = await gitText(['version'])
  return said.ok ? ok(/\d+(\.\d+)+/.exec(said.value)?.[0] ?? said.value) : said
}

// ---------------------------------------------------------------- Content that Assay's checkouts lack: submodules, and large files that git-lfs did not fetch

/** Content that the user's checkout may have and Assay's checkouts do not. */
export interface MissingContent {
  submodules: string[]
  /** Pointer files, when no filter of git-lfs is configured that would bring their content. */
  pointers: string[]
  /** Files whose content is in an annex of git-annex: pointers, or links that lead nowhere. */
  annexed: string[]
}

export async function missingContent(site: Site, tree: string): Promise<Result<MissingContent>> {
  const files = await listTree(site, tree)
  if (!files.ok) return files
  const submodules = files.value.filter(({ mode }) => mode === '160000').map(({ path }) => path)
  const pointers = await lfsPointers(site, tree)
  if (!pointers.ok) return pointers
  const annexed = await annexedPaths(site, tree, files.value)
  return annexed.ok ? ok({ submodules, pointers: pointers.value, annexed: annexed.value }) : annexed
}

/** `files` are all of the tree. */
export async function annexedPaths(
  site: Site,
  tree: string,
  files: readonly TreeEntry[],
): Promise<Result<string[]>> {
  const found = await gitFields(['grep', '-l', '-z', '-e', '^/annex/objects/', tree, '--', ':/'], {
    ...judgeOptions(site),
    okCodes: [0, 1],
  })
  if (!found.ok) return found
  const links = files.filter(({ mode }) => mode === '120000')
  const targets = await readBlobs(
    site,
    links.map(({ oid }) => oid),
  )
  if (!targets.ok) return targets
  const leading = links.filter(({ oid }) =>
    /(^|\/)\.git\/annex\/objects\//.test(targets.value.get(oid)?.toString() ?? ''),
  )
  return ok(
    [...found.value.map((one) => one.slice(tree.length + 1)), ...leading.map(({ path }) => path)].sort(),
  )
}

async function lfsPointers(site: Site, tree: string): Promise<Result<string[]>> {
  const filter = await git(['config', '--get', 'filter.lfs.smudge'], {
    ...judgeOptions(site),
    okCodes: [0, 1],
  })
  if (!filter.ok) return filter
  if (filter.value.length > 0) return ok([])
  const found = await gitFields(['grep', '-l', '-z', '--fixed-strings', '-e', POINTER, tree, '--', ':/'], {
    ...judgeOptions(site),
    okCodes: [0, 1],
  })
  // git prints `<tree>:<path>`.
  return found.ok ? ok(found.value.map((one) => one.slice(tree.length + 1))) : found
}

// ---------------------------------------------------------------- Files that the user's filters would write differently from the user's checkout

/** Of one filter; what a filter does to one file it does to the others. */
const FILES_EACH = 3
/** Bytes of a file in the user's checkout. */
const LARGEST = 4 * 1024 * 1024

/**
 * Lets each filter that the run's rules name make a few files of their blobs. Answers those that then differ from the
 * files in the user's checkout, although git calls these unchanged. Problem `filter_failed`: a file could not be made.
 */
export async function tryFilters(
  site: Site,
  checkout: Checkout,
  base: { tree: string },
  files: readonly TreeEntry[],
): Promise<Result<{ path: string; filter: string }[]>> {
  const rules = readFileSync(join(rulesFolder(site), 'info', 'attributes'), 'latin1')
  if (!namesFilter(rules)) return ok([])
  return withPrivateIndex(site, async (index) => {
    const options = judgeWorktreeOptions(site, checkout.top, index)
    const chosen = await filteredFiles(options, checkout, files)
    if (!chosen.ok) return chosen
    const different: { path: string; filter: string }[] = []
    for (const { path, filter } of chosen.value) {
      const made = await git(['cat-file', '--filters', `${base.tree}:${path}`], {
        ...options,
        timeoutMs: LONGEST_MS,
      })
      if (!made.ok)
        return made.problem.code === 'git_failed' ? fail(broken(made.problem, path, filter)) : made
      if (!made.value.equals(readFileSync(join(checkout.top, path)))) different.push({ path, filter })
    }
    const dirty = different.length === 0 ? null : await readStatus(checkout.top)
    if (dirty?.ok === false) return dirty
    const changed = new Set(dirty?.value.dirty.map(({ path }) => path))
    return ok(different.filter(({ path }) => !changed.has(path)))
  })
}

const LONGEST_MS = 60_000

async function filteredFiles(
  options: ReturnType<typeof judgeWorktreeOptions>,
  checkout: Checkout,
  files: readonly TreeEntry[],
): Promise<Result<{ path: string; filter: string }[]>> {
  const plain = files.filter(({ mode }) => mode.startsWith('100')).map(({ path }) => path)
  const told = await gitFields(['check-attr', '-z', '--stdin', 'filter'], {
    ...options,
    input: nulTerminated(plain),
  })
  if (!told.ok) return told
  const counts = new Map<string, number>()
  const chosen: { path: string; filter: string }[] = []
  for (let at = 0; at + 2 < told.value.length; at += 3) {
    const [path = '', , filter = ''] = told.value.slice(at, at + 3)
    const count = counts.get(filter) ?? 0
    if (/^(unspecified|set|unset)$/.test(filter) || count >= FILES_EACH) continue
    const found = lstatSync(join(checkout.top, path), { throwIfNoEntry: false })
    // Of git-lfs, pointers are looked for by `missingContent`: what is not there must not be fetched for this.
    if (!found?.isFile() || found.size > LARGEST || isPointer(join(checkout.top, path))) continue
    counts.set(filter, count + 1)
    chosen.push({ path, filter })
  }
  return ok(chosen)
}

const broken = (problem: Problem, path: string, filter: string): Problem => ({
  kind: 'refused',
  code: 'filter_failed',
  message: `git's filter "${filter}" does not work outside of your checkout, so ${path} would not be in any candidate: ${problem.message}`,
  hint: `check that \`git worktree add --detach ../try\` gives you ${path} as you have it; if it does not, the filter is bound to one checkout: commit files that need no filter, or take the filter off for what the benchmark reads`,
  at: path,
})
