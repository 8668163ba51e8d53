/** Processes of ours whose owner died before it could end them: daemons that a benchmark left its group with. */
import { setTimeout as pause } from 'node:timers/promises'
import { fileText } from '../files.ts'
import {
  identify,
  isAlive,
  measuredFor,
  ownersOf,
  type ProcessIdentity,
  pidSpace,
  spaceOf,
  stateMark,
} from './identity.ts'
import {
  environmentOf,
  type FileId,
  HAS_PROC,
  isDead,
  ownedByUs,
  pids,
  readStat,
  worksIn,
  writesTo,
} from './proc.ts'

export interface Orphan {
  process: ProcessIdentity
  owners: ProcessIdentity[]
  /** Its command line, at most 200 characters. */
  command: string
}

/**
 * Every process of our user that carries a token of which every owner is proved dead. One whose outer owner lives is
 * that one's to end. Ourselves and what we descend from are never among them. Processes of another pid namespace are only
 * when their owners were in ours: when a command is killed while bubblewrap starts, the first process of the namespace
 * waits for ever for the rest of bubblewrap. Empty off Linux.
 */
export function findOrphans(): Orphan[] {
  if (!HAS_PROC) return []
  const family = ancestors()
  const found: Orphan[] = []
  for (const pid of pids()) {
    if (family.has(pid) || !ownedByUs(pid)) continue
    const orphan = orphanOf(pid)
    if (orphan) found.push(orphan)
  }
  return found
}

/** Ends the process if it is still the same process, and still an orphan. */
export function endOrphan({ process: { pid, started } }: Orphan): boolean {
  const now = orphanOf(pid)
  if (now?.process.started !== started) return false
  try {
    process.kill(pid, 'SIGKILL')
    return true
  } catch {
    return false
  }
}

/**
 * The folders of state that this process is measured for, by its own token and those of the processes above it: who takes
 * the token out of the environment of a child keeps its own. Empty off Linux.
 */
export function measuredHere(): string[] {
  if (!HAS_PROC) return []
  const tokens = new Set([...ancestors()].flatMap((pid) => tokenOf(pid) ?? []))
  return [...new Set([...tokens].flatMap(measuredFor))]
}

/** The command line of a process that no measurement started and that this process does not descend from; else null. */
export function strangerOf(pid: number): string | null {
  if (identify(pid) === null || tokenOf(pid) !== null || ancestors().has(pid)) return null
  return commandOf(pid)
}

const LOOK_MS = 5
/** After this many checks, a killed process that still lives is given up. */
const LOOKS = 200

/**
 * Whether its token names the folder, the state of a repository, or its environment a file below it. What is isolated
 * sees its files somewhere else.
 */
export function belongsTo({ process: { pid } }: Orphan, folder: string): boolean {
  const parts = (tokenOf(pid) ?? '').split('.')
  return (
    parts.some((part) => part.endsWith(stateMark(folder))) ||
    environmentOf(pid).includes(`=${latin1(folder)}/`)
  )
}

/** A path as an environment is read: each of its bytes a character. */
const latin1 = (path: string): string => Buffer.from(path).toString('latin1')

/**
 * Ends every orphan that belongs to the folder, and answers them once they are gone, with their ports and files. Leftovers
 * of dead runs in other repositories are only named, by `doctor`.
 */
export async function endOrphans(folder: string): Promise<Orphan[]> {
  const ended = findOrphans().filter((one) => belongsTo(one, folder) && endOrphan(one))
  for (let look = 0; look < LOOKS && ended.some((one) => isAlive(one.process)); look++) await pause(LOOK_MS)
  return ended
}

function orphanOf(pid: number): Orphan | null {
  const token = tokenOf(pid)
  const owners = token === null ? null : ownersOf(token)
  if (owners === null || owners.some(isAlive)) return null
  // In a namespace of its own, one from outside of Assay may mean another process by the same number.
  if (spaceOf(pid) !== spaceOf('self') && owners.some(({ space }) => space !== pidSpace())) return null
  const itself = identify(pid)
  return itself && { process: itself, owners, command: commandOf(pid) }
}

function tokenOf(pid: number): string | null {
  const found = environmentOf(pid)
    .split('\0')
    .find((entry) => entry.startsWith('ASSAY_TOKEN='))
  return found === undefined ? null : found.slice('ASSAY_TOKEN='.length)
}

