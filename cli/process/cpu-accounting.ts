/** CPU time and memory of a job's processes, children included that no process waits for. Linux only; elsewhere nothing is ever seen. */

import { carriesJobMark, type JobMarks } from './orphans.ts'
import { isDead, ownedByUs, type ProcessStat, peakMbOf, pids, readStat } from './proc.ts'
import { isWatcher } from './watcher.ts'

let started = 0
let live = 0

export interface RegisteredChild {
  /** True while no other child of this process has lived at the same time as this one. */
  alone(): boolean
  ended(): void
}

/**
 * Counts the children of this process. The kernel adds the CPU time of every reaped child into one sum, so a
 * difference of that sum belongs to one child only if it was alone.
 */
export function registerChild(): RegisteredChild {
  const wasAlone = live === 0
  started += 1
  live += 1
  const mine = started
  let open = true
  return {
    alone: () => wasAlone && started === mine,
    ended: () => {
      if (open) live -= 1
      open = false
    },
  }
}

const FIRST_LOOK_MS = 10
/** When no process waits for a child, what the child did after the last look at it is lost. */
const LOOK_MS = 25
/** Of its own time that the looking may take, when a job has very many processes. */
const SHARE = 1 / 20

export interface Member extends ProcessStat {
  /** CPU time that it was credited for a waited-for child at the last look, and that no child known to us explains. */
  spareMs: number
}

/**
 * The CPU time of one job, by looking at its processes every 25 ms.
 *
 * The kernel tells the CPU time of the children that were waited for, and forgets the others. So whatever a process of
 * the job had used when it was last seen must turn up at the nearest process above it that lives on; what does not
 * was not waited for, and is counted here. Never more than was used: a process may end between two looks and be
 * credited before the first or after the second of them, so credit of the look before may still explain it.
 */
export class CpuAccounting {
  /** MiB: the largest sum, over processes that lived at once, of the largest resident size of each; null when never seen. */
  peakMb: number | null = null
  readonly #root: number
  readonly #marks: JobMarks
  #members = new Map<number, Member>()
  /** Of the machine, looked at once and found to be none of the job. */
  #foreign = new Set<number>()
  #watcher: number | null = null
  /** Of processes that ended and were not waited for. */
  #lostMs = 0
  /** Of the job's first process, and what it had to be credited for: the kernel's sum must reach it. */
  #dueOfRootMs = 0
  #timer: NodeJS.Timeout | undefined

  constructor(root: number, marks: JobMarks) {
    this.#root = root
    this.#marks = marks
    this.#lookIn(FIRST_LOOK_MS)
  }

