/**
 * What comes next: opens a round, does what needs no agent, and lists the tasks that agents must do. `agenda.ts` says what is to do.
 */
import { judgedElsewhere, settled, whenLedger } from '../experiment/wait.ts'
import { parkedIdeas } from '../ledger/backlog.ts'
import type { StopReason, TaskAnswered } from '../ledger/events.ts'
import { directionsOf } from '../ledger/meta.ts'
import { currentRound, type State } from '../ledger/state.ts'
import { ok, type Problem, type Result } from '../result.ts'
import { liveSpec, type OpenRun } from '../run/open.ts'
import {
  type Agenda,
  agendaOf,
  type Effect,
  type Facts,
  laneOfEffect,
  laneOfExperiment,
  lanesLeft,
  nextTasks,
  type Task,
} from './agenda.ts'
import { carryOut } from './effects.ts'
import { alertOfHeldAccelerators } from './held-accelerators.ts'
import { metaTick, untilMetaTick } from './meta/tick.ts'
import { openRound, scanBatches, stopOfNext } from './open.ts'
import { asAlert, parkedSince, toldIdeas } from './parked.ts'
import { roundLine } from './round.ts'

export interface NextAnswer {
  /** null: no round is open. */
  round: number | null
  /** A round that was opened and has ended at once, since it needed no agent; null: none did. */
  closed: number | null
  /** Why the loop is over, or the lane that was asked about; null while it is not. */
  over: StopReason | 'until' | 'lane' | null
  tasks: Task[]
  measuring: string[]
  /** Lanes of the open round that have not ended. */
  lanes: number[]
  /** What a person should do something about. */
  alerts: string[]
  /** Where the round stands, in one line; null: no round is open. */
  line: string | null
  /** Why a person paused the loop: nothing is begun, and answers are accepted. null: it is not paused. */
  paused: { why: string; since: string } | null
}

export interface NextRequest {
  /** Only what is to be done in this lane; no round is opened. */
  lane: number | null
  /** How long to wait for a task; 0 = not at all. */
  waitMs: number
  /** The last round that may be opened; null = no limit. */
  until: number | null
  takeOver: boolean
}

/** Opens the next round where none is open, does what needs no agent, and answers who is to be asked. */
export async function nextOf(run: OpenRun, request: NextRequest): Promise<Result<NextAnswer>> {
  const deadline = performance.now() + request.waitMs
  const held: string[] = []
  for (;;) {
    const { state } = run.ledger
    if (currentRound(state) === null) {
      if (request.lane !== null) return ok({ ...NOBODY, over: 'lane' })
      if (request.until !== null && state.rounds.length >= request.until)
        return ok(overFor(state, stopOfNext(state) ?? 'until'))
    }
    const paused = pauseOf(state)
    if (paused !== null && currentRound(state) === null && stopOfNext(state) === null) {
      if (performance.now() >= deadline || run.signal.aborted) return ok({ ...NOBODY, over: null, paused })
      const since = state.seq
      const changed = await whenLedger(run, deadline, () => (state.seq > since ? true : null))
      if (!changed.ok) return changed
      continue
    }
    const opens = currentRound(state) === null
    const turn = openRound(run, request.takeOver)
    if (!turn.ok) return turn
    if (turn.value.stop !== null) return ok(overFor(state, turn.value.stop))
    if (opens) held.push(...(await alertOfHeldAccelerators(run)))
    const tick = await metaTick(run)
    if (!tick.ok) return tick
    const told = toldIdeas(state)
    const agenda = await advance(run, request.lane)
    if (!agenda.ok) return agenda
    held.push(...parkedSince(state, told))
    if (currentRound(state) === null) {
      // The driver counts the rounds.
      if (opens) return ok({ ...NOBODY, closed: state.rounds.length, over: null, alerts: held })
      continue
    }
    const found = {
      ...listed(state, agenda.value, { lane: request.lane, tick: tick.value }),
      closed: null,
      alerts: [...turn.value.warnings, ...held],
      line: lineOf(state),
      paused: pauseOf(state),
    }
    if (request.lane !== null && !found.lanes.includes(request.lane)) return ok({ ...found, over: 'lane' })
    if (found.tasks.length > 0 || performance.now() >= deadline || run.signal.aborted)
      return ok({ ...found, over: null })
    const before = state.seq
    const due = untilMetaTick(run)
    const until = Math.min(deadline, due === null ? deadline : performance.now() + Math.max(due, LOOK_MS))
    const seen = await whenLedger(run, until, () =>
      state.seq > before || hasLost(run, agenda.value.measuring) ? true : null,
    )
    if (!seen.ok) return seen
    if (seen.value === null && performance.now() >= deadline) return ok({ ...found, over: null })
  }
}

/** While it is time for a tick and there is nothing new. */
const LOOK_MS = 10_000

