import { warnOfRoom } from '../../experiment/room.ts'
import type { Check } from '../check.ts'
import { type Found, fine, warning } from '../finding.ts'

/** Whether what comes next finds room, and what experiments that have ended still hold. */
export const room: Check = {
  name: 'room',
  look({ site, runs }) {
    const found = runs.flatMap(({ run, paths, state, spec }): Found[] =>
      site && state && spec
        ? warnOfRoom({ site, run, paths, spec, ledger: { state } }).map((what) =>
            warning('room_tight', {
              what: `${run}: ${what}`,
              cause: 'each experiment has a checkout of its own, which stays after its end until gc takes it',
              repair: `see what would go: assay gc --dry-run --run ${run}; then: assay gc --run ${run}`,
              at: paths.folder,
            }),
          )
        : [],
    )
    return found.length > 0 || runs.length === 0
      ? found
      : [fine('room', 'what comes next finds room on the disk')]
  },
}
