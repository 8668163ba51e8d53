import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import type { GatePhase, GateResult, SampleFault } from '../ledger/events.ts'
import { cutStored, type Isolation, seenAs, supervise } from '../process.ts'
import { type CommandLine, faultOfEnding, fillIn, tailOf } from './command.ts'
import { redactStored } from './stored.ts'

export interface GateConfig {
  name: string
  command: CommandLine
  phase: GatePhase
  timeoutMs: number
}

export interface PreparationRequest {
  /** `setup`, `build`, …: names the output file. */
  name: string
  command: CommandLine
  timeoutMs: number
  cwd: string
  /** Already built; none of Assay's own paths. */
  environment: Record<string, string>
  /** Existing; gets `<name>.out`, with stdout and stderr in order. */
  folder: string
  isolation?: Isolation | null | undefined
  /** A folder that only the command uses: a process that works there after its end is ended. */
  folders?: readonly string[]
  signal?: AbortSignal | undefined
}

/** `output`: the end of what it printed, at most 4 KiB. */
export interface CommandRun extends Omit<GateResult, 'name' | 'phase'> {
  /** Why it did not pass; null when it did. `environment` and `aborted` are no verdict on the candidate. */
  fault: SampleFault | null
  /** Processes that left its group, and that were ended. */
  escaped: number
  /** All that it left running, and that were ended. */
  left: number
}

export interface GateRequest {
  gate: GateConfig
  /** The spec's folder in a checkout: where the gate runs. */
  checkout: string
  environment: Record<string, string>
  /** Existing; gets `gates/<name>.out`. */
  folder: string
  isolation?: Isolation | null | undefined
  signal?: AbortSignal | undefined
}

const OUTPUT_CAP = 64 * 1024 * 1024
const TAIL = 4096

/** Runs a command whose exit code is its whole answer: setup, build, and what stands behind a gate. Never rejects on its account. */
export async function runPreparation(request: PreparationRequest): Promise<CommandRun> {
  const file = join(request.folder, `${request.name}.out`)
  const isolation = request.isolation ?? null
  const ended = await supervise({
    command: fillIn(request.command, { worktree: seenAs(isolation, request.cwd) }),
    cwd: request.cwd,
    isolation,
    env: request.environment,
    timeoutMs: request.timeoutMs,
    stdout: file,
    stderr: file,
    outputCap: OUTPUT_CAP,
    countsLeft: true,
    ...(request.folders ? { folders: request.folders } : {}),
    signal: request.signal,
  })
  redactStored(file)
  const output = tailOf(file, TAIL)
  cutStored(file)
  const fault = faultOfEnding(ended, request.timeoutMs, output)
  return {
    passed: fault === null,
    exit: ended.code,
    signal: ended.signal,
    timed_out: ended.timedOut,
    wall_ms: ended.ms,
    output,
    fault,
    escaped: ended.escaped,
    left: ended.left,
  }
}

/** The exit code is the verdict, unless `fault` says that the gate itself could not run. */
export async function runGate(
  request: GateRequest,
): Promise<GateResult & Pick<CommandRun, 'fault' | 'escaped' | 'left'>> {
  const { gate, checkout, environment, isolation = null, signal } = request
  const folder = join(request.folder, 'gates')
  mkdirSync(folder, { recursive: true })
  const done = await runPreparation({
    name: fileName(gate.name),
    command: gate.command,
    timeoutMs: gate.timeoutMs,
    cwd: checkout,
    environment,
    folder,
    isolation,
    folders: [checkout],
    signal,
  })
  return { name: gate.name, phase: gate.phase, ...done }
}

/** A gate may be called anything; a file may not. */
const fileName = (name: string): string => encodeURIComponent(name).replaceAll('.', '%2E').slice(0, 100)
