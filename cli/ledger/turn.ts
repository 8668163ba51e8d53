/** The lease of a session, as the fold applies it. Pure. */
import type { Drove, Event, Leased, ProcessIdentity, SessionName } from './events.ts'
import { describeLease, describeOusted, heldAgainst, isLive, isOf, passOn } from './lease.ts'
import { accepted, type Outcome, refuse, type Void } from './lifecycle.ts'
import type { State } from './state.ts'

/** Why this caller must not drive then: another session has the lease, or it was taken from this one; null when it may. */
export function drivenBecause({ lease, ousted }: State, by: SessionName | null, at: string): Void | null {
  const holder = heldAgainst(lease, by, at)
  if (holder) return describeLease(holder)
  return ousted && isOf(ousted, by) && isLive(ousted, at) ? describeOusted(ousted) : null
}

export function driven(state: State, by: SessionName | null, at: string): Outcome | null {
  const because = drivenBecause(state, by, at)
  return because && { accepted: false, because }
}

export function leased(state: State, event: Leased): Outcome {
  const { by, at, how } = event
  if (how === 'kept') return holds(state, by, at) ? accepted : notHeld
  const other = how === 'taken' ? driven(state, by, at) : null
  if (other) return other
  // Of two words of a person, the newer one.
  if (how === 'taken_over' && state.entrusted?.session !== by?.session) state.entrusted = null
  if (how === 'taken_over')
    state.ousted = by === null && state.lease ? { ...state.lease, since: at, last: at } : null
  state.lease = passOn(state.lease, event)
  return accepted
}

const notHeld = refuse('not_driving', 'this session has no lease to keep', 'assay round open')

/** Whether this caller has the lease then: one that nobody took since it lapsed is nobody's. */
export const holds = ({ lease }: State, by: SessionName | null, at: string): boolean =>
  lease !== null && isOf(lease, by) && isLive(lease, at)

/** A process that was given up, and wakes, has its time counted; only a start makes a driver of it again. */
export function drove(state: State, { driver, owner, phase, at, waiting }: Drove): void {
  if (phase !== 'start' && state.driver && !isSame(state.driver.owner, owner)) return
  state.driver = phase === 'stop' ? null : { driver, owner, since: at, ...(waiting ? { waiting } : {}) }
}

const isSame = (one: ProcessIdentity, other: ProcessIdentity): boolean =>
  one.pid === other.pid && one.started === other.started && one.host === other.host

/** What the loop does keeps the lease, and keeps out whom it was taken from. */
export function renew(state: State, event: Event): void {
  if (!isOfLoop(state, event)) return
  for (const one of [state.lease, state.ousted]) if (one) one.last = event.at
}

/** Events by which the loop is seen to go on. What a person tries by hand, besides it, is in no round. */
function isOfLoop(state: State, event: Event): boolean {
  if (event.type === 'round_briefed' || event.type === 'round_closed') return true
  if (event.type === 'leased') return event.how === 'kept'
  if (event.type === 'created') return event.round !== null
  if (event.type !== 'sealed' && event.type !== 'started' && event.type !== 'judged') return false
  return (state.experiments.get(event.experiment)?.created.round ?? null) !== null
}
