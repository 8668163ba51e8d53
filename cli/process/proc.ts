import { closeSync, lstatSync, openSync, readlinkSync, readSync, realpathSync, statSync } from 'node:fs'
import { relative, sep } from 'node:path'
import { fileText, namesIn } from '../files.ts'

/** Facts about processes from /proc on Linux; on other systems these functions answer null, or empty. */
export const HAS_PROC = process.platform === 'linux'

/** Ticks of /proc in a second: `sysconf(_SC_CLK_TCK)` is 100 on every Linux that Node runs on. */
const TICK_MS = 10

/** A flag of field 9, from the kernel's `sched.h`. */
const PF_KTHREAD = 0x00200000

export interface ProcessStat {
  /** One letter; Z and X are dead. */
  state: string
  parent: number
  group: number
  /** Clock ticks since boot. */
  started: number
  /** A thread of the kernel, which has no program and no environment. */
  kernel: boolean
  /** CPU time of its own. */
  ownCpuMs: number
  /** CPU time of its ended and waited-for children. */
  childrenCpuMs: number
}

/** Field numbers as in proc(5); the program name (field 2) may hold spaces and brackets. */
export function parseStat(text: string): ProcessStat | null {
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ')
  const number = (field: number) => Number(fields[field - 3])
  const stat = {
    state: fields[0] ?? '',
    parent: number(4),
    group: number(5),
    started: number(22),
    kernel: (number(9) & PF_KTHREAD) !== 0,
    ownCpuMs: (number(14) + number(15)) * TICK_MS,
    childrenCpuMs: (number(16) + number(17)) * TICK_MS,
  }
  return Number.isFinite(stat.started) ? stat : null
}

const line = Buffer.alloc(1024)

/** In three system calls: a search asks this of every process there is. */
export function readStat(pid: number | 'self'): ProcessStat | null {
  let fd: number | undefined
  try {
    fd = openSync(`/proc/${pid}/stat`, 'r')
    return parseStat(line.toString('latin1', 0, readSync(fd, line)))
  } catch {
    return null
  } finally {
    if (fd !== undefined) closeSync(fd)
  }
}

export const isDead = (state: string): boolean => state === 'Z' || state === 'X' || state === 'x'

/** Every process there is. */
export function pids(): number[] {
  return namesIn('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
}

export function ownedByUs(pid: number): boolean {
  try {
    return statSync(`/proc/${pid}`).uid === process.getuid?.()
  } catch {
    return false
  }
}

/** The environment that the process was started with, entries separated by NUL; empty when unreadable. */
export const environmentOf = (pid: number): string => fileText(`/proc/${pid}/environ`, 'latin1') ?? ''

export interface FileId {
  dev: number
  ino: number
}

/** Whether the process could still write to one of the files. A reader (`tail -f`) does not count. */
export function writesTo(pid: number, files: FileId[]): boolean {
  const folder = `/proc/${pid}/fd`
  return namesIn(folder).some((name) => {
    try {
      // The permission bits of these links show how the file was opened.
      if ((lstatSync(`${folder}/${name}`).mode & 0o200) === 0) return false
      const { dev, ino } = statSync(`${folder}/${name}`)
      return files.some((file) => file.dev === dev && file.ino === ino)
    } catch {
      return false
    }
  })
}

/** As the kernel names the folder; null when it is not there. */
export function realPathOf(folder: string): string | null {
  try {
    return realpathSync(folder)
  } catch {
    return null
  }
}

/** Whether the working directory of the process is one of these folders (real paths), or below one. */
export function worksIn(pid: number, folders: readonly string[]): boolean {
  let cwd: string
  try {
    cwd = readlinkSync(`/proc/${pid}/cwd`)
  } catch {
    return false
  }
  return folders.some((folder) => relative(folder, cwd).split(sep)[0] !== '..')
}

/** The process and everything below it that still has its parent. Costs a few reads per process, not a scan. */
export function family(root: number): number[] {
  const found = [root]
  for (const pid of found)
    for (const task of namesIn(`/proc/${pid}/task`))
      for (const child of (fileText(`/proc/${pid}/task/${task}/children`) ?? '').split(' '))
        if (child !== '') found.push(Number(child))
  return found
}

/** The text of /proc/stat, and on which processors this process may run (`0-1,4`); null when one cannot be read. */
function machineStat(): { stat: string; allowed: string } | null {
  const stat = fileText('/proc/stat')
  const allowed = /^Cpus_allowed_list:\s*(\S+)/m.exec(fileText('/proc/self/status') ?? '')?.[1]
  return stat === null || allowed === undefined ? null : { stat, allowed }
}

/** Its arguments, each ended by NUL; empty when unreadable, or when it has none. */
export const commandLineOf = (pid: number): string => fileText(`/proc/${pid}/cmdline`, 'latin1') ?? ''

/** The largest resident size that the process has had, in MiB. */
export function peakMbOf(pid: number): number | null {
  const kib = /^VmHWM:\s*(\d+) kB/m.exec(fileText(`/proc/${pid}/status`) ?? '')?.[1]
  return kib === undefined ? null : Number(kib) / 1024
}

/** Of the processor time between two moments, of all processors that the watched program may use; each 0 to 1. */
export interface Processors {
  /** Taken by programs other than the one that was watched. */
  others: number
  /** Left over. */
  idle: number
}

export interface ProcessorTimes {
  busyMs: number
  idleMs: number
}

/** Since the machine started, all processors together that we and our jobs may use; null when the system does not tell. */
export function processorTimes(): ProcessorTimes | null {
  const found = machineStat()
  return found && parseProcessors(found.stat, found.allowed)
}

/**
 * Fields as in proc(5). A processor whose programs wait for a disk is free for others, so that is idle; what the host gave
 * to another guest is neither.
 */
export function parseProcessors(stat: string, allowed: string): ProcessorTimes {
  const ranges = allowed.split(',').map((range) => range.split('-').map(Number))
  const sum: ProcessorTimes = { busyMs: 0, idleMs: 0 }
  for (const [, name, times = ''] of stat.matchAll(/^cpu(\d+) (.*)$/gm)) {
    if (!ranges.some(([first = 0, last = first]) => first <= Number(name) && Number(name) <= last)) continue
    const [user = 0, nice = 0, system = 0, idle = 0, disk = 0, irq = 0, softirq = 0] = times
      .split(' ')
      .map(Number)
    sum.busyMs += (user + nice + system + irq + softirq) * TICK_MS
    sum.idleMs += (idle + disk) * TICK_MS
  }
  return sum
}

/** Shorter than this, the ticks of the clocks (10 ms) say more than the machine does. */
const LEAST_MS = 50

/** null when it cannot be told: too short, or the system does not say. */
export function processorsBetween(
  before: ProcessorTimes | null,
  after: ProcessorTimes | null,
  watched: { ms: number; cpuMs: number | null },
): Processors | null {
  if (before === null || after === null) return null
  const busy = after.busyMs - before.busyMs
  const idle = after.idleMs - before.idleMs
  if (watched.cpuMs === null || watched.ms < LEAST_MS || busy + idle <= 0) return null
  return { others: share(busy - watched.cpuMs, busy + idle), idle: share(idle, busy + idle) }
}

const share = (part: number, whole: number): number => Number(Math.max(0, part / whole).toFixed(3))
