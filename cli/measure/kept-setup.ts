/**
 * What `worktree.setup` made in a worktree that an agent edits, kept so that the next worktree with the same inputs gets a copy.
 * Checkouts in which candidates are measured never take part: no verdict depends on what is kept here.
 */
import { createHash } from 'node:crypto'
import { constants, existsSync, lstatSync, mkdirSync, utimesSync } from 'node:fs'
import {
  chmod,
  copyFile,
  lstat,
  lutimes,
  mkdir,
  open,
  readlink,
  rename,
  symlink,
  utimes,
  writeFile,
} from 'node:fs/promises'
import { arch, platform, release } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { type DiskEntry, entriesBelow } from '../disk/inventory.ts'
import { removeTree } from '../disk/remove.ts'
import { fileJson, freeBytes, namesIn } from '../files.ts'
import type { Tell } from '../notices.ts'
import { type Site, setupsFolder } from '../paths.ts'
import { ok, type Result } from '../result.ts'
import type { RunRecord } from '../run/open.ts'
import { plain } from '../text.ts'
import { preparationKeys } from './slot-facts.ts'

/** Kept results, and bytes of one of them. */
const MOST_KEPT = 3
const MOST_BYTES = 2 * 1024 ** 3
/** What stays free on the disk. */
const FREE_BYTES = 1024 ** 3

/** Where a copy came from, and how long the setup took there, in milliseconds. */
export interface ReusedSetup {
  from: string
  ms: number
}

interface Note extends ReusedSetup {
  /** Why this result is never reused; then nothing is kept beside the note. */
  why: string | null
  /** Path → what it was in its worktree. */
  made: Record<string, Pick<DiskEntry, 'kind' | 'mode'>>
  /** Path → stamp of what is kept, when it was complete. */
  stamps: Record<string, string>
}

/** One worktree that is being set up. */
export interface SettingUp {
  site: Site
  experiment: string
  /** Top of the worktree. */
  top: string
  /** Names of the results that may be reused here, the best first. Empty = none, nor is one kept. */
  keys: readonly string[]
  tell: Tell
}

/**
 * Names of the results that a worktree may reuse. The first is made in a worktree that begins with the files of the baseline, and
 * serves each tree with the same inputs. The second serves worktrees that begin with the very same tree, since a setup may
 * run what a candidate wrote. Without a file that is an input, the answer is empty.
 */
export async function keysOfSetup(
  run: Pick<RunRecord, 'spec' | 'started' | 'site'>,
  environment: Record<string, string>,
  { tree, baseline }: { tree: string; baseline: string },
): Promise<Result<string[]>> {
  const keys = await preparationKeys(run, { site: run.site, environment }, tree)
  if (!keys.ok) return keys
  if (keys.value.inputs === 0) return ok([])
  const machine = [platform(), arch(), release(), process.version]
  const shared = hashOf([keys.value.setup, ...machine])
  return ok(tree === baseline ? [shared] : [shared, hashOf([shared, tree])])
}

const hashOf = (parts: readonly string[]): string =>
  createHash('sha256').update(JSON.stringify(parts)).digest('hex').slice(0, 32)

// ---------------------------------------------------------------- reuse

/**
 * Copies a kept result into a fresh worktree. null when there is none, when it was written to since it was made (then it is deleted),
 * or when it does not fit into this worktree. The worktree is then as it was.
 */
export async function reuseSetup({ site, top, keys, tell }: SettingUp): Promise<ReusedSetup | null> {
  for (const key of keys) {
    const folder = join(setupsFolder(site), key)
    if (!existsSync(folder)) continue
    const note = fileJson<Note>(join(folder, 'note.json'))
    if (note === null || (note.why === null && !isPristine(folder, note))) {
      tell({
        type: 'warning',
        message: `what was kept of an earlier setup was changed in ${folder}; it is deleted`,
      })
      removeTree(folder)
      continue
    }
    if (note.why !== null || !fits(top, note)) continue
    try {
      await copyMade(join(folder, 'files'), top, Object.entries(note.made))
      // The one that was used last is deleted last.
      utimesSync(folder, new Date(), new Date())
      return { from: note.from, ms: note.ms }
    } catch {
      for (const path of Object.keys(note.made)) removeTree(join(top, path))
    }
  }
  return null
}

