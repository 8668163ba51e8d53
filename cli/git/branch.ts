/** A new branch in the user's repository: objects and one ref, nothing else of theirs is written. */
import { call, next } from '../next.ts'
import type { Site } from '../paths.ts'
import { fail, ok, type Problem, type Result } from '../result.ts'
import { gitText, IDENTITY, SNAPSHOT_SUBJECT, trusting } from './git.ts'
import { storeOptions } from './judge-folder.ts'
import { porcelain } from './porcelain.ts'

const HEADS = 'refs/heads/'

/** `refs/heads/z` is the branch `z`, as git prints it and people copy it. */
export const branchName = (name: string): string => (name.startsWith(HEADS) ? name.slice(HEADS.length) : name)

/**
 * That a branch of this name can be made. Problems: `bad_branch`; `branch_exists`, also when another branch is in the
 * way (`a` of `a/b`) or the name is checked out without a commit; its `data.free` is a name that can be had.
 */
export async function mayBranch(site: Site, name: string): Promise<Result<void>> {
  const said = await porcelain(site.root, (git) => git.raw(['check-ref-format', '--branch', name]), {
    config: 'user',
    okCodes: [0, 128],
  })
  if (!said.ok) return said
  // If git prints a different name, the given one is an alias such as `@{-1}`. A full ref is not a branch name either.
  if (said.value.trimEnd() !== name || name.startsWith('refs/')) {
    return fail({
      kind: 'usage',
      code: 'bad_branch',
      message: `git does not take "${name}" as the name of a branch`,
      hint: next`for example: ${call('finish', '--branch', 'assay/faster')}`,
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
  const made = await porcelain(
    site.root,
    async (git) => {
      // The user's configuration may forbid this transport for fetches that git starts by itself.
      const transport = ['-c', 'protocol.file.allow=always', 'fetch', ...flags, '--quiet']
      await git.raw([...transport, ...trusting(site.store).after, '--', site.store, ref])
      // The empty old value says: only if there is none.
      await git.raw(['update-ref', '-m', 'assay finish', `${HEADS}${name}`, commit, ''])
    },
    { config: 'user' },
  )
  if (made.ok) return ok(undefined)
  const may = await mayBranch(site, name)
  return may.ok ? made : may
}

/** Local branches, and those that a checkout is on before their first commit. */
async function takenNames(site: Site): Promise<Result<string[]>> {
  const listed = await porcelain(
    site.root,
    async (git) => {
      const refs = await git.raw(['for-each-ref', '--format=%(refname)', HEADS])
      const checkouts = await git.raw(['worktree', 'list', '--porcelain'])
      return [
        ...refs.split('\n'),
        ...checkouts.split('\n').flatMap((line) => /^branch (.+)$/.exec(line)?.[1] ?? []),
      ]
    },
    { config: 'user' },
  )
  if (!listed.ok) return listed
  return ok(listed.value.filter((ref) => ref.startsWith(HEADS)).map((ref) => ref.slice(HEADS.length)))
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
    hint: next`nothing was changed; choose a different name: ${call('finish', '--branch', free)}`,
    data: { branch: name, exists: other, free },
  }
}

/** Whether a commit is one that Assay made of a working tree (`init --include-dirty`), and not the user's own. */
export async function isSnapshot(site: Site, commit: string): Promise<Result<boolean>> {
  const told = await gitText(['log', '-1', '--format=%ae %s', '--end-of-options', commit], storeOptions(site))
  return told.ok ? ok(told.value === `${IDENTITY.email} ${SNAPSHOT_SUBJECT}`) : told
}
