/**
 * What a node gets to do one piece of work, mostly to measure an attempt: trees, the frozen spec, and of the ledger's state no more than a trial reads. No
 * hypothesis, no other experiment beside those that it is compared with, no text of an agent.
 */
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { AS_LEFT } from '../disk/copy.ts'
import { writeWhole } from '../executor/job-folder.ts'
import { type PackedStore, packTrees, unpackTrees } from '../git/bundle.ts'
import type { Pinned } from '../git/store.ts'
import { bestOf, knowBest } from '../ledger/best.ts'
import { type ConfirmationStarted, FORMAT_NAME, type RunStarted } from '../ledger/events.ts'
import { Ledger } from '../ledger/ledger.ts'
import {
  BASELINE,
  type Experiment,
  emptyState,
  lastAttempt,
  lastKept,
  lineageOf,
  plainExperiment,
  type State,
} from '../ledger/state.ts'
import {
  artifactsFolder,
  attemptFolder,
  dataFile,
  habitsFile,
  type RunPaths,
  runPaths,
  type Site,
  siteAt,
  stepsFile,
} from '../paths.ts'
import { ok, type Result, unreachable } from '../result.ts'
import type { JobSeal } from '../run/holdout.ts'
import { machineOf } from '../run/machine.ts'
import type { RunRecord, Surroundings } from '../run/open.ts'
import type { Spec } from '../spec/spec.ts'
import type { Artifacts } from './artifacts.ts'
import { benchmarkEnvironment, environmentSources } from './environment.ts'
import type { Seal } from './seal.ts'
import { recordedSamples } from './steps.ts'

const PARCEL = 'parcel.json'
const BUNDLE = 'trees.bundle'
/** Values of variables, which may be secret: removed as soon as the node has read it. */
const ENVIRONMENT = 'environment.json'
const ARTIFACTS = 'artifacts'
/** Encrypted with a key of the job. */
export const HELD_OUT = 'held-out'

export interface Parcel {
  v: 2
  key: string
  run: string
  /** Names the repository's folder on a node. */
  place: string
  /** Of the repository on the submitting machine. Absent in parcels of earlier versions. */
  submitter?: string
  /** Folders of the submitting machine that a sample must not see, where the node has them. */
  hides: string[]
  /** The experiment that the work is about. */
  experiment: string
  work: Work
  spec: Spec
  started: RunStarted
  /** What the rules of a trial read. `best`: among all experiments, of which the parcel has few. */
  state: Pick<State, 'epoch' | 'noise' | 'isolation' | 'claims' | 'knobs' | 'machines'> & {
    best: string | null
    experiments: Experiment[]
  }
  git: PackedStore
  /** Path in the folder of the run → text. */
  files: Record<string, string>
  /** Experiments of which artifacts are sent. */
  artifacts: string[]
}

/** What a job does. */
export type Work =
  | { is: 'attempt'; seal: Seal }
  /** The rest of the attempt was measured, and its record is in the folder: only the held-out data are missing, which the folder has. */
  | ({ is: 'held_out'; seal: Seal } & HeldOut)
  | ({ is: 'confirmation'; attempt: number } & Confirmation)
  | ({ is: 'errand'; name: string } & Errand)

/** What no attempt and no event is about: see `errand.ts`. All of it is sent. */
export interface Errand<Asked = unknown> {
  asked: Asked
  candidates: readonly Pinned[]
}

/** A kept experiment is measured again; see `confirmation_started`. */
export type Confirmation = Pick<ConfirmationStarted, 'against' | 'look' | 'nonce'>

export interface HeldOut {
  cipher: JobSeal
  /** Whether the candidate was compared in pairs. */
  paired: boolean
  /** As the job before declared them. */
  artifacts: Artifacts
}

export type Home = RunRecord & Surroundings

