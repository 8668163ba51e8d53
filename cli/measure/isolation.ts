/**
 * What a process that runs in a measurement checkout sees of the machine: its checkout, at the path of the user's own;
 * folders of its own in place of `/tmp` and the caches; everything else read-only; and neither the user's checkout nor
 * `.assay`, so neither the other side of a pair, nor the ledger, nor held-out data. Both sides look the same.
 */
import { cpSync, existsSync, mkdirSync, realpathSync, statSync, writeFileSync } from 'node:fs'
import { homedir, tmpdir } from 'node:os'
import { basename, dirname, join, resolve } from 'node:path'
import { AS_LEFT } from '../disk/copy.ts'
import { removeTree } from '../disk/remove.ts'
import { fileText, namesIn } from '../files.ts'
import { treePaths } from '../git/trees.ts'
import type { Isolated, IsolationRule } from '../ledger/events.ts'
import { runtimeFolder, type Site, slotOwn, slotPath, userState } from '../paths.ts'
import type { Isolation, Mount } from '../process.ts'
import { ok, type Result } from '../result.ts'
import { placeOfHoldout } from '../run/holdout.ts'
import type { RunRecord, Surroundings } from '../run/open.ts'
import { matchGlobs } from '../spec/rules.ts'
import { scopeOfRun } from './data.ts'

// ---------------------------------------------------------------- folders of the home folder in which package managers keep what they fetched, beside `~/.cache`

/** Each with the text by which the output of a package manager that could not write there names it. */
const NAMED_STORES: readonly { store: string; named: string }[] = [
  '.bun/install/cache',
  '.bundle',
  '.cabal',
  '.cargo/git',
  '.cargo/registry',
  '.composer',
  '.conda/pkgs',
  '.gem',
  '.gradle',
  '.hex',
  '.ivy2',
  '.julia',
  '.local/share/gem',
  '.local/share/pnpm',
  '.local/share/virtualenv',
  '.m2/repository',
  '.mix',
  '.npm',
  '.nuget',
  '.pub-cache',
  '.sbt',
  '.stack',
  '.yarn',
]
  .map((store) => ({ store, named: store }))
  .concat([{ store: 'go/pkg', named: 'go' }])

const PACKAGE_STORES: readonly string[] = NAMED_STORES.map(({ store }) => store)

/** The stores of this home folder that an output names. Those that are not there yet are made, empty, to be mounted on. */
function storesNamedIn(output: string, home: string): string[] {
  return NAMED_STORES.filter(({ store, named }) => {
    const path = join(home, named)
    const found = output.split(path).slice(1)
    return found.some((after) => !/^[\w.-]/.test(after)) && canBeThere(join(home, store))
  }).map(({ store }) => store)
}

function canBeThere(path: string): boolean {
  try {
    mkdirSync(path, { recursive: true })
    return true
  } catch {
    return false
  }
}

/** What isolation depends on. */
type Ground = Pick<RunRecord, 'paths' | 'started' | 'spec'> & Pick<Surroundings, 'env'>

export interface SlotSide {
  site: Site
  slot: number
  place: 'a' | 'b'
}

/** Setup fills caches that build and samples then only read; build, gates and samples cannot write immutable files. */
export type IsolatedPhase = 'setup' | 'build' | 'sample'

/** What the run's event says of it. */
export type IsolationChoice = Pick<Isolated, 'method' | 'without' | 'allow' | 'why'>

/** The isolation rules of the run, and the paths that stay accessible; null = no isolation. */
interface Applied {
  rules: ReadonlySet<IsolationRule>
  allow: string[]
}

export const ISOLATION_RULES: readonly IsolationRule[] = [
  'network',
  'caches',
  'temporary',
  'sealed',
  'repository',
  'read_only',
]

/** The user's checkout. Of a repository that was moved, it is where the repository is now. */
const checkoutOf = ({ started }: Ground, { root }: Site): string =>
  existsSync(started.checkout) ? started.checkout : root

function applied(run: Ground, site: Site, isolation: IsolationChoice | null): Applied | null {
  const config = run.spec.measure.isolation
  if (!isolation?.method || !config) return null
  const top = checkoutOf(run, site)
  const home = run.env.HOME || homedir()
  const allow = [...config.allow, ...isolation.allow].map((path) =>
    path === '~' || path.startsWith('~/') ? join(home, path.slice(1)) : resolve(top, path),
  )
  const without = new Set<IsolationRule>(isolation.without)
  if (config.network) without.add('network')
  if (allow.includes(top)) without.add('repository')
  if (allow.includes('/')) without.add('read_only')
  const rules = new Set(ISOLATION_RULES.filter((rule) => !without.has(rule)))
  const others = allow.filter((path) => path !== top && path !== '/' && existsSync(path))
  return { rules, allow: others.map((path) => realpathSync(path)) }
}

