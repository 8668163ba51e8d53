/** Which machine measures. It is recorded when it changes, and told where two results of one experiment differ. */
import { availableParallelism, cpus, type as kernel, release, totalmem } from 'node:os'
import type { Machine } from '../ledger/events.ts'
import type { State } from '../ledger/state.ts'

export const machineNow = (): Machine => ({
  cpu: cpus()[0]?.model.trim() || 'unknown',
  cores: availableParallelism(),
  memory_gb: Math.round(totalmem() / 2 ** 30),
  os: `${kernel()} ${release()}`,
  node: process.versions.node,
})

/** For an event of a measurement: the machine, where it is not the last one that was recorded. */
export function newMachine({ machines }: State): { machine?: Machine } {
  const machine = machineNow()
  const known = machines.at(-1)?.machine
  return known && differencesOf(known, machine) === null ? {} : { machine }
}

/** On which an event with this number was measured; null when it was not recorded. */
export const machineAt = ({ machines }: State, seq: number | null): Machine | null =>
  machines.findLast(({ since }) => seq !== null && since <= seq)?.machine ?? null

/** What is different now, in words; null when nothing is. */
export function differencesOf(before: Machine, now: Machine): string | null {
  const different = [
    before.cpu === now.cpu ? [] : [`${now.cpu} in place of ${before.cpu}`],
    before.cores === now.cores ? [] : [`${now.cores} cores in place of ${before.cores}`],
    before.memory_gb === now.memory_gb
      ? []
      : [`${now.memory_gb} GiB of memory in place of ${before.memory_gb}`],
    before.os === now.os ? [] : [`${now.os} in place of ${before.os}`],
    before.node === now.node ? [] : [`Node ${now.node} in place of ${before.node}`],
  ].flat()
  return different.length === 0 ? null : different.join('; ')
}
