/** The ideas of a run as data: what `backlog` answers, and what the page shows of them. */
import { backlogOf, type IdeaStanding, type IdeaStatus, writtenIdea } from '../ledger/backlog.ts'
import type { State } from '../ledger/state.ts'
import { plain } from '../text.ts'
import type { PageBacklog } from './page-model.ts'

export const ideaRow = ({ idea, status, missing, experiment, outcome }: IdeaStanding) => ({
  ...writtenIdea(idea),
  status,
  experiment,
  outcome,
  missing,
})

/** Nobody will try it any more. */
export const isOver = ({ status }: Pick<IdeaStanding, 'status'>): boolean =>
  status === 'done' || status === 'dropped'

/** More than a person reads; `assay backlog --all` has all of them. */
const MOST = 200
const LINE = 300
const NAME = 80

/** First what waits for a person, then what can be tried, then what is over. */
const ORDER: readonly IdeaStatus[] = ['parked', 'approved', 'added', 'taken', 'done', 'dropped']

/** null when there is no idea. */
export function pageBacklog(state: State): PageBacklog | null {
  const all = backlogOf(state)
  if (all.length === 0) return null
  const sorted = all.sort((a, b) => ORDER.indexOf(a.status) - ORDER.indexOf(b.status))
  return {
    ideas: sorted.slice(0, MOST).map((one) => {
      const { id, hypothesis, kind = null, priority = null, ...row } = ideaRow(one)
      return {
        id,
        hypothesis: plain(hypothesis, LINE),
        kind: kind === null ? null : plain(kind, NAME),
        priority,
        status: row.status,
        experiment: row.experiment,
        outcome: row.outcome === null ? null : plain(row.outcome, LINE),
        missing: row.missing.slice(0, 20).map((name) => plain(name, NAME)),
      }
    }),
    waiting: all.filter(({ status }) => status === 'parked').length,
    more: Math.max(0, all.length - MOST),
  }
}
