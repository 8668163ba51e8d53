/** Takes the answer of an agent to its task, and does what follows from it. */

import { createHash } from 'node:crypto'
import { extractObject, schemaCheckOf } from '../hosts/agent-answer.ts'
import { mayEdit } from '../hosts/rights.ts'
import type { TaskAnswered } from '../ledger/events.ts'
import { placeOfTask, sealOfEdit } from '../ledger/task-id.ts'
import { findSite } from '../paths.ts'
import { fail, ok, type Problem, type Result } from '../result.ts'
import { mayGoOn } from '../run/driver.ts'
import { liveSpec, type OpenRun } from '../run/open.ts'
import { nextTasks, type Task, taskLeftOut } from './agenda.ts'
import { ANSWERS_OF, knownFields } from './answer-schemas.ts'
import { carryOut } from './effects.ts'
import { advance, answeredBefore, factsOf, givenOut, listed, type NextAnswer, notOpen } from './next-tasks.ts'
import { parkedSince, toldIdeas } from './parked.ts'
import { recordAnswer } from './record-answer.ts'
import { keepText } from './suite/gradient.ts'

export interface TakenAnswer {
  task: string
  repeated?: true
  /** Names of fields that are not read. */
  ignored: string[]
  /** Of an edit: the number of its seal; 0 = it cannot be sealed; null = there is none. */
  attempt: number | null
  /** For an edit: what the CLI has against its seal, free of charge. */
  findings: string[]
  next: Pick<NextAnswer, 'round' | 'tasks' | 'measuring' | 'lanes'> & Partial<Pick<NextAnswer, 'alerts'>>
}

/** Bytes of an answer: far more than any role has to say. */
const LONGEST = 1_000_000

/**
 * Takes the answer to an open task, or to one that was out when its experiment ended; `null` = its agent has ended, and gave
 * none if there is none. The same answer again is that answer; a different one is refused with the first. Prose of an agent
 * that edits is its summary.
 */
export async function takeAnswer(
  run: OpenRun,
  id: string,
  given: string | null,
): Promise<Result<TakenAnswer>> {
  const mine = mayGoOn(run)
  if (!mine.ok) return mine
  const { state } = run.ledger
  const sha256 = digestOf(given)
  const isSame = (first: TaskAnswered) => given === null || first.sha256 === sha256
  const before = state.answers.get(id)
  if (before)
    return isSame(before) ? follow(run, before.task, { repeated: true }) : fail(answeredBefore(id, before))
  const task = await openTask(run, id)
  if (!task.ok) return task
  const leftOut = isLeftOut(run, id)
  if (given === null && leftOut) return follow(run, id, { repeated: false })
  const foreign = otherWorktree(run, task.value)
  if (foreign) return fail(foreign)
  const recorded = await record(run, task.value, { given, sha256 })
  if (!recorded.ok) return recorded
  const { counts, ignored } = recorded.value
  if (leftOut) await auditLeftOut(run, task.value)
  const first = state.answers.get(id)
  // A different driver was quicker.
  if (!counts && first && !isSame(first)) return fail(answeredBefore(id, first))
  return follow(run, id, { ignored, repeated: !counts })
}

/**
 * It may open only by what the CLI has still to do, for example after a driver was killed. Work that was paid for is taken also
 * if its experiment has ended meanwhile.
 */
async function openTask(run: OpenRun, id: string): Promise<Result<Task>> {
  const { state } = run.ledger
  const now = nextTasks(state, liveSpec(run), factsOf(run)).find((one) => one.id === id)
  if (now) return ok(now)
  const agenda = await advance(run, null)
  if (!agenda.ok) return agenda
  const task = agenda.value.tasks.find((one) => one.id === id) ?? taskLeftOut(state, liveSpec(run), id)
  return task ? ok(task) : fail(notOpen(id, agenda.value.tasks))
}

/** Whether the experiment or the round of a task has ended, so that the task is no longer asked. A missing answer to it has no effect. */
const isLeftOut = (run: OpenRun, id: string): boolean =>
  taskLeftOut(run.ledger.state, liveSpec(run), id) !== null

/**
 * Records the findings of an auditor whose experiment or round has ended, since no agenda does so any more. Does nothing while
 * the experiment is revoked; the findings count if a person restores it.
 */
async function auditLeftOut(run: OpenRun, { id, role, experiment }: Task): Promise<void> {
  const { answers, experiments } = run.ledger.state
  if (role !== 'audit' || experiment === null || !answers.get(id)?.answer) return
  if (experiments.get(experiment)?.status === 'revoked') return
  await carryOut(run, { do: 'audit', experiment, task: id })
}

