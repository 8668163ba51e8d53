/** A fold without a file, for tests that are about the rules alone. */
import type { Draft, Event, Status } from '../../cli/ledger/events.ts'
import { fold, type Outcome } from '../../cli/ledger/fold.ts'
import { emptyState, type State } from '../../cli/ledger/state.ts'
import { keptNode, runStarted, stamped } from './drafts.ts'

export interface Story {
  state: State
  /** Folds one event: `accepted`, or the code of its refusal. */
  tell: (draft: Draft, envelope?: { id?: string; key?: string }) => string
  /** Folds events that must all be accepted. */
  given: (...drafts: Draft[]) => Story
  statusOf: (experiment: string) => Status | undefined
}

/** A run with a kept baseline of value 10. */
export function story(first: Draft = runStarted()): Story {
  const state = emptyState()
  let next = 0
  const tell: Story['tell'] = (draft, { id, key } = {}) => {
    next += 1
    const event: Event = stamped(draft, id ?? `e${next}`)
    return codeOf(fold(state, key === undefined ? event : { ...event, key }))
  }
  const self: Story = {
    state,
    tell,
    given: (...drafts) => {
      for (const draft of drafts) {
        const said = tell(draft)
        if (said !== 'accepted') throw new Error(`${draft.type} was refused: ${said}`)
      }
      return self
    },
    statusOf: (experiment) => state.experiments.get(experiment)?.status,
  }
  return self.given(first, ...keptNode('exp_0000', null, 10))
}

export const codeOf = (outcome: Outcome): string => (outcome.accepted ? 'accepted' : outcome.because.code)
