/** Leases between processes, taken over only on proof of death. The door to `lock/`: nothing outside imports from it. */

export { beat, type Hold, hasGivenUp, SILENCE_MS, tryHold, withLock } from './lock/hold.ts'
export {
  dropDeadLeases,
  type LockSeen,
  removeLeasesElsewhere,
  removeLockElsewhere,
  removeLockIfDead,
  seeLeases,
  seeLock,
} from './lock/inspect.ts'
export { acquireLease, type LeaseRequest, type SlotLease, Waker } from './lock/lease.ts'
