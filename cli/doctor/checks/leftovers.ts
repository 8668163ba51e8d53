import { shellQuote } from '../../evaluate/command.ts'
import { slotLeftovers } from '../../experiment/gc.ts'
import { belongsTo, endOrphan, findOrphans, type Orphan } from '../../process.ts'
import { ok } from '../../result.ts'
import { type DoctorCheck, type FixableFinding, fine, warning } from '../check.ts'

const MIB = 1024 * 1024

/** What measurements that were killed left in checkouts: large files, or many. */
export const leftovers: DoctorCheck = {
  name: 'leftovers',
  async look({ site }): Promise<FixableFinding[]> {
    if (!site) return []
    const found = await slotLeftovers(site, { dryRun: true })
    const bytes = found.reduce((sum, one) => sum + one.bytes, 0)
    const [largest] = found.sort((a, b) => b.bytes - a.bytes)
    if (!largest || bytes < MIB) return []
    return [
      warning('leftovers', {
        what: `measurements that were killed left ${Math.floor(bytes / MIB)} MiB in checkouts: ${largest.path}${found.length > 1 ? `, and ${found.length - 1} more` : ''}`,
        cause: 'what a sample leaves is removed when it ends, and these were ended before that',
        repair: `assay gc, or the next measurement, removes it; by hand: rm -r ${shellQuote(largest.path)}`,
        at: largest.path,
        data: { bytes },
        fix: async () => ok(`removed ${(await slotLeftovers(site, { dryRun: false })).length} leftovers`),
      }),
    ]
  },
}

/** Daemons of benchmarks that outlived the command which started them, whichever repository it worked on. */
export const orphans: DoctorCheck = {
  name: 'orphans',
  look({ site }) {
    const found = findOrphans()
    if (found.length === 0) return [fine('orphans', 'no process of a dead measurement is left')]
    return found.map((orphan) => named(orphan, site !== null && belongsTo(orphan, site.state)))
  },
}

/** A process that belongs to a different repository is only named: `assay doctor --fix` there ends it. */
function named(orphan: Orphan, ours: boolean): FixableFinding {
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
