/**
 * `worktree.cache`: what the build of the baseline left in the declared paths, kept for each checkout of a slot. Each
 * build starts from a copy, and what it writes there is thrown away: no candidate inherits from a different candidate, and
 * both sides of a pair start from the same state.
 */
import { createHash } from 'node:crypto'
import {
  constants,
  existsSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { cp } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { changesBetween, listTree } from '../git/trees.ts'
import { BASELINE } from '../ledger/state.ts'
import { type Site, slotPath } from '../paths.ts'
import { ok, type Result } from '../result.ts'
import { cachePaths } from '../run/data.ts'
import type { RunRecord, Surroundings } from '../run/open.ts'
import { drifted, type Manifest, preparationKeys, takeManifest } from './slot-facts.ts'
import { judgedCommit } from './worktree.ts'

/** One checkout of a slot, and what is to be built there. */
export interface CacheAt {
  run: Pick<RunRecord, 'ledger' | 'spec' | 'started'> & Pick<Surroundings, 'tell'>
  leased: { site: Site; slot: number; environment: Record<string, string> }
  place: 'a' | 'b'
  tree: string
}

/** A cache that may be used for a build. */
export interface Warm extends CacheAt {
  /** Key of the setup that the baseline was built after. */
  setup: string
  /** Files of the candidate that differ from the baseline's, or that the baseline does not have. */
  changed: ReadonlySet<string>
}

interface Tree {
  commit: string
  tree: string
}

interface Note {
  key: string
  /** Paths from the top of the checkout that were there to be kept. */
  paths: string[]
  manifest: Manifest
  /** Before the time of each file in it, in seconds since 1970. */
  before: number
}

/** The commit that the cache is built from: the baseline's candidate, or the base commit until the baseline is judged. */
const cacheBase = (run: CacheAt['run']): Tree => judgedCommit(run, BASELINE) ?? run.started.base

const hasCache = ({ spec }: CacheAt['run']): boolean =>
  spec.worktree.build !== null && (spec.worktree.cache ?? []).length > 0

/**
 * Whether the build of a candidate begins with the cache; null = from nothing. A cache that is missing is made first:
 * `buildBase` builds the baseline in this checkout, and what it leaves is kept. A build begins from nothing
 * with `rebuild`, when the candidate changes what setup depends on, and when it deletes files of the baseline: their outputs in
 * the cache would hide that they are missing.
 */
export async function warmStart(
  at: CacheAt & { rebuild: boolean },
  buildBase: (base: Tree) => Promise<Result<unknown>>,
): Promise<Result<Warm | null>> {
  const { run, leased, tree, rebuild } = at
  if (!hasCache(run) || rebuild) return ok(null)
  const base = cacheBase(run)
  const its = await preparationKeys(run, leased, base.tree)
  if (!its.ok) return its
  const warm: Warm = { ...at, setup: its.value.setup, changed: new Set() }
  if (tree === base.tree) return ok(readNote(warm) === null ? null : warm)
  const own = await preparationKeys(run, leased, tree)
  if (!own.ok) return own
  const changes = await changesBetween(leased.site, base.tree, tree)
  if (!changes.ok) return changes
  const deletes = changes.value.some(({ status }) => status === 'D' || status === 'T')
  if (own.value.setup !== its.value.setup || deletes) return ok(null)
  if (readNote(warm) === null) {
    const built = await buildBase(base)
    if (!built.ok) return built
  }
  const changed = new Set(changes.value.map(({ path }) => path))
  return ok(readNote(warm) === null ? null : { ...warm, changed })
}

/**
 * Puts a copy into the checkout, in place of what is there, and sets the time of sources that equal the baseline's to before
 * the cache was made (git may have written them just now). False when that failed; then no copy is there.
 */
export async function fillFromCache(at: Warm): Promise<Result<boolean>> {
  const note = readNote(at)
  if (note === null) return ok(false)
  const sources = await listTree(at.leased.site, at.tree)
  if (!sources.ok) return sources
  const top = topOf(at)
  try {
    for (const path of note.paths) await copyTree(join(filesOf(at), path), join(top, path))
    for (const { path, mode } of sources.value)
      if (mode.startsWith('100') && !at.changed.has(path)) makeOlder(join(top, path), note.before)
    return ok(true)
  } catch {
    for (const path of note.paths) rmSync(join(top, path), { recursive: true, force: true })
    return ok(false)
  }
}

/** After the baseline was built, and before anything ran there. If the cache cannot be kept, builds only take longer. */
export async function keepCache(place: CacheAt, setup: string): Promise<void> {
  const at: Warm = { ...place, setup, changed: new Set() }
  if (!hasCache(at.run) || at.tree !== cacheBase(at.run).tree || readNote(at) !== null) return
  const top = topOf(at)
  const folder = folderOf(at)
  rmSync(folder, { recursive: true, force: true })
  const paths = cachePaths(at.run.spec, at.run.started.prefix).filter((path) => existsSync(join(top, path)))
  try {
    mkdirSync(filesOf(at), { recursive: true })
    for (const path of paths) await copyTree(join(top, path), join(filesOf(at), path))
    const manifest = takeManifest(
      filesOf(at),
      paths.map((path) => listed(join(filesOf(at), path), path)),
    )
    const times = Object.keys(manifest.files).map((path) => lstatSync(join(filesOf(at), path)).mtimeMs)
    const before = Math.floor(times.reduce((least, time) => Math.min(least, time), Date.now()) / 1000) - 2
    const note: Note = { key: keyOf(at), paths, manifest, before }
    writeFileSync(`${noteOf(at)}.new`, JSON.stringify(note))
    renameSync(`${noteOf(at)}.new`, noteOf(at))
  } catch (error) {
    rmSync(folder, { recursive: true, force: true })
    at.run.tell({
      type: 'preparing',
      what: `the build cache (worktree.cache) could not be written (${error instanceof Error ? error.message : String(error)}); each build starts without it`,
    })
  }
}

const topOf = ({ leased, place }: CacheAt): string => slotPath(leased.site, leased.slot, place)
const folderOf = (at: CacheAt): string => `${topOf(at)}-cache`
const filesOf = (at: CacheAt): string => join(folderOf(at), 'files')
const noteOf = (at: CacheAt): string => join(folderOf(at), 'note.json')

/** null when this checkout has no cache, or when the cache was written to since it was made. */
function readNote(at: Warm): Note | null {
  try {
    const note = JSON.parse(readFileSync(noteOf(at), 'utf8')) as Note
    return note.key === keyOf(at) && drifted(filesOf(at), note.manifest).length === 0 ? note : null
  } catch {
    return null
  }
}

/**
 * Outputs hold absolute paths and are compared with the times of the sources: they are useful only in the
 * folder in which they were built.
 */
function keyOf(at: Warm): string {
  const { run, setup } = at
  const { ino } = lstatSync(topOf(at))
  const { build } = run.spec.worktree
  return createHash('sha256')
    .update(
      JSON.stringify([
        topOf(at),
        ino,
        setup,
        cacheBase(run).tree,
        build,
        cachePaths(run.spec, run.started.prefix),
      ]),
    )
    .digest('hex')
}

/** A file that is older already, is gone, or has become a link is left as it is. */
function makeOlder(file: string, seconds: number): void {
  const stat = lstatSync(file, { throwIfNoEntry: false })
  if (stat?.isFile() && stat.mtimeMs > seconds * 1000) utimesSync(file, seconds, seconds)
}

/** As `takeManifest` wants it. */
const listed = (file: string, path: string): string => (lstatSync(file).isDirectory() ? `${path}/` : path)

/** Files, folders and links, with their times; copied on write where the file system supports it, never as a hard link. */
async function copyTree(from: string, to: string): Promise<void> {
  rmSync(to, { recursive: true, force: true })
  mkdirSync(dirname(to), { recursive: true })
  await cp(from, to, {
    recursive: true,
    preserveTimestamps: true,
    verbatimSymlinks: true,
    mode: constants.COPYFILE_FICLONE,
    filter: (source) => {
      const entry = lstatSync(source)
      return entry.isFile() || entry.isDirectory() || entry.isSymbolicLink()
    },
  })
}
