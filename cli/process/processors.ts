import { cpus } from 'node:os'

/** Of the processor time of the whole machine between two moments; each 0 to 1. */
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

/** Since the machine started, all processors together. Time that was waited for a disk, or given to another guest, is neither. */
export function processorTimes(): ProcessorTimes {
  const sum: ProcessorTimes = { busyMs: 0, idleMs: 0 }
  for (const { times } of cpus()) {
    sum.busyMs += times.user + times.nice + times.sys + times.irq
    sum.idleMs += times.idle
  }
  return sum
}

/** Shorter than this, the ticks of the clocks (10 ms) say more than the machine does. */
const LEAST_MS = 50

/** null when it cannot be told: too short, or the system does not say. */
export function processorsBetween(
  before: ProcessorTimes,
  after: ProcessorTimes,
  watched: { ms: number; cpuMs: number | null },
): Processors | null {
  const busy = after.busyMs - before.busyMs
  const idle = after.idleMs - before.idleMs
  if (watched.cpuMs === null || watched.ms < LEAST_MS || busy + idle <= 0) return null
  return { others: share(busy - watched.cpuMs, busy + idle), idle: share(idle, busy + idle) }
}

const share = (part: number, whole: number): number => Number(Math.max(0, part / whole).toFixed(3))
