/** What the commands of an attempt printed: which parts there are, the end of one, and what is printed right now. */
import { statSync } from 'node:fs'
import { join } from 'node:path'
import { tailOf } from '../evaluate/command.ts'
import type { Sample, StepLine } from '../ledger/events.ts'
import type { Attempt, Experiment } from '../ledger/state.ts'
import { gatesOf, samplesOf, stepsToShow } from '../ledger/steps.ts'
import { call, next } from '../next.ts'
import { attemptFolder } from '../paths.ts'
import { fail, ok, type Result } from '../result.ts'
import type { OpenRun } from '../run/open.ts'

/** Bytes of a log that are shown: its end. */
const MOST_LOG = 256 * 1024

export interface LogPart {
  kind: 'setup' | 'build' | 'gate' | 'sample'
  /** The gate's name; of a sample its stage, pair and side, as its files are called. */
  name: string
  /** null while it is not known, or where it is not judged (the parent's samples). */
  passed: boolean | null
  /** Absolute. A gate, setup and build have one file for both streams. */
  stdout: string
  stderr: string | null
}

export interface LogAnswer {
  experiment: string
  attempt: number
  kind: LogPart['kind']
  name: string
  stream: 'stdout' | 'stderr'
  output: string
  /** Only the end is there. */
  cut: boolean
  /** The part has more in its other stream. */
  elsewhere: boolean
  parts: Pick<LogPart, 'kind' | 'name' | 'passed'>[]
}

/** The last attempt of which something was started. */
export function attemptWithLog(node: Experiment): Result<Attempt> {
  const attempt = node.attempts.findLast(({ claim }) => claim !== null)
  if (attempt) return ok(attempt)
  return fail({
    kind: 'refused',
    code: 'no_log',
    message: `no command of ${node.id} was started yet`,
    hint: next`measure it: ${call('run', node.id)}`,
  })
}

/** In the order in which they were recorded. Samples on held-out data are never shown. */
export function logPartsOf(run: OpenRun, node: Experiment, { attempt }: Attempt): LogPart[] {
  const folder = attemptFolder(run.paths, node.id, attempt)
  const steps = stepsToShow(folder)
  return [
    ...prepared(folder, steps),
    ...gatesOf(steps).map(({ name, passed }) => ({
      kind: 'gate' as const,
      name,
      passed,
      stdout: join(folder, 'gates', `${name}.out`),
      stderr: null,
    })),
    ...samplesOf(steps)
      .filter(({ stage }) => stage !== 'holdout')
      .map((sample) => ({
        kind: 'sample' as const,
        name: nameOfSample(sample),
        passed: sample.side === 'candidate' ? sample.fault === null : null,
        stdout: join(folder, sample.stdout),
        stderr: join(folder, sample.stderr),
      })),
  ]
}

const nameOfSample = ({ stage, pair, side }: Sample): string => `${stage}-${pair}-${side}`

function prepared(folder: string, steps: readonly StepLine[]): LogPart[] {
  const ended = steps.findLast((line) => line.step === 'build' && line.state === 'ended')
  const detail = ended && 'detail' in ended ? (ended.detail as { setup?: unknown; build?: unknown }) : null
  return (['setup', 'build'] as const).flatMap((kind) => {
    const stdout = join(folder, `${kind}.out`)
    if (!statSync(stdout, { throwIfNoEntry: false })?.isFile()) return []
    return [{ kind, name: kind, passed: detail && !detail[kind], stdout, stderr: null }]
  })
}

export interface LogQuestion {
  /** Absent: the part that ended the attempt, else its last sample. */
  kind?: LogPart['kind']
  /** The gate's name, or the sample's name or number from 1; absent: the last. */
  name?: string
  stderr: boolean
}

export function logOf(run: OpenRun, node: Experiment, question: LogQuestion): Result<LogAnswer> {
  const attempt = attemptWithLog(node)
  if (!attempt.ok) return attempt
  const parts = logPartsOf(run, node, attempt.value)
  const part = chosen(parts, question)
  const { attempt: number } = attempt.value
  if (part === undefined)
    return fail({
      kind: 'refused',
      code: 'no_log',
      message: `attempt ${number} of ${node.id} has no output of ${wordsOf(question)}`,
      hint:
        parts.length === 0
          ? next`nothing has ended yet; follow what runs now: ${call('log', node.id, '--follow')}`
          : `it has: ${[...new Set(parts.map(({ kind, name }) => (kind === 'gate' ? `gate ${name}` : kind)))].join(', ')}`,
    })
  const stream = question.stderr && part.stderr !== null ? 'stderr' : 'stdout'
  const file = stream === 'stderr' && part.stderr !== null ? part.stderr : part.stdout
  const other = stream === 'stderr' ? part.stdout : part.stderr
  return ok({
    experiment: node.id,
    attempt: number,
    kind: part.kind,
    name: part.name,
    stream,
    output: tailOf(file, MOST_LOG),
    cut: sizeOf(file) > MOST_LOG,
    elsewhere: other !== null && sizeOf(other) > 0,
    parts: parts.map(({ kind, name, passed }) => ({ kind, name, passed })),
  })
}

function chosen(parts: readonly LogPart[], { kind, name }: LogQuestion): LogPart | undefined {
  if (kind === undefined) {
    const failed = parts.findLast(({ passed }) => passed === false)
    return failed ?? parts.findLast((part) => part.kind === 'sample' && part.passed !== null) ?? parts.at(-1)
  }
  const all = parts.filter((part) => part.kind === kind)
  if (name === undefined) return all.at(-1)
  const byNumber = kind === 'sample' && /^[1-9]\d*$/.test(name) ? all[Number(name) - 1] : undefined
  return byNumber ?? all.findLast((part) => part.name === name)
}

const wordsOf = ({ kind, name }: LogQuestion): string =>
  [kind === undefined ? 'any command' : kind === 'gate' || kind === 'sample' ? `a ${kind}` : kind, name]
    .filter(Boolean)
    .join(' ')

const sizeOf = (file: string): number => statSync(file, { throwIfNoEntry: false })?.size ?? 0
