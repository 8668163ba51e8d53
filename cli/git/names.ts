/** Names of the user's for commits of the base's history: `git describe` and `origin/main...` work in checkouts. */
import type { Site } from '../paths.ts'
import { ok, type Result } from '../result.ts'
import type { Checkout } from './checkout.ts'
import { type GitOptions, git, gitText, trusting } from './git.ts'
import { inStore } from './judge.ts'

/**
 * Brings tags that reach `commit` into the store, and remote-tracking refs whose commits are there already. A tag that is
 * there stays as it is: what a benchmark says of it must not change while runs live. No remote is made: nothing can be pushed.
 */
export async function bringNames(site: Site, checkout: Checkout, commit: string): Promise<Result<void>> {
  const theirs: GitOptions = { dir: checkout.top, config: 'user' }
  const [tags, remotes, known] = await Promise.all([
    refsOf(theirs, `--merged=${commit}`, 'refs/tags/'),
    refsOf(theirs, 'refs/remotes/'),
    refsOf(inStore(site), 'refs/tags/', 'refs/remotes/'),
  ])
  if (!tags.ok) return tags
  if (!remotes.ok) return remotes
  if (!known.ok) return known
  const missing = [...tags.value].filter(([ref]) => !known.value.has(ref))
  await fetchTags(site, checkout, missing)
  const there = await present(site, [...remotes.value.values()])
  if (!there.ok) return there
  const moved = [...remotes.value].filter(
    ([ref, oid]) => there.value.has(oid) && known.value.get(ref) !== oid,
  )
  if (moved.length === 0) return ok(undefined)
  const input = moved.map(([ref, oid]) => `update ${ref}\0${oid}\0\0`).join('')
  // Of names that exclude each other (`a` and `a/b`, since the last init) none is moved; no run rests on them.
  await git(['update-ref', '-z', '--stdin'], { ...inStore(site), input })
  return ok(undefined)
}

/** Symbolic ones (`origin/HEAD`) are none: what they name is there by itself. */
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
  const flags = [
    '--no-tags',
    '--no-write-fetch-head',
    '--update-shallow',
    '--no-recurse-submodules',
    '--quiet',
  ]
  const { after } = trusting(checkout.commonDir)
  // What cannot be had is missing for `git describe`, which says so itself when the baseline is judged.
  await git(['-c', 'protocol.version=2', 'fetch', ...flags, ...after, '--stdin', '--', checkout.commonDir], {
    ...inStore(site),
    config: 'user',
    input: tags.map(([ref]) => `${ref}:${ref}\n`).join(''),
  })
}

async function present(site: Site, oids: readonly string[]): Promise<Result<Set<string>>> {
  if (oids.length === 0) return ok(new Set())
  const told = await gitText(['cat-file', '--batch-check=%(objectname) %(objecttype)'], {
    ...inStore(site),
    input: `${[...new Set(oids)].join('\n')}\n`,
  })
  if (!told.ok) return told
  return ok(new Set(told.value.split('\n').flatMap((line) => /^([0-9a-f]+) commit$/.exec(line)?.[1] ?? [])))
}
