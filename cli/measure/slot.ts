/** A measurement slot: leases it machine-wide, brings its checkouts to exactly what was sealed, sets up and builds there. */
import { existsSync, lstatSync, mkdirSync, readdirSync, symlinkSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { type Inventory, nothingIn, takeInventory } from '../disk/inventory.ts'
import { type Keep, keepOnly } from '../disk/keep-only.ts'
import { removeTree } from '../disk/remove.ts'
import { type CommandRun, runPreparation } from '../evaluate/gates.ts'
import { showGiven } from '../evaluate/measure.ts'
import { redactStored } from '../evaluate/stored.ts'
import { besidePaths } from '../git/observe.ts'
import { changedFiles, freshenCheckout } from '../git/restore.ts'
import { treePaths } from '../git/trees.ts'
import { moveToTrash, removeWorktree } from '../git/worktrees.ts'
import type { SampleFault } from '../ledger/events.ts'
import {
  acquireLease,
  beat,
  hasGivenUp,
  removeLeasesElsewhere,
  removeLockElsewhere,
  seeLock,
  tryHold,
} from '../lock.ts'
import type { Tell } from '../notices.ts'
import { leaseFolder, type Site, slotDesk, slotLock, slotOpen, slotPath, stepsFile } from '../paths.ts'
import { endOrphans, type Isolation, isElsewhere, nameOfProcess, type ProcessIdentity } from '../process.ts'
import { ok, type Problem, type Result } from '../result.ts'
import { dataLike, dataOfRun } from '../run/data.ts'
import type { OpenRun, RunRecord, Surroundings } from '../run/open.ts'
import { type ArtifactPlaces, artifactAt, listArtifacts } from './artifacts.ts'
import { fillFromCache, keepCache, warmStart } from './build-cache.ts'
import { dataPaths, type GivenData, giveData } from './data.ts'
import { DiskWatch } from './disk-space.ts'
import { benchmarkEnvironment } from './environment.ts'
import {
  type Apart,
  forgetOwnFolders,
  type IsolatedPhase,
  type IsolationChoice,
  isolationOf,
} from './isolation.ts'
import {
  drifted,
  EMPTY_MANIFEST,
  forgetFacts,
  type Manifest,
  preparationKeys,
  readFacts,
  type SlotFacts,
  takeManifest,
  takeWhole,
  UNKNOWN_SLOT,
  writeFacts,
} from './slot-facts.ts'

// ----------------------------------------------------------------
// Which process uses the checkouts of a slot: one at a time. Processes that wait are shown its name. The slot can be taken
// over when its owner is gone, or when the user says that it is gone.

const LOOK_MS = 50

/** Waits for the lock of the slot's checkouts; the function that it answers releases the lock. Rejects with the signal's reason. */
async function holdSlot(run: OpenRun, slot: number): Promise<() => void> {
  ownFolders(run.site, slot)
  const lock = slotLock(run.site, slot)
  mkdirSync(dirname(lock), { recursive: true })
  let told = ''
  for (;;) {
    const hold = tryHold(lock, (owner) => hasGivenUp(lock, owner))
    if (hold.held) {
      removeStrangers(run.site, slot)
      const quiet = beat(() => lock, hold.text)
      return () => {
        quiet()
        hold.release()
      }
    }
    const what = `the checkouts of slot ${slot}, which ${nameOfProcess(hold.owner)} uses (${lock})${isElsewhere(hold.owner) ? '; if that machine is gone: assay run ID --take-over' : ''}`
    if (what !== told) run.tell({ type: 'waiting', what })
    told = what
    await pause(LOOK_MS, undefined, { signal: run.signal })
  }
}

/** Tells the other slots that this process, which holds the lock of the slot, measures there without isolation. */
function measureOpenly(site: Site, slot: number): void {
  const path = slotOpen(site, slot)
  const owner = livingOwner(slotLock(site, slot))
  removeTree(path)
  if (owner !== null) symlinkSync(owner, path)
}

/** The living process that a lock, or such a link, names, as a text; null = none. */
export function livingOwner(path: string): string | null {
  const { state, owner } = seeLock(path)
  return state === 'alive' ? JSON.stringify(owner) : null
}

/** Paths of the slot locks that exist. */
export function slotLocks(site: Site): string[] {
  const folder = dirname(slotLock(site, 0))
  try {
    return readdirSync(folder).flatMap((name) => (/^\d+\.lock$/.test(name) ? [join(folder, name)] : []))
  } catch {
    return []
  }
}

/**
 * Releases the slot locks of owners on a different machine or in a container, because the user said that they are gone:
 * those of this repository and those in this machine's queue. Answers the owners. Never releases a lock of this machine.
 */
export async function freeSlots(
  run: Pick<RunRecord, 'site'> & Pick<Surroundings, 'env'>,
  isMeant: (owner: ProcessIdentity) => boolean = () => true,
): Promise<ProcessIdentity[]> {
  const held = slotLocks(run.site).flatMap((lock) => removeLockElsewhere(lock, isMeant) ?? [])
  return [...held, ...(await removeLeasesElsewhere(leaseFolder(run.env), isMeant))]
}

export const isSameProcess = (one: ProcessIdentity, other: ProcessIdentity): boolean =>
  one.pid === other.pid &&
  one.started === other.started &&
  one.host === other.host &&
  one.space === other.space

// ----------------------------------------------------------------
// A checkout of a slot before a candidate comes into it: it is the one that was made, and holds nothing of
// what ran there before.

/** Where entries of a checkout lie for a moment while a folder of it is made again: on the same disk. */
export const asideOf = (checkout: string): string => `${checkout}.aside`

/** The folders of a slot belong to Assay, but a program may have put a link there: what the link points to does not. */
function ownFolders(site: Site, slot: number): void {
  const folder = dirname(slotPath(site, slot, 'a'))
  for (const one of [dirname(folder), folder]) {
    const found = lstatSync(one, { throwIfNoEntry: false })
    if (found && !found.isDirectory()) removeTree(one)
  }
}

/** The names that Assay gives to what lies in the folder of a slot, in the folder of all slots, and in its state. */
const IN_SLOT = /^(?:[ab](?:[.-].*)?|desk|made)$/
const AMONG_SLOTS = /^\d+(?:\..*)?$/
const IN_STATE = /^(?:\.git(?:[.-].*)?|runs|w|m|(?:setups|trash|worktrees)(?:[.-].*)?|report\.html)$/

const ONLY_STATE = /^\.assay$/

/** What lies in Assay's state and is not Assay's: the user may have put it there. */
export const foreignInState = (site: Site): string[] => strangeIn(site.state, IN_STATE)

/**
 * Removes what a program made above its checkout, where tools look for their configuration (`package.json`), and names it as
 * the program does. What is new in Assay's state is moved into the trash. `known`: what was there before; null = whatever it is.
 */
export function removeStrangers(
  site: Site,
  slot: number,
  known: ReadonlySet<string> | null = null,
): string[] {
  const folder = dirname(slotPath(site, slot, 'a'))
  const removed = (at: string, names: RegExp) => {
    const found = strangeIn(at, names)
    for (const name of found) removeTree(join(at, name))
    return found
  }
  const inState = known === null ? [] : foreignInState(site).filter((name) => !known.has(name))
  for (const name of inState) moveToTrash(site, join(site.state, name))
  return [
    ...removed(folder, IN_SLOT).map((name) => `../${name}`),
    ...removed(dirname(folder), AMONG_SLOTS).map((name) => `../../${name}`),
    ...inState.map((name) => `../../../${name}`),
    ...(site.holdsOnlyState ? removed(site.root, ONLY_STATE) : []).map((name) => `../../../../${name}`),
  ]
}

function strangeIn(folder: string, known: RegExp): string[] {
  if (!lstatSync(folder, { throwIfNoEntry: false })?.isDirectory()) return []
  return readdirSync(folder).filter((name) => !known.test(name))
}

/**
 * Whether the checkout is the folder that was made there. A link is removed as the link that it is; another folder is
 * moved into the trash, since its owner is unknown. Links are not followed. `made`: see `SlotFacts`.
 */
async function isOwnCheckout(
  { site, slot }: LeasedSlot,
  place: CheckoutPlace,
  made: number | null,
  tell: Tell,
): Promise<boolean> {
  ownFolders(site, slot)
  const path = slotPath(site, slot, place)
  removeTree(asideOf(path))
  const found = lstatSync(path, { throwIfNoEntry: false })
  if (!found) return false
  if (!found.isDirectory()) {
    removeTree(path)
    return false
  }
  if (made === null || found.ino === made) return true
  tell({
    type: 'warning',
    message: `${path} is not the checkout that Assay made there; Assay moved it into the trash and makes the checkout again`,
  })
  moveToTrash(site, path)
  return false
}

/** The inode of the checkout; null when none is there. */
export const inodeOf = (path: string): number | null =>
  lstatSync(path, { throwIfNoEntry: false })?.ino ?? null

/**
 * Brings a checkout to exactly the candidate, the data, and the files that are to stay: nothing of earlier jobs is left.
 * If that fails, the checkout is moved into the trash and made again; then the answer is `again`, and no file stayed.
 */
async function clear(
  run: RunInSlot,
  site: Site,
  path: string,
  candidate: { commit: string; tree: string },
  stays: Manifest,
): Promise<Result<'as_wanted' | 'again'>> {
  const listed = dataOfRun(run)
  if (!listed.ok) return listed
  const data = listed.value.map((one) => one.path)
  const swept = await sweep(site, path, candidate, { ...stays, data })
  if (!swept.ok) return swept
  if (swept.value === null) {
    const keep = [...stays.roots, ...data]
    const fresh = await freshenCheckout(site, path, candidate.commit, { keep, tree: candidate.tree })
    if (fresh.ok) return ok('as_wanted')
    if (fresh.problem.code === 'disk_full' || fresh.problem.code === 'objects_damaged') return fresh
  }
  if (lstatSync(path, { throwIfNoEntry: false })) {
    const why = swept.value === null ? '' : ` (${swept.value})`
    run.tell({
      type: 'warning',
      message: `${path} could not be cleaned${why}; Assay moved it into the trash and makes the checkout again`,
    })
  }
  const removed = await removeSlotOr(site, path)
  if (!removed.ok) return removed
  const fresh = await freshenCheckout(site, path, candidate.commit, { tree: candidate.tree })
  return fresh.ok ? ok('again') : fresh
}

/** The file that could not be removed, as a text; null when everything was removed. */
async function sweep(
  site: Site,
  path: string,
  { tree }: { tree: string },
  stays: Manifest & { data: string[] },
): Promise<Result<string | null>> {
  if (!lstatSync(path, { throwIfNoEntry: false })) return ok(null)
  const keep = await expectedFiles(site, tree, stays)
  if (!keep.ok) return keep
  const obstacle = keepOnly(path, keep.value)
  return ok(obstacle && `${obstacle.path}: ${obstacle.code}`)
}

/** Files that may be in a checkout of a tree beyond those that stay. */
export async function expectedFiles(
  site: Site,
  treeish: string,
  { files, folders = [], data }: Manifest & { data: readonly string[] },
): Promise<Result<Keep>> {
  const tracked = await treePaths(site, treeish)
  if (!tracked.ok) return tracked
  return ok({
    files: ['.git', ...tracked.value.files, ...Object.keys(files), ...data],
    folders,
    closed: tracked.value.submodules,
  })
}

/** Why a build failed. A build that filled the disk is itself the cause, and the files that it left are removed. */
async function causeOfBuildFault(
  run: RunInSlot,
  site: Site,
  path: string,
  tree: string,
  { disk, fault }: { disk: DiskWatch; fault: SampleFault | null },
): Promise<SampleFault | null> {
  disk.ended()
  if (fault === null || !disk.isFull) return fault
  const keep = await expectedFiles(site, tree, { roots: [], files: {}, data: [...dataPaths(run)] })
  if (keep.ok) keepOnly(path, keep.value)
  return disk.blame(fault)
}

/** Removes a checkout whose top folder cannot be moved, together with the folder that holds it, which belongs to Assay. */
async function removeSlotOr(site: Site, path: string): Promise<Result<void>> {
  try {
    return await removeWorktree(site, path)
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code !== 'EACCES' && code !== 'EPERM') throw error
    moveToTrash(site, path.slice(0, path.lastIndexOf('/')))
    return removeWorktree(site, path)
  }
}

