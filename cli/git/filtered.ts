/** Whether the filters of a repository work in Assay's checkouts, looked at before a run exists. */
import { lstatSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Site } from '../paths.ts'
import { fail, ok, type Problem, type Result } from '../result.ts'
import { type Checkout, readStatus } from './checkout.ts'
import type { TreeEntry } from './files.ts'
import { git, gitFields, nulTerminated } from './git.ts'
import { judging, rulesFolder, withPrivateIndex } from './judge.ts'
import { namesFilter } from './rules.ts'

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
    const options = judging(site, checkout.top, index)
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
  options: ReturnType<typeof judging>,
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
    // Of git-lfs, pointers are looked for by `hollowPaths`: what is not there must not be fetched for this.
    if (!found?.isFile() || found.size > LARGEST || isPointer(join(checkout.top, path))) continue
    counts.set(filter, count + 1)
    chosen.push({ path, filter })
  }
  return ok(chosen)
}

const isPointer = (file: string): boolean =>
  readFileSync(file).subarray(0, 64).toString('latin1').startsWith('version https://git-lfs.github.com/spec/')

const broken = (problem: Problem, path: string, filter: string): Problem => ({
  kind: 'refused',
  code: 'filter_failed',
  message: `git's filter "${filter}" does not work outside of your checkout, so ${path} would not be in any candidate: ${problem.message}`,
  hint: `check that \`git worktree add --detach ../try\` gives you ${path} as you have it; if it does not, the filter is bound to one checkout: commit files that need no filter, or take the filter off for what the benchmark reads`,
  at: path,
})
