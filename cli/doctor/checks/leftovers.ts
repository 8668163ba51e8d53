import { shellQuote } from '../../evaluate/command.ts'
import { slotLeftovers } from '../../experiment/gc.ts'
import { ok } from '../../result.ts'
import type { Check } from '../check.ts'
import { type Found, warning } from '../finding.ts'

const MIB = 1024 * 1024

/** What measurements that were killed left in checkouts: large files, or many. */
export const leftovers: Check = {
  name: 'leftovers',
  async look({ site }): Promise<Found[]> {
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