/** What work in a slot needs of a run. The slot itself says where its checkouts are. */
export type RunInSlot = Pick<OpenRun, 'ledger'> &
  Pick<RunRecord, 'run' | 'paths' | 'started' | 'spec'> &
  Pick<Surroundings, 'env' | 'tell' | 'signal'>

/** A slot that this process holds until `release`. */
export interface LeasedSlot {
  /** Where the checkouts of the slot lie. */
  site: Site
  slot: number
  environment: Record<string, string>
  /** How setup, build, gates and samples are isolated; null = they are not. */
  isolation: IsolationChoice | null
  release(): void
}

/** Which checkout of the slot: `a` holds parents, `b` candidates. */
export type CheckoutPlace = 'a' | 'b'

export interface Placed {
  /** The spec's folder in the checkout. */
  folder: string
  setup: SampleFault | null
  build: SampleFault | null
  data: GivenData
  /** The data files as they were before the first measurement. */
  beside: ReadonlySet<string>
  /** All other files that are not sealed, before the first measurement. */
  before: Manifest
  /** Sealed files that setup or build left with other content. */
  rewritten: readonly string[]
  /** All files before the first measurement; each inspection brings the checkout back to them. */
  inventory: Inventory
  /** Files that an inspection found changed since then, including those that the program restored itself. */
  touched: Set<string>
  /** For gates and samples; null = they share the machine with us. */
  apart: Apart | null
}