/** One checkout whose jobs are isolated. */
export interface Apart {
  /**
   * For one job: its `/tmp` and caches are as the previous phase left them, so a sample finds no file of earlier
   * samples. `stores`: package stores that are the job's own, empty and writable, for setup and build.
   */
  renew(stores?: readonly string[]): Isolation
  /** The package stores of the machine that the output of a failed job names, and that fetching could fill. */
  storesThatFailed(output: string): string[]
}

/** Removes the `/tmp` and caches of an earlier candidate, setup or build, unless they are still valid. */
export function forgetOwnFolders(side: SlotSide, keeps: { setup: boolean; build: boolean }): void {
  const own = slotOwn(side.site, side.slot, side.place)
  for (const phase of PHASES) if (phase === 'sample' || !keeps[phase]) removeTree(join(own, phase))
  removeTree(join(own, LASTING))
}

const PHASES: readonly IsolatedPhase[] = ['setup', 'build', 'sample']

/** null = the run measures without isolation. The checkout exists, brought to `tree`. */
export async function isolationOf(
  run: Ground,
  side: SlotSide,
  { choice, phase, tree }: { choice: IsolationChoice | null; phase: IsolatedPhase; tree: string },
): Promise<Result<Apart | null>> {
  const chosen = applied(run, side.site, choice)
  if (!chosen) return ok(null)
  const sealed =
    phase !== 'setup' && chosen.rules.has('sealed')
      ? await immutableFiles(run, side.site, tree)
      : ok<string[]>([])
  if (!sealed.ok) return sealed
  const own = slotOwn(side.site, side.slot, side.place)
  return ok({
    renew(stores = []) {
      layFolders(own, phase)
      for (const store of stores) mkdirSync(join(own, phase, STORES, store), { recursive: true })
      return arrange(run, side, chosen, phase, sealed.value)
    },
    storesThatFailed(output) {
      const fetches = phase === 'setup' || !chosen.rules.has('network')
      return phase !== 'sample' && fetches && chosen.rules.has('caches')
        ? storesNamedIn(output, run.env.HOME || homedir())
        : []
    },
  })
}

/** Build caches, as long as the candidate lies there. */
const LASTING = 'lasting'
/** Package stores, as far as a phase has its own. */
const STORES = 'stores'
const TEMPORARY = ['tmp', 'var-tmp', 'named-tmp']

/** Temporary folders begin as a copy of what the phase before left there. Caches are mounted entry by entry. */
function layFolders(own: string, phase: IsolatedPhase): void {
  const now = join(own, phase)
  removeTree(now)
  const before = PHASES.slice(0, PHASES.indexOf(phase)).findLast((one) => existsSync(join(own, one)))
  for (const name of TEMPORARY) {
    const from = before && join(own, before, name)
    if (from && existsSync(from)) cpSync(from, join(now, name), AS_LEFT)
    mkdirSync(join(now, name), { recursive: true })
  }
  for (const name of ['cache', 'state', 'git']) mkdirSync(join(now, name), { recursive: true })
}

