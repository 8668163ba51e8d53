/** `worktree.data`: files of the user's checkout that git does not have and the benchmark needs, as they were at `init`. */

import { createHash } from 'node:crypto'
import { createReadStream, renameSync, type Stats, writeFileSync } from 'node:fs'
import { lstat, readdir, realpath, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { fileJson } from '../files.ts'
import { call, next } from '../next.ts'
import { dataFile, listRuns, type RunPaths, runPaths, type Site, STATE_FOLDER } from '../paths.ts'
import { fail, ok, type Problem, type Result } from '../result.ts'
import { type GlobMatch, matchGlobs } from '../spec/rules.ts'
import type { Spec } from '../spec/spec.ts'
import type { OpenRun } from './open.ts'

export interface DataFile {
  /** From the root of the repository. */
  path: string
  bytes: number
  sha256: string
  /** Of the user's file: equal = not read again. */
  stamp: string
  /** No .gitignore names it, so only we know that it stays in a checkout. */
  unignored: boolean
}

export interface DataRequest {
  site: Site
  /** Top of the user's checkout. */
  top: string
  prefix: string
  globs: readonly string[]
  /** Paths that git has at the base. */
  tracked: ReadonlySet<string>
  /** Paths that git would take: neither tracked nor ignored. */
  untracked: ReadonlySet<string>
}

const MOST = 100_000
const AT_ONCE = 8

/**
 * Finds and hashes what the globs match. Symbolic links are followed, except those that git has.
 * `dead`: globs that match nothing at all, beside others that do.
 * Problems: `data_missing` (no glob matches anything), `data_too_many`, `data_unreadable`.
 */
export async function collectData(
  request: DataRequest,
): Promise<Result<{ files: DataFile[]; globs: GlobMatch[]; dead: string[] }>> {
  const { site, top, prefix, globs, tracked, untracked } = request
  const found = await present({ ...request, follow: true })
  if (!found.ok) return found
  const all = matchGlobs(globs, prefix, [...found.value, ...tracked])
  const dead = all.flatMap(({ glob, matched }) => (matched.length === 0 ? [glob] : []))
  const [first] = dead
  if (first !== undefined && dead.length === all.length) return fail(missing(first, top))
  const matched = all.map(({ glob, matched: paths }) => ({
    glob,
    matched: paths.filter((path) => !tracked.has(path)).sort(),
  }))
  const paths = [...new Set(matched.flatMap((one) => one.matched))].sort()
  const last = listRuns(site).at(-1)
  const known = new Map((last ? readData(runPaths(site, last)) : []).map((file) => [file.path, file]))
  const files: DataFile[] = []
  try {
    for (let at = 0; at < paths.length; at += AT_ONCE) {
      const some = paths.slice(at, at + AT_ONCE).map(async (path) => {
        const seen = await dataStamp(join(top, path))
        const before = known.get(path)
        const sha256 = before?.stamp === seen.stamp ? before.sha256 : await sha256Of(join(top, path))
        return { path, sha256, ...seen, unignored: untracked.has(path) }
      })
      files.push(...(await Promise.all(some)))
    }
  } catch (error) {
    return fail(unreadable(top, error))
  }
  return ok({ files, globs: matched, dead })
}

interface Looking extends Pick<DataRequest, 'top' | 'prefix' | 'globs' | 'tracked'> {
  /** Symbolic links are taken for what they point at; else each is a file of its own. */
  follow: boolean
}

/** Everything in a checkout at the places where the globs look, links not followed; empty without data. */
export async function dataLike(
  run: Pick<OpenRun, 'spec' | 'started'>,
  top: string,
): Promise<Result<Set<string>>> {
  const { data: globs } = run.spec.worktree
  const found = await present({
    top,
    prefix: run.started.prefix,
    globs,
    tracked: new Set(),
    follow: false,
  })
  if (!found.ok) return found
  const matched = matchGlobs(globs, run.started.prefix, [...found.value])
  return ok(new Set(matched.flatMap((one) => one.matched)))
}

/** Every file below the places where the globs begin that git does not have. */
async function present({ top, prefix, globs, tracked, follow }: Looking): Promise<Result<Set<string>>> {
  const found = new Set<string>()
  const links = new Set<string>()
  const open = globs.map((glob) => [prefix, beginning(glob)].filter(Boolean).join('/'))
  for (let path = open.pop(); path !== undefined; path = open.pop()) {
    const at = join(top, path)
    const entry = await lstat(at).catch(() => null)
    const link = entry?.isSymbolicLink() ?? false
    if (link && !follow) found.add(path)
    if (link && (!follow || tracked.has(path))) continue
    const target = link ? await stat(at).catch(() => null) : entry
    if (!target) continue
    if (target.isFile() && !tracked.has(path)) found.add(path)
    if (found.size > MOST) return fail(tooMany(top))
    if (!target.isDirectory()) continue
    if (link) {
      const real = await realpath(at)
      if (links.has(real) || `${top}/`.startsWith(`${real}/`)) continue
      links.add(real)
    }
    for (const name of await readdir(at).catch(() => [])) {
      if (name !== '.git' && name !== STATE_FOLDER) open.push(path === '' ? name : `${path}/${name}`)
    }
  }
  return ok(found)
}

/** The folder, or the file, that a glob names before its first wildcard. */
function beginning(glob: string): string {
  const plain = glob.replace(/^(\.\/)+/, '')
  const wild = plain.search(/[*?{[(!+@\\]/)
  if (wild < 0) return plain.replace(/\/+$/, '')
  return plain.slice(0, Math.max(0, plain.lastIndexOf('/', wild)))
}

/** Changes with every write, also with one that puts the old time back. */
export async function dataStamp(path: string): Promise<{ bytes: number; stamp: string }> {
  const found = await stat(path)
  return { bytes: found.size, stamp: stampIn(found) }
}

export const stampIn = ({ size, mtimeMs, ctimeMs, ino }: Stats): string =>
  `${size}-${mtimeMs}-${ctimeMs}-${ino}`

export async function sha256Of(path: string): Promise<string> {
  const hash = createHash('sha256')
  for await (const chunk of createReadStream(path)) hash.update(chunk)
  return hash.digest('hex')
}

export const digestOf = (files: readonly DataFile[]): string => {
  const hash = createHash('sha256')
  for (const { path, sha256 } of files) hash.update(`${path}\0${sha256}\n`)
  return hash.digest('hex')
}

export function writeData(paths: RunPaths, files: readonly DataFile[]): void {
  const file = dataFile(paths)
  writeFileSync(`${file}.${process.pid}`, JSON.stringify(files))
  renameSync(`${file}.${process.pid}`, file)
}

export const readData = (paths: RunPaths): DataFile[] => fileJson(dataFile(paths)) ?? []

/** The run's own list, bound by the digest in its first event. Problem `data_list_lost`. */
export function dataOfRun(run: Pick<OpenRun, 'paths' | 'started'>): Result<DataFile[]> {
  const { data } = run.started
  if (!data) return ok([])
  const files = readData(run.paths)
  if (digestOf(files) === data.sha256) return ok(files)
  return fail({
    kind: 'refused',
    code: 'data_list_lost',
    message: `the list of the run's data is not the one that it began with`,
    hint: next`start a new run: ${call('init', '--new')}`,
    at: dataFile(run.paths),
  })
}

/**
 * The run's data, if the user's files are still those of `init`. A file whose time changed, but not its content, is recorded with its new time.
 * Problem `data_changed` names the first that differs.
 */
export async function unchangedData(
  run: Pick<OpenRun, 'run' | 'paths' | 'started'>,
): Promise<Result<DataFile[]>> {
  const listed = dataOfRun(run)
  if (!listed.ok || listed.value.length === 0) return listed
  let touched = false
  for (const file of listed.value) {
    const at = join(run.started.checkout, file.path)
    try {
      const { stamp } = await dataStamp(at)
      if (stamp === file.stamp) continue
      if ((await sha256Of(at)) !== file.sha256) return fail(changed(run, file.path, 'is not'))
      file.stamp = stamp
      touched = true
    } catch {
      return fail(changed(run, file.path, 'is gone or cannot be read, and was not'))
    }
  }
  if (touched) writeData(run.paths, listed.value)
  return listed
}

const changed = (run: Pick<OpenRun, 'run' | 'started'>, path: string, how: string): Problem => ({
  kind: 'refused',
  code: 'data_changed',
  message: `${path} ${how} what it was when ${run.run} began (worktree.data)`,
  hint: next`put it back; or, since scores on other data cannot be compared, start a new run: ${call('init', '--new')}`,
  at: join(run.started.checkout, path),
  data: { path },
})

const missing = (glob: string, at: string): Problem => ({
  kind: 'usage',
  code: 'data_missing',
  message: `\`${glob}\` under worktree.data matches no file in your checkout`,
  hint: 'globs count from the folder of the spec; make or fetch the files first, or remove the line',
  at,
})

const tooMany = (at: string): Problem => ({
  kind: 'usage',
  code: 'data_too_many',
  message: `more than ${MOST} files that are not in git match worktree.data`,
  hint: 'name a smaller folder, or pack the files into one',
  at,
})

const unreadable = (at: string, error: unknown): Problem => ({
  kind: 'failed',
  code: 'data_unreadable',
  message: `a file of worktree.data could not be read: ${error instanceof Error ? error.message : String(error)}`,
  hint: 'check its permissions',
  at,
})

// ---------------------------------------------------------------- the paths of `worktree.cache`: outputs of builds, never sources

/** From the root of the repository, without a slash at the end. */
export const cachePaths = ({ worktree }: Pick<Spec, 'worktree'>, prefix: string): string[] =>
  (worktree.cache ?? []).map((path) =>
    [prefix, path.replace(/^(?:\.\/)+|\/+$/g, '')].filter(Boolean).join('/'),
  )
