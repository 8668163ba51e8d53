import { join } from 'node:path'
import {
  addExclude,
  addStateIgnore,
  EXCLUDE_LINE,
  hasExclude,
  hasStateIgnore,
  IGNORE_FILE,
} from '../../git/exclude.ts'
import { ok } from '../../result.ts'
import { type DoctorCheck, fine, problem, warning } from '../check.ts'

export const exclude: DoctorCheck = {
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
        repair: `add it; otherwise git status and git add -A see the folder: echo '${EXCLUDE_LINE}' >> .git/info/exclude`,
        at: `${commonDir}/info/exclude`,
        fix: async () => {
          const added = await addExclude(commonDir)
          return added.ok ? ok(`added the line ${EXCLUDE_LINE} to .git/info/exclude`) : added
        },
      }),
    ]
  },
}

/** State of earlier versions has no such file. */
export const stateIgnore: DoctorCheck = {
  name: 'state-ignore',
  look({ site }) {
    if (!site) return []
    if (hasStateIgnore(site)) return [fine('state_ignore', `the state folder has its ${IGNORE_FILE}`)]
    return [
      warning('state_ignore_missing', {
        what: `the state folder has no ${IGNORE_FILE} of its own`,
        cause: 'an earlier version of Assay made the folder, or the file was deleted',
        repair: `add it; otherwise npm pack, and other tools that read no other ignore file, publish the run: echo '*' > ${site.state}/${IGNORE_FILE}`,
        at: join(site.state, IGNORE_FILE),
        fix: async () => {
          const added = await addStateIgnore(site)
          return added.ok ? ok(`wrote ${IGNORE_FILE} into the state folder`) : added
        },
      }),
    ]
  },
}
