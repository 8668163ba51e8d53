import { machineStat, TICK_MS } from './proc.ts'

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

/** Since the machine started, all processors together; null when the system does not tell. */
export function processorTimes(): ProcessorTimes | null {
  const line = machineStat()
  return line === null ? null : parseProcessors(line)
}

/**
 * Fields as in proc(5). A processor whose programs wait for a disk is free for others, so that is idle; what the host gave
 * to another guest is neither.
 */
export function parseProcessors(line: string): ProcessorTimes {
  const [user = 0, nice = 0, system = 0, idle = 0, disk = 0, irq = 0, softirq = 0] = line
    .split(/ +/)
    .slice(1)
    .map(Number)
  return { busyMs: (user + nice + system + irq + softirq) * TICK_MS, idleMs: (idle + disk) * TICK_MS }
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