function isPristine(folder: string, { stamps }: Note): boolean {
  try {
    const now = entriesBelow(join(folder, 'files'))
    return (
      now.size === Object.keys(stamps).length && [...now].every(([path, { stamp }]) => stamps[path] === stamp)
    )
  } catch {
    return false
  }
}

/** Nothing of it is there already, and each folder that it did not make itself is a folder here as well. */
function fits(top: string, { made }: Note): boolean {
  return Object.keys(made).every((path) => {
    if (lstatSync(join(top, path), { throwIfNoEntry: false })) return false
    const parent = dirname(path)
    return parent === '.' || made[parent] !== undefined || isRealFolder(top, parent)
  })
}

function isRealFolder(top: string, path: string): boolean {
  for (let at = path; at !== '.'; at = dirname(at))
    if (!lstatSync(join(top, at), { throwIfNoEntry: false })?.isDirectory()) return false
  return true
}

// ---------------------------------------------------------------- keep

/** The files of a worktree before its setup; null when nothing is to be kept of it. */
export function beforeSetup({ site, top, keys }: SettingUp): Map<string, DiskEntry> | null {
  if (keys.length === 0 || keys.some((key) => existsSync(join(setupsFolder(site), key)))) return null
  return entriesBelow(top)
}

/**
 * Keeps what the setup made, before an agent works there. Answers why nothing is kept, when the setup is the cause; that is
 * remembered, so that it is said once. If the disk is the cause, nothing is kept either, and the answer is null.
 */
export async function keepSetup(
  at: SettingUp,
  before: Map<string, DiskEntry>,
  ms: number,
): Promise<string | null> {
  const key = at.keys.at(-1)
  if (key === undefined) return null
  const folder = join(setupsFolder(at.site), key)
  const building = `${folder}.${process.pid}.new`
  try {
    const after = entriesBelow(at.top)
    const made = [...after].filter(([path]) => !before.has(path))
    const why = changedBySetup(before, after) ?? tooLarge(made) ?? (await tiedToPlace(at.top, made))
    const bytes = made.reduce((sum, [, { size }]) => sum + size, 0)
    const free = freeBytes(at.site.state)
    if (why === null && free !== null && free - bytes < FREE_BYTES) return null
    mkdirSync(join(building, 'files'), { recursive: true })
    const note: Note = { from: at.experiment, ms, why, made: {}, stamps: {} }
    if (why === null) {
      for (const [path, { kind, mode }] of made) note.made[path] = { kind, mode }
      await copyMade(at.top, join(building, 'files'), made)
      await forbidWriting(join(building, 'files'))
      for (const [path, { stamp }] of entriesBelow(join(building, 'files'))) note.stamps[path] = stamp
    }
    await writeFile(join(building, 'note.json'), JSON.stringify(note), { mode: 0o444 })
    await rename(building, folder)
    dropOldest(at.site, key)
    return why
  } catch {
    removeTree(building)
    return null
  }
}

/** A setup that changes what was there would have to run on the files of each worktree. */
function changedBySetup(before: Map<string, DiskEntry>, after: Map<string, DiskEntry>): string | null {
  for (const [path, was] of before) {
    const now = after.get(path)
    const same = was.kind === 'folder' ? now?.mode === was.mode : now?.stamp === was.stamp
    if (!same) return `it ${now === undefined ? 'deletes' : 'changes'} ${plain(path, 200)}`
  }
  return null
}

function tooLarge(made: readonly [string, DiskEntry][]): string | null {
  const bytes = made.reduce((sum, [, { size }]) => sum + size, 0)
  return bytes > MOST_BYTES ? `it makes ${Math.round(bytes / 1024 ** 2)} MiB` : null
}

/** What would mean the worktree of its setup also in a copy, or is no plain file, link or folder. */
async function tiedToPlace(top: string, made: readonly [string, DiskEntry][]): Promise<string | null> {
  const [parent, name] = [basename(dirname(top)), basename(top)]
  // As it is, and as JSON and addresses escape it. The part above may be escaped in more ways.
  const needles = ['/', '\\/', '%2F'].map((slash) => Buffer.from(`${slash}${parent}${slash}${name}`))
  for (const [path, { kind }] of made) {
    const shown = plain(path, 200)
    if (basename(path) === '.git') return `it makes a git repository (${shown})`
    if (kind === 'other') return `${shown} is no plain file`
    const holds =
      kind === 'link'
        ? `/${await readlink(join(top, path))}/`.includes(`/${name}/`)
        : kind === 'file' && (await holdsAny(join(top, path), needles))
    if (holds) return `${shown} holds the path of its worktree`
  }
  return null
}