export const interrupted: Problem = {
  kind: 'interrupted',
  code: 'interrupted',
  message: 'interrupted; nothing was recorded',
  hint: 'repeat the same command',
}

/** Waits for a slot; null when the signal ended the waiting. What killed runs left on the machine is ended first. */
export async function leaseSlot(run: OpenRun): Promise<Result<LeasedSlot> | null> {
  const environment = benchmarkEnvironment(run)
  if (!environment.ok) return environment
  try {
    return ok(await leaseAndHold(run, environment.value))
  } catch (error) {
    if (!run.signal.aborted) throw error
    return null
  }
}

async function leaseAndHold(run: OpenRun, environment: Record<string, string>): Promise<LeasedSlot> {
  const lease = await acquireLease({
    folder: leaseFolder(run.env),
    capacity: run.spec.measure.slots,
    tell: run.tell,
    signal: run.signal,
  })
  // The leases of slots are in the user's runtime folder, which differs between a login, cron and a sandbox. The lock of the
  // checkouts is in the repository, so it holds among all of them.
  let release: () => void
  try {
    release = await holdSlot(run, lease.slot)
  } catch (error) {
    lease.release()
    throw error
  }
  await endLeftoverProcesses(run.site, run.tell)
  if (!run.ledger.state.isolation?.method) measureOpenly(run.site, lease.slot)
  return {
    site: run.site,
    slot: lease.slot,
    // Also for setup, build and gates: a training, for one, must choose the accelerator of its slot.
    environment: { ...environment, ASSAY_SLOT: String(lease.slot) },
    isolation: run.ledger.state.isolation,
    release: () => {
      release()
      lease.release()
    },
  }
}

