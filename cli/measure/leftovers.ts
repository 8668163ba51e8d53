/** Removes what a killed measurement left: processes, outputs with secrets, files of its samples. The next measurement in the slot and `abort` call it. */
import { existsSync, readdirSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { removeTree } from '../disk/remove.ts'
import { redactStored } from '../evaluate/stored.ts'
import { tryHold } from '../lock.ts'
import type { Tell } from '../notices.ts'
import { type Site, slotDesk, slotLock, stepsFile } from '../paths.ts'
import { endOrphans } from '../process.ts'

/** A daemon that outlived a killed run holds ports, files and memory, which would make the next candidate fail. */
export async function endLeftoverProcesses(site: Site, tell: Tell): Promise<void> {
  const [first, ...more] = await endOrphans(site.state)
  if (!first) return
  const others = more.length === 0 ? '' : ` (and ${more.length} more)`
  tell({
    type: 'warning',
    message: `a killed run had left a process; Assay ended it: ${first.command}${others}`,
  })
}

/**
 * Removes what a killed process wrote into an attempt's folder, since secrets were not yet redacted there. Call it only when
 * that process has ended (a resumed attempt takes those samples again). Steps are redacted as they are written.
 */
export function redactLeftoverOutputs(attempt: string): void {
  if (!existsSync(attempt)) return
  for (const name of readdirSync(attempt)) {
    const path = join(attempt, name)
    if (path !== stepsFile(attempt)) redactStored(path)
  }
}

/** Removes what samples were writing when their process was killed, in slots that no process uses now. */
export function removeUnfinishedOutputs(site: Site): void {
  for (let slot = 0; existsSync(dirname(slotDesk(site, slot))); slot++) {
    if (!existsSync(slotDesk(site, slot))) continue
    const hold = tryHold(slotLock(site, slot))
    if (!hold.held) continue
    removeTree(slotDesk(site, slot))
    hold.release()
  }
}
