/** Gives `worktree.data` to a checkout, tells whether it is still as it was given, and which paths a candidate may change. */
import { constants } from 'node:fs'
import { chmod, copyFile, lstat, mkdir, realpath, rename, rm, stat, utimes } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { type Fingerprint, fingerprintCheckout } from '../git/checkout.ts'
import { BASELINE } from '../ledger/state.ts'
import { fail, ok, type Problem, type Result } from '../result.ts'
import { type DataFile, dataLike, dataOfRun, dataStamp, sha256Of, unchangedData } from '../run/data.ts'
import { type RunRecord, specFileOf } from '../run/open.ts'
import { type Area, placesOfMutable, scopeOf } from '../spec/rules.ts'

/** Path → content and stamp of the copy; equal = not read again. */
export type GivenData = Record<string, string>

/**
 * Copies, read-only, each data file that is missing or changed in a checkout. Copied on write where the file system
 * supports it, never a link: no program that runs there reaches the user's file. Problems: `data_changed`, `data_not_given`.
 */
export async function giveData(
  run: Pick<RunRecord, 'run' | 'paths' | 'started'>,
  top: string,
  given: GivenData,
): Promise<Result<GivenData>> {
  const files = await unchangedData(run)
  if (!files.ok) return files
  const now: GivenData = {}
  for (const file of files.value) {
    const to = join(top, file.path)
    const before = await noteOf(to, file)
    if (before !== null && given[file.path] === before) {
      now[file.path] = before
      continue
    }
    try {
      await copyReadOnly(join(run.started.checkout, file.path), to, top)
    } catch (error) {
      return fail(notGiven(file.path, top, error))
    }
    now[file.path] = (await noteOf(to, file)) ?? ''
  }
  return ok(now)
}

/** Paths of the run's data whose content in the checkout is not what it was given. */
export async function changedData(
  run: Pick<RunRecord, 'paths' | 'started'>,
  top: string,
  given: GivenData,
): Promise<Result<string[]>> {
  const files = dataOfRun(run)
  if (!files.ok) return files
  const changed: string[] = []
  for (const file of files.value) {
    const at = join(top, file.path)
    const note = await noteOf(at, file)
    if (note !== null && note === given[file.path]) continue
    const sha256 = note === null ? null : await sha256Of(at).catch(() => null)
    if (sha256 !== file.sha256) changed.push(file.path)
  }
  return ok(changed)
}

/**
 * Removes new files from the folders of the data: the benchmark of a later candidate may read the whole folder, and must
 * not find what an earlier candidate left there.
 */
export async function removePlanted(
  run: Pick<RunRecord, 'spec' | 'started'>,
  top: string,
  before: ReadonlySet<string>,
): Promise<Result<void>> {
  const now = await dataLike(run, top)
  if (!now.ok) return now
  for (const path of now.value) {
    if (!before.has(path)) await rm(join(top, path), { recursive: true, force: true })
  }
  return ok(undefined)
}

const known = new WeakMap<RunRecord['started'], ReadonlySet<string>>()

/** The paths that hold data: never part of a candidate, whatever the scope says. */
export function dataPaths(run: Pick<RunRecord, 'paths' | 'started'>): ReadonlySet<string> {
  const cached = known.get(run.started)
  if (cached) return cached
  const files = dataOfRun(run)
  const paths = new Set(files.ok ? files.value.map(({ path }) => path) : [])
  known.set(run.started, paths)
  return paths
}

/** null when no plain file is there. */
async function noteOf(path: string, { sha256 }: DataFile): Promise<string | null> {
  const found = await lstat(path).catch(() => null)
  return found?.isFile() ? `${sha256} ${(await dataStamp(path)).stamp}` : null
}

async function copyReadOnly(from: string, to: string, top: string): Promise<void> {
  await mkdir(dirname(to), { recursive: true })
  // Through a link the copy would land elsewhere, perhaps on the user's own file.
  const folder = join(await realpath(top), dirname(to).slice(top.length))
  if ((await realpath(dirname(to))) !== folder) throw new Error('a symbolic link leads out of the checkout')
  const { mode, atime, mtime } = await stat(from)
  const temporary = `${to}.assay-${process.pid}`
  await rm(temporary, { force: true })
  await copyFile(from, temporary, constants.COPYFILE_FICLONE)
  await utimes(temporary, atime, mtime)
  await chmod(temporary, mode & 0o555)
  await rm(to, { recursive: true, force: true })
  await rename(temporary, to)
}

const notGiven = (path: string, at: string, error: unknown): Problem => ({
  kind: 'failed',
  code: 'data_not_given',
  message: `${path} (worktree.data) could not be copied into a checkout: ${error instanceof Error ? error.message : String(error)}`,
  hint: 'check the free space and the permissions of that folder, then repeat the command',
  at,
})

// ---------------------------------------------------------------- which paths are mutable, immutable or neither: `scope` of the frozen spec, with `worktree.data`

type Framed = Pick<RunRecord, 'spec' | 'started' | 'paths'>

const areas = new WeakMap<Framed['spec'], (path: string) => Area>()

/** The area of a path by the frozen spec; compiled once for each run. */
export function scopeOfRun(run: Framed): (path: string) => Area {
  const cached = areas.get(run.spec)
  if (cached) return cached
  const scope = scopeOf(run.spec.scope, run.started.prefix, specFileOf(run))
  const data = dataPaths(run)
  const area = data.size === 0 ? scope : (path: string) => (data.has(path) ? 'immutable' : scope(path))
  areas.set(run.spec, area)
  return area
}

/** Whether new files at a path are part of an experiment's candidate. The baseline is still being built: all are. */
export function mutableFor(run: Framed, experiment: string): (path: string) => boolean {
  if (experiment === BASELINE) return (path) => !dataPaths(run).has(path)
  const scope = scopeOfRun(run)
  return (path) => scope(path) === 'mutable'
}

/** The state of the user's checkout, as far as a candidate may change such files: some agents edit the wrong folder. */
export function fingerprintMutable(run: Framed): Promise<Result<Fingerprint>> {
  const scope = scopeOfRun(run)
  const places = placesOfMutable(run.spec.scope, run.started.prefix)
  return fingerprintCheckout(run.started.checkout, (path) => scope(path) === 'mutable', places)
}