/**
 * Brings one checkout of the slot to a candidate. Agents never learn its path. `rebuild` builds even if this very tree
 * was built there before, because an earlier success says nothing about the machine now. `repeatSetup` repeats setup as well.
 */
export async function placeCandidate(
  run: RunInSlot,
  leased: LeasedSlot,
  place: CheckoutPlace,
  candidate: { commit: string; tree: string },
  { outputs, rebuild = false, repeatSetup = false, builds = true, artifacts }: Placement,
): Promise<Result<Placed>> {
  const path = slotPath(leased.site, leased.slot, place)
  const warm = await warmStart(
    { run, leased, place, tree: candidate.tree, rebuild: rebuild || !builds },
    (base) => placeCandidate(run, leased, place, base, { outputs, rebuild: true }),
  )
  if (!warm.ok) return warm
  const recorded = readFacts(leased, place)
  const known = (await isOwnCheckout(leased, place, recorded.made, run.tell)) ? recorded : UNKNOWN_SLOT
  forgetFacts(leased, place)
  const build: Building = { key: '', ...(artifacts && { artifacts }) }
  const keys = await preparationKeys(run, leased, candidate.tree)
  if (!keys.ok) return keys
  build.key = buildKey(keys.value.build, build)
  const keepsSetup =
    !repeatSetup &&
    known.setup === keys.value.setup &&
    known.afterSetup.folders !== undefined &&
    drifted(path, known.afterSetup).length === 0
  const keepsBuild =
    builds &&
    keepsSetup &&
    !rebuild &&
    (await isBuilt(known, build)) &&
    drifted(path, known.afterBuild).length === 0
  const stays = keepsBuild ? known.afterBuild : keepsSetup ? known.afterSetup : EMPTY_MANIFEST
  const facts: SlotFacts = {
    ...known,
    setup: keepsSetup ? known.setup : null,
    built: keepsBuild ? known.built : null,
    afterSetup: keepsSetup ? known.afterSetup : EMPTY_MANIFEST,
    afterBuild: stays,
  }
  const cleared = await clear(run, leased.site, path, candidate, stays)
  if (!cleared.ok) return cleared
  if (cleared.value === 'again') Object.assign(facts, UNKNOWN_SLOT)
  facts.made = inodeOf(path)
  writeFacts(leased, place, { ...UNKNOWN_SLOT, made: facts.made })
  const given = await giveData(run, path, facts.data)
  if (!given.ok) return given
  facts.data = given.value
  forgetOwnFolders({ site: leased.site, slot: leased.slot, place }, { setup: keepsSetup, build: keepsBuild })
  const at: Preparing = {
    path,
    place,
    folder: join(path, run.started.prefix),
    outputs,
    facts,
    tree: candidate.tree,
  }
  const setup = await setUp(run, leased, at, keys.value.setup)
  if (!setup.ok) return setup
  const placed: Placed = {
    folder: at.folder,
    setup: setup.value,
    build: null,
    data: given.value,
    beside: new Set(),
    before: EMPTY_MANIFEST,
    rewritten: [],
    apart: null,
    inventory: nothingIn(path),
    touched: new Set(),
  }
  if (placed.setup === null && builds) {
    const filled = warm.value && facts.built === null ? await fillFromCache(warm.value) : ok(false)
    if (!filled.ok) return filled
    const disk = new DiskWatch(leased.site)
    const built = await buildThere(run, leased, at, build)
    if (!built.ok) return built
    placed.build = await causeOfBuildFault(run, leased.site, path, candidate.tree, {
      disk,
      fault: built.value,
    })
    if (placed.build === null) await keepCache({ run, leased, place, tree: candidate.tree }, keys.value.setup)
  }
  const beside = await dataLike(run, path)
  if (!beside.ok) return beside
  placed.beside = beside.value
  const { setup: sets, build: makes } = run.spec.worktree
  const isBare = sets === null && makes === null && Object.keys(given.value).length === 0
  // Nothing ran there and nothing was given since `clear` saw that the files are those of the tree.
  const prepared = isBare
    ? ok({ before: takeManifest(path, []), rewritten: [] })
    : await everything(leased.site, path, candidate.tree)
  if (!prepared.ok) return prepared
  Object.assign(placed, prepared.value)
  placed.inventory = takeInventory(path)
  const apart = await isolated(run, leased, at, 'sample')
  if (!apart.ok) return apart
  placed.apart = apart.value
  writeFacts(leased, place, facts)
  return ok(placed)
}

