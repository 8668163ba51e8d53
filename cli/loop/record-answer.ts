/** Records what became of a task. The first answer counts. */

import type { TaskAnswered } from '../ledger/events.ts'
import { currentRound } from '../ledger/state.ts'
import { placeOfTask } from '../ledger/task-id.ts'
import { ok, type Result } from '../result.ts'
import type { OpenRun } from '../run/open.ts'
import { bounded } from './answer-schemas.ts'
import { fitted } from './fit.ts'

/** What the CLI found itself; the first one counts. */
export function recordOwn(
  run: OpenRun,
  task: string,
  experiment: string | null,
  answer: Record<string, unknown>,
): Result<unknown> {
  return recordAnswer(run, { task, experiment, sha256: null, answer })
}

/** False: a different answer came first. */
export function recordAnswer(
  run: OpenRun,
  given: Pick<TaskAnswered, 'task' | 'experiment' | 'sha256' | 'answer'>,
): Result<boolean> {
  const { state } = run.ledger
  const round = placeOfTask(given.task)?.round ?? currentRound(state)?.round ?? 0
  const proposal = run.ledger.propose<'task_answered'>(
    {
      type: 'task_answered',
      round,
      ...given,
      ...fitted(MOST.characters, (most) => ({
        answer: bounded(given.answer, most, MOST.items) as TaskAnswered['answer'],
      })),
    },
    run.clock(),
  )
  return proposal.ok ? ok(proposal.value.accepted) : proposal
}

const MOST = { characters: 4000, items: 100 }
