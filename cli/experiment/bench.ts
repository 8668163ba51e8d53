/** The measurement slot: leased machine-wide, brought to exactly what was sealed, set up and built there. */
import { createHash } from 'node:crypto'
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { runPreparation } from '../evaluate/gates.ts'
import { listTree } from '../git/files.ts'
import { freshenCheckout } from '../git/freshen.ts'
import { untrackedPaths } from '../git/observe.ts'
import { removeWorktree } from '../git/worktrees.ts'
import type { SampleFault } from '../ledger/events.ts'
import { acquireLease } from '../lock.ts'
import { leaseFolder, slotFacts, slotPath } from '../paths.ts'
import { ok, type Result } from '../result.ts'
import { dataLike, dataOfRun } from '../run/data.ts'
import type { OpenRun } from '../run/open.ts'
import { matchGlobs } from '../spec/rules.ts'
import { artifactAt, listArtifacts } from './artifact-files.ts'
import type { ArtifactPlaces } from './artifacts.ts'
import { type GivenData, giveData } from './data.ts'
import { benchmarkEnvironment } from './environment.ts'

export interface Bench {
  slot: number
  environment: Record<string, string>
  release(): void
}

/** Which checkout of the slot: `a` holds parents, `b` candidates. */
export type Place = 'a' | 'b'

export interface Placed {
  /** The spec's folder in the checkout. */
  folder: string
  setup: SampleFault | null
  build: SampleFault | null
  data: GivenData
  /** What lay at the places of the data before anything was measured. */
  beside: ReadonlySet<string>
}

/** What is true of a checkout, so that setup and build run only when something changed. */
interface SlotFacts {
  setup: string | null
  /** Untracked paths that setup made. */
  keep: string[]
  /** The tree that was built last, and the untracked paths that the build made. */
  built: string | null
  /** The artifacts that this build left. */
  artifacts?: string | null
  outputs: string[]
  data: GivenData
}

/** Rejects with the signal's reason when that ends the waiting. */
export async function openBench(run: OpenRun): Promise<Result<Bench>> {
  const environment = benchmarkEnvironment(run)
  if (!environment.ok) return environment
  const lease = await acquireLease({
    folder: leaseFolder(run.env),
    capacity: run.spec.measure.slots,
    tell: run.tell,
    signal: run.signal,
  })
  return ok({ slot: lease.slot, environment: environment.value, release: () => lease.release() })
}

/**
 * Brings one checkout of the slot to a candidate. Agents never learn its path. `anew` builds although this very tree
 * was built there before: that it built then says nothing about the machine now. `setUpAnew` does so with setup.
 */
export async function placeCandidate(
  run: OpenRun,
  bench: Bench,
  place: Place,
  candidate: { commit: string; tree: string },
  { outputs, anew = false, setUpAnew = false, artifacts }: Placement,
): Promise<Result<Placed>> {
  const path = slotPath(run.site, bench.slot, place)
  const file = slotFacts(run.site, bench.slot, place)
  const facts = readFacts(file)
  if (setUpAnew) facts.setup = null
  const build: Building = { of: candidate.tree, ...(artifacts && { artifacts }) }
  if (anew || !(await isBuilt(facts, build))) facts.built = null
  const listed = dataOfRun(run)
  if (!listed.ok) return listed
  const data = listed.value.filter(({ unignored }) => unignored).map((one) => one.path)
  const keep = [...facts.keep, ...(facts.built === null ? [] : facts.outputs), ...data]
  const fresh = await freshenCheckout(run.site, path, candidate.commit, { keep })
  if (!fresh.ok) return fresh
  const given = await giveData(run, path, facts.data)
  if (!given.ok) return given
  facts.data = given.value
  const folder = join(path, run.started.prefix)
  const setup = await setUp(run, bench, { path, folder, outputs, facts, tree: candidate.tree })
  if (!setup.ok) return setup
  const placed: Placed = { folder, setup: setup.value, build: null, data: given.value, beside: new Set() }
  if (placed.setup === null) {
    const built = await buildThere(run, bench, { path, folder, outputs, facts, tree: candidate.tree }, build)
    if (!built.ok) return built
    placed.build = built.value
  }
  const beside = await dataLike(run, path)
  if (!beside.ok) return beside
  placed.beside = beside.value
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, JSON.stringify(facts))
  return ok(placed)
}

interface Placement {
  outputs: string
  /** Whatever is known of the checkout, build again; or set up again. */
  anew?: boolean
  setUpAnew?: boolean
  /** Where the build puts its artifacts, and what else it sees of them; default: a place that nobody reads. */
  artifacts?: Pick<ArtifactPlaces, 'own' | 'environment'>
}

interface Building extends Pick<Placement, 'artifacts'> {
  of: string
}