/** All that is not the sealed tree: untracked and ignored files, and sealed ones that setup or build rewrote. */
async function everything(
  site: Site,
  path: string,
  tree: string,
): Promise<Result<Pick<Placed, 'before' | 'rewritten'>>> {
  const [beside, changed] = [await besidePaths(site, path, tree), await changedFiles(site, path, tree)]
  if (!beside.ok) return beside
  if (!changed.ok) return changed
  const rewritten = changed.value
  return ok({ before: takeManifest(path, [...beside.value, ...rewritten]), rewritten })
}

interface Placement {
  outputs: string
  /** Build again (or set up again) whatever is known of the checkout. */
  rebuild?: boolean
  repeatSetup?: boolean
  /** False: only set up; the outputs of an earlier build are removed. */
  builds?: boolean
  /** Where the build puts its artifacts, and what else it sees of them; default: a folder that is not read. */
  artifacts?: Pick<ArtifactPlaces, 'own' | 'environment'>
}

interface Building extends Pick<Placement, 'artifacts'> {
  key: string
}

/** One tree may be built for several experiments: each has artifacts of its own. */
const buildKey = (key: string, { artifacts }: Pick<Building, 'artifacts'>): string =>
  artifacts ? [key, artifacts.own, artifacts.environment.ASSAY_SEED_ARTIFACT ?? ''].join(' ') : key
