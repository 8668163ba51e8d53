/** The paths that Assay names in the environment of a job, as the job sees them when it is isolated. */
import { existsSync, mkdirSync, mkdtempSync, renameSync } from 'node:fs'
import { createServer } from 'node:net'
import { loadavg, tmpdir } from 'node:os'
import { join } from 'node:path'
import { removeTree } from '../disk/remove.ts'
import type { AnswersOfItems, Sample, SampleFault, Side, Stage } from '../ledger/events.ts'
import { type GivenPath, give, type Isolation, type Supervised, seenAs, supervise } from '../process.ts'
import type { SuiteConfig } from '../suite/config.ts'
import { runSuite } from '../suite/run.ts'
import type { Turn } from '../suite/turns.ts'
import type { BenchmarkAnswer, ReadAnswer, ReadFrom } from './benchmark-answer.ts'
import { type CommandLine, faultOfEnding, fillIn, tailOf } from './command.ts'
import { inUnitsOf, type Reference } from './comparable.ts'
import type { EnvironmentConfig } from './environment.ts'
import { runPreparation } from './gates.ts'
import { askForItems, readAnswers } from './item-answers.ts'
import { belowZeroIsNone, isSize } from './plausible.ts'
import { namedFile, readFiles } from './read-files.ts'
import type { Aggregate } from './stats.ts'
import { clearDesk, DESK, type Names, outputNames } from './stored.ts'

// ---------------------------------------------------------------- the paths that Assay names in the environment of a job, as the job sees them when it is isolated

const NAMED: Readonly<Record<string, GivenPath>> = {
  ASSAY_ARTIFACTS: 'artifacts',
  ASSAY_PARENT_ARTIFACTS: 'parent-artifacts',
  ASSAY_SEED_ARTIFACT: 'seed-artifact',
  ASSAY_HOLDOUT: 'held-out',
}

export interface Seen {
  isolation: Isolation | null
  environment: Record<string, string>
}

/** `writes`: the job makes its artifacts; else it only reads them. What does not exist is not shown. */
export function showGiven(
  isolation: Isolation | null,
  environment: Record<string, string>,
  { writes }: { writes: boolean },
): Seen {
  if (isolation === null) return { isolation, environment }
  let shown = isolation
  const seen = { ...environment }
  for (const [name, given] of Object.entries(NAMED)) {
    const path = environment[name]
    if (path === undefined || !existsSync(path)) continue
    shown = give(shown, given, path, { write: writes && given === 'artifacts' })
    seen[name] = seenAs(shown, path)
  }
  return { isolation: shown, environment: seen }
}

export interface MeasureConfig {
  command: CommandLine
  /** In the checkout. */
  directory: string
  timeoutMs: number
  read: ReadFrom
  /** Measurements at once on this machine. */
  slots: number
  /** stdout and stderr together. */
  outputBytes: number
  environment: EnvironmentConfig
  /** Around each sample, untimed; `after` runs whatever became of it. */
  before: CommandConfig | null
  after: CommandConfig | null
  /** Files that must be there before a sample starts, in the checkout. */
  requires: string[]
  /** Runs after the command; its output is the answer. */
  score: CommandConfig | null
  /** Absent in the spec of a run that an older version began: not isolated. */
  isolation?: IsolationConfig
  /** `command` runs once for each task of it, and their mean loss is the metric; absent = `command` is the benchmark. */
  suite?: SuiteConfig
}

export interface IsolationConfig {
  mode: 'auto' | 'none' | 'strict'
  network: boolean
  /** As written: absolute, from the home folder (`~/`), or relative to the user's checkout. */
  allow: string[]
  /** Globs of immutable files, relative to the folder of the spec. */
  write: string[]
  fresh: 'candidate' | 'sample'
}

export interface CommandConfig {
  command: CommandLine
  timeoutMs: number
}

