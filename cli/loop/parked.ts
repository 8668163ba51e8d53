/** Ideas that wait for a person to approve the packages that they need: shown in bulk, once, and again at the end of a run. */
import { type IdeaStanding, parkedIdeas } from '../ledger/backlog.ts'
import type { State } from '../ledger/state.ts'
import { call, next, type Said } from '../next.ts'
import { plain } from '../text.ts'

export interface WaitingIdea {
  id: string
  hypothesis: string
  /** Packages that nobody approved. */
  dependencies: string[]
}

export const waitingIdea = ({ idea: { id, hypothesis }, missing }: IdeaStanding): WaitingIdea => ({
  id,
  hypothesis,
  dependencies: missing,
})

/** Those of which people were not told yet. */
export const untold = (state: State): IdeaStanding[] => parkedIdeas(state).filter(({ idea }) => !idea.told)

/** Lines for people; none when nothing waits. */
export function approvalLines(parked: readonly WaitingIdea[]): Said[] {
  if (parked.length === 0) return []
  return [
    `${parked.length === 1 ? '1 idea waits' : `${parked.length} ideas wait`} for your approval of packages:`,
    ...parked.map(
      ({ id, dependencies, hypothesis }) =>
        `  ${id} needs ${plain(dependencies.join(', '), 200)}: ${plain(hypothesis, 160)}`,
    ),
    next`  ${call('backlog approve', ...parked.slice(0, 50).map(({ id }) => id))}, or ${call('backlog drop', 'ID', '--reason', 'TEXT')}`,
  ]
}

/** One text for all of them, or none. */
export const asAlert = (parked: readonly IdeaStanding[]): string[] =>
  parked.length === 0 ? [] : [approvalLines(parked.map(waitingIdea)).map(String).join('\n')]

/** Ids of those of which people were told. */
export const toldIdeas = ({ ideas }: State): ReadonlySet<string> =>
  new Set(ideas.filter(({ told }) => told).map(({ id }) => id))

/** The text about those of which people were told since. */
export const parkedSince = (state: State, before: ReadonlySet<string>): string[] =>
  asAlert(parkedIdeas(state).filter(({ idea }) => idea.told && !before.has(idea.id)))
