/** From the files in an edit worktree to a tree in the store. */

import { constants } from 'node:fs'
import { open, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import type { Site } from '../paths.ts'
import { certainSecretsIn, redact } from '../redact.ts'
import { fail, ok, type Problem, type Result } from '../result.ts'
import { readStatus } from './checkout.ts'
import { type GitOptions, gitText } from './git.ts'
import { holdsOneOf, SMALL } from './index-file.ts'
import {
  entryKind,
  judgeWorktreeOptions,
  stagePaths,
  storeOptions,
  withPrivateIndex,
} from './judge-folder.ts'
import { type IgnoredFile, ignoredSince, observe, type TreeDifferences } from './observe.ts'
import { createRef } from './refs.ts'
import type { Committing } from './rules.ts'
import { looksSecret } from './secrets.ts'
import { changesBetween, hashFiles, readBlob, type TreeChange, treeEntries, treePaths } from './trees.ts'
import { keepTreeIndex, registeredFolder } from './worktrees.ts'

// ---------------------------------------------------------------- repositories inside a worktree: git would record them as a submodule and lose what is in them

const MOST_ENTRIES = 10_000

/** Whether a nested repository (its path ends with `/`) holds files that `inScope` takes. Looks at 10,000 entries at most. */
async function nestedInScope(
  top: string,
  path: string,
  inScope: (path: string) => boolean,
): Promise<boolean> {
  const folders = [path.replace(/\/$/, '')]
  let seen = 0
  for (let folder = folders.pop(); folder !== undefined; folder = folders.pop()) {
    const entries = await readdir(join(top, folder), { withFileTypes: true }).catch(() => [])
    for (const entry of entries) {
      if (entry.name === '.git') continue
      if (++seen > MOST_ENTRIES) return true
      const here = `${folder}/${entry.name}`
      if (entry.isDirectory()) folders.push(here)
      else if (inScope(here)) return true
    }
  }
  // An empty one: nothing is lost by leaving it out, unless its folder itself is meant.
  return seen === 0 && inScope(path.replace(/\/$/, ''))
}

// ----------------------------------------------------------------
// Secrets inside ordinary files of a candidate, looked for on the disk: nothing of them may get into the
// store.

/** Bytes of one file, and of all, that are looked at: what people write by hand is smaller. */
const FILE_BYTES = 1024 * 1024
const ALL_BYTES = 32 * FILE_BYTES

/**
 * The files whose added lines hold a secret, and which kind, never the secret. Lines that the parent's file has as well
 * were there before. Binary files and links are not looked into, nor what lies beyond the limits above.
 */
async function exposedSecrets(
  { site, worktree, parent }: { site: Site; worktree: string; parent: { tree: string } },
  paths: readonly string[],
): Promise<Result<{ path: string; reason: string }[]>> {
  const exposed: { path: string; reason: string }[] = []
  let left = ALL_BYTES
  for (const path of paths) {
    if (left <= 0) break
    const bytes = await beginningOf(join(worktree, path))
    left -= bytes?.length ?? 0
    if (bytes === null || bytes.includes(0)) continue
    const text = bytes.toString('utf8')
    const found = certainSecretsIn(text)
    if (found.length === 0) continue
    const before = await readBlob(site, parent.tree, path)
    if (!before.ok) return before
    const old = before.value?.toString('utf8') ?? ''
    const added = found.find(({ start, end }) => !old.includes(text.slice(start, end)))
    if (added === undefined) continue
    const line = text.slice(0, added.start).split('\n').length
    exposed.push({ path, reason: `${added.kind} in line ${line}` })
  }
  return ok(exposed)
}

/** Null for a file that is not regular or cannot be read: the seal itself reports that. */
async function beginningOf(file: string): Promise<Buffer | null> {
  const handle = await open(file, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK).catch(
    () => null,
  )
  if (handle === null) return null
  try {
    const stat = await handle.stat()
    if (!stat.isFile()) return null
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(Math.min(stat.size, FILE_BYTES)))
    return buffer.subarray(0, bytesRead)
  } catch {
    return null
  } finally {
    await handle.close()
  }
}

// ----------------------------------------------------------------
// Submodules: a tree holds only the name of their commit, so what is edited inside of one is in no
// candidate.

export interface SubmoduleEdit {
  /** From the root of the worktree. */
  path: string
  untracked: boolean
}