  /**
   * `waitedFor`: what the kernel tells of the first process, which has ended, and all that was waited for below it.
   * `allEnded`: every other process is known to have ended as well, so none is searched for.
   */
  cpuMs(waitedFor: number, { allEnded }: { allEnded: boolean }): number {
    if (allEnded) this.#lookAt(new Map())
    else this.#look()
    const living = [...this.#members.values()].reduce((sum, one) => sum + usedMs(one), 0)
    return waitedFor + this.#lostMs + Math.max(0, this.#dueOfRootMs - waitedFor) + living
  }

  stop(): void {
    clearTimeout(this.#timer)
  }

  #lookIn(ms: number): void {
    this.#timer = setTimeout(() => {
      const began = performance.now()
      this.#look()
      this.#lookIn(Math.max(LOOK_MS, (performance.now() - began) / SHARE))
    }, ms)
  }

  #look(): void {
    this.#lookAt(this.#find(this.#members))
  }

  #lookAt(members: Map<number, Member>): void {
    const before = this.#members
    this.#members = members
    this.#settle(before)
    const peaks = [...this.#members.keys()].flatMap((pid) => peakMbOf(pid) ?? [])
    if (peaks.length > 0)
      this.peakMb = Math.max(
        this.peakMb ?? 0,
        peaks.reduce((sum, peak) => sum + peak, 0),
      )
  }

  #find(before: ReadonlyMap<number, Member>): Map<number, Member> {
    const found = new Map<number, Member>()
    const foreign = new Set<number>()
    const unsure: [number, ProcessStat][] = []
    for (const pid of pids()) {
      if (this.#foreign.has(pid) || pid === process.pid) {
        foreign.add(pid)
        continue
      }
      const stat = readStat(pid)
      if (stat === null) continue
      const known = before.get(pid)
      if (known?.started === stat.started) found.set(pid, { ...stat, spareMs: known.spareMs })
      else if (stat.kernel || stat.started < this.#marks.since) foreign.add(pid)
      else if (pid === this.#root || stat.group === this.#marks.group) found.set(pid, { ...stat, spareMs: 0 })
      else unsure.push([pid, stat])
    }
    // Its parent is mostly the older one; where numbers began again from 1 it is found at the next look.
    for (const [pid, stat] of unsure) {
      const ours = found.has(stat.parent) || (ownedByUs(pid) && carriesJobMark(pid, this.#marks))
      if (ours) found.set(pid, { ...stat, spareMs: 0 })
      // What is about to become another program shows no environment for a moment: it is asked again.
      else if (ours === false || isDead(stat.state)) foreign.add(pid)
    }
    this.#leaveOutWatcher(found)
    this.#foreign = foreign
    return found
  }

  /** Ours, and one only: a second process that says it is one is the job's. */
  #leaveOutWatcher(found: Map<number, Member>): void {
    for (const [pid, { parent, group }] of this.#watcher === null ? found : []) {
      if (pid === this.#root || group !== this.#marks.group || found.has(parent) || !isWatcher(pid)) continue
      this.#watcher = pid
      break
    }
    if (this.#watcher !== null) found.delete(this.#watcher)
  }

  #settle(before: ReadonlyMap<number, Member>): void {
    if (this.#watcher !== null) before = new Map([...before].filter(([pid]) => pid !== this.#watcher))
    const { members, lostMs, dueOfRootMs } = settle(before, this.#members, this.#root)
    this.#members = members
    this.#lostMs += lostMs
    this.#dueOfRootMs = dueOfRootMs ?? this.#dueOfRootMs
  }
}

/**
 * Settles two looks at the processes of a job: the time of a process that ended between them must have been credited to one
 * above it. `lostMs` is what was credited to none. `dueOfRootMs` is what the kernel's sum of the first process `root` must
 * reach; null while that process lives. `read` reads a process once more.
 */
export function settle(
  before: ReadonlyMap<number, Member>,
  now: ReadonlyMap<number, Member>,
  root: number,
  read: (pid: number) => ProcessStat | null = readStat,
): { members: Map<number, Member>; lostMs: number; dueOfRootMs: number | null } {
  const members = new Map(now)
  for (;;) {
    const { due, lostMs, dueOfRootMs } = dueOf(before, members, root)
    // Read once more: it may have waited for its child after it was looked at, and before the child was found to be gone.
    const again = [...due.keys()].flatMap((pid) => (members.has(pid) ? [[pid, read(pid)] as const] : []))
    const ended = again.filter(([, stat]) => stat === null)
    // It waited, ended and was waited for in between: its own account passes to the process above it.
    for (const [pid] of ended) members.delete(pid)
    if (ended.length > 0) continue
    const reread = new Map(again)
    let lost = lostMs
    for (const [pid, member] of members) {
      const was = before.get(pid)
      if (was === undefined) continue
      const owed = due.get(pid) ?? 0
      const stat = reread.get(pid) ?? member
      const credit = Math.max(0, stat.childrenCpuMs - was.childrenCpuMs)
      lost += Math.max(0, owed - credit - was.spareMs)
      members.set(pid, { ...stat, spareMs: Math.max(0, credit - owed) })
    }
    return { members, lostMs: lost, dueOfRootMs }
  }
}

/** What each process is due for those below it that ended, and what has no process above it that was seen. */
function dueOf(
  before: ReadonlyMap<number, Member>,
  members: ReadonlyMap<number, Member>,
  root: number,
): { due: Map<number, number>; lostMs: number; dueOfRootMs: number | null } {
  const due = new Map<number, number>()
  let lostMs = 0
  let dueOfRootMs: number | null = null
  const gone = [...before].filter(([pid]) => !members.has(pid))
  for (const [pid, member] of deepestFirst(gone)) {
    const owed = usedMs(member) + Math.max(0, (due.get(pid) ?? 0) - member.spareMs)
    if (pid === root) dueOfRootMs = owed
    else if (before.has(member.parent)) due.set(member.parent, (due.get(member.parent) ?? 0) + owed)
    else lostMs += owed
  }
  return { due, lostMs, dueOfRootMs }
}

/** Of its own, and of the children that it waited for. */
const usedMs = ({ ownCpuMs, childrenCpuMs }: ProcessStat): number => ownCpuMs + childrenCpuMs

/** Each before its parent. */
function deepestFirst(members: readonly [number, Member][]): [number, Member][] {
  const all = new Map(members)
  const depth = (pid: number): number => {
    let steps = 0
    for (let at = all.get(pid); at && steps <= all.size; at = all.get(at.parent)) steps += 1
    return steps
  }
  return [...members].sort(([one], [other]) => depth(other) - depth(one))
}