export interface SampleRequest {
  config: MeasureConfig
  /** `unit`: as the spec says it. */
  metric: { name: string; unit?: string | null }
  aggregate: Aggregate
  /** Root of the measurement checkout joined with the spec's folder. */
  checkout: string
  /** The attempt's folder, which exists; gets `samples/<stage>-<pair>-<side>.out`, `.err` and what the sample made. */
  folder: string
  /** Where all that lies while the sample runs, on the same disk; default `desk` in `folder`. Emptied before and after. */
  desk?: string
  stage: Stage
  side: Side
  pair: number
  seed: number
  slot: number
  /** Already built. */
  environment: Record<string, string>
  /** Folder of the artifacts; default `artifacts` in `folder`. */
  artifacts?: string
  /** Ids of the items to answer, for a metric that a judge scores; the value of the sample is then 0. */
  items?: readonly string[] | undefined
  /** As `AnswerFiles`. */
  mark?: string | undefined
  /** Metrics that the caller knows of this tree: `source_bytes`, `diff_lines`. */
  known?: Record<string, number>
  /** The sample in whose units this one is recorded; absent or null = in its own. */
  reference?: Reference | null
  /** Absent or null: it shares the machine with us. */
  isolation?: Isolation | null | undefined
  signal?: AbortSignal | undefined
  /** Of a suite: takes turns with the other sample of its pair, task by task. */
  turn?: Turn | undefined
  /** Called when the command has succeeded, before `score` starts. */
  scoring?: () => void
  /** Called when everything has ended, before its temporary folder is removed. */
  ended?: () => void
}

const STDERR_TAIL = 8192

/** Executes the measure command once and reads its answer. A failing benchmark never rejects the promise: a fault says why there is no value. */
export async function takeSample(request: SampleRequest): Promise<Sample> {
  const started = new Date()
  const load = loadavg()[0] ?? null
  const names = outputNames(request)
  let done: Executed
  try {
    done = await runOnce(request, names)
  } catch (error) {
    if (typeof (error as NodeJS.ErrnoException).code !== 'string') throw error
    done = { ended: null, reading: { ok: false, fault: { reason: 'environment', message: String(error) } } }
  } finally {
    request.turn?.leave()
  }
  const { ended, reading } = done
  return {
    stage: request.stage,
    side: request.side,
    pair: request.pair,
    seed: request.seed,
    ...answered(reading, request),
    ...done.answers,
    wall_ms: ended?.ms ?? 0,
    cpu_ms: ended?.cpuMs ?? null,
    peak_mb: ended?.peakMb ?? null,
    exit: ended?.code ?? null,
    signal: ended?.signal ?? null,
    timed_out: ended?.timedOut ?? false,
    output_cut: ended?.outputCut ?? false,
    load,
    processors: ended?.processors ?? null,
    started: started.toISOString(),
    ended: new Date().toISOString(),
    stdout: names.stdout,
    stderr: names.stderr,
  }
}

/** What a sample says, in the units of the reference. */
function answered(reading: ReadAnswer, { reference, metric }: SampleRequest) {
  if (!reading.ok) return { ...NO_ANSWER, fault: reading.fault }
  const same = inUnitsOf(reference ?? null, reading.answer, metric.name)
  if ('reason' in same) return { ...NO_ANSWER, fault: same }
  const units = [same.units[metric.name] ?? null, metric.unit ?? null]
  const none =
    same.value < 0 && units.some((unit) => belowZeroIsNone(metric.name, unit) || isSize(metric.name, unit))
  return { ...same, ...(none && { below_zero: true as const }), fault: null }
}

interface Executed {
  ended: Supervised | null
  reading: ReadAnswer
  answers?: { answers: AnswersOfItems }
}

const NO_ANSWER: Omit<BenchmarkAnswer, 'value' | 'raws'> & { value: null } = {
  value: null,
  metrics: {},
  units: {},
  tasks: null,
  artifacts: null,
}

/** One for both sides and all stages. */
const EXPERIMENT = 'experiment'

