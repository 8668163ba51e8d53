/**
 * An attempt that a job measures: it is packed, handed to an engine, waited for and collected. The verdict is made here, from the
 * record that the job left. What the engine says of the job makes no verdict.
 */
import { createHash } from 'node:crypto'
import { cpSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { homedir, hostname } from 'node:os'
import { join, resolve } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import type { ExecutorConfig } from '../executor/config.ts'
import { type Executor, type HowEnded, type JobSeen, SILENT } from '../executor/executor.ts'
import {
  type JobResult,
  jobScript,
  readResult,
  removeParcel,
  withdrawJob,
  writeWhole,
} from '../executor/job-folder.ts'
import { openExecutor } from '../executor/open.ts'
import { lookShared } from '../executor/shared-look.ts'
import type { Machine } from '../ledger/events.ts'
import { Ledger } from '../ledger/ledger.ts'
import {
  type Attempt,
  type AttemptJob,
  attemptOf,
  BASELINE,
  type Experiment,
  undermined,
} from '../ledger/state.ts'
import { acquireLease, Waker } from '../lock.ts'
import { call, next } from '../next.ts'
import {
  artifactsFolder,
  attemptFolder,
  habitsFile,
  handoverFile,
  jobFolder,
  jobLeases,
  jobsSeen,
  stepsFile,
  stepsOfJob,
} from '../paths.ts'
import { fail, ok, type Problem, type Result } from '../result.ts'
import { differencesOf, isNewMachine } from '../run/machine.ts'
import { liveSpec, type OpenRun } from '../run/open.ts'
import type { Artifacts } from './artifacts.ts'
import { noEvidence } from './judge.ts'
import { noteBest, tellBest } from './later-best.ts'
import { packParcel } from './parcel.ts'
import { choicesOfAttempt } from './random-choices.ts'
import { collectRecorded, recordHolds, whenMeasured } from './recompute.ts'
import { RecordedSource } from './recorded-source.ts'
import type { Seal } from './seal.ts'
import { Recorder } from './steps.ts'
import { ATTEMPT, type Evidence, must, orphanedBy, type Trial } from './trial.ts'

/** What a node answers beside its record. */
export interface NodeAnswer {
  artifacts: Artifacts
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
/** So often must the engine say that it knows no such job. */
const ABSENT = 3
/** How often the result is looked for, and the engine asked: less and less often. */
const RESULT_MS = 500
const LOOK_MS = { first: 500, most: 15_000, factor: 1.5 }

/** Why a run cannot be measured by jobs; null when it can. */
export function notForJobs({ spec, started }: Pick<OpenRun, 'spec' | 'started'>): Problem | null {
  const what =
    spec.judge !== undefined
      ? 'a model judges its answers (judge), and the judge is called beside the samples'
      : started.holdout !== undefined
        ? 'it has held-out data, which Assay does not send to other machines'
        : null
  return what === null
    ? null
    : {
        kind: 'refused',
        code: 'not_for_jobs',
        message: `this run cannot be measured by jobs of an executor: ${what}`,
        hint: 'remove the section executor: then it is measured in a slot of this machine',
      }
}

/** One attempt from its claim to its evidence. */
interface Dispatch {
  run: OpenRun
  node: Experiment
  seal: Seal
  record: Recorder
  config: ExecutorConfig
  executor: Executor
  key: string
  folder: string
}

/** What is written before an engine is called: a process that dies then leaves its job to the next one. */
interface Handover {
  v: 1
  key: string
  folder: string
  config: ExecutorConfig
  /** See `Dispatched`. */
  as_of: string
}

/** null when no engine was called for the attempt. */
function readHandover(run: OpenRun, experiment: string, attempt: number): Handover | null {
  try {
    return JSON.parse(readFileSync(handoverFile(run.paths, experiment, attempt), 'utf8')) as Handover
  } catch {
    return null
  }
}

/** What measures an attempt: once its engine was called, that engine, whatever the spec says now; undefined = a slot. */
export const executorOf = (
  run: OpenRun,
  experiment: string,
  attempt: Attempt | null | undefined,
): ExecutorConfig | undefined =>
  (attempt?.job?.config as ExecutorConfig | undefined) ??
  (attempt ? readHandover(run, experiment, attempt.attempt)?.config : undefined) ??
  liveSpec(run).executor

/** As `collectEvidence`, by a job. */
export async function collectByJob(
  run: OpenRun,
  node: Experiment,
  seal: Seal,
  { record, config }: { record: Recorder; config: ExecutorConfig },
): Promise<Result<Evidence>> {
  const attempt = attemptOf(node, seal.attempt)
  if (!attempt?.claim) throw new Error(`attempt ${seal.attempt} of ${node.id} is measured and has no claim`)
  const key = keyOf(run, node, attempt)
  const executor = openExecutor({ env: run.env, config })
  const handover = attempt.job ? null : readHandover(run, node.id, seal.attempt)
  const folder = attempt.job?.folder ?? handover?.folder ?? folderOf(run, node, seal, key, config)
  const at: Dispatch = { run, node, seal, record, config, executor, key, folder }
  let release = () => {}
  try {
    const lease = await acquireLease({
      folder: jobLeases(run.paths),
      capacity: liveSpec(run).executor?.jobs ?? config.jobs,
      tell: run.tell,
      signal: run.signal,
    })
    release = lease.release
    const job = attempt.job ?? (await dispatch(at, handover))
    if ('seed' in job) return ok(await lost(at, job.seed))
    return await follow(at, job)
  } catch (error) {
    if (!run.signal.aborted) throw error
    return ok(interruptedEvidence(at))
  } finally {
    release()
  }
}

/** The same for the same attempt, also after a restart; different for all others. */
function keyOf({ started }: OpenRun, { id }: Experiment, { attempt, claim }: Attempt): string {
  const about = JSON.stringify([started.id, id, attempt, claim?.nonce ?? ''])
  return `assay-${createHash('sha256').update(about).digest('hex').slice(0, 16)}`
}

function folderOf(
  run: OpenRun,
  node: Experiment,
  seal: Seal,
  key: string,
  { folder }: ExecutorConfig,
): string {
  if (folder === null) return jobFolder(run.paths, node.id, seal.attempt)
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
  const { run, node, seal, config, executor, key, folder } = at
  const { as_of } = known ?? (await prepare(at))
  const seconds = Math.ceil(config.limitMs / 1000)
  const submitted = await untilAnswered(at, () =>
    executor.submit({ key, folder, cores: config.cores, seconds }),
  )
  if (!submitted.ok) {
    withdrawJob(folder)
    return { seed: `${submitted.problem.message}; ${submitted.problem.hint}` }
  }
  must(
    run.ledger.record<'dispatched'>(
      {
        type: 'dispatched',
        experiment: node.id,
        attempt: seal.attempt,
        executor: config.kind,
        job_key: key,
        job: submitted.value,
        folder,
        config: { ...config },
        as_of,
      },
      run.clock(),
    ),
  )
  const job = attemptOf(node, seal.attempt)?.job
  if (!job) throw new Error(`${node.id} was dispatched and has no job`)
  run.tell({ type: 'log', message: `${node.id}: handed to ${config.kind} as job ${shortJob(job)}` })
  return job
}

async function prepare({ run, node, seal, config, key, folder }: Dispatch): Promise<Handover> {
  must(makeFolder(folder, config))
  const as_of = run.ledger.last
  if (as_of === null)
    throw new Error(`attempt ${seal.attempt} of ${node.id} was claimed, and no event was read`)
  // Other lanes record while the parcel is packed.
  const ledger = must(Ledger.after(run.ledger.file, as_of))
  const slots = config.kind === 'local' ? run.spec.measure.slots : config.cores === 'node' ? 1 : config.jobs
  const then = ledger.state.experiments.get(node.id) ?? node
  must(await packParcel({ ...run, ledger }, then, seal, { key, folder, place: placeOf(run), slots }))
  noteBest(folder, ledger.state)
  const script = join(folder, 'job.sh')
  writeFileSync(`${script}.new`, scriptOf(run, folder), { mode: 0o700 })
  renameSync(`${script}.new`, script)
  const handover: Handover = { v: 1, key, folder, config, as_of }
  writeWhole(handoverFile(run.paths, node.id, seal.attempt), JSON.stringify(handover))
  return handover
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
      hint: next`name a folder that can be written: ${call('config set', 'executor.folder', 'FOLDER', '--reason', 'TEXT')}; then run the experiment again, which goes on with this attempt`,
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

async function follow(at: Dispatch, job: AttemptJob): Promise<Result<Evidence>> {
  const { run, node, seal, executor, folder } = at
  const waker = new Waker(folder)
  let endedAt: number | null = null
  let how: HowEnded | null = null
  let absent = 0
  let interval = LOOK_MS.first
  let nextLook = 0
  let told = ''
  try {
    for (;;) {
      const result = readResult<NodeAnswer>(folder, { key: at.key, attempt: seal.attempt })
      notePlace(at)
      mirror(at)
      if (result) return await collected(at, result)
      const read = run.ledger.refresh()
      if (!read.ok) return read
      if (run.signal.aborted || attemptOf(node, seal.attempt)?.judged) return ok(await givenUp(at, job))
      if (undermined(run.ledger.state, node)) return ok(await orphaned(at, job))
      const best = await tellBest(run, at)
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
        absent = seen.state === 'absent' ? absent + 1 : seen.state === 'unknown' ? absent : 0
        if (seen.state === 'ended') how = seen.how
        const isOver = seen.state === 'ended' || absent >= ABSENT
        if (!isOver && seen.state !== 'unknown' && seen.state !== 'absent') endedAt = null
        if (isOver) endedAt ??= run.clock().getTime()
        const what = waitingFor(node, job, seen)
        if (what !== told) run.tell({ type: 'waiting', what })
        told = what
      }
      if (endedAt !== null && run.clock().getTime() - endedAt >= LATE_MS) {
        // An engine may say wrongly that a job is over. Of one that is over, its answer does not matter.
        withdrawJob(folder)
        await executor.cancel(job.id)
        return ok(await lost(at, endedWithout(job, how)))
      }
      await waker.next(RESULT_MS, run.signal)
    }
  } finally {
    waker.close()
    rmSync(stepsOfJob(at.record.folder), { force: true })
  }
}

function waitingFor({ id }: Experiment, job: AttemptJob, seen: JobSeen): string {
  const name = `job ${shortJob(job)} of ${id}`
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
function notePlace({ run, node, seal, folder }: Dispatch): void {
  const attempt = attemptOf(node, seal.attempt)
  if (!attempt?.job || attempt.job.placed !== null) return
  const note = readNote(join(folder, NODE_NOTE))
  if (note === null) return
  const known = run.ledger.state.machines.at(-1)?.machine
  const different = known === undefined ? null : differencesOf(known, note.machine)
  const isNew = known === undefined || isNewMachine(known, note.machine)
  // A command that took this attempt over may have recorded it.
  const recorded = run.ledger.propose(
    {
      type: 'placed',
      experiment: node.id,
      attempt: seal.attempt,
      node: note.node,
      ...(isNew ? { machine: note.machine } : {}),
    },
    run.clock(),
  )
  must(recorded)
  run.tell({ type: 'log', message: `${node.id}: measured on ${note.node}` })
  if (different !== null && node.id !== BASELINE)
    run.tell({
      type: 'warning',
      message: `${note.node} is another machine than the last one (${different}): both sides of a pair run there, but values of different machines are not alike; executor.constraint names the nodes that may measure`,
    })
}

function readNote(file: string): NodeNote | null {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as NodeNote
  } catch {
    return null
  }
}

/** Shows the record so far to those who look. Not in the place of the record: what is there counts as measured. */
function mirror({ record, folder }: Dispatch): void {
  const to = stepsOfJob(record.folder)
  const from = stepsFile(join(folder, NODE_RECORD))
  const bytes = existsSync(from) ? readFileSync(from) : null
  const whole = bytes?.subarray(0, bytes.lastIndexOf(10) + 1)
  if (!whole || whole.length === 0) return
  if (existsSync(to) && readFileSync(to).equals(whole)) return
  writeFileSync(`${to}.new`, whole)
  renameSync(`${to}.new`, to)
}

// ---------------------------------------------------------------- what came of it

/** Copies what the job left, and judges the record as if it were computed again. */
async function collected(at: Dispatch, result: JobResult<NodeAnswer>): Promise<Result<Evidence>> {
  const { run, node, seal, folder } = at
  const { outcome, steps } = result
  if (!outcome.ok) return ok(await lost(at, `${outcome.problem.message}; ${outcome.problem.hint}`))
  const from = join(folder, NODE_RECORD)
  const to = attemptFolder(run.paths, node.id, seal.attempt)
  // A process that died after it had collected the record has left it in the attempt.
  const isHere = !existsSync(from)
  if (!recordHolds(stepsFile(isHere ? to : from), steps))
    return ok(await lost(at, `the record in ${from} is not the one that the result of its job names`))
  bringBack(from, to)
  bringBack(join(folder, NODE_ARTIFACTS), artifactsFolder(run.paths, node.id))
  if (node.id === BASELINE) bringBack(join(folder, NODE_HABITS), habitsFile(run.paths))
  const record = new Recorder(run, { experiment: node.id, folder: to }, { tells: false })
  const then = asMeasured(at)
  const evidence = noEvidence(then.run, then.node)
  const trial: Trial = {
    ...then,
    plan: ATTEMPT,
    choices: choicesOfAttempt(then.run, then.node, seal.attempt),
    record,
    source: new RecordedSource(outcome.answer.artifacts, record),
    evidence,
  }
  await collectRecorded(trial)
  tidy(folder)
  return ok(whereMeasured(at, evidence))
}

function asMeasured({ run, node, seal }: Dispatch): Pick<Trial, 'run' | 'node'> {
  const attempt = attemptOf(node, seal.attempt)
  return attempt ? must(whenMeasured({ run, node }, run.ledger.file, attempt)) : { run, node }
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

function whereMeasured({ node, seal }: Dispatch, evidence: Evidence): Evidence {
  const job = attemptOf(node, seal.attempt)?.job
  const queuedMs = job?.placed ? Math.max(0, Date.parse(job.placed.at) - Date.parse(job.at)) : 0
  return { ...evidence, elsewhere: { queuedMs } }
}

/** The machine is at fault, never the candidate. In the form of a record, so that the verdict can be computed again. */
async function lost(at: Dispatch, why: string): Promise<Evidence> {
  const { record, folder } = at
  const seed = { reason: 'environment' as const, message: why.slice(0, 400) }
  record.decide({ is: 'prepared', preparation: { setup: null, build: null, seed } })
  const then = asMeasured(at)
  const evidence = noEvidence(then.run, then.node)
  evidence.facts.faults.push({ side: 'candidate', fault: seed })
  removeParcel(folder)
  return whereMeasured(at, evidence)
}

function interruptedEvidence({ run, node, folder }: Dispatch): Evidence {
  withdrawJob(folder)
  const evidence = noEvidence(run, node)
  evidence.facts.faults.push({
    side: 'candidate',
    fault: { reason: 'aborted', message: 'it was interrupted while its job was waited for' },
  })
  return evidence
}

/** Nobody waits for the result any more. */
async function givenUp(at: Dispatch, job: AttemptJob): Promise<Evidence> {
  await endJob(at, job)
  return whereMeasured(at, interruptedEvidence(at))
}

async function orphaned(at: Dispatch, job: AttemptJob): Promise<Evidence> {
  const { run, node, record } = at
  await endJob(at, job)
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

/** Ends the job of an attempt that nobody judges any more, when its process could not do that; also one of which the ledger does not know. */
export async function cancelJobOf(
  run: OpenRun,
  experiment: string,
  { attempt, job }: Attempt,
): Promise<Result<void>> {
  const handover = job ?? readHandover(run, experiment, attempt)
  if (!handover) return ok(undefined)
  const { key, folder } = handover
  withdrawJob(folder)
  const executor = openExecutor({ env: run.env, config: handover.config as unknown as ExecutorConfig })
  const found = job ? ok(job.id) : await executor.find({ key, folder })
  const done = !found.ok || found.value === null ? found : await executor.cancel(found.value)
  removeParcel(folder)
  return done.ok ? ok(undefined) : done
}
