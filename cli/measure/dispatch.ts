/**
 * Work that a job does: it is packed, handed to an engine, waited for and collected. The verdict on an attempt is made here, from the
 * record that its job left. What the engine says of the job makes no verdict.
 */
import { createHash } from 'node:crypto'
import {
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { homedir, hostname } from 'node:os'
import { join, resolve } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import type { ExecutorConfig } from '../executor/config.ts'
import { type Executor, type HowEnded, type JobSeen, SILENT } from '../executor/executor.ts'
import {
  claimant,
  isWithdrawn,
  type JobResult,
  jobScript,
  RESULT,
  readResult,
  removeParcel,
  withdrawJob,
  writeWhole,
} from '../executor/job-folder.ts'
import { openExecutor } from '../executor/open.ts'
import { lookShared } from '../executor/shared-look.ts'
import { fileJson, namesIn } from '../files.ts'
import { refusedBy } from '../ledger/decide.ts'
import type { Machine } from '../ledger/events.ts'
import { Ledger } from '../ledger/ledger.ts'
import {
  type Attempt,
  type AttemptJob,
  attemptOf,
  BASELINE,
  type Experiment,
  type PendingConfirmation,
  pendingConfirmation,
  queuedMs,
  undermined,
} from '../ledger/state.ts'
import { acquireLease, Waker } from '../lock.ts'
import { call, next } from '../next.ts'
import {
  artifactsFolder,
  attemptFolder,
  attributionsFolder,
  canaryFolder,
  checksFolder,
  confirmsFolder,
  gateChecksFolder,
  habitsFile,
  handoverFile,
  isolationsFolder,
  jobFolder,
  jobLeases,
  jobsSeen,
  stepsFile,
  stepsOfJob,
  type WhichJob,
} from '../paths.ts'
import { fail, ok, type Problem, type Result, unreachable } from '../result.ts'
import { encryptFile, type JobSeal, sealForJob } from '../run/holdout.ts'
import { differencesOf } from '../run/machine.ts'
import { liveSpec, type OpenRun } from '../run/open.ts'
import { type Artifacts, listSizes } from './artifacts.ts'
import { noEvidence } from './attempt.ts'
import { placeIfUnchanged } from './holdout.ts'
import { noteBest, tellBest } from './later-best.ts'
import { type Errand, HELD_OUT, type HeldOut, packParcel, type Work } from './parcel.ts'
import { choicesOfAttempt, drawNonce } from './random-choices.ts'
import { collectRecorded, recordHolds, whenMeasured } from './recompute.ts'
import type { Seal } from './seal.ts'
import { interrupted } from './slot.ts'
import { Recorder, RecordLost } from './steps.ts'
import { ATTEMPT, type Evidence, must, orphanedBy, RecordedSource, type Trial } from './trial.ts'

/** What a node answers beside its record. */
export interface NodeAnswer {
  artifacts: Artifacts
  /** What is missing: the measurement on held-out data, which a job of its own gets. */
  heldOut?: { paired: boolean }
  /** Files of its folder of artifacts that were sent and that its build removed; absent in jobs of earlier versions. */
  gone?: readonly string[]
  /** Of an errand: what it found out. */
  found?: unknown
}

/** What a node writes when it begins. */
export interface NodeNote {
  node: string
  machine: Machine
}

export const NODE_NOTE = 'node.json'
export const NODE_RECORD = 'record'
export const NODE_ARTIFACTS = 'made'
export const NODE_HABITS = 'habits.json'

/** A result may be seen late over NFS, which keeps for up to a minute what a folder holds. */
const LATE_MS = 60_000
/** So often must the engine say that it knows no such job, of one that it may have forgotten. */
const ABSENT = 3
/** How often the result is looked for, and the engine asked: less and less often. */
const RESULT_MS = 500
const LOOK_MS = { first: 500, most: 15_000, factor: 1.5 }

/** Why a run cannot be measured by jobs; null when it can. */
export function notForJobs({ spec }: Pick<OpenRun, 'spec'>): Problem | null {
  if (spec.judge === undefined) return null
  return {
    kind: 'refused',
    code: 'not_for_jobs',
    message:
      'this run cannot be measured by jobs of an executor: a model judges its answers (judge), and the judge is called beside the samples',
    hint: 'remove the section executor: then it is measured in a slot of this machine',
  }
}

/** What is handed over. */
type Order =
  | { is: 'attempt'; seal: Seal }
  /** The second job of the attempt. `rest`: what the first one left; null = the engine was called before. */
  | { is: 'held_out'; seal: Seal; rest: Omit<HeldOut, 'cipher'> | null }
  | { is: 'confirmation'; pending: PendingConfirmation }
  /** `about`: for messages. `wanted`: whether its result is still of use. */
  | ({ is: 'errand'; name: string; about: string; wanted: () => boolean } & Errand)

/** A job, from its order to what it left. */
interface Dispatch<O extends Order = Order> {
  run: OpenRun
  node: Experiment
  order: O
  /** Where the record belongs on this machine. */
  home: string
  config: ExecutorConfig
  executor: Executor
  key: string
  folder: string
}

/** An attempt, in one of its jobs. */
type OfAttempt = Dispatch<Extract<Order, { seal: Seal }>>

/** What came of it. */
type Followed =
  | { is: 'result'; result: JobResult<NodeAnswer> }
  /** The machine is at fault. */
  | { is: 'lost'; why: string }
  /** Nobody waits any more; the job is cancelled. */
  | { is: 'given up' }
  /** What the candidate is built on was revoked; the job is cancelled. */
  | { is: 'orphaned' }

/** The job that does it; null before it is handed over. */
function jobOf({ run, node, order, home }: Dispatch): AttemptJob | null {
  switch (order.is) {
    case 'attempt': {
      const job = attemptOf(node, order.seal.attempt)?.job ?? null
      return job?.first ?? job
    }
    case 'held_out': {
      const job = attemptOf(node, order.seal.attempt)?.job ?? null
      return job?.first ? job : null
    }
    case 'confirmation':
      return pendingConfirmation(run.ledger.state, node.id)?.job ?? null
    case 'errand':
      return handoverOfErrand(home)?.job ?? null
    default:
      return unreachable(order)
  }
}

/** That of the attempt; 0 for what belongs to none. */
const attemptIn = ({ order }: Dispatch): number =>
  order.is === 'errand' ? 0 : order.is === 'confirmation' ? order.pending.attempt : order.seal.attempt

/** Of events about the job. */
const aboutJob = (at: Dispatch) => ({
  experiment: at.node.id,
  attempt: attemptIn(at),
  ...(at.order.is === 'confirmation' && { confirmation: at.order.pending.confirmation }),
})

/** For messages. */
function nameOf({ node, order }: Dispatch): string {
  switch (order.is) {
    case 'attempt':
      return node.id
    case 'held_out':
      return `${node.id} on the held-out data`
    case 'confirmation':
      return `the confirmation of ${node.id}`
    case 'errand':
      return order.about
    default:
      return unreachable(order)
  }
}

/** What is written before an engine is called: a process that dies then leaves its job to the next one. */
interface Handover {
  v: 1
  key: string
  folder: string
  config: ExecutorConfig
  /** See `Dispatched`. */
  as_of: string
  /** Of an errand, of which no event tells: once the engine took it. */
  job?: AttemptJob
}

/** null when no engine was called. `home`: the folder of the attempt, the confirmation or the errand. */
const readHandover = (home: string, which: WhichJob = 'first'): Handover | null =>
  fileJson<Handover>(handoverFile(home, which))

const writeHandover = (home: string, handover: Handover, which: WhichJob = 'first'): void =>
  writeWhole(handoverFile(home, which), JSON.stringify(handover))

const whichOf = ({ order }: Dispatch): WhichJob => (order.is === 'held_out' ? 'held-out' : 'first')

/** What measures an attempt: once its engine was called, that engine, whatever the spec says now; undefined = a slot. */
export const executorOf = (
  run: OpenRun,
  experiment: string,
  attempt: Attempt | null | undefined,
): ExecutorConfig | undefined =>
  (attempt?.job?.config as ExecutorConfig | undefined) ??
  (attempt ? readHandover(attemptFolder(run.paths, experiment, attempt.attempt))?.config : undefined) ??
  liveSpec(run).executor

/** The same of a confirmation, whose folder is `home`. */
export const executorOfConfirmation = (
  run: OpenRun,
  home: string,
  { job }: PendingConfirmation,
): ExecutorConfig | undefined =>
  (job?.config as ExecutorConfig | undefined) ?? readHandover(home)?.config ?? liveSpec(run).executor

/** As `collectEvidence`, by a job. */
export async function collectByJob(
  run: OpenRun,
  node: Experiment,
  seal: Seal,
  { record, config }: { record: Recorder; config: ExecutorConfig },
): Promise<Result<Evidence>> {
  const attempt = attemptOf(node, seal.attempt)
  if (!attempt?.claim) throw new Error(`attempt ${seal.attempt} of ${node.id} is measured and has no claim`)
  const { job, claim } = attempt
  const key = keyOf(run.started.id, node.id, attempt.attempt, claim.nonce ?? '')
  const executor = openExecutor({ env: run.env, config })
  const home = attemptFolder(run.paths, node.id, seal.attempt)
  const folder =
    (job?.first ?? job)?.folder ?? readHandover(home)?.folder ?? folderOf(run, jobFolder(home), key, config)
  const at: OfAttempt = { run, node, order: { is: 'attempt', seal }, home, config, executor, key, folder }
  const known = readHandover(home, 'held-out')
  let rest: Omit<HeldOut, 'cipher'> | null = null
  if (!known) {
    const followed = await handOver(at)
    if (!followed.ok) return followed
    rest = await missingIn(at, record, followed.value)
    if (rest === null) return evidenceOf(at, record, followed.value)
  }
  const last = keyOf(run.started.id, node.id, attempt.attempt, claim.nonce ?? '', 'held-out')
  const second: OfAttempt = {
    ...{ ...at, order: { is: 'held_out', seal, rest }, key: last },
    folder: known?.folder ?? folderOf(run, `${jobFolder(home)}-held-out`, last, config),
  }
  const followed = await handOver(second)
  return followed.ok ? evidenceOf(second, record, followed.value) : followed
}

/**
 * What a second job needs to measure on held-out data: what the first one left is copied then. null = none is needed, or the
 * data cannot be used, which the record says.
 */
async function missingIn(
  at: Dispatch,
  record: Recorder,
  followed: Followed,
): Promise<Omit<HeldOut, 'cipher'> | null> {
  const { run, folder } = at
  if (followed.is !== 'result' || !followed.result.outcome.ok) return null
  const { artifacts, heldOut } = followed.result.outcome.answer
  const { holdout } = run.started
  // What its result says is wrong with the record is told where it is judged.
  if (!heldOut || !holdout || bringRecord(at, followed.result) !== null) return null
  await bringMade(at, followed.result.outcome.answer)
  tidy(folder)
  const found = await placeIfUnchanged(run.env, holdout)
  if ('place' in found) return { ...heldOut, artifacts }
  record.decide({ is: 'gone', gone: found.gone })
  return null
}

/**
 * A confirmation by a job: its record is in `home` then. The node gets the run as it was when the confirmation began. Problem
 * `interrupted` when the command does not wait any more.
 */
export async function confirmationByJob(
  run: OpenRun,
  { pending, home, config }: Pick<Dispatch, 'home' | 'config'> & { pending: PendingConfirmation },
): Promise<Result<void>> {
  const { experiment, attempt, nonce, job } = pending
  const node = run.ledger.state.experiments.get(experiment)
  if (!node) throw new Error(`${experiment} is confirmed and unknown`)
  const key = keyOf(run.started.id, experiment, attempt, nonce, 'confirmation')
  const executor = openExecutor({ env: run.env, config })
  const folder = job?.folder ?? readHandover(home)?.folder ?? folderOf(run, jobFolder(home), key, config)
  const order: Order = { is: 'confirmation', pending }
  const done = await answerFrom({ run, node, order, home, config, executor, key, folder })
  return done.ok ? ok(undefined) : done
}

/**
 * Waits for a job whose record is brought to its home, and answers what it found. Problems: `interrupted` when the command does not wait any more,
 * `overtaken` when its result is of no use any more, `not_measured` when it is lost, and what its node says that it could not measure.
 */
async function answerFrom(at: Dispatch): Promise<Result<NodeAnswer>> {
  const { run, folder } = at
  const followed = await handOver(at).catch((error: unknown) => {
    if (error instanceof RecordLost) return fail(error.problem)
    throw error
  })
  if (!followed.ok) return followed
  const came = followed.value
  if (came.is === 'given up' || came.is === 'orphaned')
    return fail(run.signal.aborted ? interrupted : overtaken(at))
  const why = came.is === 'lost' ? came.why : whyNoRecord(at, came.result)
  tidy(folder)
  if (came.is === 'lost' || why !== null) return fail(notMeasured(at, why ?? ''))
  const { outcome } = came.result
  return outcome.ok ? ok(outcome.answer) : fail(outcome.problem)
}

/**
 * An errand by a job: what it left is in its `home` then. A process that goes on with the same errand after this one died waits for the
 * same job; once an errand has failed, the next one has a job of its own. Problems as of `answerFrom`.
 */
export async function errandByJob(
  run: OpenRun,
  order: Omit<Extract<Order, { is: 'errand' }>, 'is'>,
  { node, home, config }: Pick<Dispatch, 'node' | 'home' | 'config'>,
): Promise<Result<{ found: unknown; job: AttemptJob }>> {
  const known = handoverOfErrand(home)
  const failed = known ? null : readHandover(home)
  if (failed) rmSync(failed.folder, { recursive: true, force: true })
  const key = known?.key ?? keyOf(run.started.id, node.id, order.name, drawNonce(run))
  const folder = known?.folder ?? folderOf(run, jobFolder(home), key, config)
  const executor = openExecutor({ env: run.env, config })
  const at: Dispatch = { run, node, order: { is: 'errand', ...order }, home, config, executor, key, folder }
  const answer = collectedBefore(at) ?? (await answerFrom(at))
  if (!answer.ok) {
    withdrawJob(folder)
    return answer
  }
  const job = jobOf(at)
  if (!job) throw new Error(`${nameOf(at)} was measured by a job, and none was noted`)
  // The result comes last: without it the next process collects again.
  for (const name of ['job.out', RESULT]) bringBack(join(folder, name), join(home, name))
  rmSync(folder, { recursive: true, force: true })
  return ok({ found: answer.value.found, job })
}

/** What an earlier process collected, which died before it could use it. */
function collectedBefore(at: Dispatch): Result<NodeAnswer> | null {
  const result = readResult<NodeAnswer>(at.home, { key: at.key, attempt: attemptIn(at) })
  if (!result?.outcome.ok) return null
  const why = bringRecord(at, result)
  return why === null ? ok(result.outcome.answer) : fail(notMeasured(at, why))
}

/** null as well when it failed: what it printed is in the folder of its job until the next one begins, or until `gc`. */
function handoverOfErrand(home: string): Handover | null {
  const found = readHandover(home)
  if (!found) return null
  const isOpen = existsSync(found.folder) ? !isWithdrawn(found.folder) : existsSync(join(home, RESULT))
  return isOpen ? found : null
}

/** What does an errand: once an engine was called, that engine, whatever the spec says now; undefined = a slot. */
export const executorOfErrand = (run: OpenRun, home: string): ExecutorConfig | undefined =>
  handoverOfErrand(home)?.config ?? liveSpec(run).executor

/** The node says itself what it could not measure; but to be interrupted there is not to be interrupted here. */
function whyNoRecord(at: Dispatch, result: JobResult<NodeAnswer>): string | null {
  const { outcome } = result
  if (outcome.ok) return bringRecord(at, result)
  const { kind, message, hint } = outcome.problem
  return kind === 'interrupted' ? `${message}; ${hint}` : null
}

const overtaken = (at: Dispatch): Problem => ({
  kind: 'refused',
  code: 'overtaken',
  message: `the job of ${nameOf(at)} was cancelled: a new epoch was opened meanwhile, or the status of ${at.node.id} changed`,
  hint: next`nothing was recorded; see ${call('show', at.node.id)}, then repeat the command if it is kept`,
})

const notMeasured = (at: Dispatch, why: string): Problem => ({
  kind: 'failed',
  code: 'not_measured',
  message: `${nameOf(at)} could not be measured: ${why}`,
  hint: 'nothing was recorded; remove the cause, then repeat the command',
})

async function handOver(at: Dispatch): Promise<Result<Followed>> {
  const { run, config, home } = at
  let release = () => {}
  try {
    const lease = await acquireLease({
      folder: jobLeases(run.paths),
      capacity: liveSpec(run).executor?.jobs ?? config.jobs,
      tell: run.tell,
      signal: run.signal,
    })
    release = lease.release
    const known = at.order.is === 'errand' ? handoverOfErrand(home) : readHandover(home, whichOf(at))
    const job = jobOf(at) ?? (await dispatch(at, known))
    if ('seed' in job) return ok({ is: 'lost', why: job.seed })
    return await follow(at, job)
  } catch (error) {
    if (!run.signal.aborted) throw error
    withdrawJob(at.folder)
    removeParcel(at.folder)
    return ok({ is: 'given up' })
  } finally {
    release()
  }
}

/** The same for the same attempt or confirmation, also after a restart; different for all others. */
function keyOf(...about: (string | number)[]): string {
  return `assay-${createHash('sha256').update(JSON.stringify(about)).digest('hex').slice(0, 16)}`
}

function folderOf(run: OpenRun, own: string, key: string, { folder }: ExecutorConfig): string {
  if (folder === null) return own
  const home = run.env.HOME || homedir()
  const top = folder.startsWith('~/') ? join(home, folder.slice(2)) : resolve(run.started.checkout, folder)
  return join(top, key)
}

/** Of a repository on a node: the same for all jobs of the run. */
const placeOf = ({ site, started }: OpenRun): string =>
  `r-${createHash('sha256')
    .update(JSON.stringify([hostname(), site.state, started.id]))
    .digest('hex')
    .slice(0, 12)}`

// ---------------------------------------------------------------- handing it over

/** `seed`: why the engine refused the job. */
async function dispatch(at: Dispatch, known: Handover | null): Promise<AttemptJob | { seed: string }> {
  const { run, config, executor, key, folder } = at
  const { as_of } = known ?? (await prepare(at))
  const seconds = Math.ceil(config.limitMs / 1000)
  const submitted = await untilAnswered(at, () =>
    executor.submit({ key, folder, cores: config.cores, seconds }),
  )
  if (!submitted.ok) {
    withdrawJob(folder)
    return { seed: `${submitted.problem.message}; ${submitted.problem.hint}` }
  }
  noteJob(at, { id: submitted.value, as_of })
  const job = jobOf(at)
  if (!job) throw new Error(`${nameOf(at)} was dispatched and has no job`)
  run.tell({ type: 'log', message: `${nameOf(at)}: handed to ${config.kind} as job ${shortJob(job)}` })
  return job
}

/** In the ledger; an errand in its own folder, since it changes nothing of the run. */
function noteJob(at: Dispatch, { id, as_of }: { id: string; as_of: string }): void {
  const { run, order, home, config, key, folder } = at
  const executor = config.kind
  if (order.is === 'errand') {
    const job = { executor, key, id, folder, config: { ...config }, as_of, placed: null }
    writeHandover(home, { v: 1, key, folder, config, as_of, job: { ...job, at: run.clock().toISOString() } })
    return
  }
  must(
    run.ledger.record<'dispatched'>(
      {
        type: 'dispatched',
        ...aboutJob(at),
        ...(order.is === 'held_out' && { held_out: true as const }),
        executor,
        job_key: key,
        job: id,
        folder,
        config: { ...config },
        as_of,
      },
      run.clock(),
    ),
  )
}

async function prepare(at: Dispatch): Promise<Handover> {
  const { run, node, home, config, key, folder } = at
  must(makeFolder(folder, config))
  const as_of = begunWith(at)
  if (as_of === null) throw new Error(`${nameOf(at)} is handed over, and no event was read`)
  // Other lanes record while the parcel is packed.
  const ledger = must(Ledger.after(run.ledger.file, as_of))
  const slots = config.kind === 'local' ? run.spec.measure.slots : config.cores === 'node' ? 1 : config.jobs
  const then = ledger.state.experiments.get(node.id) ?? node
  const work = await workOf(at)
  must(await packParcel({ ...run, ledger }, then, work, { key, folder, place: placeOf(run), slots }))
  if (hearsOfBest(at)) noteBest(folder, ledger.state)
  const script = join(folder, 'job.sh')
  writeFileSync(`${script}.new`, scriptOf(run, folder), { mode: 0o700 })
  renameSync(`${script}.new`, script)
  const handover: Handover = { v: 1, key, folder, config, as_of }
  writeHandover(home, handover, whichOf(at))
  return handover
}

/** Id of the last event of which the job knows. */
function begunWith({ run, node, order }: Dispatch): string | null {
  if (order.is === 'confirmation') return order.pending.started
  const first = order.is === 'held_out' ? attemptOf(node, order.seal.attempt)?.job : null
  return first?.as_of ?? run.ledger.last
}

async function workOf(at: Dispatch): Promise<Work> {
  const { order } = at
  switch (order.is) {
    case 'attempt':
      return order
    case 'held_out': {
      if (order.rest === null) throw new Error(`${nameOf(at)} was packed, and is packed again`)
      return { is: 'held_out', seal: order.seal, ...order.rest, cipher: await sendHeldOut(at) }
    }
    case 'confirmation': {
      const { attempt, against, look, nonce } = order.pending
      return { is: 'confirmation', attempt, against, look, nonce }
    }
    case 'errand': {
      const { name, asked, candidates } = order
      return { is: 'errand', name, asked, candidates }
    }
    default:
      return unreachable(order)
  }
}

/** Only a candidate that may become the best is compared with it. */
const hearsOfBest = ({ order }: Dispatch): boolean => order.is === 'attempt'

/** The key is of this job alone. */
async function sendHeldOut({ run, key, home, folder }: Dispatch): Promise<JobSeal> {
  const { holdout } = run.started
  const found = holdout && (await placeIfUnchanged(run.env, holdout))
  if (!found || 'gone' in found) throw new RecordLost(changedMeanwhile)
  const seal = sealForJob(run.env, key)
  await encryptFile(seal, found.place, join(folder, HELD_OUT))
  // The node goes on with what the first job recorded.
  mkdirSync(join(folder, NODE_RECORD))
  copyFileSync(stepsFile(home), stepsFile(join(folder, NODE_RECORD)))
  return seal
}

const changedMeanwhile: Problem = {
  kind: 'refused',
  code: 'holdout_changed',
  message: 'the held-out data changed while they were packed for a job',
  hint: 'put the file back as it was at assay init; then repeat the command, which goes on with this attempt',
}

function makeFolder(folder: string, config: ExecutorConfig): Result<void> {
  try {
    rmSync(folder, { recursive: true, force: true })
    mkdirSync(folder, { recursive: true, mode: 0o700 })
    return ok(undefined)
  } catch (error) {
    if (config.folder === null) throw error
    return fail({
      kind: 'refused',
      code: 'executor_folder',
      message: `executor.folder: the folder of the job cannot be made: ${(error as Error).message}`,
      hint: next`name a folder that can be written: ${call('config set', 'executor.folder', 'FOLDER', '--reason', 'TEXT')}; then repeat the command`,
    })
  }
}

/** Ids of one engine say nothing to another. */
const engineOf = (config: ExecutorConfig): string =>
  createHash('sha256').update(JSON.stringify(config)).digest('hex').slice(0, 12)

const shortJob = ({ executor, id }: AttemptJob): string => (executor === 'local' ? 'of this machine' : id)

function scriptOf({ env }: OpenRun, folder: string): string {
  const entry = process.argv[1] ?? ''
  const names = ['PATH', 'HOME', 'USER', 'LANG']
  const variables = Object.fromEntries(
    names.flatMap((name) => (env[name] === undefined ? [] : [[name, env[name]]])),
  )
  return jobScript([process.execPath, entry, 'worker', folder, '--json', '--quiet'], variables)
}

/** Repeats a question while the engine is silent: a controller may be down for a while, and its jobs go on. */
async function untilAnswered<T>({ run }: Dispatch, ask: () => Promise<Result<T>>): Promise<Result<T>> {
  for (let wait = LOOK_MS.first; ; wait = Math.min(LOOK_MS.most, wait * LOOK_MS.factor)) {
    const answer = await ask()
    if (answer.ok || answer.problem.code !== SILENT) return answer
    run.tell({ type: 'waiting', what: `an answer: ${answer.problem.message}` })
    await pause(wait, undefined, { signal: run.signal })
  }
}

// ---------------------------------------------------------------- waiting for it

async function follow(at: Dispatch, job: AttemptJob): Promise<Result<Followed>> {
  const { run, node, executor, folder } = at
  const waker = new Waker(folder)
  let endedAt: number | null = null
  let how: HowEnded | null = null
  let absent = 0
  let interval = LOOK_MS.first
  let nextLook = 0
  let told = ''
  try {
    for (;;) {
      const result = readResult<NodeAnswer>(folder, { key: at.key, attempt: attemptIn(at) })
      notePlace(at)
      mirror(at)
      if (result) return ok({ is: 'result', result })
      const read = run.ledger.refresh()
      if (!read.ok) return read
      const end = run.signal.aborted ? 'given up' : needless(at)
      if (end !== null) {
        await endJob(at, job)
        return ok({ is: end })
      }
      const best = hearsOfBest(at) ? await tellBest(run, at) : ok(null)
      if (!best.ok) return best
      if (best.value !== null)
        run.tell({ type: 'log', message: `${node.id}: told its job that ${best.value} is the best now` })
      if (performance.now() >= nextLook) {
        const seen = await lookShared(executor, {
          file: jobsSeen(run.paths, engineOf(at.config)),
          id: job.id,
          ageMs: interval / 2,
        })
        interval = Math.min(LOOK_MS.most, interval * LOOK_MS.factor)
        nextLook = performance.now() + interval
        if (seen.state !== 'absent' && seen.state !== 'unknown') absent = 0
        else if (seen.state === 'absent' && (await isOldEnough(at, job))) absent++
        if (seen.state === 'ended') how = seen.how
        const isOver = seen.state === 'ended' || absent >= ABSENT
        if (!isOver && seen.state !== 'unknown' && seen.state !== 'absent') endedAt = null
        if (isOver) endedAt ??= run.clock().getTime()
        const what = waitingFor(at, job, seen)
        if (what !== told) run.tell({ type: 'waiting', what })
        told = what
      }
      if (endedAt !== null && run.clock().getTime() - endedAt >= LATE_MS) {
        // An engine may say wrongly that a job is over. Of one that is over, its answer does not matter.
        withdrawJob(folder)
        await executor.cancel(job.id)
        return ok({ is: 'lost', why: endedWithout(job, how) })
      }
      await waker.next(RESULT_MS, run.signal)
    }
  } finally {
    waker.close()
    rmSync(stepsOfJob(at.home), { force: true })
  }
}

/** Whether the engine may have forgotten it. */
const isOldEnough = async ({ run, executor }: Dispatch, { at }: AttemptJob): Promise<boolean> =>
  run.clock().getTime() - Date.parse(at) >= (await executor.remembers())

/** Why its result is of no use any more. */
function needless({ run: { ledger }, node, order }: Dispatch): 'given up' | 'orphaned' | null {
  switch (order.is) {
    case 'attempt':
    case 'held_out':
      if (attemptOf(node, order.seal.attempt)?.judged) return 'given up'
      return undermined(ledger.state, node) ? 'orphaned' : null
    case 'confirmation': {
      const { confirmation } = order.pending
      const isOpen = pendingConfirmation(ledger.state, node.id)?.confirmation === confirmation
      return isOpen && refusedBy(node, 'confirm') === null ? null : 'given up'
    }
    case 'errand':
      return order.wanted() ? null : 'given up'
    default:
      return unreachable(order)
  }
}

function waitingFor(at: Dispatch, job: AttemptJob, seen: JobSeen): string {
  const name = `job ${shortJob(job)} of ${nameOf(at)}`
  switch (seen.state) {
    case 'queued':
      return `${name}, which is queued${seen.why === null ? '' : ` (${seen.why})`}`
    case 'running':
      return `${name}, which runs${seen.node === null ? '' : ` on ${seen.node}`}`
    case 'ended':
      return `the result of ${name}, which has ended`
    default:
      return name
  }
}

const HOW: Readonly<Record<HowEnded, string>> = {
  done: 'it ended',
  failed: 'it failed',
  timeout: 'it ran into executor.limit',
  cancelled: 'somebody cancelled it',
  node: 'its node failed',
  memory: 'it had no memory left',
  preempted: 'it was preempted',
}

const endedWithout = (job: AttemptJob, how: HowEnded | null): string =>
  `job ${shortJob(job)} left no result: ${how === null ? 'the engine does not know it any more' : HOW[how]}; what it printed is in ${join(job.folder, 'job.out')}`

/** The node writes its name when it begins, which is earlier and more certain than what the engine says. */
function notePlace(at: Dispatch): void {
  const { run, node, order, home, folder } = at
  const job = jobOf(at)
  if (job?.placed !== null) return
  const note = fileJson<NodeNote>(join(folder, NODE_NOTE))
  if (note === null) return
  const known = run.ledger.state.machines.at(-1)?.machine
  const different = known === undefined ? null : differencesOf(known, note.machine)
  const placed = { node: note.node, machine: note.machine }
  const handover = order.is === 'errand' ? readHandover(home) : null
  if (handover) {
    const since = run.clock().toISOString()
    writeHandover(home, { ...handover, job: { ...job, placed: { ...placed, at: since } } })
  } else {
    // A command that took this attempt over may have recorded it.
    must(run.ledger.propose({ type: 'placed', ...aboutJob(at), ...placed }, run.clock()))
  }
  run.tell({ type: 'log', message: `${nameOf(at)}: measured on ${note.node}` })
  if (different !== null && node.id !== BASELINE)
    run.tell({
      type: 'warning',
      message: `${note.node} is another machine than the last one (${different}): both sides of a pair run there, but values of different machines are not alike; executor.constraint names the nodes that may measure`,
    })
}

/** Shows the record so far to those who look. Not in the place of the record: what is there counts as measured. */
function mirror({ home, folder }: Dispatch): void {
  const to = stepsOfJob(home)
  const from = stepsFile(join(folder, NODE_RECORD))
  const bytes = existsSync(from) ? readFileSync(from) : null
  const whole = bytes?.subarray(0, bytes.lastIndexOf(10) + 1)
  if (!whole || whole.length === 0) return
  if (existsSync(to) && readFileSync(to).equals(whole)) return
  writeFileSync(`${to}.new`, whole)
  renameSync(`${to}.new`, to)
}

// ---------------------------------------------------------------- what came of it

/** Copies the record that the job left. Why it does not count; null when it does. */
function bringRecord({ order, folder, home }: Dispatch, { steps }: JobResult): string | null {
  const from = join(folder, NODE_RECORD)
  // A process that died after it had collected the record has left it there.
  const file = stepsFile(existsSync(from) ? from : home)
  // Not each errand has steps.
  const isEmpty = order.is === 'errand' && steps.lines === 0 && !existsSync(file)
  if (!isEmpty && !recordHolds(file, steps))
    return `the record in ${from} is not the one that the result of its job names`
  bringBack(from, home)
  return null
}

async function evidenceOf(at: OfAttempt, record: Recorder, followed: Followed): Promise<Result<Evidence>> {
  switch (followed.is) {
    case 'result':
      return collected(at, record, followed.result)
    case 'lost':
      return ok(lost(at, record, followed.why))
    case 'given up':
      return ok(whereMeasured(at, interruptedEvidence(at)))
    case 'orphaned':
      return ok(orphaned(at, record))
    default:
      return unreachable(followed)
  }
}

/** Judges the record as if it were computed again. */
async function collected(
  at: OfAttempt,
  before: Recorder,
  result: JobResult<NodeAnswer>,
): Promise<Result<Evidence>> {
  const { run, node, order, folder, home } = at
  const { outcome } = result
  if (!outcome.ok) return ok(lost(at, before, `${outcome.problem.message}; ${outcome.problem.hint}`))
  const why = bringRecord(at, result)
  if (why !== null) return ok(lost(at, before, why))
  await bringMade(at, outcome.answer)
  const record = new Recorder(run, { experiment: node.id, folder: home }, { tells: false })
  const then = asMeasured(at)
  const evidence = noEvidence(then.run, then.node)
  const trial: Trial = {
    ...then,
    plan: ATTEMPT,
    choices: choicesOfAttempt(then.run, then.node, order.seal.attempt),
    record,
    source: new RecordedSource(outcome.answer.artifacts, record),
    evidence,
  }
  await collectRecorded(trial)
  tidy(folder)
  return ok(whereMeasured(at, evidence))
}

function asMeasured({ run, node, order }: OfAttempt): Pick<Trial, 'run' | 'node'> {
  const attempt = attemptOf(node, order.seal.attempt)
  return attempt ? must(whenMeasured({ run, node }, run.ledger.file, attempt)) : { run, node }
}

async function bringMade({ run, node, folder }: Dispatch, { gone = [] }: NodeAnswer): Promise<void> {
  const own = artifactsFolder(run.paths, node.id)
  if (existsSync(join(folder, NODE_ARTIFACTS)))
    for (const { path } of await listSizes(own))
      if (gone.includes(path)) rmSync(join(own, path), { force: true })
  bringBack(join(folder, NODE_ARTIFACTS), own)
  if (node.id === BASELINE) bringBack(join(folder, NODE_HABITS), habitsFile(run.paths))
}

function bringBack(from: string, to: string): void {
  if (existsSync(from))
    cpSync(from, to, { recursive: true, verbatimSymlinks: true, preserveTimestamps: true })
}

/** What the job printed and its result stay; the rest is in the attempt now. */
function tidy(folder: string): void {
  removeParcel(folder)
  for (const name of [NODE_RECORD, NODE_ARTIFACTS])
    rmSync(join(folder, name), { recursive: true, force: true })
}

function whereMeasured(at: Dispatch, evidence: Evidence): Evidence {
  const job = jobOf(at)
  return { ...evidence, elsewhere: { queuedMs: job ? queuedMs(job) : 0 } }
}

/** The machine is at fault, never the candidate. In the form of a record, so that the verdict can be computed again. */
function lost(at: OfAttempt, record: Recorder, why: string): Evidence {
  const { folder } = at
  const seed = { reason: 'environment' as const, message: why.slice(0, 400) }
  record.decide({ is: 'prepared', preparation: { setup: null, build: null, seed } })
  const then = asMeasured(at)
  const evidence = noEvidence(then.run, then.node)
  evidence.facts.faults.push({ side: 'candidate', fault: seed })
  removeParcel(folder)
  return whereMeasured(at, evidence)
}

function interruptedEvidence({ run, node }: Dispatch): Evidence {
  const evidence = noEvidence(run, node)
  evidence.facts.faults.push({
    side: 'candidate',
    fault: { reason: 'aborted', message: 'it was interrupted while its job was waited for' },
  })
  return evidence
}

function orphaned(at: OfAttempt, record: Recorder): Evidence {
  const { run, node } = at
  const dependency = orphanedBy({ run, node, record })
  record.decide({ is: 'prepared', preparation: { setup: null, build: null, seed: null } })
  const then = asMeasured(at)
  const evidence = noEvidence(then.run, then.node)
  evidence.facts.dependency = dependency
  return whereMeasured(at, evidence)
}

async function endJob({ run, executor, folder }: Dispatch, job: AttemptJob): Promise<void> {
  withdrawJob(folder)
  const done = await executor.cancel(job.id)
  if (!done.ok)
    run.tell({
      type: 'warning',
      message: `job ${shortJob(job)} could not be cancelled: ${done.problem.message}; cancel it with the tools of the engine`,
    })
  removeParcel(folder)
}

/**
 * Of judged attempts, ended confirmations and errands of an experiment: folders of jobs that no command needs any more. What a job printed
 * that left no result is in its folder.
 */
export function endedJobFolders(run: OpenRun, { id, attempts }: Experiment): string[] {
  const judged = attempts.filter((one) => one.judged)
  const pending = pendingConfirmation(run.ledger.state, id)
  const confirms = confirmsFolder(run.paths, id)
  const homes = [
    ...judged.map(({ attempt }) => attemptFolder(run.paths, id, attempt)),
    ...namesIn(confirms)
      .filter((name) => name !== String(pending?.confirmation))
      .map((name) => join(confirms, name)),
  ]
  const handovers = [
    ...judged.flatMap(({ job }) => [job?.first, job]),
    ...homes.flatMap((home) => [readHandover(home), readHandover(home, 'held-out')]),
  ]
  const ended = handovers.flatMap((one) =>
    one && existsSync(one.folder) && !mayStillWrite(one, run.clock()) ? [one] : [],
  )
  return [...new Set([...ended.map(({ folder }) => folder), ...endedErrands(run, id)])]
}

/** So long does a command that waits for an errand surely look for its result. */
const WAITED_FOR_MS = 24 * 3600 * 1000

/** That of an errand that came to something is removed at once: these failed, or the command died that waited for them. */
function endedErrands(run: OpenRun, experiment: string): string[] {
  const { paths, ledger } = run
  const numbered = (folder: string) => namesIn(folder).map((name) => join(folder, name))
  const homes = [
    ...[checksFolder(paths, experiment), gateChecksFolder(paths, experiment)].flatMap(numbered),
    ...(experiment === BASELINE ? [canaryFolder(paths), ...numbered(isolationsFolder(paths))] : []),
  ]
  // A command goes on with a test, also after days.
  const open = ledger.state.attributions.filter(({ ended }) => ended === null)
  const going = new Set(open.map(({ started }) => String(started.attribution)))
  const all = attributionsFolder(paths, experiment)
  const tests = namesIn(all).flatMap((name) => (going.has(name) ? [] : numbered(join(all, name))))
  return [...homes, ...tests].flatMap((home) => {
    const folder = readHandover(home)?.folder
    if (folder === undefined || !existsSync(folder)) return []
    const result = statSync(join(folder, RESULT), { throwIfNoEntry: false })
    const isLeft = result !== undefined && run.clock().getTime() - result.mtimeMs > WAITED_FOR_MS
    return isWithdrawn(folder) || isLeft ? [folder] : []
  })
}

/** Whether a job that could not be cancelled may be alive: until its limit. */
function mayStillWrite(
  { folder, config }: Pick<Handover, 'folder'> & { config: unknown },
  now: Date,
): boolean {
  const since = claimant(folder)?.since
  const isDone = existsSync(join(folder, 'result.json'))
  return since !== undefined && !isDone && now.getTime() - since < (config as ExecutorConfig).limitMs
}

/** Ends the job of an attempt that nobody judges any more, when its process could not do that; also one of which the ledger does not know. */
export async function cancelJobOf(
  run: OpenRun,
  experiment: string,
  { attempt, job }: Attempt,
): Promise<Result<void>> {
  const home = attemptFolder(run.paths, experiment, attempt)
  const second = readHandover(home, 'held-out')
  // Between the two jobs the ledger knows only the one that has ended.
  const known = second && !job?.first ? null : job
  const handover = known ?? second ?? readHandover(home)
  if (!handover) return ok(undefined)
  const { key, folder } = handover
  withdrawJob(folder)
  const executor = openExecutor({ env: run.env, config: handover.config as unknown as ExecutorConfig })
  const found = known ? ok(known.id) : await executor.find({ key, folder })
  const done = !found.ok || found.value === null ? found : await executor.cancel(found.value)
  removeParcel(folder)
  return done.ok ? ok(undefined) : done
}
