/** The lease of a session, as the fold applies it. Pure. */
import type { Drove, Event, Leased, ProcessIdentity, SessionName } from './events.ts'
import { describeLease, heldAgainst, passOn } from './lease.ts'
import { accepted, type Outcome } from './lifecycle.ts'
import type { State } from './state.ts'

/** Refused while another session has the lease; null while none has. */
export function driven(state: State, by: SessionName | null, at: string): Outcome | null {
  const lease = heldAgainst(state.lease, by, at)
  return lease && { accepted: false, because: describeLease(lease) }
}

export function leased(state: State, event: Leased): Outcome {
  const { by, at, how } = event
  const other = how === 'taken' ? driven(state, by, at) : null
  if (other) return other
  // Of two words of a person, the newer one.
  if (how === 'taken_over' && state.entrusted?.session !== by?.session) state.entrusted = null
  state.lease = passOn(state.lease, event)
  return accepted
}

/** A process that was given up, and wakes, has its time counted; only a start makes a driver of it again. */
export function drove(state: State, { driver, owner, phase, at }: Drove): void {
  if (phase !== 'start' && state.driver && !isSame(state.driver.owner, owner)) return
  state.driver = phase === 'stop' ? null : { driver, owner, since: at }
}

const isSame = (one: ProcessIdentity, other: ProcessIdentity): boolean =>
  one.pid === other.pid && one.started === other.started && one.host === other.host

/** Events by which the loop is seen to go on. What a person tries by hand, besides it, is in no round. */
export function isOfLoop(state: State, event: Event): boolean {
  if (event.type === 'round_briefed' || event.type === 'round_closed') return true
  if (event.type === 'created') return event.round !== null
  if (event.type !== 'sealed' && event.type !== 'started' && event.type !== 'judged') return false
  return (state.experiments.get(event.experiment)?.created.round ?? null) !== null
}
