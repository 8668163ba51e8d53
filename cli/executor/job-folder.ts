/**
 * The folder of a job, which both sides see: the submitting machine writes `job.sh`, what is measured and `submitted.json`; the
 * node writes its claim, the record and last `result.json`. Over NFS only whole files that were renamed into place are read.
 */
import {
  closeSync,
  existsSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { fileJson } from '../files.ts'
import { asIdentity, identify, type ProcessIdentity } from '../process.ts'
import type { Problem } from '../result.ts'
import type { JobId } from './executor.ts'

/** What the node wrote last. A scheduler's state never stands in for it. */
export interface JobResult<Answer = unknown> {
  v: 1
  key: string
  attempt: number
  /** Of the record, as it was when the result was written. */
  steps: { sha256: string; lines: number }
  /** When the work began and ended, by the clock of the node. */
  began: string
  ended: string
  outcome: { ok: true; answer: Answer } | { ok: false; problem: Problem }
}

export const RESULT = 'result.json'

/** Whole or not at all, also after the power of the node fails. */
export function writeWhole(file: string, text: string): void {
  const fresh = `${file}.new-${process.pid}`
  const open = openSync(fresh, 'w', 0o600)
  try {
    writeFileSync(open, text)
    fsyncSync(open)
  } finally {
    closeSync(open)
  }
  renameSync(fresh, file)
  syncFolder(join(file, '..'))
}

/** NFS keeps what a folder holds for a while; to open it asks the server again. */
export function syncFolder(folder: string): void {
  try {
    const open = openSync(folder, 'r')
    fsyncSync(open)
    closeSync(open)
  } catch {
    // Not every file system does that for folders.
  }
}

/** Last of all that a node writes. */
export const writeResult = (folder: string, result: JobResult): void =>
  writeWhole(join(folder, RESULT), JSON.stringify(result))

/** null when there is none, or none that is whole, or that of a different attempt. */
export function readResult<Answer>(
  folder: string,
  { key, attempt }: Pick<JobResult, 'key' | 'attempt'>,
): JobResult<Answer> | null {
  syncFolder(folder)
  const found = fileJson<Partial<JobResult<Answer>>>(join(folder, RESULT))
  const whole = found?.v === 1 && found.outcome !== undefined && found.steps !== undefined
  return whole && found.key === key && found.attempt === attempt ? (found as JobResult<Answer>) : null
}

/** What the submitting machine knows of a submission. */
export interface JobNote {
  id?: JobId
  /** Of a job of this machine. */
  process?: ProcessIdentity
}

/** null = there was no submission. */
export function readJobNote(folder: string): JobNote | null {
  return fileJson<JobNote>(join(folder, 'submitted.json'))
}

export function writeJobNote(folder: string, note: JobNote | null): void {
  const file = join(folder, 'submitted.json')
  if (note === null) rmSync(file, { force: true })
  else writeWhole(file, JSON.stringify(note))
}

const WITHDRAWN = 'withdrawn'

/** Nobody waits for the job any more: if it has not begun, it ends at once, also when the engine could not be told. */
export function withdrawJob(folder: string): void {
  if (existsSync(folder)) writeFileSync(join(folder, WITHDRAWN), '')
}

export function isWithdrawn(folder: string): boolean {
  syncFolder(folder)
  return existsSync(join(folder, WITHDRAWN))
}

/** Whether a start of the job has begun. */
export function isClaimed(folder: string): boolean {
  syncFolder(folder)
  return existsSync(folder) && readdirSync(folder).some((name) => name.startsWith(CLAIM))
}

const CLAIM = 'claim-'
const CLAIMANT = 'process.json'

/** The process that measures, and since when (milliseconds of the clock); null when none has begun, or not said so yet. */
export function claimant(folder: string): { process: ProcessIdentity; since: number } | null {
  const file = join(folder, `${CLAIM}0`, CLAIMANT)
  const process = asIdentity(Object(fileJson<unknown>(file)))
  const since = statSync(file, { throwIfNoEntry: false })?.mtimeMs
  return process === null || since === undefined ? null : { process, since }
}

/** Removes what a node needs to begin: it may hold values of variables, and takes space. What the job printed stays. */
export function removeParcel(folder: string): void {
  const later = existsSync(folder) ? readdirSync(folder).filter((name) => /^best[.-]/.test(name)) : []
  for (const name of [...later, 'artifacts', 'trees.bundle', 'parcel.json', 'environment.json', 'held-out'])
    rmSync(join(folder, name), { recursive: true, force: true })
}

/** Whether the job may begin: only the first start of the first job of a key may. `start`: how often the engine began it before. */
export function claimJob(folder: string, start: number): boolean {
  if (start > 0 || isWithdrawn(folder) || isClaimed(folder)) return false
  try {
    const claim = join(folder, `${CLAIM}${start}`)
    mkdirSync(claim)
    writeWhole(join(claim, CLAIMANT), JSON.stringify(identify()))
    return true
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false
    throw error
  }
}

/** What the script takes over from the node, in the words of its shell. */
const OF_NODE = [
  '$' + '{TMPDIR:+TMPDIR="$TMPDIR"}',
  '$' + '{ASSAY_NODE_CACHE:+ASSAY_NODE_CACHE="$ASSAY_NODE_CACHE"}',
  'ASSAY_JOB_STARTS="$' + '{SLURM_RESTART_COUNT:-0}"',
  'ASSAY_JOB_NODE="$' + '{SLURMD_NODENAME:-}"',
]

/**
 * The script of a job. It keeps nothing of the environment that the engine gives it, which may be the user's whole shell with
 * its secrets; only where the node has its temporary files.
 */
export function jobScript(argv: readonly string[], variables: Readonly<Record<string, string>>): string {
  const given = Object.entries(variables).map(([name, value]) => `${name}=${quoted(value)}`)
  return [
    '#!/bin/sh',
    '# Written by Assay: measures for one run, and writes into this folder only.',
    'exec /usr/bin/env -i \\',
    ...given.map((one) => `  ${one} \\`),
    ...OF_NODE.map((one) => `  ${one} \\`),
    `  ${argv.map(quoted).join(' ')}`,
    '',
  ].join('\n')
}

const quoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`