const digestOf = async ({ artifacts }: Building): Promise<string | null> =>
  artifacts ? (artifactAt(await listArtifacts(artifacts.own), '')?.sha256 ?? null) : null

/** Whether the checkout has this build, and its artifacts are still there. */
async function isBuilt(facts: SlotFacts, build: Building): Promise<boolean> {
  return facts.built === build.key && facts.artifacts === (await digestOf(build))
}

/** Brings a checkout back to the candidate, after a job wrote there on purpose. The build there is no longer relied on. */
export async function restoreCheckout(
  run: RunInSlot,
  leased: LeasedSlot,
  place: CheckoutPlace,
  candidate: { commit: string; tree: string },
): Promise<Result<void>> {
  const path = slotPath(leased.site, leased.slot, place)
  const recorded = readFacts(leased, place)
  const facts = (await isOwnCheckout(leased, place, recorded.made, run.tell)) ? recorded : UNKNOWN_SLOT
  forgetFacts(leased, place)
  const cleared = await clear(run, leased.site, path, candidate, facts.afterSetup)
  if (!cleared.ok) return cleared
  const left = cleared.value === 'again' ? UNKNOWN_SLOT : { ...facts, built: null }
  writeFacts(leased, place, { ...left, made: inodeOf(path) })
  return ok(undefined)
}

/** Deletes a checkout, so that its next use starts empty: it sets up and builds again. */
export async function clearCheckout(leased: LeasedSlot, place: CheckoutPlace): Promise<Result<void>> {
  forgetFacts(leased, place)
  return removeWorktree(leased.site, slotPath(leased.site, leased.slot, place))
}

const isolated = (run: RunInSlot, leased: LeasedSlot, { place, tree }: Preparing, phase: IsolatedPhase) =>
  isolationOf(run, { site: leased.site, slot: leased.slot, place }, { choice: leased.isolation, phase, tree })

interface Preparing {
  place: CheckoutPlace
  /** Top of the checkout. */
  path: string
  folder: string
  outputs: string
  facts: SlotFacts
  tree: string
}

async function setUp(
  run: RunInSlot,
  leased: LeasedSlot,
  at: Preparing,
  key: string,
): Promise<Result<SampleFault | null>> {
  const { setup } = run.spec.worktree
  if (!setup) at.facts.setup = key
  if (!setup || at.facts.setup !== null) return ok(null)
  run.tell({ type: 'preparing', what: `setup of slot ${leased.slot}` })
  const apart = await isolated(run, leased, at, 'setup')
  if (!apart.ok) return apart
  const prepared = common(run, leased, at)
  const done = await withStores(apart.value, (isolation) =>
    runPreparation({ ...prepared, isolation, name: 'setup', ...setup }),
  )
  if (done.fault) return ok(done.fault)
  const left = await leftBy(leased.site, at)
  if (!left.ok) return left
  at.facts.afterSetup = left.value.manifest
  at.facts.setup = left.value.rewrote ? null : key
  return ok(null)
}

