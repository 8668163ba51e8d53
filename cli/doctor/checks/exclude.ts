import { addExclude, EXCLUDE_LINE, hasExclude } from '../../git/exclude.ts'
import { ok } from '../../result.ts'
import type { Check } from '../check.ts'
import { fine, problem, warning } from '../finding.ts'

export const exclude: Check = {
  name: 'exclude',
  async look({ site, commonDir }) {
    if (!site || !commonDir) return []
    const there = await hasExclude(commonDir)
    if (!there.ok) {
      return [
        problem(there.problem.code, {
          what: there.problem.message,
          cause: 'the file cannot be read',
          repair: `make ${commonDir}/info/exclude readable`,
          at: commonDir,
        }),
      ]
    }
    if (there.value) return [fine('exclude', "git's exclude file has the line of Assay")]
    return [
      warning('exclude_missing', {
        what: `the line ${EXCLUDE_LINE} is not in git's exclude file`,
        cause: 'something rewrote .git/info/exclude, or the repository was copied without it',
        repair: `add it, or else git status and git add -A see the folder: echo '${EXCLUDE_LINE}' >> .git/info/exclude`,
        at: `${commonDir}/info/exclude`,
        fix: async () => {
          const added = await addExclude(commonDir)
          return added.ok ? ok(`added the line ${EXCLUDE_LINE} to .git/info/exclude`) : added
        },
      }),
    ]
  },
}
