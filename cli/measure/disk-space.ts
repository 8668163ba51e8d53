/**
 * Disk space: how much checkouts take and how much is left, when to warn (`new`, rounds, `doctor`), when to begin nothing more, and
 * whether a job that failed had filled the disk by itself (`DiskWatch`, made for each job in a slot).
 */

import { existsSync, lstatSync, opendirSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { counted } from '../evaluate/figure.ts'
import { fileJson, freeBytes, namesIn } from '../files.ts'
import type { SampleFault } from '../ledger/events.ts'
import { attemptsUsed, BASELINE, type Experiment, newestOf, type State } from '../ledger/state.ts'
import { call, next } from '../next.ts'
import { checkoutFile, experimentFolder, experimentId, type Site, worktreePath } from '../paths.ts'
import type { Problem } from '../result.ts'
import { liveSpec, type RunRecord } from '../run/open.ts'
import { RecordLost } from './steps.ts'

/** Sizes in bytes, as they lie on the disk. */
export interface DiskSpace {
  /** Free space where the state is; null = unknown. */
  free: number | null
  /** A checkout, with its data and what setup and build leave; null before there is one. */
  checkout: number | null
  /** Outputs and artifacts of an attempt: the largest of the last few attempts. */
  attempt: number
  /** Worktrees that the coming round may make, at most. */
  coming: number
  /** Worktrees of experiments that have ended. */
  ended: number
}

/** From this number on the CLI warns, even if the disk has room: git reads the registrations of all worktrees when it packs or prunes. */
export const MANY_WORKTREES = 500

/** Warnings that a person should act on, one sentence each; empty when there are none. Pure. */
export function spaceWarnings({ free, checkout, attempt, coming, ended }: DiskSpace): string[] {
  const warnings: string[] = []
  const each = (checkout ?? 0) + attempt
  const held = ended * (checkout ?? 0)
  const done =
    ended === 0 ? '' : `; ${counted(ended, 'worktree')} of ended experiments hold about ${size(held)}`
  if (free !== null && free < coming * each) {
    warnings.push(
      `${size(free)} are free on the disk that holds .assay, and the next step may need ${size(coming * each)} (${counted(coming, 'worktree')}, about ${size(each)} each with its outputs)${done}: free some space, first with assay gc`,
    )
  } else if (ended >= MANY_WORKTREES || (free !== null && held > free)) {
    warnings.push(
      `${counted(ended, 'worktree')} of ended experiments hold about ${size(held)}${free === null ? '' : `, and ${size(free)} are free`}: assay gc deletes these worktrees; all candidates stay in the store`,
    )
  }
  return warnings
}

const MIB = 1024 * 1024

function size(bytes: number): string {
  const mib = bytes / MIB
  if (mib >= 1024) return `${(mib / 1024).toFixed(1)} GiB`
  return `${mib >= 10 ? Math.round(mib) : mib.toFixed(1)} MiB`
}

/** What a look at a run needs of it. */
type Look = Pick<RunRecord, 'site' | 'run' | 'paths' | 'begun'> & { ledger: { state: State } }

/** From the current state. `coming`: the worktrees that the caller is about to make, by default those of a round. */
export function warnOfDiskSpace(run: Look, coming = worktreesAhead(run)): string[] {
  return spaceWarnings({
    free: freeBytes(run.site.state),
    checkout: checkoutBytes(run),
    attempt: attemptBytes(run),
    coming,
    ended: endedWorktrees(run),
  })
}

/** The most worktrees that a round can make: one for each lane and depth, but no more than the budget has experiments left. By hand it is one. */
function worktreesAhead(run: Look): number {
  const { state } = run.ledger
  const { knobs } = state
  if (liveSpec(run).agent === null || knobs === null) return 1
  const left = knobs.experiments === null ? Number.POSITIVE_INFINITY : knobs.experiments - state.claims
  return Math.max(0, Math.min(knobs.width * knobs.depth, left))
}

/** Why the worktree of an experiment is still worked with, as a sentence; null once it has ended. */
export function unfinished(state: State, node: Experiment): string | null {
  if (node.status === 'open') return 'it has no verdict yet'
  if (node.status === 'running') return 'it is being judged'
  const repairs = node.status === 'rejected' || node.status === 'failed'
  if (repairs && attemptsUsed(node) < (state.knobs?.max_attempts ?? 0))
    return `it may be repaired: assay discard ${node.id}`
  return null
}

function endedWorktrees({ site, run, ledger: { state } }: Look): number {
  return worktreesOf({ site, run }).filter((experiment) => {
    const node = state.experiments.get(experiment)
    return node !== undefined && unfinished(state, node) === null
  }).length
}

/** Experiments whose worktrees are there, in no order. */
function worktreesOf({ site, run }: Pick<Look, 'site' | 'run'>): string[] {
  const first = worktreePath(site, run, BASELINE)
  const prefix = first.slice(dirname(first).length + 1, -'0000'.length)
  return namesIn(dirname(first)).flatMap((name) => {
    const number = name.startsWith(prefix) ? name.slice(prefix.length) : ''
    return /^\d{4,}$/.test(number) ? [experimentId(Number(number))] : []
  })
}

/** Space for the last lines of the record: a job that fails for lack of space frees at least this much when its files are removed. */
const LEAST_ROOM = MIB

/** The problem when there is too little space to begin anything; `what` says what was not begun. */
export function noDiskSpace({ site }: Pick<Look, 'site'>, what: string): Problem | null {
  const free = freeBytes(site.state)
  return free !== null && free < LEAST_ROOM ? diskFull(what, site.state) : null
}

export const diskFull = (what: string, at: string): Problem => ({
  kind: 'failed',
  code: 'disk_full',
  message: `the disk is full: ${what}`,
  hint: next`free some space, first with ${call('gc')}, then run the same command again`,
  at,
})

/** The size that was measured when the run began: to walk over all files would be too slow for every command. */
const checkoutBytes = ({ paths }: Look): number | null =>
  fileJson<{ bytes: number }>(checkoutFile(paths))?.bytes ?? null

/** Measures a checkout that is set up, unless one was measured before. If it cannot be written, nothing happens: it is only an estimate. */
export function rememberCheckout({ paths }: Pick<Look, 'paths'>, path: string): void {
  const file = checkoutFile(paths)
  if (existsSync(file)) return
  try {
    writeFileSync(file, JSON.stringify({ bytes: diskSizeOf(path) }))
  } catch {
    // A full disk is reported by the next step that writes.
  }
}

const LAST = 5
/** Of one folder: artifacts of a hundred thousand files would slow every command that looks. With more, the estimate is too low. */
const MOST_FILES = 2000

function attemptBytes({ ledger: { state }, paths }: Look): number {
  const judged = newestOf(state, 4 * LAST).filter(({ judgedSeq }) => judgedSeq !== null)
  return Math.max(
    0,
    ...judged.slice(0, LAST).map(({ id }) => diskSizeOf(experimentFolder(paths, id), MOST_FILES)),
  )
}

/**
 * Bytes on the disk of all files below, links as themselves; a file that vanishes meanwhile counts 0. A hard link
 * to a file elsewhere counts 0, too (packages that are linked from a store). Ends after `most` files and
 * folders, in no order.
 */
export function diskSizeOf(path: string, most = Number.POSITIVE_INFINITY): number {
  let bytes = 0
  let left = most
  const open = [path]
  for (let next = open.pop(); next !== undefined && left > 0; next = open.pop()) {
    left--
    try {
      const stat = lstatSync(next)
      if (stat.isDirectory()) open.push(...entries(next, left))
      else if (stat.nlink === 1) bytes += stat.blocks * 512
    } catch {
      // It went away.
    }
  }
  return bytes
}

/** Paths in a folder, as many at most. */
function entries(folder: string, most: number): string[] {
  const paths: string[] = []
  const reader = opendirSync(folder)
  try {
    while (paths.length < most) {
      const entry = reader.readSync()
      if (entry === null) break
      paths.push(join(folder, entry.name))
    }
  } finally {
    reader.closeSync()
  }
  return paths
}

// ---------------------------------------------------------------- whether a job filled the disk with its own files: then the job is at fault, not the machine

/** Bytes: less than any file that matters. */
const FULL = 64 * 1024

/** What is free where checkouts and outputs lie, and where temporary folders do; null = it cannot be told. */
type Free = readonly (number | null)[]
const freeNow = (site: Site): Free => [freeBytes(site.state), freeBytes(tmpdir())]

/** Made before a job of the slot begins; it tells afterwards whether the job filled the disk. */
export class DiskWatch {
  readonly #site: Site
  readonly #before: Free
  #full: Free

  constructor(site: Site) {
    this.#site = site
    this.#before = freeNow(site)
    this.#full = this.#before
  }

  /** Called when the job has ended, and before its files are removed. */
  ended = (): void => {
    this.#full = freeNow(this.#site)
  }

  get isFull(): boolean {
    return this.#full.some((free) => free !== null && free < FULL)
  }

  /**
   * The fault, once its files are removed: its own when the disk was full and most of what was free at its start is
   * free again. When the disk of the state stays full, a different program filled it and the fault says nothing: `RecordLost`.
   */
  blame(fault: SampleFault | null): SampleFault | null {
    if (fault === null || fault.reason === 'aborted') return fault
    const now = freeNow(this.#site)
    const own = this.#full.map((full, index) => {
      const [before, after] = [this.#before[index] ?? null, now[index] ?? null]
      if (full === null || before === null || after === null || full >= FULL) return 0
      return after - full >= Math.max(FULL, before / 2) ? after - full : 0
    })
    const freed = Math.max(...own)
    if (freed === 0) {
      const left = now[0] ?? null
      if (left !== null && left < FULL)
        throw new RecordLost(diskFull(`a measurement failed (${fault.message})`, this.#site.state))
      return fault
    }
    return {
      ...fault,
      reason: 'crash',
      message: `it filled the disk: removing its files freed ${(freed / MIB).toFixed(1)} MiB (${fault.message})`,
    }
  }
}
