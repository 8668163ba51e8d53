/** When the meta controller is asked, and what follows from its answer. */

import { abort } from '../../experiment/abort.ts'
import type { FailureClass } from '../../ledger/events.ts'
import { currentRound, type State } from '../../ledger/state.ts'
import { metaTask } from '../../ledger/task-id.ts'
import { ok, type Result } from '../../result.ts'
import type { OpenRun } from '../../run/open.ts'
import { metaInterval } from '../round.ts'
import { applyEdits, metaDue } from './apply.ts'

/** Ticks in a row, in one round, whose agent gave no answer: after these it is not asked in that round any more. */
const FAILED_LOOKS = 3

export function hasFailed(state: State): boolean {
  const { ticks } = state.meta
  const round = currentRound(state)?.round
  return (
    ticks >= FAILED_LOOKS &&
    Array.from({ length: FAILED_LOOKS }, (_, back) => state.answers.get(metaTask(ticks - back))).every(
      (answer) => answer?.answer === null && answer.round === round,
    )
  )
}

export const SWITCHED_OFF = `the meta controller gave no answer ${FAILED_LOOKS} times in a row, and is switched off for this round`

/** In ms from now; null = it is off. A tick is cheap, but not free: it reads what the newest samples printed. */
export function untilMetaTick(run: OpenRun): number | null {
  const { state } = run.ledger
  const every = metaInterval(run)
  const round = currentRound(state)
  if (every === null || round === null || state.paused !== null || hasFailed(state)) return null
  const last = state.meta.lastTick?.at ?? round.opened.at
  return Math.max(0, Date.parse(last) + every - run.clock().getTime())
}

/** Takes a tick, if it is time: the task of its agent when there are new facts, and no different caller took the turn; else null. */
export async function metaTick(run: OpenRun): Promise<Result<string | null>> {
  if (untilMetaTick(run) !== 0) return ok(null)
  const seen = await metaDue(run, run.random(8))
  if (!seen.ok) return seen
  return ok(seen.value.tick === null ? null : metaTask(seen.value.tick))
}

// ---------------------------------------------------------------- what its answer says is done

/** What it answers; the schema was checked. */
interface MetaAnswer {
  edits?: unknown[]
  alerts?: string[]
  stops?: Stop[]
}

interface Stop {
  experiment: string
  failure_class?: string
  reason: string
  fix?: string
  evidence: string
}

/** Of one answer. */
const MOST_STOPS = 7

/** Stops what it names with a fact about that very experiment, and records its edits. One sentence for what a person should read. */
export async function applyMetaTick(run: OpenRun, tick: number): Promise<Result<{ said: string[] }>> {
  const { state } = run.ledger
  const given = (state.answers.get(metaTask(tick))?.answer ?? {}) as MetaAnswer
  const said: string[] = []
  for (const stop of (given.stops ?? []).slice(0, MOST_STOPS)) said.push(await enforce(run, stop, tick))
  const { alerts = [], edits = [] } = given
  // Also when there is nothing to change: that the facts were answered is what keeps them from being told again.
  const done = await applyEdits(run, { tick, edits, alerts, key: `${metaTask(tick)}/apply` })
  if (!done.ok) return done
  const refused = done.value.refused.map(({ index, message }) => `edit ${index + 1} refused: ${message}`)
  return ok({ said: [...said, ...alerts, ...refused] })
}

const CLASSES = ['build', 'eval', 'hypothesis', 'environment'] as const satisfies readonly FailureClass[]

/** Ends an experiment when a fact about that very one is the evidence. */
async function enforce(
  run: OpenRun,
  { experiment, failure_class, reason, fix, evidence }: Stop,
  tick: number,
): Promise<string> {
  const { meta } = run.ledger.state
  // The name of a fact about an experiment has that as its second word.
  const grounds = meta.lastTick?.facts.includes(evidence) && evidence.split(':')[1] === experiment
  if (!grounds) return `${experiment.slice(0, 20)} goes on: ${evidence.slice(0, 100)} is no fact about it`
  const done = await abort(run, experiment, {
    ifRunning: true,
    failureClass: CLASSES.find((one) => one === failure_class) ?? 'environment',
    why: inOneLine(reason),
    fix: fix ? inOneLine(fix) : null,
    key: `${metaTask(tick)}/${experiment}`,
  })
  if (!done.ok) return done.problem.message
  return `${experiment} ${done.value.aborted ? 'was stopped' : 'was not running any more'}`
}

const inOneLine = (said: string): string => said.replace(/\s+/g, ' ').trim().slice(0, 500)
