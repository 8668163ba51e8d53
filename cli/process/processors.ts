import { machineStat, TICK_MS } from './proc.ts'

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