/**
 * `lane`: only what is of this lane; null = everything. A tick of the meta controller is handed out once, to the caller that
 * made it, since no task waits for its answer; after an interval there is a new one.
 */
export function listed(
  state: State,
  agenda: Agenda,
  { lane, tick }: { lane: number | null; tick: string | null },
): Pick<NextAnswer, 'round' | 'tasks' | 'measuring' | 'lanes'> {
  return {
    round: currentRound(state)?.round ?? null,
    tasks: givenOut(state, agenda).filter((task) =>
      task.role === 'meta' ? task.id === tick : lane === null || task.lane === lane,
    ),
    measuring: agenda.measuring.filter((id) => lane === null || laneOfExperiment(state, id) === lane),
    lanes: lanesLeft(state, agenda),
  }
}

/** While a person holds the loop, nothing new is begun. */
export const givenOut = (state: State, { tasks }: Agenda): Task[] => (state.paused === null ? tasks : [])

function pauseOf({ paused, pausedAt }: State): NextAnswer['paused'] {
  return paused === null ? null : { why: paused, since: pausedAt ?? '' }
}

/** Of those that were being measured: one that was lost before has been dealt with, or is of no round. */
const hasLost = ({ ledger }: OpenRun, measuring: readonly string[]): boolean =>
  measuring.some((id) => {
    const node = ledger.state.experiments.get(id)
    return node !== undefined && settled(node) === 'lost'
  })

const NOBODY = {
  ...{ round: null, closed: null, tasks: [], measuring: [], lanes: [] },
  ...{ alerts: [], line: null, paused: null },
}

/** What waits for an approval is said again at the end. */
const overFor = (state: State, over: NonNullable<NextAnswer['over']>): NextAnswer => ({
  ...NOBODY,
  over,
  alerts: asAlert(parkedIdeas(state)),
})

function lineOf(state: State): string | null {
  const open = currentRound(state)
  return open && roundLine(state, open)
}

export function factsOf(run: OpenRun): Facts {
  const { state } = run.ledger
  const round = currentRound(state)
  const { knobs, meta } = state
  // What scanners find is for those who write briefs or ideas.
  const isRead =
    round?.opened.suite === undefined && (knobs?.briefs !== 'backlog' || round?.opened.ideate != null)
  const scans = round && knobs && isRead && directionsOf(meta, round.round).phases.scan
  return {
    batches: scans ? scanBatches(state, knobs, round.opened.parents) : [],
    lost: new Set(
      [...state.experiments.values()].flatMap((node) =>
        settled(node) === 'lost' || judgedElsewhere(node) ? [node.id] : [],
      ),
    ),
    merges: liveSpec(run).loop.merge === 'on',
  }
}

/** Effects that begin something: they wait while a person holds the loop. */
export const BEGINS: readonly Effect['do'][] = ['create', 'merge', 'descend', 'repeat']

/**
 * Does what needs no agent until only agents and measurements are left. Safe to be done by several at once; `lane`: only
 * what is of this lane, since each lane has a caller of its own.
 */
export async function advance(run: OpenRun, lane: number | null): Promise<Result<Agenda>> {
  let before = ''
  for (;;) {
    const read = run.ledger.refresh()
    if (!read.ok) return read
    const agenda = agendaOf(run.ledger.state, liveSpec(run), factsOf(run))
    // A person holds the loop: what begins a lane waits.
    const effects = agenda.effects.filter(
      (effect) =>
        (!BEGINS.includes(effect.do) || run.ledger.state.paused === null) &&
        (lane === null || laneOfEffect(run.ledger.state, effect) === lane),
    )
    if (effects.length === 0) return ok(agenda)
    const now = JSON.stringify([effects, run.ledger.state.seq])
    if (now === before) throw new Error(`the loop cannot go on: ${effects.map((one) => one.do).join(', ')}`)
    before = now
    for (const effect of effects) {
      const done = await carryOut(run, effect)
      if (!done.ok) return done
    }
  }
}

/** Whether an agent is to be asked the task, as far as the ledger was read. */
export const isOpen = (run: OpenRun, id: string): boolean =>
  nextTasks(run.ledger.state, liveSpec(run), factsOf(run)).some((task) => task.id === id)

export function answeredBefore(id: string, { answer }: TaskAnswered): Problem {
  return {
    kind: 'refused',
    code: 'answered',
    message: `${id} was answered before, and the first answer counts`,
    hint: 'ask what comes next: assay round next',
    data: { answer },
  }
}

export function notOpen(id: string, tasks: readonly Task[]): Problem {
  const open = tasks.map((task) => task.id)
  return {
    kind: 'refused',
    code: 'not_open',
    message: `no task ${id.slice(0, 100)} is open`,
    hint: open.length > 0 ? `open are: ${open.slice(0, 20).join(', ')}` : 'none is open: assay round next',
    data: { open },
  }
}
