import { existsSync, mkdirSync, mkdtempSync, renameSync, rmdirSync } from 'node:fs'
import { createServer } from 'node:net'
import { loadavg, tmpdir } from 'node:os'
import { join } from 'node:path'
import { removeTree } from '../disk/remove.ts'
import type { Sample, SampleFault, Side, Stage } from '../ledger/events.ts'
import { type Supervised, supervise } from '../process.ts'
import { type CommandLine, fillIn } from './command.ts'
import { faultOfEnding } from './ending.ts'
import type { EnvironmentConfig } from './environment.ts'
import { runPreparation } from './gates.ts'
import type { Aggregate, Answer, Read, ReadAnswer } from './metrics.ts'
import { readFiles } from './read-files.ts'
import { redactStored } from './stored.ts'
import { tailOf } from './tail.ts'

export interface MeasureConfig {
  command: CommandLine
  /** In the checkout. */
  directory: string
  timeoutMs: number
  read: Read
  /** Measurements at once on this machine. */
  slots: number
  /** stdout and stderr together. */
  outputBytes: number
  environment: EnvironmentConfig
  /** Around each sample, untimed; `after` runs whatever became of it. */
  before: StepConfig | null
  after: StepConfig | null
  /** Files that must be there before a sample starts, in the checkout. */
  requires: string[]
  /** Runs after the command; the answer is read from it. */
  score: StepConfig | null
}

export interface StepConfig {
  command: CommandLine
  timeoutMs: number
}

export interface SampleRequest {
  config: MeasureConfig
  metric: { name: string }
  aggregate: Aggregate
  /** Root of the measurement checkout joined with the spec's folder. */
  checkout: string
  /** The attempt's folder, which exists; gets `samples/<stage>-<pair>-<side>.out`, `.err` and what the sample made. */
  folder: string
  stage: Stage
  side: Side
  pair: number
  seed: number
  slot: number
  experiment: string
  /** Already built. */
  environment: Record<string, string>
  /** Folder of the artifacts; default `artifacts` in `folder`. */
  artifacts?: string
  /** Metrics that the caller knows of this tree: `source_bytes`, `diff_lines`. */
  known?: Record<string, number>
  signal?: AbortSignal | undefined
  /** Called when the command has ended well, before `score` starts. */
  scoring?: () => void
  /** Called when everything has ended, before its temporary folder is removed. */
  ended?: () => void
}

const STDERR_TAIL = 8192

