/** Records what became of a task. The first answer counts. */

import { MAX_LINE } from '../ledger/append.ts'
import type { TaskAnswered } from '../ledger/events.ts'
import { currentRound } from '../ledger/state.ts'
import { placeOfTask } from '../ledger/task-id.ts'
import { ok, type Result } from '../result.ts'
import type { OpenRun } from '../run/open.ts'
import { bounded } from './answer-schemas.ts'

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

// ---------------------------------------------------------------- shortens what agents say until the event fits into one line of the ledger: a refused event would end the loop

/** Bytes for what stands around it: names, times, a key. */
const AROUND = 4096
const SHORTEST = 20

/** What `make` makes of texts of `most` characters, or of as many fewer as fit. */
export function fitted<T>(most: number, make: (most: number) => T): T {
  let made = make(most)
  for (let less = most; less > SHORTEST && bytesOf(made) > MAX_LINE - AROUND; ) {
    less = Math.floor(less * 0.7)
    made = make(less)
  }
  return made
}

const bytesOf = (value: unknown): number => Buffer.byteLength(JSON.stringify(value))

interface Refusal {
  index: number
  reason: string
  message: string
}

const REFUSED = { most: 20, characters: 300 }

/** The first refusals: a caller that sent hundreds learns nothing from the others. */
export const firstRefused = (refused: readonly Refusal[]): Refusal[] =>
  refused.slice(0, REFUSED.most).map((one) => ({ ...one, message: one.message.slice(0, REFUSED.characters) }))
