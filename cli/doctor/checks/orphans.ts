import { endOrphan, findOrphans } from '../../process.ts'
import { ok } from '../../result.ts'
import type { Check } from '../check.ts'
import { fine, warning } from '../finding.ts'

/** Daemons of benchmarks that outlived the command which started them, whichever repository it worked on. */
export const orphans: Check = {
  name: 'orphans',
  look() {
    const found = findOrphans()
    if (found.length === 0) return [fine('orphans', 'no process of a dead measurement is left')]
    return found.map((orphan) =>
      warning('orphan', {
        what: `process ${orphan.process.pid} belongs to a measurement whose owner is dead: ${orphan.command}`,
        cause: `it left its process group, and process ${orphan.owners.at(-1)?.pid} was killed before it could end it`,
        repair: `kill ${orphan.process.pid}: it disturbs what is measured now`,
        data: { pid: orphan.process.pid },
        fix: async () =>
          ok(
            endOrphan(orphan)
              ? `ended process ${orphan.process.pid}`
              : `process ${orphan.process.pid} was gone already`,
          ),
      }),
    )
  },
}