/** Writes everything that the node needs into the folder of the job. `slots`: how many jobs may share a node. */
export async function packParcel(
  run: Home,
  node: Experiment,
  work: Work,
  { key, folder, place, slots }: Pick<Parcel, 'key' | 'place'> & { folder: string; slots: number },
): Promise<Result<void>> {
  const environment = benchmarkEnvironment(run)
  if (!environment.ok) return environment
  const { ASSAY_TOKEN: _, ...values } = environment.value
  const sources = environmentSources(run)
  if (!sources.ok) return sources
  const file = sources.value.variables.flatMap(({ name, from }) => (from === 'file' ? name : []))
  // Places of this machine.
  for (const name of ['XDG_RUNTIME_DIR', 'TMPDIR']) if (!isSet(run, name)) delete values[name]
  const against = work.is === 'confirmation' ? work.against : null
  const experiments = neededOf(run, node, work)
  const trees = experiments.flatMap(({ attempts }) => attempts.map(({ sealed }) => sealed.tree))
  const all = [...treesOf(work), run.started.base.tree, ...trees]
  mkdirSync(folder, { recursive: true })
  const packed = await packTrees(run.site, all, { key, file: join(folder, BUNDLE) })
  if (!packed.ok) return packed
  const { commits } = packed.value
  const { measure } = run.begun
  const parcel: Parcel = {
    v: 2,
    key,
    run: run.run,
    place,
    submitter: run.site.state,
    hides: [run.site.state, dirname(folder)],
    experiment: node.id,
    work: asSent(work, commits),
    spec: {
      ...run.begun,
      goal: '',
      instructions: { file: null, text: null, rules: [] },
      agent: null,
      measure: {
        ...measure,
        slots,
        environment: { inherit: [], set: {}, file: null, keys: null },
      },
    },
    started: {
      ...run.started,
      warnings: [],
      base: { ...run.started.base, commit: commits[run.started.base.tree] ?? run.started.base.commit },
    },
    state: {
      epoch: run.ledger.state.epoch,
      noise: run.ledger.state.noise,
      isolation: run.ledger.state.isolation,
      claims: run.ledger.state.claims,
      knobs: run.ledger.state.knobs,
      machines: machinesOf(run.ledger.state, experiments),
      best: bestOf(run.ledger.state)?.id ?? null,
      experiments: experiments.map((one) => ({
        ...one,
        attempts: one.attempts.map((attempt) => ({
          ...attempt,
          sealed: { ...attempt.sealed, commit: commits[attempt.sealed.tree] ?? attempt.sealed.commit },
        })),
      })),
    },
    git: packed.value,
    files: filesOf(run, work),
    artifacts: sendArtifacts(
      run,
      [node.id, node.parent, against, bestOf(run.ledger.state)?.id ?? null, BASELINE],
      join(folder, ARTIFACTS),
    ),
  }
  writeWhole(join(folder, ENVIRONMENT), JSON.stringify({ values, file }))
  writeWhole(join(folder, PARCEL), JSON.stringify(parcel))
  return ok(undefined)
}

const isSet = ({ spec }: Home, name: string): boolean => Object.hasOwn(spec.measure.environment.set, name)

function treesOf(work: Work): string[] {
  switch (work.is) {
    case 'attempt':
    case 'held_out':
      return [work.seal.tree, work.seal.parentTree]
    case 'confirmation':
      return []
    case 'errand':
      return work.candidates.map(({ tree }) => tree)
    default:
      return unreachable(work)
  }
}

/** `commits`: those that the node gets, by tree. */
function asSent(work: Work, commits: Record<string, string>): Work {
  const here = <T extends Pinned>(one: T): T => ({ ...one, commit: commits[one.tree] ?? one.commit })
  switch (work.is) {
    case 'attempt':
    case 'held_out':
      // The node lists artifacts itself.
      return { ...work, seal: { ...here(work.seal), artifacts: new Map(), texts: [] } }
    case 'confirmation':
      return work
    case 'errand':
      return { ...work, candidates: work.candidates.map(here) }
    default:
      return unreachable(work)
  }
}

/** What a trial may ask about: what it is built on, the baseline and the best, each without words. */
function neededOf({ ledger: { state } }: Pick<Home, 'ledger'>, node: Experiment, work: Work): Experiment[] {
  const against = work.is === 'confirmation' ? work.against : null
  const isJudged = work.is === 'attempt' || work.is === 'held_out'
  const best = bestOf(state)
  const seed = node.created.from_artifact?.experiment
  const ids = new Set(
    [node.id, against ?? BASELINE, best?.id ?? BASELINE, seed ?? BASELINE, BASELINE].flatMap((id) =>
      lineageOf(state, id).map((one) => one.id),
    ),
  )
  return [...ids].flatMap((id) => {
    const found = state.experiments.get(id)
    return found ? [withoutWords(found, id === node.id && isJudged)] : []
  })
}

/** On which each was measured. Several jobs record a machine at once, so each verdict gets its own. */
const machinesOf = (state: State, experiments: readonly Experiment[]): State['machines'] =>
  experiments
    .flatMap(({ id, judgedSeq: since }) => {
      const node = state.experiments.get(id)
      const machine = node && machineOf(state, node)
      return machine && since !== null ? [{ since, machine }] : []
    })
    .sort((one, other) => one.since - other.since)

export function withoutWords(node: Experiment, isMeasured: boolean): Experiment {
  const plain = plainExperiment(node)
  const { hypothesis: _, ...created } = plain.created
  const kept = isMeasured ? lastAttempt(node) : (lastKept(node) ?? lastAttempt(node))
  const attempts = kept === null ? [] : [kept]
  return {
    ...plain,
    children: [],
    verdict: kept?.judged ? { ...kept.judged, message: '' } : null,
    hypothesis: '',
    created: { ...created, hypothesis: '' },
    annotations: [],
    flagged: node.flagged === null ? null : 'it is in doubt',
    why: null,
    attempts: attempts.map(({ job: _, ...attempt }) => ({
      ...attempt,
      confirmed: [],
      audited: [],
      sealed: { ...attempt.sealed, left_out: [], secrets: [] },
      judged: attempt.judged && { ...attempt.judged, message: '' },
    })),
  }
}

