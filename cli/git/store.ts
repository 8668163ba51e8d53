/** Assay's own bare repository: how it comes to be, and how the user's commits get into it. */

import { existsSync } from 'node:fs'
import { cp, mkdir, mkdtemp, readdir, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { withLock } from '../lock.ts'
import { type Site, worktreeLock } from '../paths.ts'
import { fail, ok, type Result } from '../result.ts'
import { type Checkout, emptyRepository } from './checkout.ts'
import { type GitOptions, git, gitText, trusting } from './git.ts'
import { inStore, judgeFolder } from './judge.ts'
import { giveRulesToAgents } from './rules.ts'
import { copySettings } from './settings.ts'

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

export interface Pinned {
  commit: string
  tree: string
}

export const storeExists = (site: Site): boolean => existsSync(join(judgeFolder(site.store), 'config'))

/**
 * Makes the store from the user's repository; does nothing if there is one. It is built under another name and
 * renamed, so that a crash leaves a store or none. No remote (an agent's `git push` must not reach the user), no
 * branch; tags come with the base; objects are hard links where the file system allows. The user's repository is only read.
 */
export async function createStore(site: Site, checkout: Checkout): Promise<Result<void>> {
  if (checkout.head === null) return fail(emptyRepository(checkout.top))
  if (storeExists(site)) {
    await giveRulesToAgents(site.store, checkout)
    return ok(undefined)
  }
  await mkdir(site.state, { recursive: true })
  return withLock(worktreeLock(site), async () => {
    if (storeExists(site)) return ok(undefined)
    await removeHalfMade(site)
    const folder = await mkdtemp(join(site.state, HALF_MADE))
    try {
      const made = join(folder, 'store')
      const built = await build(made, checkout)
      if (!built.ok) return built
      await rename(made, site.store)
      return ok(undefined)
    } finally {
      await rm(folder, { recursive: true, force: true })
    }
  })
}

const HALF_MADE = 'new-store-'

async function removeHalfMade(site: Site): Promise<void> {
  for (const name of await readdir(site.state)) {
    if (name.startsWith(HALF_MADE)) await rm(join(site.state, name), { recursive: true, force: true })
  }
  // A store without the judge's folder: not made by `build`, or one whose folder was deleted by hand.
  if (existsSync(site.store) && !storeExists(site)) {
    await rename(site.store, await freeName(`${site.store}-broken`))
  }
}

async function freeName(base: string): Promise<string> {
  for (let n = 1; ; n++) if (!existsSync(`${base}-${n}`)) return `${base}-${n}`
}

async function build(made: string, checkout: Checkout): Promise<Result<void>> {
  const cloned = await clone(checkout.commonDir, made)
  if (!cloned.ok) return cloned
  const refs = await git(['for-each-ref', '--format=delete %(refname)%00'], { gitDir: made })
  if (!refs.ok) return refs
  const deletions = refs.value.toString('utf8').replaceAll('\0\n', '\0\0')
  const steps = [
    () => git(['symbolic-ref', 'HEAD', 'refs/heads/assay'], { gitDir: made }),
    () => git(['update-ref', '-z', '--stdin'], { gitDir: made, input: deletions }),
    () => copySettings(checkout, made),
  ]
  for (const step of steps) {
    const done = await step()
    if (!done.ok) return done
  }
  await giveRulesToAgents(made, checkout)
  return makeJudge(made)
}

/** Without `--local`: that is the default for a path, and only the default copies where links cannot be made. */
async function clone(source: string, made: string): Promise<Result<Buffer>> {
  const { before, after } = trusting(source)
  const flags = ['--bare', '--no-tags', '--template=', '--no-reject-shallow', '--quiet', ...after]
  const linked = await git([...before, 'clone', ...flags, '--', source, made], { config: 'user' })
  if (linked.ok) return linked
  // git refuses to link an object folder that has symbolic links in it; the transport does not care.
  await rm(made, { recursive: true, force: true })
  const sent = await git([...before, 'clone', '--no-local', ...flags, '--', source, made], { config: 'user' })
  return sent.ok ? sent : linked
}

async function makeJudge(made: string): Promise<Result<void>> {
  const judge = judgeFolder(made)
  await mkdir(join(judge, 'refs'), { recursive: true })
  await mkdir(join(judge, 'objects'))
  await writeFile(join(judge, 'HEAD'), 'ref: refs/heads/none\n')
  const config = join(judge, 'config-new')
  await cp(join(made, 'config'), config)
  const set = await git(['config', '--file', config, 'core.bare', 'false'])
  if (!set.ok) return set
  await rename(config, join(judge, 'config'))
  return ok(undefined)
}

/**
 * Brings the checkout's HEAD commit into the store, if it is not there, and pins it under `refs/assay/base/<commit>`.
 * Problem `empty_repository` when there is no commit.
 */
export async function importCommit(site: Site, checkout: Checkout): Promise<Result<Pinned>> {
  const commit = checkout.head
  if (commit === null) return fail(emptyRepository(checkout.top))
  const there = await git(['cat-file', '-t', commit], { ...inStore(site), okCodes: [0, 128] })
  if (!there.ok) return there
  if (there.value.toString('utf8').trim() !== 'commit') {
    const flags = [
      '--no-tags',
      '--no-write-fetch-head',
      '--update-shallow',
      '--no-recurse-submodules',
      '--quiet',
      ...trusting(checkout.commonDir).after,
    ]
    const fetched = await git(
      [
        '-c',
        'protocol.version=2',
        'fetch',
        ...flags,
        '--',
        checkout.commonDir,
        `${commit}:${baseRef(commit)}`,
      ],
      { ...inStore(site), config: 'user' },
    )
    if (!fetched.ok) return fetched
  }
  const named = await bringNames(site, checkout, commit)
  return named.ok ? pinBase(site, commit) : named
}

const baseRef = (commit: string): string => `refs/assay/base/${commit}`

/** Keeps a base commit for ever. */
export async function pinBase(site: Site, commit: string): Promise<Result<Pinned>> {
  const pinned = await git(['update-ref', baseRef(commit), commit], inStore(site))
  if (!pinned.ok) return pinned
  const tree = await gitText(['rev-parse', '--verify', '--end-of-options', `${commit}^{tree}`], inStore(site))
  return tree.ok ? ok({ commit, tree: tree.value }) : tree
}
