import type { Tell } from '../facts.ts'
import type { Site } from '../paths.ts'
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
