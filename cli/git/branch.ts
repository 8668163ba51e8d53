/** A new branch in the user's repository: objects and one ref, nothing else of theirs is written. */
import type { Site } from '../paths.ts'
import { fail, ok, type Problem, type Result } from '../result.ts'
import { type GitOptions, git, gitText, IDENTITY, SNAPSHOT_SUBJECT, trusting } from './git.ts'
import { inStore } from './judge.ts'

const HEADS = 'refs/heads/'

const inCheckout = (site: Site): GitOptions => ({ dir: site.root, config: 'user' })

/** `refs/heads/z` is the branch `z`, as git prints it and people copy it. */
export const branchName = (name: string): string => (name.startsWith(HEADS) ? name.slice(HEADS.length) : name)

/**
 * That a branch of this name can be made. Problems: `bad_branch`; `branch_exists`, also when another branch is in the
 * way (`a` of `a/b`) or the name is checked out without a commit; its `data.free` is a name that can be had.
 */
export async function mayBranch(site: Site, name: string): Promise<Result<void>> {
  const said = await gitText(['check-ref-format', '--branch', name], {
    ...inCheckout(site),
    okCodes: [0, 128],
  })
  if (!said.ok) return said
  // Another answer than the name: it stands for another branch, such as `@{-1}`. And a whole ref is no name of a branch.
  if (said.value !== name || name.startsWith('refs/')) {
    return fail({
      kind: 'usage',
      code: 'bad_branch',
      message: `git does not take "${name}" as the name of a branch`,
      hint: 'for example: assay finish --branch assay/faster',
    })
  }
  const taken = await takenNames(site)
  if (!taken.ok) return taken
  const other = inTheWay(taken.value, name)
  return other === null ? ok(undefined) : fail(existsProblem(taken.value, name, other))
}

/**
 * Brings a commit of the store and what it needs into the user's repository, and makes the branch that names it. Runs
 * no hook, signs nothing, reads no working tree. A branch that exists is never moved: `branch_exists`.
 */
export async function makeBranch(
  site: Site,
  { name, commit, ref }: { name: string; commit: string; ref: string },
): Promise<Result<void>> {
  const flags = ['--no-tags', '--no-write-fetch-head', '--no-recurse-submodules', '--no-auto-maintenance']
  const fetched = await git(
    // A user may have switched this transport off for all that git does by itself.
    [
      '-c',
      'protocol.file.allow=always',
      'fetch',
      ...flags,
      '--quiet',
      ...trusting(site.store).after,
      '--',
      site.store,
      ref,
    ],
    inCheckout(site),
  )
  if (!fetched.ok) return fetched
  // The empty old value says: only if there is none.
  const made = await git(
    ['update-ref', '-m', 'assay finish', `${HEADS}${name}`, commit, ''],
    inCheckout(site),
  )
  if (made.ok) return ok(undefined)
  const may = await mayBranch(site, name)
  return may.ok ? made : may
}

/** Local branches, and those that a checkout is on before their first commit. */
async function takenNames(site: Site): Promise<Result<string[]>> {
  const [branches, checkouts] = await Promise.all([
    gitText(['for-each-ref', '--format=%(refname)', HEADS], inCheckout(site)),
    gitText(['worktree', 'list', '--porcelain'], inCheckout(site)),
  ])
  if (!branches.ok) return branches
  if (!checkouts.ok) return checkouts
  const named = checkouts.value.split('\n').flatMap((line) => /^branch (.+)$/.exec(line)?.[1] ?? [])
  return ok(
    [...branches.value.split('\n'), ...named]
      .filter((ref) => ref.startsWith(HEADS))
      .map((ref) => ref.slice(HEADS.length)),
  )
}

/** `a` and `a/b` cannot both be: one is a file where the other needs a folder. */
const inTheWay = (taken: readonly string[], name: string): string | null =>
  taken.find((one) => one === name || one.startsWith(`${name}/`) || name.startsWith(`${one}/`)) ?? null

function existsProblem(taken: readonly string[], name: string, other: string): Problem {
  const base = name.startsWith(`${other}/`) ? name.replaceAll('/', '-') : name
  let free = base
  for (let n = 2; inTheWay(taken, free) !== null; n++) free = `${base}-${n}`
  return {
    kind: 'refused',
    code: 'branch_exists',
    message: other === name ? `the branch ${name} exists` : `the branch ${other} is in the way of ${name}`,
    hint: `nothing of it was touched; another name: assay finish --branch ${free}`,
    data: { branch: name, exists: other, free },
  }
}

/** Whether a commit is one that Assay made of a working tree (`init --include-dirty`), and not the user's own. */
export async function isSnapshot(site: Site, commit: string): Promise<Result<boolean>> {
  const told = await gitText(['log', '-1', '--format=%ae %s', '--end-of-options', commit], inStore(site))
  return told.ok ? ok(told.value === `${IDENTITY.email} ${SNAPSHOT_SUBJECT}`) : told
}
