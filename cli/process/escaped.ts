/** Ends processes of a job that left its process group. `supervise.ts` calls it when a job has ended. */
import { setTimeout as pause } from 'node:timers/promises'
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
