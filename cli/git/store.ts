/** Assay's own bare repository: how it is made, and how the user's commits and uncommitted changes get into it. */

import { existsSync } from 'node:fs'
import { cp, mkdir, mkdtemp, readdir, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { tryHold, withLock } from '../lock.ts'
import { type Site, worktreeLock } from '../paths.ts'
import { fail, ok, type Result } from '../result.ts'
import { type Checkout, emptyRepository, readStatus } from './checkout.ts'
import { type GitOptions, git, gitText, SNAPSHOT_SUBJECT, trusting } from './git.ts'
import { judgeFolder, stagePaths, storeOptions, withPrivateIndex } from './judge-folder.ts'
import { damagedObjects } from './objects.ts'
import { baseRef, bringNames, fetchFrom, ownRefs, pinRef } from './refs.ts'
import { copySettings, giveRulesToAgents } from './rules.ts'
import { looksSecret } from './secrets.ts'

export interface Pinned {
  commit: string
  tree: string
}

export const storeExists = (site: Site): boolean => existsSync(join(judgeFolder(site.store), 'config'))

/**
 * Makes the store from the user's repository; does nothing if there is one. It is built under another name and
 * renamed, so that a crash leaves a store or none. No remote (an agent's `git push` must not reach the user), no
 * branch; tags come with the base. Its objects are copies; of a large repository, hard links where the file system allows.
 * The user's repository is only read.
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
  const judge = await makeJudge(made)
  if (judge.ok && (await hasManyLoose(made))) await packObjects(made)
  return judge
}

/** A repository with more objects than that is linked: copying it would take seconds, and its space twice. */
const MOST_COPIED = { kilobytes: 256 * 1024, loose: 10_000 }

/**
 * Without `--local`: that is the default for a path, and only the default copies where links cannot be made. What an
 * agent writes into a linked object, the user's own repository has as well, and nothing is left to repair it from.
 */
async function clone(source: string, made: string): Promise<Result<Buffer>> {
  const { before, after } = trusting(source)
  const copied = (await isCheapToCopy(source)) ? ['--no-hardlinks'] : []
  const flags = ['--bare', '--no-tags', '--template=', '--no-reject-shallow', '--quiet', ...copied, ...after]
  const linked = await git([...before, 'clone', ...flags, '--', source, made], { config: 'user' })
  if (linked.ok) return linked
  // git refuses to link an object folder that has symbolic links in it; the transport does not care.
  await rm(made, { recursive: true, force: true })
  const sent = await git([...before, 'clone', '--no-local', ...flags, '--', source, made], { config: 'user' })
  return sent.ok ? sent : linked
}

async function isCheapToCopy(source: string): Promise<boolean> {
  const { before } = trusting(source)
  const counted = await git([...before, 'count-objects', '-v'], { gitDir: source, config: 'user' })
  if (!counted.ok) return false
  const said = new Map(
    [...counted.value.toString('utf8').matchAll(/^([\w-]+): (\d+)$/gm)].map(([, key, n]) => [key, Number(n)]),
  )
  const of = (key: string) => said.get(key) ?? Number.POSITIVE_INFINITY
  return of('size') + of('size-pack') <= MOST_COPIED.kilobytes && of('count') <= MOST_COPIED.loose
}

/** Fewer loose objects than that cost less than packing them. Each takes a block of the disk, and a search for an object slows down. */
const FEW_LOOSE = 2000

/**
 * Packs the objects and refs of the store when that pays: then it takes a thirtieth of the space. Nothing is lost, reachable
 * or not; commands may go on meanwhile. One process at a time; another one that comes does nothing. A store with damaged
 * objects is left alone. What fails is tried again by the next call.
 */
export async function packStore(site: Site): Promise<void> {
  const hold = tryHold(join(judgeFolder(site.store), 'packing.lock'))
  if (!hold.held) return
  try {
    const refs = (await hasManyLoose(site.store)) ? await ownRefs(site) : null
    // `doctor` fetches a damaged object again only while it lies alone.
    const damaged = refs?.ok ? await damagedObjects(site, [...refs.value.values()]) : null
    if (damaged?.ok && damaged.value.length === 0) await packObjects(site.store)
  } finally {
    hold.release()
  }
}

/** As git counts them for its own `gc --auto`: names are hashes, so one folder of 256 says what the others hold. */
const hasManyLoose = async (gitDir: string): Promise<boolean> =>
  (await readdir(join(gitDir, 'objects', '17')).catch(() => [])).length * 256 >= FEW_LOOSE

async function packObjects(gitDir: string): Promise<void> {
  // It takes all loose objects without a walk through the history of the user, and merges packs of like size.
  const packed = await git(['repack', '--geometric=2', '-d', '-q'], { gitDir })
  if (packed.ok) await git(['pack-refs', '--all'], { gitDir })
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
  const there = await git(['cat-file', '-t', commit], { ...storeOptions(site), okCodes: [0, 128] })
  if (!there.ok) return there
  if (there.value.toString('utf8').trim() !== 'commit') {
    const fetched = await fetchFrom(site, checkout, [`${commit}:${baseRef(commit)}`])
    if (!fetched.ok) return fetched
  }
  const named = await bringNames(site, checkout, commit)
  return named.ok ? pinBase(site, commit) : named
}

/** Keeps a base commit for ever. */
async function pinBase(site: Site, commit: string): Promise<Result<Pinned>> {
  const pinned = await pinRef(site, baseRef(commit), commit)
  if (!pinned.ok) return pinned
  const tree = await gitText(
    ['rev-parse', '--verify', '--end-of-options', `${commit}^{tree}`],
    storeOptions(site),
  )
  return tree.ok ? ok({ commit, tree: tree.value }) : tree
}

/** Whether git can work with the store at all, and what the store is. */
export async function storeState(site: Site): Promise<Result<{ bare: boolean; partial: boolean }>> {
  const told = await gitText(['rev-parse', '--is-bare-repository'], storeOptions(site))
  if (!told.ok) return told
  const listed = await gitText(['config', '--list', '--name-only'], storeOptions(site))
  if (!listed.ok) return listed
  return ok({
    bare: told.value === 'true',
    partial: /^(extensions\.partialclone|remote\..+\.promisor)$/m.test(listed.value),
  })
}

// ---------------------------------------------------------------- The user's working tree as a commit of the store (`--include-dirty`); nothing of theirs is written

export interface Snapshot extends Pinned {
  /** Not part of it, with the reason: untracked secrets, nested repositories, changed submodules. */
  leftOut: { path: string; reason: string }[]
}

/**
 * A commit on top of HEAD with the tracked changes and the untracked files that the user's own ignore rules let
 * through. HEAD itself when nothing differs. Problem `empty_repository` when there is no commit.
 */
export async function snapshotWorkingTree(
  site: Site,
  checkout: Checkout,
  at: Date,
): Promise<Result<Snapshot>> {
  const base = await importCommit(site, checkout)
  if (!base.ok) return base
  const status = await readStatus(checkout.top)
  if (!status.ok) return status
  if (status.value.head !== checkout.head) return fail(moved(checkout.top))
  const paths: string[] = []
  const leftOut: Snapshot['leftOut'] = []
  for (const { path, kind } of status.value.dirty) {
    const secret = kind === 'untracked' || kind === 'added' ? looksSecret(path) : null
    if (secret !== null) leftOut.push({ path, reason: `looks like a secret (${secret})` })
    else if (kind === 'submodule') leftOut.push({ path, reason: 'changed submodule' })
    else if (path.endsWith('/')) leftOut.push({ path, reason: 'repository inside the repository' })
    else paths.push(path)
  }
  if (paths.length === 0) return ok({ ...base.value, leftOut })
  const tree = await withPrivateIndex(site, async (index) => {
    // By the user's own git: its attributes and filters are those of their files. Objects go into the store.
    const { gitDir } = checkout
    const objects = join(site.store, 'objects')
    const options: GitOptions = {
      dir: checkout.top,
      gitDir,
      workTree: checkout.top,
      index,
      objects,
      config: 'user',
    }
    const read = await git(['read-tree', base.value.tree], options)
    if (!read.ok) return read
    const staged = await stagePaths(options, paths)
    return staged.ok ? gitText(['write-tree'], options) : staged
  })
  if (!tree.ok) return tree
  const commit = await gitText(['commit-tree', '-p', base.value.commit, '-m', SNAPSHOT_SUBJECT, tree.value], {
    ...storeOptions(site),
    date: at,
  })
  if (!commit.ok) return commit
  const pinned = await pinBase(site, commit.value)
  return pinned.ok ? ok({ ...pinned.value, leftOut }) : pinned
}

const moved = (top: string) =>
  ({
    kind: 'refused',
    code: 'checkout_moved',
    message: 'a commit or a switch of branches happened in your checkout while it was read',
    hint: 'repeat the command',
    at: top,
  }) as const
