/**
 * The one reader of events: `fold(state, event)` changes the state and says whether the event was accepted.
 * First in file order wins, so writers need no lock: they propose, and read here what became of it. Pure: the
 * same lines give the same state on every reader.
 */
import { decide, type Refusal } from './decide.ts'
import type { Event } from './events.ts'
import { evolve } from './evolve.ts'
import type { State } from './state.ts'

/** What became of an event. A void one changed nothing; `because` says why. */
export type Outcome = { accepted: true } | { accepted: false; because: Refusal }

const ACCEPTED: Outcome = { accepted: true }

export function fold(state: State, event: Event): Outcome {
  const because = decide(state, event)
  if (because) return { accepted: false, because }
  evolve(state, event)
  return ACCEPTED
}
