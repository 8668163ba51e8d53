import { existsSync, readdirSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { removeTree } from '../disk/remove.ts'
import { redactStored } from '../evaluate/stored.ts'
import { tryHold } from '../lock.ts'
import type { Tell } from '../notices.ts'
import { type Site, slotDesk, slotLock, stepsFile } from '../paths.ts'
import { endOrphans } from '../process.ts'

/** A daemon that outlived a killed run holds ports, files and memory: it would fail whoever is measured next. */
export async function endWhatWasLeft(site: Site, tell: Tell): Promise<void> {
  const [first, ...more] = await endOrphans(site.state)
  if (!first) return
  const others = more.length === 0 ? '' : ` (and ${more.length} more)`
  tell({
    type: 'warning',
    message: `a killed run had left a process, which was ended: ${first.command}${others}`,
  })
}

/**
 * What a process wrote into an attempt's folder until it was killed: nobody took the secrets out of that. Only for who
 * has ended its owner (who goes on with an attempt takes its samples again); the steps are redacted line by line as they are written.
 */
export function redactWhatWasLeft(attempt: string): void {
  if (!existsSync(attempt)) return
  for (const name of readdirSync(attempt)) {
    const path = join(attempt, name)
    if (path !== stepsFile(attempt)) redactStored(path)
  }
}

/** What samples were writing when their process was killed, in slots that nothing uses now. */
export function clearDesks(site: Site): void {
  for (let slot = 0; existsSync(dirname(slotDesk(site, slot))); slot++) {
    if (!existsSync(slotDesk(site, slot))) continue
    const hold = tryHold(slotLock(site, slot))
    if (!hold.held) continue
    removeTree(slotDesk(site, slot))
    hold.release()
  }
}