async function runOnce(request: SampleRequest, names: Names): Promise<Executed> {
  const { config, folder, checkout } = request
  const desk = request.desk ?? join(folder, 'desk')
  const at = (name: string) => join(desk, name)
  const artifacts = request.artifacts ?? join(folder, 'artifacts')
  removeTree(desk)
  for (const needed of [at(DESK.traces), artifacts]) mkdirSync(needed, { recursive: true })
  if (request.items) askForItems(at(DESK.items), at(DESK.answers), request.items)
  const temporary = mkdtempSync(join(tmpdir(), 'assay-'))
  const given = { ...request.environment, ASSAY_ARTIFACTS: artifacts }
  const { isolation, environment } = showGiven(withDesk(request.isolation, desk, temporary), given, {
    writes: false,
  })
  const scene: Scene = {
    request,
    desk,
    temporary,
    isolation,
    values: { worktree: seenAs(isolation, checkout), result: seenAs(isolation, at(DESK.result)) },
    env: {
      ...environment,
      TMPDIR: seenAs(isolation, temporary),
      ASSAY_RESULT: seenAs(isolation, at(DESK.result)),
      ASSAY_TRACES: seenAs(isolation, at(DESK.traces)),
      ...(request.items && {
        ASSAY_ITEMS: seenAs(isolation, at(DESK.items)),
        ASSAY_ITEMS_DIR: seenAs(isolation, at(DESK.answers)),
      }),
      ASSAY_EXPERIMENT: EXPERIMENT,
      // Equal on both sides of a pair, like the seed, and different for each pair.
      ASSAY_SAMPLE: request.seed.toString(16).padStart(8, '0'),
      ASSAY_SEED: String(request.seed),
      ASSAY_SLOT: String(request.slot),
      // In a network of its own every port is free.
      ASSAY_PORT: String(isolation?.network === false ? PORT_APART : await freePort()),
    },
  }
  try {
    const begun = config.before && (await aside(scene, 'before', config.before))
    const done: Executed = begun?.fault
      ? { ended: null, reading: broken(begun.fault) }
      : withAnswers(scene, await measureAndScore(scene))
    if (begun?.left && !done.reading.ok) tellOfLeft(done.reading.fault)
    // Also after a failure or an interruption: what `before` began must not outlive the sample.
    const { fault: unclean } = (config.after && (await aside(scene, 'after', config.after))) ?? {}
    return unclean && done.reading.ok
      ? { ...done, reading: broken(unclean) }
      : hereAgain(done, scene, artifacts)
  } finally {
    request.ended?.()
    removeTree(temporary)
    // Only now: the answer was read from what the benchmark wrote, to the byte.
    clearDesk(desk, folder, names)
  }
}

/** Of a sample that has a value so far: the answers that a judge will compare. */
function withAnswers({ request: { items }, desk }: Scene, done: Executed): Executed {
  const { reading } = done
  if (items === undefined || !reading.ok) return done
  const answers = readAnswers(join(desk, DESK.answers), items)
  if ('reason' in answers) return { ...done, reading: broken(answers) }
  const metrics = { ...reading.answer.metrics, answer_chars: answers.chars }
  return { ...done, reading: { ...reading, answer: { ...reading.answer, metrics } }, answers: { answers } }
}

/** Artifacts that an isolated benchmark named by their whole path, at the path that they have here. */
function hereAgain(done: Executed, { env }: Scene, artifacts: string): Executed {
  const { reading } = done
  const seen = env.ASSAY_ARTIFACTS
  if (!reading.ok || reading.answer.artifacts === null || seen === undefined || seen === artifacts)
    return done
  const named = Object.entries(reading.answer.artifacts).map(([label, path]) => [
    label,
    path === seen || path.startsWith(`${seen}/`) ? artifacts + path.slice(seen.length) : path,
  ])
  return {
    ...done,
    reading: { ...reading, answer: { ...reading.answer, artifacts: Object.fromEntries(named) } },
  }
}

function withDesk(
  isolation: Isolation | null | undefined,
  desk: string,
  temporary: string,
): Isolation | null {
  if (!isolation) return null
  const shown = give(isolation, 'sample', desk, { write: true })
  return give(shown, 'temporary', temporary, { write: true })
}

interface Scene {
  request: SampleRequest
  desk: string
  /** For temporary files, as it is on the machine. */
  temporary: string
  isolation: Isolation | null
  /** For the placeholders of commands. */
  values: Record<string, string>
  env: Record<string, string>
}

const broken = (fault: SampleFault): ReadAnswer => ({ ok: false, fault })

/** `before` or `after`: a failure is the environment's, since neither is the candidate's work. */
async function aside(
  { request, desk, isolation, values, env }: Scene,
  which: 'before' | 'after',
  { command, timeoutMs }: CommandConfig,
): Promise<{ fault: SampleFault | null; left: number }> {
  const done = await runPreparation({
    name: which,
    command: fillIn(command, values),
    timeoutMs,
    cwd: join(request.checkout, request.config.directory),
    environment: env,
    folder: desk,
    isolation,
    folders: [request.checkout, ...(env.TMPDIR ? [env.TMPDIR] : [])],
    signal: which === 'before' ? request.signal : undefined,
  })
  const { fault, left } = done
  if (!fault || fault.reason === 'aborted') return { fault, left }
  const message = `measure.${which} failed: ${fault.message}`
  return { fault: { ...fault, reason: 'environment', message }, left }
}

/** The likely cause where the benchmark looks for what is gone. */
function tellOfLeft(fault: SampleFault): void {
  fault.message +=
    '; Assay ended the processes that measure.before started, before the sample began: start them in measure.command, or let a daemon run them (docker compose up -d)'
}

