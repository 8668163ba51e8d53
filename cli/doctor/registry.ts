/** Every check, in the order of the report. To add one: a file in `checks/` and a line here. */
import type { DoctorCheck } from './check.ts'
import { claims } from './checks/claims.ts'
import { crawlers } from './checks/crawlers.ts'
import { disk, room } from './checks/disk.ts'
import { exclude, stateIgnore } from './checks/exclude.ts'
import { executors } from './checks/executors.ts'
import { halfMade } from './checks/half-made.ts'
import { hosts } from './checks/hosts.ts'
import { isolation } from './checks/isolation.ts'
import { ledgers } from './checks/ledgers.ts'
import { leftovers, orphans } from './checks/leftovers.ts'
import { drivers, leases, stateLocks } from './checks/locks.ts'
import { permissions } from './checks/permissions.ts'
import { preferences } from './checks/preferences.ts'
import { repository } from './checks/repository.ts'
import { setups } from './checks/setups.ts'
import { specFile } from './checks/spec-file.ts'
import { steps } from './checks/steps.ts'
import { store } from './checks/store.ts'
import { versions } from './checks/versions.ts'
import { trash, worktrees } from './checks/worktrees.ts'

export const CHECKS: readonly DoctorCheck[] = [
  versions,
  repository,
  exclude,
  stateIgnore,
  permissions,
  disk,
  isolation,
  executors,
  store,
  ledgers,
  specFile,
  preferences,
  steps,
  halfMade,
  claims,
  drivers,
  leases,
  stateLocks,
  worktrees,
  trash,
  leftovers,
  setups,
  room,
  orphans,
  hosts,
  crawlers,
]
