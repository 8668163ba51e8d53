/**
 * The only spawner, and the only door to it: nothing outside imports from `process/`. Every function tells the whole
 * truth about how the process ended, and none rejects.
 */
export { type Accelerator, acceleratorHolders, acceleratorsHere } from './process/accelerators.ts'
export { type Channel, startWithChannel } from './process/channel.ts'
export { type Detached, type DetachedCommand, startDetached } from './process/detached.ts'
export { type EndedBy, endProcess } from './process/end.ts'
export type { Ended } from './process/execute.ts'
export { type Command, type Completed, execute } from './process/execute.ts'
export {
  asIdentity,
  identify,
  isAlive,
  isElsewhere,
  nameOfProcess,
  type ProcessIdentity,
  pidSpace,
  stateMark,
} from './process/identity.ts'
export {
  type GivenPath,
  give,
  type Isolation,
  type IsolationSupport,
  isolationSupport,
  type Mount,
  seenAs,
} from './process/isolation.ts'
export {
  belongsTo,
  endOrphan,
  endOrphans,
  findOrphans,
  measuredHere,
  type Orphan,
  strangerOf,
} from './process/orphans.ts'
export { cutStored, type Job, type Supervised, supervise } from './process/supervise.ts'