async function measureAndScore(scene: Scene): Promise<Executed> {
  const { request, desk, isolation, values, env } = scene
  const { config, checkout, signal } = request
  const missing = config.requires.find((path) => !existsSync(join(checkout, path)))
  if (missing !== undefined) return { ended: null, reading: broken(notBuilt(missing)) }
  if (config.suite) return measureSuite(scene, config.suite)
  const at = (name: string) => join(desk, name)
  const cwd = join(checkout, config.directory)
  // Only the sample may use the checkout of the slot and its temporary folder.
  const folders = [checkout, ...(env.TMPDIR ? [env.TMPDIR] : [])]
  const shared = { cwd, isolation, outputCap: config.outputBytes, folders, signal }
  const { read } = config
  const shown = typeof read === 'object' && 'file' in read ? read.file : undefined
  const named = shown === undefined ? null : namedFile(join(cwd, shown), shown, read)
  const ended = await supervise({
    ...shared,
    command: fillIn(config.command, values),
    env,
    timeoutMs: config.timeoutMs,
    stdout: at(DESK.stdout),
    stderr: at(DESK.stderr),
  })
  const fault = faultOfEnding(ended, config.timeoutMs, tailOf(at(DESK.stderr), STDERR_TAIL))
  if (fault !== null) return { ended, reading: broken(fault) }
  const answer = { ...request, read: config.read, ended, result: at(DESK.result), named }
  if (!config.score)
    return {
      ended,
      reading: await readFiles({ ...answer, stdout: at(DESK.stdout), stderr: at(DESK.stderr) }),
    }
  request.scoring?.()
  // The candidate supplies the measured program, so what that program prints is not the score.
  const output = at(DESK.output)
  removeTree(output)
  if (existsSync(at(DESK.result))) renameSync(at(DESK.result), output)
  const [stdout, stderr] = [at(DESK.scored.stdout), at(DESK.scored.stderr)]
  const scored = await supervise({
    ...shared,
    command: fillIn(config.score.command, values),
    env: {
      ...env,
      ASSAY_STDOUT: seenAs(isolation, at(DESK.stdout)),
      ASSAY_OUTPUT: seenAs(isolation, output),
    },
    timeoutMs: config.score.timeoutMs,
    stdout,
    stderr,
  })
  const failed = faultOfEnding(scored, config.score.timeoutMs, tailOf(stderr, STDERR_TAIL))
  if (failed) return { ended, reading: broken({ ...failed, message: `measure.score: ${failed.message}` }) }
  return { ended, reading: await readFiles({ ...answer, stdout, stderr }) }
}

/** Every task has a loss, so the sample has a value, unless no task of the baseline has a result: then the runner is broken. */
async function measureSuite(
  { request, desk, temporary, isolation, values, env }: Scene,
  suite: SuiteConfig,
): Promise<Executed> {
  const { config, checkout, metric, signal, stage, turn } = request
  const { tasks, loss, ended, fault } = await runSuite({
    suite,
    command: fillIn(config.command, values),
    cwd: join(checkout, config.directory),
    env,
    isolation,
    desk: join(desk, 'tasks'),
    temporary,
    stdout: join(desk, DESK.stdout),
    stderr: join(desk, DESK.stderr),
    timeoutMs: config.timeoutMs,
    outputBytes: config.outputBytes,
    folders: [checkout, temporary],
    pace: turn?.pace,
    signal,
    faultOf: faultOfEnding,
    tailOf,
  })
  if (fault) return { ended, reading: broken(fault) }
  const scores = Object.entries(tasks)
  const [first] = scores
  if (stage === 'calibrate' && first && scores.every(([, { status }]) => status === 'failed')) {
    const [name, { reason }] = first
    return {
      ended,
      reading: broken({
        reason: 'crash',
        message: `no task of the suite ended with a result; ${name}: ${reason ?? 'it says that it failed'}`,
      }),
    }
  }
  const metrics = { [metric.name]: loss }
  return {
    ended,
    reading: { ok: true, answer: { value: loss, metrics, units: {}, tasks, artifacts: null, raws: {} } },
  }
}

const notBuilt = (path: string): SampleFault => ({
  reason: 'crash',
  failure_class: 'build',
  message: `${path} is not there after setup and build (measure.requires)`,
})

const PORT_APART = 49152

/** A port that was free a moment ago, on the loopback interface. */
function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer()
    server.on('error', reject)
    server.listen(0, '127.0.0.1', () => {
      const address = server.address()
      server.close(() => resolve(typeof address === 'object' && address !== null ? address.port : 0))
    })
  })
}
