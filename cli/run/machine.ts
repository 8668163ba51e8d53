/** Which machine measures. It is recorded when it changes, and told where two results of one experiment differ. */
import { readdirSync, readFileSync } from 'node:fs'
import { availableParallelism, cpus, type as kernel, release, totalmem } from 'node:os'
import { fileText } from '../files.ts'
import type { Machine } from '../ledger/events.ts'
import { BASELINE, type Experiment, type State } from '../ledger/state.ts'

/** `libc`: with its version, which takes some milliseconds to ask for. */
export function machineNow({ libc = false } = {}): Machine {
  const governor = governorNow()
  const microcode = microcodeNow()
  const version = libc ? libcNow() : null
  return {
    cpu: cpus()[0]?.model.trim() || 'unknown',
    cores: availableParallelism(),
    memory_gb: Math.round(totalmem() / 2 ** 30),
    os: `${kernel()} ${release()}`,
    ...(governor === null ? {} : { governor }),
    ...(microcode === null ? {} : { microcode }),
    ...(version === null ? {} : { libc: version }),
    node: process.versions.node,
  }
}

/** Of the first processor; null where the system does not tell. */
const microcodeNow = (): string | null =>
  /^microcode\s*:\s*(\S+)/m.exec(fileText('/proc/cpuinfo') ?? '')?.[1] ?? null

/** `glibc 2.36`; null for any other. */
function libcNow(): string | null {
  const { header } = process.report.getReport() as { header?: { glibcVersionRuntime?: string } }
  return header?.glibcVersionRuntime === undefined ? null : `glibc ${header.glibcVersionRuntime}`
}

/** Of Linux: one folder for each group of processors that have one clock. */
const CLOCKS = '/sys/devices/system/cpu/cpufreq'

/** `performance`; of several `performance, powersave`. null where the system does not tell, as in most virtual machines. */
function governorNow(): string | null {
  try {
    const clocks = readdirSync(CLOCKS).filter((name) => /^policy\d+$/.test(name))
    const found = clocks.map((name) => readFileSync(`${CLOCKS}/${name}/scaling_governor`, 'utf8').trim())
    return [...new Set(found)].sort().join(', ') || null
  } catch {
    return null
  }
}

/** What some systems do not tell, and earlier records lack. */
const MAY_BE_UNKNOWN = [
  { part: 'governor', name: 'the governor' },
  { part: 'microcode', name: 'the microcode' },
  { part: 'libc', name: 'the libc' },
] as const

/** For an event of a measurement: the machine, where it is not the last one that was recorded. */
export function newMachine({ machines }: State): { machine?: Machine } {
  const machine = machineNow()
  const known = machines.at(-1)?.machine
  return known && !isNewMachine(known, machine) ? {} : { machine }
}

/** Whether it must be recorded: what was unknown until now is no difference, and is recorded all the same. */
export const isNewMachine = (known: Machine, now: Machine): boolean =>
  differencesOf(known, now) !== null || MAY_BE_UNKNOWN.some(({ part }) => known[part] !== now[part])

/** On which an event with this number was measured; null when it was not recorded. */
export const machineAt = ({ machines }: State, seq: number | null): Machine | null =>
  machines.findLast(({ since }) => seq !== null && since <= seq)?.machine ?? null

/** On which the last verdict on an experiment was measured; null when it was not recorded. */
export const machineOf = (state: State, { attempts, judgedSeq }: Experiment): Machine | null =>
  attempts.findLast(({ judged }) => judged)?.job?.placed?.machine ?? machineAt(state, judgedSeq)

/** What was different from the machine of the baseline's measurement when an experiment was judged, in words; null: nothing. */
export function otherThanBaseline(state: State, node: Experiment): string | null {
  const baseline = state.experiments.get(BASELINE)
  const [first, then] = [baseline && machineOf(state, baseline), machineOf(state, node)]
  return first && then ? differencesOf(first, then) : null
}

/** What is different now, in words; null when nothing is. */
export function differencesOf(before: Machine, now: Machine): string | null {
  const different = [
    before.cpu === now.cpu ? [] : [`${now.cpu} in place of ${before.cpu}`],
    before.cores === now.cores ? [] : [`${now.cores} cores in place of ${before.cores}`],
    before.memory_gb === now.memory_gb
      ? []
      : [`${now.memory_gb} GiB of memory in place of ${before.memory_gb}`],
    before.os === now.os ? [] : [`${now.os} in place of ${before.os}`],
    ...MAY_BE_UNKNOWN.map(({ part, name }) =>
      before[part] === undefined || now[part] === undefined || before[part] === now[part]
        ? []
        : [`${name} ${now[part]} in place of ${before[part]}`],
    ),
    before.node === now.node ? [] : [`Node ${now.node} in place of ${before.node}`],
  ].flat()
  return different.length === 0 ? null : different.join('; ')
}