const PIECE = 1024 * 1024

async function holdsAny(file: string, needles: readonly Buffer[]): Promise<boolean> {
  const handle = await open(file, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK)
  try {
    // What one piece ends with belongs to the next one as well.
    const overlap = Math.max(...needles.map(({ length }) => length)) - 1
    const buffer = Buffer.alloc(PIECE + overlap)
    for (let kept = 0; ; ) {
      const { bytesRead } = await handle.read(buffer, kept, PIECE)
      if (bytesRead === 0) return false
      const filled = buffer.subarray(0, kept + bytesRead)
      if (needles.some((needle) => filled.includes(needle))) return true
      kept = Math.min(overlap, filled.length)
      filled.copy(buffer, 0, filled.length - kept)
    }
  } finally {
    await handle.close()
  }
}

async function forbidWriting(files: string): Promise<void> {
  for (const [path, { kind, mode }] of entriesBelow(files))
    if (kind !== 'link') await chmod(join(files, path), mode & 0o555)
  await chmod(files, 0o555)
}

// ---------------------------------------------------------------- how much is kept

/** The folder of each, also of those that a killed command left unfinished. */
export function keptSetups(site: Site): string[] {
  const folder = setupsFolder(site)
  return namesIn(folder).map((name) => join(folder, name))
}

function dropOldest(site: Site, newest: string): void {
  const folder = setupsFolder(site)
  const others = namesIn(folder)
    .filter((name) => name !== newest)
    .map((name) => ({ name, at: lstatSync(join(folder, name), { throwIfNoEntry: false })?.mtimeMs ?? 0 }))
    .sort((one, other) => other.at - one.at)
  for (const { name } of others.slice(MOST_KEPT - 1)) removeTree(join(folder, name))
}

// ---------------------------------------------------------------- copies

/** At once: more is no quicker. */
const BATCH = 32

/**
 * Files, folders and links with their rights and times; copied on write where the file system supports it, never as a hard
 * link, through which a candidate could write into the original. Parents come before what is in them, here as in `entriesBelow`.
 */
async function copyMade(
  from: string,
  to: string,
  made: readonly [string, Pick<DiskEntry, 'kind' | 'mode'>][],
): Promise<void> {
  const folders = made.filter(([, { kind }]) => kind === 'folder')
  // An entry that was made in a folder which was there before comes without that folder.
  const parents = new Set(made.map(([path]) => dirname(path)))
  for (const [path] of folders) await mkdir(join(to, path), { recursive: true })
  for (const path of parents) await mkdir(join(to, path), { recursive: true })
  const others = made.filter(([, { kind }]) => kind !== 'folder')
  for (let at = 0; at < others.length; at += BATCH) {
    const batch = others.slice(at, at + BATCH)
    await Promise.all(batch.map(([path, entry]) => copyOne(join(from, path), join(to, path), entry)))
  }
  // A folder last: what is made in it changes its time, and its rights may forbid that.
  for (const [path, { mode }] of folders.toReversed()) {
    const { atimeMs, mtimeMs } = await lstat(join(from, path))
    await utimes(join(to, path), atimeMs / 1000, mtimeMs / 1000)
    await chmod(join(to, path), mode)
  }
}

async function copyOne(
  from: string,
  to: string,
  { kind, mode }: Pick<DiskEntry, 'kind' | 'mode'>,
): Promise<void> {
  // In seconds: a date would be rounded to milliseconds, and tools compare times.
  const { atimeMs, mtimeMs } = await lstat(from)
  const [atime, mtime] = [atimeMs / 1000, mtimeMs / 1000]
  if (kind === 'link') {
    await symlink(await readlink(from), to)
    await lutimes(to, atime, mtime)
    return
  }
  await copyFile(from, to, constants.COPYFILE_FICLONE | constants.COPYFILE_EXCL)
  await chmod(to, mode | 0o200)
  await utimes(to, atime, mtime)
  await chmod(to, mode)
}