/** One tree may be built for several experiments: each has artifacts of its own. */
const buildKey = ({ of, artifacts }: Building): string =>
  artifacts ? [of, artifacts.own, artifacts.environment.ASSAY_SEED_ARTIFACT ?? ''].join(' ') : of
const digestOf = async ({ artifacts }: Building): Promise<string | null> =>
  artifacts ? (artifactAt(await listArtifacts(artifacts.own), '')?.sha256 ?? null) : null

/** Whether the checkout has this build, and its artifacts are still there. */
async function isBuilt(facts: SlotFacts, build: Building): Promise<boolean> {
  return facts.built === buildKey(build) && (facts.artifacts ?? null) === (await digestOf(build))
}

/**
 * Brings the tracked files of a checkout back to the candidate's, after something wrote there on purpose. What was
 * built there counts no more, also when this is never reached: call it with `only: 'forget'` first.
 */
export async function restoreCheckout(
  run: OpenRun,
  bench: Bench,
  place: Place,
  candidate: { commit: string },
  only?: 'forget',
): Promise<Result<void>> {
  const file = slotFacts(run.site, bench.slot, place)
  const facts = readFacts(file)
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, JSON.stringify({ ...facts, built: null }))
  if (only === 'forget') return ok(undefined)
  const listed = dataOfRun(run)
  if (!listed.ok) return listed
  const keep = [...facts.keep, ...listed.value.map(({ path }) => path)]
  return freshenCheckout(run.site, slotPath(run.site, bench.slot, place), candidate.commit, { keep })
}

/** A deleted checkout is a clean room: the next use of it sets up and builds anew. */
export async function clearCheckout(run: OpenRun, bench: Bench, place: Place): Promise<Result<void>> {
  rmSync(slotFacts(run.site, bench.slot, place), { force: true })
  return removeWorktree(run.site, slotPath(run.site, bench.slot, place))
}

interface Preparing {
  /** Top of the checkout. */
  path: string
  folder: string
  outputs: string
  facts: SlotFacts
  tree: string
}

async function setUp(run: OpenRun, bench: Bench, at: Preparing): Promise<Result<SampleFault | null>> {
  const { setup } = run.spec.worktree
  if (!setup) return ok(null)
  const key = await setupKey(run, at.tree)
  if (!key.ok) return key
  if (at.facts.setup === key.value) return ok(null)
  run.tell({ type: 'preparing', what: `setup of slot ${bench.slot}` })
  const done = await runPreparation({ ...common(run, bench, at), name: 'setup', ...setup })
  at.facts.built = null
  at.facts.setup = done.fault ? null : key.value
  const kept = done.fault ? ok([]) : await untrackedPaths(run.site, at.path, at.tree)
  if (!kept.ok) return kept
  at.facts.keep = kept.value
  return ok(done.fault)
}

async function buildThere(
  run: OpenRun,
  bench: Bench,
  at: Preparing,
  build: Building,
): Promise<Result<SampleFault | null>> {
  const config = run.spec.worktree.build
  if (!config || at.facts.built !== null) return ok(null)
  const own = build.artifacts?.own ?? join(at.outputs, 'build-artifacts')
  mkdirSync(own, { recursive: true })
  const prepared = common(run, bench, at)
  const environment = { ...prepared.environment, ASSAY_ARTIFACTS: own, ...build.artifacts?.environment }
  const done = await runPreparation({ ...prepared, environment, name: 'build', ...config })
  at.facts.built = done.fault ? null : buildKey(build)
  at.facts.artifacts = await digestOf(build)
  const made = done.fault ? ok([]) : await untrackedPaths(run.site, at.path, at.tree)
  if (!made.ok) return made
  at.facts.outputs = made.value
  return ok(done.fault)
}

const common = (run: OpenRun, bench: Bench, at: Preparing) => ({
  cwd: at.folder,
  environment: bench.environment,
  folder: at.outputs,
  signal: run.signal,
})

/** Setup depends on its command and on the content of its inputs; without inputs, on the command alone. */
async function setupKey(run: OpenRun, tree: string): Promise<Result<string>> {
  const { setup } = run.spec.worktree
  const hash = createHash('sha256').update(JSON.stringify(setup?.command ?? null))
  if (setup && setup.inputs.length > 0) {
    const files = await listTree(run.site, tree)
    if (!files.ok) return files
    const oids = new Map(files.value.map(({ path, oid }) => [path, oid]))
    for (const { matched } of matchGlobs(setup.inputs, run.started.prefix, [...oids.keys()])) {
      for (const path of matched) hash.update(`${path}\0${oids.get(path)}\0`)
    }
  }
  return ok(hash.digest('hex'))
}

function readFacts(file: string): SlotFacts {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as SlotFacts
  } catch {
    return { setup: null, keep: [], built: null, outputs: [], data: {} }
  }
}