function ancestors(): Set<number> {
  const found = new Set<number>()
  for (let pid = process.pid; pid > 0 && !found.has(pid); pid = parentOf(pid)) found.add(pid)
  return found
}

const parentOf = (pid: number): number =>
  Number(/^PPid:\s*(\d+)/m.exec(fileText(`/proc/${pid}/status`) ?? '')?.[1] ?? 0)

function commandOf(pid: number): string {
  return (fileText(`/proc/${pid}/cmdline`) ?? '').replaceAll('\0', ' ').trim().slice(0, 200)
}

// ---------------------------------------------------------------- processes of a job that left its process group
// `supervise.ts` ends them when a job has ended.

/** By what a process is known to belong to a job. */
export interface JobMarks {
  /** The random value that the job's environment carried. */
  token: string
  /** The files that its output went to. */
  files: FileId[]
  /** Folders (real paths) that only the job may use. */
  folders: readonly string[]
  /** Start of the job's first process, in ticks: whatever is older cannot descend from it. */
  since: number
  /** The job's own process group, which is ended by other means. */
  group: number
}

/** Most passes: a process that forks faster than it is ended would never let the search end. */
const PASSES = 40
/** A process in the middle of `exec` shows no environment for a moment; one that has none shows none for ever. */
const PASSES_FOR_UNSURE = 2
/** Between passes: what was killed is mostly gone after the first. */
const PAUSES_MS = [1, 2, 4]
const LAST_PAUSE_MS = 8
const PASSES_AT_ONCE = 5

/**
 * Ends every process of our user that carries the token, can write to an output file or works in a folder of the job:
 * daemons that left the group (`setsid`, `disown`, a double fork). Repeats until a pass finds none, and none of the
 * group; answers those that had left the group. A process that dropped all three is out of reach. Off Linux there is no /proc to search: only the group
 * is ended.
 */
export async function endEscaped(marks: JobMarks): Promise<ReadonlySet<number>> {
  if (!HAS_PROC) return new Set()
  const ended = new Set<number>()
  let unsurePasses = 0
  for (let pass = 0; pass < PASSES; pass++) {
    const { escaped, group, unsure } = search(marks)
    if (escaped.length === 0 && group.length === 0 && (!unsure || unsurePasses++ >= PASSES_FOR_UNSURE)) break
    for (const pid of [...escaped, ...group]) kill(pid)
    for (const pid of escaped) ended.add(pid)
    await pause(PAUSES_MS[pass] ?? LAST_PAUSE_MS)
  }
  return ended
}

/** The same for callers that must not wait, the group included: a few passes without a pause. */
export function endEscapedNow(marks: JobMarks): void {
  for (let pass = 0; HAS_PROC && pass < PASSES_AT_ONCE; pass++) {
    const { escaped, group } = search(marks)
    if (escaped.length === 0 && group.length === 0) return
    for (const pid of [...escaped, ...group]) kill(pid)
  }
}

function search(marks: JobMarks) {
  const { since, group } = marks
  const found = { escaped: [] as number[], group: [] as number[], unsure: false }
  for (const pid of pidsUntilNoneIsNew()) {
    const stat = pid === process.pid ? null : readStat(pid)
    if (stat === null || isDead(stat.state) || stat.started < since || !ownedByUs(pid)) continue
    if (stat.group === group) {
      found.group.push(pid)
      continue
    }
    const left = carriesJobMark(pid, marks)
    if (left) found.escaped.push(pid)
    else if (left === null && !stat.kernel) found.unsure = true
  }
  return found
}

/** Most listings of one search, as for `PASSES`. */
const LISTINGS = 20

/** Also those that began meanwhile: one that was listed may have started its successor and ended before it was looked at. */
function* pidsUntilNoneIsNew(): Generator<number> {
  const seen = new Set<number>()
  for (let listing = 0; listing < LISTINGS; listing++) {
    const added = pids().filter((pid) => !seen.has(pid))
    if (added.length === 0) return
    for (const pid of added) {
      seen.add(pid)
      yield pid
    }
  }
}

/** Whether the process belongs to the job, whatever its group; null when it shows no environment, as in the middle of `exec`. */
export function carriesJobMark(pid: number, { token, files, folders }: JobMarks): boolean | null {
  const environment = environmentOf(pid)
  if (environment.includes(token) || writesTo(pid, files) || worksIn(pid, folders)) return true
  return environment === '' ? null : false
}

function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL')
  } catch {
    // It ended by itself.
  }
}
