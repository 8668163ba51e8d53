/** Leases between processes, taken over only on proof of death. The door to `lock/`: nothing outside imports from it. */

export { beat, hasGivenUp, SILENCE_MS } from './lock/elsewhere.ts'
export { type Hold, tryHold } from './lock/hold.ts'
export {
  dropDeadLeases,
  type LockSeen,
  removeLeasesElsewhere,
  removeLockElsewhere,
  removeLockIfDead,
  seeLeases,
  seeLock,
} from './lock/inspect.ts'
export { acquireLease, type LeaseRequest, type SlotLease } from './lock/lease.ts'
export { withLock } from './lock/mutex.ts'
export { Waker } from './lock/waker.ts'
