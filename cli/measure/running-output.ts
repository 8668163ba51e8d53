/** The output of the sample that is running now. */
import { statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { DESK } from '../evaluate/stored.ts'
import { namesIn } from '../files.ts'
import type { Attempt } from '../ledger/state.ts'
import { seeLock } from '../lock/inspect.ts'
import { type Site, slotDesk, slotLock } from '../paths.ts'

/** The output files of the running sample; null when no sample of this attempt is running. */
export function runningOutput(site: Site, { claim }: Attempt): { stdout: string; stderr: string } | null {
  if (claim === null) return null
  const desk = slotsIn(dirname(slotLock(site, 0)))
    .filter((slot) => {
      const { owner } = seeLock(slotLock(site, slot))
      return owner?.pid === claim.owner.pid && owner.started === claim.owner.started
    })
    .map((slot) => slotDesk(site, slot))
    .find((folder) => statSync(folder, { throwIfNoEntry: false }) !== undefined)
  return desk === undefined ? null : { stdout: join(desk, DESK.stdout), stderr: join(desk, DESK.stderr) }
}

const slotsIn = (folder: string): number[] =>
  namesIn(folder).flatMap((name) => (/^\d+\.lock$/.test(name) ? [Number.parseInt(name, 10)] : []))