/** The answer of an agent that the caller itself asked; what follows from it is the caller's to do. */
export async function recordGiven(run: OpenRun, task: Task, given: string | null): Promise<Result<unknown>> {
  const mine = mayGoOn(run)
  if (!mine.ok) return mine
  const leftOut = isLeftOut(run, task.id)
  if (given === null && leftOut) return ok(undefined)
  const recorded = await record(run, task, { given, sha256: digestOf(given) })
  if (recorded.ok && leftOut) await auditLeftOut(run, task)
  // What cannot be kept says nothing; an edit is judged all the same.
  if (!recorded.ok && recorded.problem.kind === 'usage')
    return record(run, task, { given: null, sha256: digestOf(null) })
  return recorded
}

const digestOf = (given: string | null): string =>
  createHash('sha256')
    .update(given ?? '')
    .digest('hex')

/** `counts`: false when a different answer came first. */
async function record(
  run: OpenRun,
  task: Task,
  { given, sha256 }: { given: string | null; sha256: string },
): Promise<Result<{ counts: boolean; ignored: string[] }>> {
  const read = given === null ? ok(null) : await readAnswer(task, given)
  if (!read.ok) return read
  const { known, ignored } = read.value ?? { known: null, ignored: [] }
  const { id, experiment } = task
  const answer = known !== null && task.role === 'gradient' ? keepText(run, known) : known
  const recorded = recordAnswer(run, { task: id, experiment, sha256, answer })
  return recorded.ok ? ok({ counts: recorded.value, ignored }) : recorded
}

async function readAnswer(
  { role }: Task,
  given: string,
): Promise<Result<{ known: Record<string, unknown>; ignored: string[] }>> {
  if (Buffer.byteLength(given) > LONGEST)
    return bad(
      'too_long',
      `the answer has more than ${LONGEST / 1_000_000} MB`,
      'say less: what matters, in sentences',
    )
  const object = extractObject(given)
  if (object === null) {
    const summary = given.trim()
    if (mayEdit(role) && summary !== '') {
      const line = summary.replace(/\s+/g, ' ').slice(0, 500)
      return ok({ known: { summary, learnings: [line] }, ignored: [] })
    }
    return bad('bad_answer', 'the answer is not a JSON object', shapeOf(role))
  }
  const check = await schemaCheckOf(ANSWERS_OF[role], { isOurs: true })
  if (!check.ok) return check
  const wrong = check.value(object)
  return wrong === null ? ok(knownFields(role, object)) : bad('bad_answer', wrong, shapeOf(role))
}

const shapeOf = (role: Task['role']): string =>
  `it must satisfy ${JSON.stringify(ANSWERS_OF[role])}; hand it in again`

const bad = (code: string, message: string, hint: string) => fail({ kind: 'usage', code, message, hint })

/** Does what follows from an answer in its lane, and says which tasks come next there. */
async function follow(
  run: OpenRun,
  id: string,
  { ignored = [], repeated }: { ignored?: string[]; repeated: boolean },
): Promise<Result<TakenAnswer>> {
  const place = placeOfTask(id)
  const lane = place?.lane ?? null
  const { state } = run.ledger
  const told = toldIdeas(state)
  const agenda = await advance(run, lane)
  if (!agenda.ok) return agenda
  const alerts = parkedSince(state, told)
  const next = listed(state, agenda.value, { lane, tick: null })
  const sealed = state.answers.get(sealOfEdit(id) ?? '')?.answer
  // What comes after the last lane is of the round.
  // A lane of an earlier round has ended; the lane with its number in the open round has a caller of its own.
  const late = place?.round !== next.round
  const ofRound = givenOut(state, agenda.value).filter(
    (task) => lane !== null && task.lane === null && task.role !== 'meta',
  )
  return ok({
    task: id,
    ...(repeated ? { repeated: true as const } : {}),
    ignored,
    attempt: typeof sealed?.attempt === 'number' ? sealed.attempt : null,
    findings: messages(sealed?.findings),
    next: {
      ...next,
      ...(late ? { tasks: [], measuring: [] } : { tasks: [...next.tasks, ...ofRound] }),
      ...(alerts.length === 0 ? {} : { alerts }),
    },
  })
}

/** `r1/l1/d1/implement` → `r1/l1/d1/sealed`, `…/revise.2` → `…/sealed.2`. */
const messages = (findings: unknown): string[] =>
  Array.isArray(findings)
    ? findings.flatMap((one: { message?: unknown } | null) =>
        typeof one?.message === 'string' ? [one.message] : [],
      )
    : []

/** An agent that calls from the worktree of an experiment answers for that one. */
function otherWorktree(run: OpenRun, { id, experiment }: Task): Problem | null {
  const place = findSite(run.cwd)
  const here = place?.run === run.run ? place.experiment : null
  if (here === null || experiment === null || here === experiment) return null
  return {
    kind: 'refused',
    code: 'other_experiment',
    message: `${id} is about ${experiment}, and this is the worktree of ${here}`,
    hint: 'answer the task that you were given, or call from the folder of the run',
  }
}
