/** The log of an optimisation that worked through a backlog: what it tried, and the ideas that it left. */
import { type Idea, PRIORITIES } from '../../ledger/events.ts'
import { choice, keys, list, may, need, or, type TypeOf, text, whole } from '../kind.ts'

const OUTCOMES = [
  'measured',
  'promising',
  'kept',
  'not_selected',
  'reverted',
  'inconclusive',
  'censored',
  'degenerate',
  'error',
  'timeout',
  'deferred_needs_approval',
  'runner_up_kept',
  'runner_up_reverted',
] as const

/** Its other keys are the values of measurements, which are worth nothing here. */
const open = { open: true }

export const BACKLOG_LOG = keys(
  {
    spec: may(text(), 'The name of the optimisation.'),
    experiments: or(
      list(
        keys(
          {
            iteration: need(whole({ min: 1 }), 'The number of the experiment.'),
            hypothesis: need(text(), 'What it tried.'),
            category: may(text(), 'The kind of the change.'),
            outcome: need(choice(OUTCOMES), 'What became of it.'),
            learnings: may(text(), 'What it taught.'),
            error_message: may(text(), 'What failed.'),
          },
          open,
        ),
      ),
      [],
      'What was tried.',
    ),
    hypothesis_backlog: or(
      list(
        keys(
          {
            description: need(text(), 'The hypothesis.'),
            category: may(text(), 'The kind of the change.'),
            priority: may(choice(PRIORITIES), 'How soon it should be tried.'),
            dep_status: may(
              choice(['approved', 'needs_approval', 'not_applicable']),
              'Whether a person approved its packages.',
            ),
            required_deps: or(list(text()), [], 'Packages that it needs.'),
          },
          open,
        ),
      ),
      [],
      'Ideas that are left.',
    ),
  },
  open,
)

/** Keys that say of a mapping that it is such a log. */
export const LOG_MARKS = ['experiments', 'hypothesis_backlog', 'run_id', 'best']

export interface LoggedIdeas {
  ideas: Idea[]
  /** Of these hypotheses a person approved the packages. */
  approved: string[]
}

/**
 * Outcomes become words, never scores: they were measured in a different way. What waited for an approval when the log
 * ended was not tried.
 */
export function fromLog({ experiments, hypothesis_backlog }: TypeOf<typeof BACKLOG_LOG>): LoggedIdeas {
  const kindOf = (category: string | null) => (category === null ? {} : { kind: category })
  const deferred = (outcome: string) => outcome === 'deferred_needs_approval'
  const tried = experiments
    .filter(({ outcome }) => !deferred(outcome))
    .map(({ hypothesis, category, outcome, learnings, error_message }) => ({
      hypothesis,
      ...kindOf(category),
      tried: [outcome.replaceAll('_', ' '), learnings ?? error_message ?? []].flat().join(': '),
    }))
  const left = hypothesis_backlog.map(({ description, category, priority, required_deps }) => ({
    hypothesis: description,
    ...kindOf(category),
    ...(priority === null ? {} : { priority }),
    ...(required_deps.length === 0 ? {} : { dependencies: required_deps }),
  }))
  const waiting = experiments
    .filter(({ outcome }) => deferred(outcome))
    .map(({ hypothesis, category }) => ({ hypothesis, ...kindOf(category) }))
  return {
    // The backlog says what a deferred one needs, so it comes first.
    ideas: [...tried, ...left, ...waiting],
    approved: hypothesis_backlog
      .filter(({ dep_status, required_deps }) => dep_status === 'approved' && required_deps.length > 0)
      .map(({ description }) => description),
  }
}