const MOST = 1000

/**
 * Files that differ from the commit that a submodule has checked out, and files in the folder of one that was never
 * filled. `tree`: what the worktree began with.
 */
async function submoduleEdits(site: Site, top: string, tree: string): Promise<Result<SubmoduleEdit[]>> {
  const listed = await treePaths(site, tree)
  if (!listed.ok) return listed
  const edits: SubmoduleEdit[] = []
  for (const path of listed.value.submodules) {
    const kind = await entryKind(top, path)
    if (kind === 'folder') {
      edits.push(
        ...(await filesIn(join(top, path))).map((at) => ({ path: `${path}/${at}`, untracked: true })),
      )
    } else if (kind === 'repository') {
      const status = await readStatus(join(top, path))
      if (!status.ok) return status
      for (const dirty of status.value.dirty)
        edits.push({ path: `${path}/${dirty.path}`, untracked: dirty.kind === 'untracked' })
    }
  }
  return ok(edits)
}

async function filesIn(folder: string): Promise<string[]> {
  const found: string[] = []
  const open = ['']
  for (let at = open.pop(); at !== undefined && found.length < MOST; at = open.pop()) {
    for (const entry of await readdir(join(folder, at), { withFileTypes: true }).catch(() => [])) {
      const path = [at, entry.name].filter(Boolean).join('/')
      if (entry.isDirectory()) open.push(path)
      else found.push(path)
    }
  }
  return found
}

/**
 * Whether a worktree holds the files of a tree and, except ignored ones, no other. False as well when that is not certain:
 * with submodules.
 */
export async function holdsTree(site: Site, worktree: string, tree: string): Promise<Result<boolean>> {
  if (await holdsOneOf(site, worktree, [tree], () => false, SMALL)) return ok(true)
  return withPrivateIndex(site, async (index) => {
    const found = await observe(site, worktree, tree, index)
    if (!found.ok) return found
    const { changed, untracked, nested } = found.value
    if (changed.length + untracked.length + nested.length > 0) return ok(false)
    const listed = await treePaths(site, tree)
    return listed.ok ? ok(listed.value.submodules.length === 0) : listed
  })
}

/** path → blob hash on disk, `deleted`, or `present` (untracked outside `mutable`; its content does not matter). */
export type FilesOfSetup = ReadonlyMap<string, string>

interface Watched {
  site: Site
  worktree: string
  parent: { commit: string; tree: string }
  /** Whether new files at this path are part of a candidate. */
  mutable: (path: string) => boolean
}

export interface SealRequest extends Watched {
  /** Files that `recordFilesOfSetup` found right after setup. */
  leaveOut: FilesOfSetup
  /** When the worktree was ready; null = do not look for ignored files. */
  since: Date | null
}

export interface SealedTree {
  tree: string
  /**
   * Everything that the candidate changed, tracked files outside `mutable` included: the caller refuses those. Secret-
   * looking files are in it too, but never in `tree` nor in the store.
   */
  changes: TreeChange[]
  /** Untracked outside `mutable`, not part of the tree; a nested repository ends with `/`. */
  leftOut: string[]
  /** Ignored files under `mutable` that appeared or changed since, 20 at most. */
  ignoredNewer: IgnoredFile[]
  secrets: { path: string; reason: string }[]
}

/**
 * Seals what is on disk against the parent's tree. HEAD, commits, an unfinished merge or rebase, the index, stash and
 * configuration of the agent do not matter. Problems: `nested_repository`,
 * `submodule_edited`, `path_not_utf8`, those of git.
 */