function arrange(
  run: Ground,
  side: SlotSide,
  chosen: Applied,
  phase: IsolatedPhase,
  sealed: string[],
): Isolation {
  const { rules, allow } = chosen
  const own = slotOwn(side.site, side.slot, side.place)
  const folder = (name: string) => join(own, phase, name)
  const checkout = realpathSync(slotPath(side.site, side.slot, side.place))
  const at = checkoutPlace(run, side.site, rules)
  const mounts: Mount[] = []
  if (rules.has('temporary')) {
    mounts.push({ at: '/tmp', from: folder('tmp'), write: true })
    if (isFolder('/var/tmp')) mounts.push({ at: '/var/tmp', from: folder('var-tmp'), write: true })
    const named = namedTemporary(run)
    if (named !== null) mounts.push({ at: named, from: folder('named-tmp'), write: true })
    mounts.push(...shownAgain(run, side.site, at))
  }
  if (rules.has('caches')) mounts.push(...caches(run, phase, own), ...ownStores(run, phase, own))
  else for (const path of cacheFolders(run)) mounts.push({ at: path, from: path, write: true })
  // Mounted over the job's own folders. What Assay hides stays hidden.
  for (const path of allow) if (!covers(at, path)) mounts.push({ at: path, from: path, write: true })
  const ours = [run.env.XDG_RUNTIME_DIR, runtimeFolder(run.env), userState(run.env), ...hiddenOnNode(run)]
  for (const path of ours)
    if (path && isFolder(path) && !covers(at, realpathSync(path)) && isVisible(mounts, realpathSync(path)))
      mounts.push({ at: realpathSync(path), from: null })
  const state = realpathSync(side.site.state)
  // Tools look for their configuration above the checkout.
  mounts.push({ at: state, from: null, shut: covers(state, at) })
  const heldOut = heldOutFile(run)
  if (heldOut !== null && isVisible(mounts, heldOut)) mounts.push(hidden(heldOut))
  mounts.push({ at, from: checkout, write: true })
  mounts.push(...gitView(side.site, { checkout, at, own: join(own, phase), base: privatePlace(chosen) }))
  // A folder that is a mount cannot be renamed, so a job cannot replace it.
  for (const path of foldersAbove(sealed).slice(0, MOST_SEALED))
    mounts.push({ at: join(at, path), from: join(checkout, path), write: true })
  for (const path of sealed.slice(0, MOST_SEALED))
    mounts.push({ at: join(at, path), from: join(checkout, path), write: false })
  const venv = run.env.VIRTUAL_ENV
  if (
    venv &&
    at === checkoutOf(run, side.site) &&
    covers(at, venv) &&
    !existsSync(seenBack(venv, at, checkout))
  )
    mounts.push({ at: venv, from: venv, write: false })
  for (const path of allow) if (covers(at, path)) mounts.push({ at: path, from: path, write: true })
  return {
    mounts,
    network: phase === 'setup' || !rules.has('network'),
    root: rules.has('read_only') ? 'read-only' : 'writable',
  }
}

/**
 * For an agent: in the repository it can write to these folders only, and to what git needs for the worktrees among them.
 * The rest of the machine, where agent programs keep their own files, is not restricted.
 */
export function agentIsolation(run: Ground & Pick<RunRecord, 'site'>, folders: readonly string[]): Isolation {
  const [top, root, store] = [checkoutOf(run, run.site), run.site.root, run.site.store].map((path) =>
    realpathSync(path),
  ) as [string, string, string]
  const mounts: Mount[] = [...new Set([root, top])].map((path) => ({ at: path, from: path, write: false }))
  const heldOut = heldOutFile(run)
  if (heldOut !== null) mounts.push(hidden(heldOut))
  const state = userState(run.env)
  if (isFolder(state)) mounts.push({ at: state, from: null })
  for (const path of folders.filter((one) => existsSync(one)).map((one) => realpathSync(one))) {
    if (path === root || path === top) continue
    mounts.push({ at: path, from: path, write: true })
    const registered = /^gitdir: (.+)$/m.exec(fileText(join(path, '.git')) ?? '')?.[1]?.trim()
    if (!registered || !covers(store, registered) || !existsSync(registered)) continue
    for (const needed of [registered, join(store, 'objects')])
      mounts.push({ at: needed, from: needed, write: true })
  }
  return { mounts, network: true, root: 'writable' }
}

/** Where the checkout is seen: in place of the user's own, so that absolute paths lead into the candidate. */
function checkoutPlace(run: Ground, site: Site, rules: Applied['rules']): string {
  const top = realpathSync(checkoutOf(run, site))
  const needed = [run.env.HOME || homedir(), process.execPath, ...programFolders(run)]
  const venv = run.env.VIRTUAL_ENV
  const hides = needed.some((path) => covers(top, path) && !(venv && covers(venv, path)))
  if (rules.has('repository') && !hides) return top
  return join(realpathSync(site.state), 'checkout')
}

/** Places of jobs. Of one above the home folder or programs, which cannot be hidden, the folders of jobs that are there. */
function hiddenOnNode(run: Ground): string[] {
  const places = JSON.parse(run.env.ASSAY_JOB_HIDES ?? '[]') as string[]
  const needed = [run.env.HOME || homedir(), process.execPath, ...programFolders(run)]
  return places.filter(isFolder).flatMap((path) => {
    if (!needed.some((one) => covers(realpathSync(path), one))) return [path]
    return namesIn(path)
      .sort()
      .flatMap((name) => (/^assay-[0-9a-f]{16}$/.test(name) ? [join(path, name)] : []))
  })
}

/**
 * The folder that TMPDIR names, where Assay itself keeps what one job has and others must not see. null: it lies below one that is hidden
 * anyway, or it cannot be hidden, because the home folder or programs lie below it.
 */