/** Executes the measure command once and reads its answer. Never rejects on the benchmark's account: a fault says why there is no value. */
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
  }
  const { ended, reading } = done
  return {
    stage: request.stage,
    side: request.side,
    pair: request.pair,
    seed: request.seed,
    ...(reading.ok ? { ...reading.answer, fault: null } : { ...NO_ANSWER, fault: reading.fault }),
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

interface Executed {
  ended: Supervised | null
  reading: ReadAnswer
}

const NO_ANSWER: Omit<Answer, 'value'> & { value: null } = {
  value: null,
  metrics: {},
  units: {},
  tasks: null,
  artifacts: null,
}

/**
 * Relative to the attempt's folder. The sides are one letter in what the benchmark sees: the size of the environment
 * moves the stack, so a longer name on one side alone would bias the comparison (Mytkowicz et al. 2009).
 */
function outputNames({ stage, pair, side }: SampleRequest) {
  const letter = side === 'parent' ? 'a' : 'b'
  return {
    sample: `${stage}-${pair}-${letter}`,
    /** Of this sample's files that are not told to the benchmark. */
    stem: `samples/${stage}-${pair}-${side}`,
    stdout: `samples/${stage}-${pair}-${side}.out`,
    stderr: `samples/${stage}-${pair}-${side}.err`,
    result: `samples/${stage}-${pair}-${letter}.json`,
    traces: `samples/${stage}-${pair}-${letter}.traces`,
  }
}

/** Everything that a sample leaves in the attempt's folder; what `before` and `after` say is clean already. */
const writtenBy = ({ stem, stdout, stderr, result, traces }: Names): string[] => [
  ...[stdout, stderr, result, traces],
  ...[`${stem}.output`, `${stem}.score.out`, `${stem}.score.err`],
]

async function runOnce(request: SampleRequest, names: Names): Promise<Executed> {
  const { config, folder, checkout } = request
  const at = (name: string) => join(folder, name)
  const artifacts = request.artifacts ?? at('artifacts')
  for (const made of [names.result, names.traces]) removeTree(at(made))
  for (const needed of [at(names.traces), artifacts]) mkdirSync(needed, { recursive: true })
  const temporary = mkdtempSync(join(tmpdir(), 'assay-'))
  const scene: Scene = {
    request,
    names,
    values: { worktree: checkout, result: at(names.result) },
    env: {
      ...request.environment,
      TMPDIR: temporary,
      ASSAY_RESULT: at(names.result),
      ASSAY_TRACES: at(names.traces),
      ASSAY_ARTIFACTS: artifacts,
      ASSAY_EXPERIMENT: request.experiment,
      ASSAY_SAMPLE: names.sample,
      ASSAY_SEED: String(request.seed),
      ASSAY_SLOT: String(request.slot),
      ASSAY_PORT: String(await freePort()),
    },
  }
  try {
    const begun = config.before && (await aside(scene, 'before', config.before))
    const done = begun ? { ended: null, reading: broken(begun) } : await measureAndScore(scene)
    // Also after a failure or an interruption: what `before` began must not outlive the sample.
    const unclean = config.after && (await aside(scene, 'after', config.after))
    return unclean && done.reading.ok ? { ...done, reading: broken(unclean) } : done
  } finally {
    request.ended?.()
    removeTree(temporary)
    dropIfEmpty(at(names.traces))
    // Only now: the answer was read from what the benchmark wrote, to the byte.
    for (const name of writtenBy(names)) redactStored(at(name))
  }
}

type Names = ReturnType<typeof outputNames>

interface Scene {
  request: SampleRequest
  names: Names
  /** For the placeholders of commands. */
  values: Record<string, string>
  env: Record<string, string>
}

const broken = (fault: SampleFault): ReadAnswer => ({ ok: false, fault })

/** `before` or `after`: a failure is the environment's, since neither is the candidate's work. */
async function aside(
  { request, names, values, env }: Scene,
  which: 'before' | 'after',
  { command, timeoutMs }: StepConfig,
): Promise<SampleFault | null> {
  const done = await runPreparation({
    name: `${names.stem}.${which}`,
    command: fillIn(command, values),
    timeoutMs,
    cwd: join(request.checkout, request.config.directory),
    environment: env,
    folder: request.folder,
    folders: [request.checkout, ...(env.TMPDIR ? [env.TMPDIR] : [])],
    signal: which === 'before' ? request.signal : undefined,
  })
  if (!done.fault || done.fault.reason === 'aborted') return done.fault
  return { ...done.fault, reason: 'environment', message: `measure.${which} failed: ${done.fault.message}` }
}

async function measureAndScore(scene: Scene): Promise<Executed> {
  const { request, names, values, env } = scene
  const { config, folder, checkout, signal } = request
  const missing = config.requires.find((path) => !existsSync(join(checkout, path)))
  if (missing !== undefined) return { ended: null, reading: broken(notBuilt(missing)) }
  const at = (name: string) => join(folder, name)
  const cwd = join(checkout, config.directory)
  // Nobody but the sample has business in the checkout of a slot, or in its own temporary folder.
  const folders = [checkout, ...(env.TMPDIR ? [env.TMPDIR] : [])]
  const shared = { cwd, outputCap: config.outputBytes, folders, signal }
  const ended = await supervise({
    ...shared,
    command: fillIn(config.command, values),
    env,
    timeoutMs: config.timeoutMs,
    stdout: at(names.stdout),
    stderr: at(names.stderr),
  })
  const fault = faultOfEnding(ended, config.timeoutMs, tailOf(at(names.stderr), STDERR_TAIL))
  if (fault !== null) return { ended, reading: broken(fault) }
  const answer = { ...request, read: config.read, ended, result: at(names.result) }
  if (!config.score)
    return {
      ended,
      reading: await readFiles({ ...answer, stdout: at(names.stdout), stderr: at(names.stderr) }),
    }
  request.scoring?.()
  // The measured program is the candidate's: what it says of itself is not the score.
  const output = at(`${names.stem}.output`)
  removeTree(output)
  if (existsSync(at(names.result))) renameSync(at(names.result), output)
  const [stdout, stderr] = [at(`${names.stem}.score.out`), at(`${names.stem}.score.err`)]
  const scored = await supervise({
    ...shared,
    command: fillIn(config.score.command, values),
    env: { ...env, ASSAY_STDOUT: at(names.stdout), ASSAY_OUTPUT: output },
    timeoutMs: config.score.timeoutMs,
    stdout,
    stderr,
  })
  const failed = faultOfEnding(scored, config.score.timeoutMs, tailOf(stderr, STDERR_TAIL))
  if (failed) return { ended, reading: broken({ ...failed, message: `measure.score: ${failed.message}` }) }
  return { ended, reading: await readFiles({ ...answer, stdout, stderr }) }
}

const notBuilt = (path: string): SampleFault => ({
  reason: 'crash',
  failure_class: 'build',
  message: `${path} is not there after setup and build (measure.requires)`,
})

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

function dropIfEmpty(folder: string): void {
  try {
    rmdirSync(folder)
  } catch {
    // The benchmark wrote traces.
  }
}