/** Files that setup or build left. If it rewrote sealed files, it must run again for the next candidate, because those are reset. */
async function leftBy(site: Site, at: Preparing): Promise<Result<{ manifest: Manifest; rewrote: boolean }>> {
  const changed = await changedFiles(site, at.path, at.tree)
  if (!changed.ok) return changed
  const beside = await besidePaths(site, at.path, at.tree)
  if (!beside.ok) return beside
  const tracked = await treePaths(site, at.tree)
  if (!tracked.ok) return tracked
  const manifest = takeWhole(at.path, beside.value, tracked.value)
  return ok({ manifest, rewrote: changed.value.length > 0 })
}

async function buildThere(
  run: RunInSlot,
  leased: LeasedSlot,
  at: Preparing,
  build: Building,
): Promise<Result<SampleFault | null>> {
  const config = run.spec.worktree.build
  if (!config || at.facts.built !== null) return ok(null)
  const own = build.artifacts?.own ?? join(at.outputs, 'build-artifacts')
  mkdirSync(own, { recursive: true })
  const prepared = common(run, leased, at)
  const apart = await isolated(run, leased, at, 'build')
  if (!apart.ok) return apart
  const environment = { ...prepared.environment, ...build.artifacts?.environment, ASSAY_ARTIFACTS: own }
  const done = await withStores(apart.value, (isolation) =>
    runPreparation({
      ...prepared,
      ...showGiven(isolation, environment, { writes: true }),
      name: 'build',
      ...config,
    }),
  )
  if (done.fault) return ok(done.fault)
  const left = await leftBy(leased.site, at)
  if (!left.ok) return left
  at.facts.afterBuild = left.value.manifest
  at.facts.built = left.value.rewrote || at.facts.setup === null ? null : build.key
  at.facts.artifacts = await digestOf(build)
  return ok(null)
}

/**
 * The package stores of the machine are read-only. A job that finds something missing there and cannot fetch it runs
 * again with stores of its own, which begin empty.
 */
async function withStores(
  apart: Apart | null,
  prepare: (isolation: Isolation | null) => Promise<CommandRun>,
): Promise<CommandRun> {
  if (apart === null) return prepare(null)
  const stores = new Set<string>()
  for (;;) {
    const done = await prepare(apart.renew([...stores]))
    if (done.fault === null || done.fault.reason === 'aborted') return done
    const more = apart.storesThatFailed(done.output).filter((store) => !stores.has(store))
    if (more.length === 0) return done
    for (const store of more) stores.add(store)
  }
}

const common = (run: RunInSlot, leased: LeasedSlot, at: Preparing) => ({
  cwd: at.folder,
  environment: leased.environment,
  folder: at.outputs,
  folders: [at.path],
  signal: run.signal,
})

// ---------------------------------------------------------------- what a killed measurement left
// Removes what a killed measurement left: processes, outputs with secrets, files of its samples. The next measurement in
// the slot and `abort` call it.

/** A daemon that outlived a killed run holds ports, files and memory, which would make the next candidate fail. */
export async function endLeftoverProcesses(site: Site, tell: Tell): Promise<void> {
  const [first, ...more] = await endOrphans(site.state)
  if (!first) return
  const others = more.length === 0 ? '' : ` (and ${more.length} more)`
  tell({
    type: 'warning',
    message: `a killed run had left a process; Assay ended it: ${first.command}${others}`,
  })
}

/**
 * Removes what a killed process wrote into an attempt's folder, since secrets were not yet redacted there. Call it only when
 * that process has ended (a resumed attempt takes those samples again). Steps are redacted as they are written.
 */
export function redactLeftoverOutputs(attempt: string): void {
  if (!existsSync(attempt)) return
  for (const name of readdirSync(attempt)) {
    const path = join(attempt, name)
    if (path !== stepsFile(attempt)) redactStored(path)
  }
}

/** Removes what samples were writing when their process was killed, in slots that no process uses now. */
export function removeUnfinishedOutputs(site: Site): void {
  for (let slot = 0; existsSync(dirname(slotDesk(site, slot))); slot++) {
    if (!existsSync(slotDesk(site, slot))) continue
    const hold = tryHold(slotLock(site, slot))
    if (!hold.held) continue
    removeTree(slotDesk(site, slot))
    hold.release()
  }
}
