/** The refs of the store: their names, how they are read and written, and whether what they name is still there. */
import type { Site } from '../paths.ts'
import { ok, type Result } from '../result.ts'
import type { Checkout } from './checkout.ts'
import { type GitOptions, git, gitText, trusting } from './git.ts'
import { judgeOptions, storeOptions } from './judge-folder.ts'

/** The commit of one attempt. */
export const candidateRef = (run: string, experiment: string, attempt: number): string =>
  `refs/assay/${run}/${experiment}/${attempt}`

/** The commit of a check (`run --check`): no candidate, but kept as well. */
export const lookRef = (run: string, experiment: string, name: string): string =>
  `refs/assay/${run}/checks/${experiment}-${name}`

/** The commits that `finish` made of the best path, and the text of their pull request. */
export const finishRef = (run: string, name: string): string => `refs/assay/${run}/finish/${name}`

/** A commit of the user's that a run starts from. */
export const baseRef = (commit: string): string => `refs/assay/base/${commit}`

/** Every ref of Assay's own → its object. */
export const ownRefs = (site: Site): Promise<Result<Map<string, string>>> =>
  refsOf(storeOptions(site), 'refs/assay/')

/** Points a new ref at a commit. Fails when the ref exists: it is never moved. */
export async function createRef(site: Site, ref: string, commit: string): Promise<Result<void>> {
  // The empty old value says: only if there is none.
  const made = await git(['update-ref', ref, commit, ''], storeOptions(site))
  return made.ok ? ok(undefined) : made
}

/** Names a commit of the store, so that it is kept for ever. */
export async function pinRef(site: Site, ref: string, commit: string): Promise<Result<void>> {
  const pinned = await git(['update-ref', ref, commit], storeOptions(site))
  return pinned.ok ? ok(undefined) : pinned
}

/** Which of these are commits of the store. */
export async function existingCommits(site: Site, commits: readonly string[]): Promise<Result<Set<string>>> {
  if (commits.length === 0) return ok(new Set())
  const told = await gitText(['cat-file', '--batch-check=%(objectname) %(objecttype)'], {
    ...judgeOptions(site),
    input: `${commits.join('\n')}\n`,
  })
  if (!told.ok) return told
  const found = told.value.split('\n').flatMap((line) => /^([0-9a-f]+) commit$/.exec(line)?.[1] ?? [])
  return ok(new Set(found))
}

/** Trees and files of these commits that are gone. History is not walked: it is the user's, and kept by them. */
export async function missingObjects(site: Site, commits: readonly string[]): Promise<Result<string[]>> {
  if (commits.length === 0) return ok([])
  const told = await gitText(
    ['rev-list', '--objects', '--no-walk', '--quiet', '--missing=print', '--stdin'],
    {
      ...judgeOptions(site),
      input: `${commits.join('\n')}\n`,
    },
  )
  if (!told.ok) return told
  return ok(told.value.split('\n').flatMap((line) => (line.startsWith('?') ? [line.slice(1)] : [])))
}

// ----------------------------------------------------------------
// Names of the user's for commits of the base's history: `git describe` and `origin/main...` work in
// checkouts.

/**
 * Brings tags that reach `commit` into the store, and remote-tracking refs whose commits are there already. A tag that is
 * there stays as it is: what a benchmark says of it must not change while runs live. No remote is made: nothing can be pushed.
 */
export async function bringNames(site: Site, checkout: Checkout, commit: string): Promise<Result<void>> {
  const theirs: GitOptions = { dir: checkout.top, config: 'user' }
  const [tags, remotes, known] = await Promise.all([
    refsOf(theirs, `--merged=${commit}`, 'refs/tags/'),
    refsOf(theirs, 'refs/remotes/'),
    refsOf(storeOptions(site), 'refs/tags/', 'refs/remotes/'),
  ])
  if (!tags.ok) return tags
  if (!remotes.ok) return remotes
  if (!known.ok) return known
  const missing = [...tags.value].filter(([ref]) => !known.value.has(ref))
  await fetchTags(site, checkout, missing)
  const there = await existingCommits(site, [...new Set(remotes.value.values())])
  if (!there.ok) return there
  const moved = [...remotes.value].filter(
    ([ref, oid]) => there.value.has(oid) && known.value.get(ref) !== oid,
  )
  if (moved.length === 0) return ok(undefined)
  const input = moved.map(([ref, oid]) => `update ${ref}\0${oid}\0\0`).join('')
  // Of names that exclude each other (`a` and `a/b`, since the last init) none is moved; no run rests on them.
  await git(['update-ref', '-z', '--stdin'], { ...storeOptions(site), input })
  return ok(undefined)
}

/** Symbolic refs (`origin/HEAD`) are left out: their targets are listed themselves. */
async function refsOf(options: GitOptions, ...which: string[]): Promise<Result<Map<string, string>>> {
  const listed = await gitText(
    ['for-each-ref', '--format=%(objectname) %(refname) %(symref)', ...which],
    options,
  )
  if (!listed.ok) return listed
  return ok(
    new Map(
      listed.value.split('\n').flatMap((line): [string, string][] => {
        const [oid = '', ref = '', symbolic = ''] = line.split(' ')
        return ref === '' || symbolic !== '' ? [] : [[ref, oid]]
      }),
    ),
  )
}

async function fetchTags(site: Site, checkout: Checkout, tags: readonly [string, string][]): Promise<void> {
  if (tags.length === 0) return
  // What cannot be had is missing for `git describe`, which says so itself when the baseline is judged.
  await fetchFrom(
    site,
    checkout,
    tags.map(([ref]) => `${ref}:${ref}`),
  )
}

/** Brings what these refspecs name into the store, and nothing with it. */
export function fetchFrom(
  site: Site,
  { commonDir }: Pick<Checkout, 'commonDir'>,
  refspecs: readonly string[],
): Promise<Result<Buffer>> {
  const flags = [
    '--no-tags',
    '--no-write-fetch-head',
    '--update-shallow',
    '--no-recurse-submodules',
    '--quiet',
  ]
  const { after } = trusting(commonDir)
  return git(['-c', 'protocol.version=2', 'fetch', ...flags, ...after, '--stdin', '--', commonDir], {
    ...storeOptions(site),
    config: 'user',
    input: refspecs.map((one) => `${one}\n`).join(''),
  })
}
