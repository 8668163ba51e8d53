/** What of a user's repository stands in the way of a store and its checkouts; looked at before anything is made. */
import { lstatSync, readdirSync } from 'node:fs'
import { type Site, STATE_FOLDER } from '../paths.ts'
import { fail, ok, type Problem, type Result } from '../result.ts'
import type { Checkout } from './checkout.ts'
import { type GitOptions, git, gitFields, gitText } from './git.ts'

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
  if (tracked.value.length > 0) return fail(takenProblem(site.state, 'git has it'))
  if (!found) return ok(undefined)
  if (!found.isDirectory()) return fail(takenProblem(site.state, 'it is not a folder'))
  const names = readdirSync(site.state)
  if (names.length === 0 || names.some((name) => OURS.test(name))) return ok(undefined)
  return fail(takenProblem(site.state, `it holds ${names.slice(0, 3).join(', ')}`))
}

const takenProblem = (at: string, how: string): Problem => ({
  kind: 'refused',
  code: 'state_taken',
  message: `${STATE_FOLDER} is where Assay keeps its state, and it is something else here: ${how}`,
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
