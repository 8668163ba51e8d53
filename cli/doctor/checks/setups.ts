import { diskSizeOf } from '../../measure/disk-space.ts'
import { keptSetups } from '../../measure/kept-setup.ts'
import { setupsFolder } from '../../paths.ts'
import { type DoctorCheck, fine } from '../check.ts'

const MIB = 1024 * 1024

/** What is kept of `worktree.setup` for the next worktrees. */
export const setups: DoctorCheck = {
  name: 'setups',
  look({ site }) {
    const kept = site ? keptSetups(site) : []
    if (!site || kept.length === 0) return []
    const bytes = diskSizeOf(setupsFolder(site))
    return [
      fine(
        'setups',
        `what worktree.setup made is kept for new worktrees: ${Math.ceil(bytes / MIB)} MiB; assay gc deletes it`,
        { kept: kept.length, bytes },
      ),
    ]
  },
}