export async function sealTree(request: SealRequest): Promise<Result<SealedTree>> {
  const { site, worktree, parent, mutable, since } = request
  return withPrivateIndex(site, async (index) => {
    const options = judgeWorktreeOptions(site, worktree, index)
    const found = await observe(site, worktree, parent.tree, index)
    if (!found.ok) return found
    const inside = await refuseNested(request, found.value)
    if (!inside.ok) return inside
    const beyond = await refuseInSubmodules(request)
    if (!beyond.ok) return beyond
    const own = await ownChanges(request, found.value)
    if (!own.ok) return own
    const { paths, secrets, leftOut } = own.value
    const staged = await stagePaths(options, paths)
    if (!staged.ok) return staged
    const tree = await gitText(['write-tree'], options)
    if (!tree.ok) return tree
    const folder = await registeredFolder(site, worktree)
    if (folder && tree.value !== parent.tree) await keepTreeIndex(index, folder, tree.value, parent.tree)
    const [changes, kept, ignoredNewer] = await Promise.all([
      changesBetween(site, parent.tree, tree.value, { asText: true }),
      secretChanges(request, secrets),
      since ? ignoredSince(options, mutable, since) : ok([]),
    ])
    if (!changes.ok) return changes
    if (!kept.ok) return kept
    if (!ignoredNewer.ok) return ignoredNewer
    return ok({
      tree: tree.value,
      changes: [...changes.value, ...kept.value].sort((a, b) => (a.path < b.path ? -1 : 1)),
      leftOut: [...leftOut, ...inside.value, ...beyond.value].sort(),
      ignoredNewer: ignoredNewer.value,
      secrets,
    })
  })
}

/** The state right after setup: what it left there is no work of the agent. For `SealRequest.leaveOut`. */
export async function recordFilesOfSetup(watched: Watched): Promise<Result<Map<string, string>>> {
  const { site, worktree, parent, mutable } = watched
  return withPrivateIndex(site, async (index) => {
    const found = await observe(site, worktree, parent.tree, index)
    if (!found.ok) return found
    const { changed, untracked, nested } = found.value
    const ofSetup = new Map([...untracked, ...nested].map((path) => [path, 'present']))
    const inSubmodules = await submoduleEdits(site, worktree, parent.tree)
    if (!inSubmodules.ok) return inSubmodules
    const others = inSubmodules.value.map(({ path }) => path)
    const hashes = await hashFiles(worktree, [...changed, ...untracked.filter(mutable), ...others])
    if (!hashes.ok) return hashes
    for (const [path, hash] of hashes.value) ofSetup.set(path, hash ?? 'deleted')
    return ok(ofSetup)
  })
}

interface OwnChanges {
  paths: string[]
  secrets: SealedTree['secrets']
  leftOut: string[]
}

/** The changes that are the agent's: not those that setup left exactly so. */
async function ownChanges(request: SealRequest, found: TreeDifferences): Promise<Result<OwnChanges>> {
  const { worktree, mutable, leaveOut } = request
  const mine = [...found.changed, ...found.untracked.filter(mutable)]
  const known = mine.filter((path) => leaveOut.has(path))
  const hashes = await hashFiles(worktree, known)
  if (!hashes.ok) return hashes
  const own: OwnChanges = { paths: [], secrets: [], leftOut: [] }
  for (const path of mine) {
    if (leaveOut.has(path) && leaveOut.get(path) === (hashes.value.get(path) ?? 'deleted')) continue
    const reason = looksSecret(path)
    if (reason !== null && (await entryKind(worktree, path)) === 'file') own.secrets.push({ path, reason })
    else own.paths.push(path)
  }
  const exposed = await exposedSecrets(request, own.paths)
  if (!exposed.ok) return exposed
  const inside = new Set(exposed.value.map(({ path }) => path))
  own.secrets.push(...exposed.value)
  own.paths = own.paths.filter((path) => !inside.has(path))
  own.leftOut = found.untracked.filter((path) => !mutable(path) && !leaveOut.has(path))
  return ok(own)
}

/** Changes of files that are not stored: hashes as on disk, lines not counted. */
async function secretChanges(
  request: SealRequest,
  secrets: SealedTree['secrets'],
): Promise<Result<TreeChange[]>> {
  if (secrets.length === 0) return ok([])
  const paths = secrets.map((one) => one.path)
  const [hashes, entries] = await Promise.all([
    hashFiles(request.worktree, paths),
    treeEntries(request.site, request.parent.tree, paths),
  ])
  if (!hashes.ok) return hashes
  if (!entries.ok) return entries
  const before = new Map(entries.value.map((entry) => [entry.path, entry]))
  return ok(
    paths.map((path) => {
      const old = before.get(path)
      const newOid = hashes.value.get(path) ?? ''
      return {
        path,
        status: old ? ('M' as const) : ('A' as const),
        oldMode: old?.mode ?? '000000',
        newMode: old?.mode ?? '100644',
        oldOid: old?.oid ?? '0'.repeat(newOid.length),
        newOid,
        added: null,
        removed: null,
      }
    }),
  )
}

