import { belongsTo, endOrphan, findOrphans, type Orphan } from '../../process.ts'
import { ok } from '../../result.ts'
import type { Check } from '../check.ts'
import { type Found, fine, warning } from '../finding.ts'

/** Daemons of benchmarks that outlived the command which started them, whichever repository it worked on. */
export const orphans: Check = {
  name: 'orphans',
  look({ site }) {
    const found = findOrphans()
    if (found.length === 0) return [fine('orphans', 'no process of a dead measurement is left')]
    return found.map((orphan) => named(orphan, site !== null && belongsTo(orphan, site.state)))
  },
}

/** What belongs to another repository is somebody else's to end: it may be looked at there. */
function named(orphan: Orphan, ours: boolean): Found {
  const { pid } = orphan.process
  return warning('orphan', {
    what: `process ${pid} belongs to a measurement whose owner is dead${ours ? '' : ', in another repository'}: ${orphan.command}`,
    cause: `it left its process group, and process ${orphan.owners.at(-1)?.pid} was killed before it could end it`,
    repair: `kill ${pid}: it disturbs what is measured now`,
    data: { pid },
    ...(ours
      ? {
          fix: async () => ok(endOrphan(orphan) ? `ended process ${pid}` : `process ${pid} was gone already`),
        }
      : {}),
  })
}
