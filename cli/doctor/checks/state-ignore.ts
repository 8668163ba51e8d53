import { join } from 'node:path'
import { addStateIgnore, hasStateIgnore, IGNORE_FILE } from '../../git/exclude.ts'
import { ok } from '../../result.ts'
import type { Check } from '../check.ts'
import { fine, warning } from '../finding.ts'

/** State of earlier versions has no such file. */
export const stateIgnore: Check = {
  name: 'state-ignore',
  look({ site }) {
    if (!site) return []
    if (hasStateIgnore(site)) return [fine('state_ignore', 'the state folder ignores itself')]
    return [
      warning('state_ignore_missing', {
        what: `the state folder has no ${IGNORE_FILE} of its own`,
        cause: 'an earlier version of Assay made the folder, or the file was deleted',
        repair: `add it, or npm pack and other tools that read no other ignore file publish the run: echo '*' > ${site.state}/${IGNORE_FILE}`,
        at: join(site.state, IGNORE_FILE),
        fix: async () => {
          const added = await addStateIgnore(site)
          return added.ok ? ok(`wrote ${IGNORE_FILE} into the state folder`) : added
        },
      }),
    ]
  },
}
