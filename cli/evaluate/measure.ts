import { createReadStream, existsSync, mkdirSync, mkdtempSync, rmdirSync, rmSync, statSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { loadavg, tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Sample, SampleFault, Side, Stage } from '../ledger/events.ts'
import { type Supervised, supervise } from '../process.ts'
import { type CommandLine, fillIn } from './command.ts'
import { faultOfEnding } from './ending.ts'
import type { EnvironmentConfig } from './environment.ts'
import { lineParser, type ParsedLines } from './lines.ts'
import { type Aggregate, type Answer, type Read, type ReadAnswer, readAnswer } from './metrics.ts'
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
}

export const DEFAULT_OUTPUT_BYTES = 64 * 1024 * 1024

/** Metrics of every sample that Assay records itself; the benchmark's own of the same name wins. */
export const RECORDED = ['wall_ms', 'cpu_ms', 'peak_mb'] as const

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
}

const RESULT_BYTES = 16 * 1024 * 1024
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
    stdout: `samples/${stage}-${pair}-${side}.out`,
    stderr: `samples/${stage}-${pair}-${side}.err`,
    result: `samples/${stage}-${pair}-${letter}.json`,
    traces: `samples/${stage}-${pair}-${letter}.traces`,
  }
}

async function runOnce(request: SampleRequest, names: ReturnType<typeof outputNames>): Promise<Executed> {
  const { config, folder, checkout } = request
  const at = (name: string) => join(folder, name)
  const artifacts = request.artifacts ?? at('artifacts')
  for (const made of [names.result, names.traces]) rmSync(at(made), { recursive: true, force: true })
  for (const needed of [at(names.traces), artifacts]) mkdirSync(needed, { recursive: true })
  const temporary = mkdtempSync(join(tmpdir(), 'assay-'))
  try {
    const ended = await supervise({
      command: fillIn(config.command, { worktree: checkout, result: at(names.result) }),
      cwd: join(checkout, config.directory),
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
      timeoutMs: config.timeoutMs,
      stdout: at(names.stdout),
      stderr: at(names.stderr),
      outputCap: config.outputBytes,
      signal: request.signal,
    })
    const fault = faultOfEnding(ended, config.timeoutMs, tailOf(at(names.stderr), STDERR_TAIL))
    if (fault !== null) return { ended, reading: { ok: false, fault } }
    return { ended, reading: await read(request, names, ended) }
  } finally {
    rmSync(temporary, { recursive: true, force: true, maxRetries: 3 })
    dropIfEmpty(at(names.traces))
  }
}

async function read(
  request: SampleRequest,
  names: ReturnType<typeof outputNames>,
  ended: Supervised,
): Promise<ReadAnswer> {
  const { config, metric, folder } = request
  const result = join(folder, names.result)
  let resultFile: string | null = null
  if (existsSync(result)) {
    if (!statSync(result).isFile()) return refuse('the result file is not a file')
    if (statSync(result).size > RESULT_BYTES) return refuse('the result file is larger than 16 MiB')
    resultFile = await readFile(result, 'utf8')
  }
  const regex = typeof config.read === 'object' ? compile(config.read.regex) : undefined
  if (regex === null) return refuse('measure.read.regex is not a valid pattern')
  const lines = await parseFile(join(folder, names.stdout), metric.name, regex)
  const recorded = Object.fromEntries(
    Object.entries({
      wall_ms: ended.ms,
      cpu_ms: ended.cpuMs,
      peak_mb: ended.peakMb,
      ...request.known,
    }).filter((entry): entry is [string, number] => entry[1] !== null),
  )
  const evidence = { read: config.read, metric, aggregate: request.aggregate, resultFile, lines, recorded }
  const reading = readAnswer(evidence)
  if (reading.ok)
    return { ok: true, answer: { ...reading.answer, metrics: { ...recorded, ...reading.answer.metrics } } }
  const onStderr = await parseFile(join(folder, names.stderr), metric.name, undefined)
  return readAnswer({ ...evidence, elsewhere: [...onStderr.metrics.keys()] })
}

async function parseFile(path: string, metric: string, regex: RegExp | undefined): Promise<ParsedLines> {
  const parser = lineParser({ metric, ...(regex && { regex }) })
  for await (const chunk of createReadStream(path, { encoding: 'utf8' })) parser.push(chunk as string)
  return parser.end()
}

function compile(pattern: string): RegExp | null {
  try {
    return new RegExp(pattern)
  } catch {
    return null
  }
}

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

const refuse = (message: string): { ok: false; fault: SampleFault } => ({
  ok: false,
  fault: { reason: 'metric_error', message },
})