function namedTemporary(run: Ground): string | null {
  const found = tmpdir()
  if (!isFolder(found)) return null
  const path = realpathSync(found)
  if (['/tmp', '/var/tmp'].some((one) => covers(one, path))) return null
  const needed = [run.env.HOME || homedir(), process.execPath, ...programFolders(run)]
  return path === '/' || needed.some((one) => covers(path, one)) ? null : path
}

const programFolders = ({ env }: Ground): string[] =>
  (env.PATH ?? '').split(':').filter((path) => path.startsWith('/') && !path.includes('/node_modules/.bin'))

/** A home folder, or programs, that lie below a folder which is hidden. */
function shownAgain(run: Ground, site: Site, at: string): Mount[] {
  const wanted = [run.env.HOME || homedir(), dirname(process.execPath), ...programFolders(run)]
  const found: string[] = []
  for (const path of wanted) {
    const below = covers('/tmp', path) || covers('/var/tmp', path)
    if (!below || !isFolder(path) || covers(at, path) || covers(site.state, path)) continue
    if (!found.some((one) => covers(one, path))) found.push(path)
  }
  return found.map((path) => ({ at: path, from: path, write: false }))
}

/** The package stores that this phase may write to, and those that an earlier phase filled, instead of the machine's stores. */
function ownStores(run: Ground, phase: IsolatedPhase, own: string): Mount[] {
  const home = run.env.HOME || homedir()
  return PACKAGE_STORES.flatMap((store) => {
    const at = join(home, store)
    const made = PHASES.slice(0, PHASES.indexOf(phase) + 1).findLast((one) =>
      isFolder(join(own, one, STORES, store)),
    )
    if (made === undefined || !isFolder(at)) return []
    return [{ at: realpathSync(at), from: join(own, made, STORES, store), write: made === phase }]
  })
}

/** Build caches that their tools cannot use without writing there. */
const WRITTEN = ['go-build', 'ccache', 'sccache', 'zig', 'deno', 'bazel', 'node-gyp', 'mesa_shader_cache']
const MOST_ENTRIES = 32

function cachePlaces({ env }: Ground): { state: string; cache: string } {
  const home = env.HOME || homedir()
  return {
    state: env.XDG_STATE_HOME || join(home, '.local', 'state'),
    cache: env.XDG_CACHE_HOME || join(home, '.cache'),
  }
}

const cacheFolders = (run: Ground): string[] =>
  Object.values(cachePlaces(run)).flatMap((path) => (isFolder(path) ? realpathSync(path) : []))

/** A mount needs an existing folder, so a user who has no cache folder yet gets an empty one. */
function isThere(cache: string): boolean {
  try {
    mkdirSync(cache, { mode: 0o700 })
  } catch {
    // It is there already, or there is no home folder to make it in.
  }
  return isFolder(cache)
}

/**
 * The caches of the home folder. A job can read them, and what setup and build left. Files that it writes belong to the
 * job and are removed after it; build caches last for the candidate, unless `measure.fresh` says otherwise.
 */
function caches(run: Ground, phase: IsolatedPhase, own: string): Mount[] {
  const mounts: Mount[] = []
  const { state, cache } = cachePlaces(run)
  if (isFolder(state)) mounts.push({ at: realpathSync(state), from: join(own, phase, 'state'), write: true })
  if (!isThere(cache)) return mounts
  const at = realpathSync(cache)
  mounts.push({ at, from: join(own, phase, 'cache'), write: true })
  const shown = new Map(
    namesIn(at)
      .sort()
      .map((name) => [name, join(at, name)]),
  )
  for (const before of PHASES.slice(0, PHASES.indexOf(phase)))
    for (const name of namesIn(join(own, before, 'cache')).sort())
      shown.set(name, join(own, before, 'cache', name))
  for (const [name, from] of [...shown].slice(0, MOST_ENTRIES))
    if (!WRITTEN.includes(name)) mounts.push({ at: join(at, name), from, write: false })
  const lasts = run.spec.measure.isolation?.fresh !== 'sample'
  for (const name of WRITTEN) {
    if (!lasts || !shown.has(name)) continue
    mkdirSync(join(own, LASTING, name), { recursive: true })
    mounts.push({ at: join(at, name), from: join(own, LASTING, name), write: true })
  }
  return mounts
}

/**
 * The history of the checkout's own commit, read-only: `git describe` and `git log` work, other checkouts and the
 * refs of experiments are not there. Where there are submodules, setup gets a copy of what it needs to fill them, and later jobs see
 * their clones.
 */