/** Files in the folder of the run that the work reads. Of records a trial needs only the first sample of the baseline. */
function filesOf(run: Home, work: Work): Record<string, string> {
  const files: Record<string, string> = {}
  const take = (path: string) => {
    if (existsSync(path)) files[path.slice(run.paths.folder.length + 1)] = readFileSync(path, 'utf8')
  }
  take(dataFile(run.paths))
  take(habitsFile(run.paths))
  const baseline = run.ledger.state.experiments.get(BASELINE)
  const kept = baseline && lastKept(baseline)
  const samples = kept ? recordedSamples(run, BASELINE, kept.attempt) : []
  const read = work.is === 'errand' ? samples : samples.slice(0, 1)
  if (kept && read.length > 0) {
    const at = stepsFile(attemptFolder(run.paths, BASELINE, kept.attempt))
    const lines = read.map((sample) =>
      JSON.stringify({ v: FORMAT_NAME, id: 'baseline', at: sample.started, step: 'sample', sample }),
    )
    files[at.slice(run.paths.folder.length + 1)] = `${lines.join('\n')}\n`
  }
  return files
}

/** Artifacts of what is measured, and of what each of these starts from: the node builds the other side of a pair as well. */
export function sendArtifacts(
  run: Pick<Home, 'ledger' | 'paths'>,
  ids: readonly (string | null)[],
  to: string,
): string[] {
  const measured = ids.flatMap((id) => run.ledger.state.experiments.get(id ?? '') ?? [])
  const wanted = measured.flatMap(({ id, parent, created }) => [
    id,
    parent,
    created.from_artifact?.experiment ?? null,
  ])
  return [...new Set(wanted)].filter((id): id is string => {
    const from = id === null ? null : artifactsFolder(run.paths, id)
    if (id === null || from === null || !existsSync(from)) return false
    cpSync(from, join(to, id), AS_LEFT)
    return true
  })
}

/** What the node has, once the parcel is unpacked. */
export interface Unpacked {
  parcel: Parcel
  site: Site
  paths: RunPaths
  ledger: Ledger
  node: Experiment
  work: Work
  started: RunStarted
  spec: Spec
  environment: Record<string, string>
  /** Names of the variables that come from a file of the user. */
  secret: string[]
}

export const holdsParcel = (folder: string): boolean => existsSync(join(folder, PARCEL))

export function readParcel(folder: string): Parcel {
  return JSON.parse(readFileSync(join(folder, PARCEL), 'utf8')) as Parcel
}

/** Lays the parcel out on the node. `cache`: the node's own folder, where the repository stays for later jobs. */
export async function unpackParcel(
  parcel: Parcel,
  { folder, cache }: { folder: string; cache: string },
): Promise<Result<Unpacked>> {
  const place = join(cache, parcel.place)
  const plain: Site = { ...siteAt(place), holdsOnlyState: true }
  const site = parcel.started.git_rules === undefined ? plain : { ...plain, rules: parcel.started.git_rules }
  const paths = runPaths(site, parcel.run)
  mkdirSync(paths.folder, { recursive: true, mode: 0o700 })
  const brought = await unpackTrees(site, parcel.git, { key: parcel.key, file: join(folder, BUNDLE) })
  if (!brought.ok) return brought
  for (const [name, text] of Object.entries(parcel.files)) {
    const path = join(paths.folder, name)
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, text)
  }
  for (const id of parcel.artifacts) {
    const to = artifactsFolder(paths, id)
    rmSync(to, { recursive: true, force: true })
    cpSync(join(folder, ARTIFACTS, id), to, {
      recursive: true,
      verbatimSymlinks: true,
      preserveTimestamps: true,
    })
  }
  const file = join(folder, ENVIRONMENT)
  const { values, file: secret } = JSON.parse(readFileSync(file, 'utf8')) as {
    values: Record<string, string>
    file: string[]
  }
  // What is measured must find neither the values of variables nor the draws of its own samples.
  for (const name of [ENVIRONMENT, PARCEL, BUNDLE, ARTIFACTS])
    rmSync(join(folder, name), { recursive: true, force: true })
  // Where the user's checkout is not to be seen, nothing stands in for it.
  const checkout = existsSync(parcel.started.checkout) ? parcel.started.checkout : site.root
  const started = { ...parcel.started, checkout }
  const spec: Spec = {
    ...parcel.spec,
    measure: {
      ...parcel.spec.measure,
      environment: { inherit: [], set: values, file: null, keys: null },
    },
  }
  const state = emptyState()
  const { best, experiments, ...rest } = parcel.state
  Object.assign(state, rest, { run: started })
  for (const one of experiments) state.experiments.set(one.id, one)
  knowBest(state, best)
  const node = state.experiments.get(parcel.experiment)
  if (!node) throw new Error('a parcel lacks the experiment that it is about')
  const work = revived(parcel.work)
  const ledger = Ledger.handedOver(state)
  return ok({ parcel, site, paths, ledger, node, work, started, spec, environment: values, secret })
}

/** A map does not survive as JSON. */
const revived = (work: Work): Work =>
  'seal' in work ? { ...work, seal: { ...work.seal, artifacts: new Map() } } : work