/** Answers the nested repositories that are merely left out. */
async function refuseNested(request: SealRequest, found: TreeDifferences): Promise<Result<string[]>> {
  const { worktree, mutable, leaveOut } = request
  const refused: string[] = []
  const leftOut: string[] = []
  for (const path of found.changed) {
    if ((await entryKind(worktree, path)) === 'repository') refused.push(`${path}/`)
  }
  for (const path of found.nested) {
    if (leaveOut.has(path) || refused.includes(path)) continue
    const list = (await nestedInScope(worktree, path, mutable)) ? refused : leftOut
    list.push(path)
  }
  return refused.length === 0 ? ok(leftOut) : fail(nestedProblem(worktree, refused))
}

const nestedProblem = (worktree: string, paths: string[]): Problem => ({
  kind: 'refused',
  code: 'nested_repository',
  message: `a repository inside the candidate cannot be sealed: ${paths.join(', ')}`,
  hint: 'delete the .git of that repository, or move its folder out of the worktree',
  at: worktree,
  data: { paths },
})

/** Answers the new files in submodules that are merely left out. */
async function refuseInSubmodules(request: SealRequest): Promise<Result<string[]>> {
  const { site, worktree, parent, mutable, leaveOut } = request
  const edits = await submoduleEdits(site, worktree, parent.tree)
  if (!edits.ok || edits.value.length === 0) return edits.ok ? ok([]) : edits
  const known = edits.value.flatMap(({ path }) => (leaveOut.has(path) ? [path] : []))
  const hashes = await hashFiles(worktree, known)
  if (!hashes.ok) return hashes
  const own = edits.value.filter(
    ({ path }) => !leaveOut.has(path) || leaveOut.get(path) !== (hashes.value.get(path) ?? 'deleted'),
  )
  const isLeftOut = ({ path, untracked }: SubmoduleEdit) => untracked && !mutable(path)
  const refused = own.filter((edit) => !isLeftOut(edit)).map(({ path }) => path)
  return refused.length === 0 ? ok(own.map(({ path }) => path)) : fail(submoduleProblem(worktree, refused))
}

const submoduleProblem = (worktree: string, paths: string[]): Problem => ({
  kind: 'refused',
  code: 'submodule_edited',
  message: `files inside a submodule were edited, and a candidate holds only the name of its commit: ${paths.slice(0, 5).join(', ')}`,
  hint: 'undo these edits; to optimise that code, run Assay in its own repository, or make its files part of this one',
  at: worktree,
  data: { paths: paths.slice(0, 100) },
})

export interface CommitPlan {
  tree: string
  /** Commits, first parent first. */
  parents: readonly string[]
  message: string
  /** `refs/assay/<run>/<experiment>/<attempt>` */
  ref: string
  at: Date
  /** Absent = Assay, unsigned. */
  by?: Committing
}

/** A program that asks for the passphrase of a key may wait for ever; a call of an agent must not. */
const SIGNING_MS = 60_000

/**
 * Makes a commit of a tree and points a new ref at it; answers the commit. Durable when it returns. Runs no hook.
 * A ref that exists is never moved: problem `ref_exists`. Problem `not_signed`: no commit was made, since the user's key
 * could not sign it.
 */
export async function pinCommit(site: Site, candidate: CommitPlan): Promise<Result<string>> {
  const parents = candidate.parents.flatMap((parent) => ['-p', parent])
  const { by } = candidate
  const input = `${redact(candidate.message)}\n`
  const common = { input, date: candidate.at, ...(by && { committer: by.committer }) }
  const options: GitOptions = by?.sign
    ? {
        dir: site.root,
        config: 'user',
        objects: join(site.store, 'objects'),
        timeoutMs: SIGNING_MS,
        ...common,
      }
    : { ...storeOptions(site), ...common }
  const commit = await gitText(
    ['commit-tree', ...(by?.sign ? ['-S'] : []), ...parents, '-F', '-', candidate.tree],
    options,
  )
  if (!commit.ok) return by?.sign ? fail({ ...commit.problem, code: 'not_signed' }) : commit
  const pinned = await createRef(site, candidate.ref, commit.value)
  if (pinned.ok) return commit
  // There already, or being made by another: its lock file exists.
  const taken = /already exists|File exists/.test(pinned.problem.message)
  return taken ? fail({ ...pinned.problem, code: 'ref_exists' }) : pinned
}