function gitView(
  site: Site,
  { checkout, at, own: phaseFolder, base }: { checkout: string; at: string; own: string; base: string },
): Mount[] {
  const own = join(phaseFolder, 'git')
  const pointer = /^gitdir: (.+)$/m.exec(fileText(join(checkout, '.git')) ?? '')?.[1]?.trim()
  const store = realpathSync(site.store)
  if (!pointer || !existsSync(pointer)) return []
  const seen = join(base, 'assay-git')
  const registered = join(seen, 'worktrees', 'checkout')
  const [gitFile, back] = [join(own, 'file'), join(own, 'back')]
  writeFileSync(gitFile, `gitdir: ${registered}\n`)
  writeFileSync(back, `${join(at, '.git')}\n`)
  const refs = join(store, 'refs', 'assay')
  const fills = basename(phaseFolder) === 'setup' && existsSync(join(checkout, '.gitmodules'))
  const filled = join(dirname(phaseFolder), 'setup', 'git', 'registered', 'modules')
  if (!fills && isFolder(filled)) mkdirSync(join(pointer, 'modules'), { recursive: true })
  return [
    ...(fills ? writableView(store, pointer, { seen, own }) : [{ at: seen, from: store, write: false }]),
    { at: join(seen, 'worktrees'), from: null },
    { at: join(seen, 'judge'), from: null },
    ...(isFolder(refs) ? [{ at: join(seen, 'refs', 'assay'), from: null }] : []),
    { at: registered, from: fills ? join(own, 'registered') : pointer, write: fills },
    ...(!fills && isFolder(filled) ? [{ at: join(registered, 'modules'), from: filled, write: false }] : []),
    { at: join(registered, 'gitdir'), from: back, write: false },
    { at: join(at, '.git'), from: gitFile, write: false },
  ]
}

/** `git submodule update` writes to the configuration of the repository, and keeps clones in the folder of the worktree. */
function writableView(store: string, pointer: string, { seen, own }: { seen: string; own: string }): Mount[] {
  const common = join(own, 'common')
  mkdirSync(common, { recursive: true })
  for (const name of ['config', 'HEAD'].filter((one) => existsSync(join(store, one))))
    cpSync(join(store, name), join(common, name))
  cpSync(pointer, join(own, 'registered'), {
    recursive: true,
    filter: (from) => from !== join(pointer, 'modules'),
  })
  const rest = ['objects', 'refs', 'packed-refs', 'info', 'shallow'].filter((one) =>
    existsSync(join(store, one)),
  )
  return [
    { at: seen, from: common, write: true },
    ...rest.map((name) => ({ at: join(seen, name), from: join(store, name), write: false })),
  ]
}

/** More mounts than this, of files and of folders, would slow each sample; the stamps of sealed files are checked in any case. */
const MOST_SEALED = 48

async function immutableFiles(run: Ground, site: Site, tree: string): Promise<Result<string[]>> {
  const listed = await treePaths(site, tree)
  if (!listed.ok) return listed
  const { files, links } = listed.value
  const scope = scopeOfRun(run)
  const paths = files.filter((path) => !links.has(path) && scope(path) === 'immutable')
  const globs = run.spec.measure.isolation?.write ?? []
  const written = new Set(matchGlobs(globs, run.started.prefix, paths).flatMap(({ matched }) => matched))
  return ok(paths.filter((path) => !written.has(path)))
}

/** The folders on the way to these files, each before those below it, and those near the top first. */
function foldersAbove(paths: readonly string[]): string[] {
  const found = new Set<string>()
  for (const path of paths)
    for (let folder = dirname(path); folder !== '.'; folder = dirname(folder)) found.add(folder)
  const depth = (path: string) => path.split('/').length
  return [...found].sort((a, b) => depth(a) - depth(b) || (a < b ? -1 : 1))
}

/** A folder that every isolated process has for itself. */
const privatePlace = ({ rules, allow }: Applied): string =>
  rules.has('temporary') && !allow.includes('/tmp') ? '/tmp' : '/dev/shm'

/** Whether a job sees the machine's own file at this path, not one that is mounted over it. */
function isVisible(mounts: readonly Mount[], path: string): boolean {
  const above = mounts.findLast(({ at }) => covers(at, path))
  return above === undefined || above.from === above.at
}

/** An empty file in its place. */
const hidden = (file: string): Mount => ({ at: file, from: '/dev/null', write: false })

function heldOutFile({ started, env }: Ground): string | null {
  const place = started.holdout && placeOfHoldout(env, started.holdout)
  return place && existsSync(place) ? place : null
}

const covers = (folder: string, path: string): boolean => path === folder || path.startsWith(`${folder}/`)

const seenBack = (path: string, at: string, checkout: string): string => checkout + path.slice(at.length)

function isFolder(path: string): boolean {
  try {
    return statSync(path).isDirectory()
  } catch {
    return false
  }
}
