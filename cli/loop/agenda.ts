/**
 * What the loop does next, from the ledger alone: which agents are to be asked, and what the CLI does by itself. Pure, so
 * that every driver reads the same, and a driver that was killed loses nothing.
 */
import type { Lane, TaskAnswered } from '../ledger/events.ts'
import { directionsOf } from '../ledger/meta.ts'
import {
  currentRound,
  type Experiment,
  hadNoRoom,
  lastAttempt,
  lastJudged,
  mergeOf,
  type Round,
  roundAt,
  type State,
  saysNothing,
} from '../ledger/state.ts'
import {
  editTask,
  gradientTask,
  laidRecord,
  lanePlace,
  metaTask,
  notMadeRecord,
  placeOfTask,
  repeatRecord,
  reviseTask,
  roundPlace,
  scanTask,
  sealedRecord,
  stepTask,
  takenRecord,
  verifyTask,
} from '../ledger/task-id.ts'
import { nextMerge } from '../search/merge.ts'
import { mergePlan } from '../search/unmerged.ts'
import type { ROLES } from '../spec/keys/loop.ts'
import { mindOf } from '../spec/mind.ts'
import type { Spec } from '../spec/spec.ts'
import { untold } from './parked.ts'

export type Role = (typeof ROLES)[number]

export type PhaseTitle = 'Scan' | 'Ideate' | 'Brief' | 'Lanes' | 'Collect'

/** One thing that an agent must do now. */
export interface Task {
  /** `r7/l1/d1/implement`: the same in every driver. */
  id: string
  role: Role
  /** null: beside the round, in any phase. */
  phase: PhaseTitle | null
  label: string
  experiment: string | null
  lane: number | null
  /** Absent: as the driver's agents are set. */
  model?: string
  effort?: string
}

/** What the CLI does by itself. Each may be done again: the first one counts. */
export type Effect =
  | { do: 'propose'; task: string }
  /** The CLI names, once, the ideas that wait for an approval. */
  | { do: 'park'; ideas: string[] }
  | { do: 'brief'; task: string; record: string }
  | { do: 'create'; lane: Lane; depth: number; parent: string; key: string; refused: string }
  | { do: 'seal'; experiment: string; record: string; answer: string }
  /** `record`: what says that it could not be begun, or that its process was replaced once more. */
  | { do: 'run'; experiment: string; record: string; lost: boolean }
  /** `record`: what says that it could not be begun. */
  | { do: 'merge'; experiments: string[]; record: string }
  | { do: 'audit'; experiment: string; task: string }
  /** `findings`: what a verifier, or the CLI free of charge, has against it. */
  | {
      do: 'discard'
      experiment: string
      class: 'eval' | 'environment'
      why: string
      findings: readonly unknown[]
    }
  | { do: 'steer'; tick: number }
  /** Chooses among the texts that agents proposed (`record`), and makes an experiment of the best one (`key`). */
  | { do: 'descend'; round: number; record: string; key: string }
  /** Runs the suite once more, unchanged. */
  | { do: 'repeat'; record: string }
  | { do: 'close' }

export interface Agenda {
  tasks: Task[]
  effects: Effect[]
  /** Experiments whose verdict is awaited. */
  measuring: string[]
}

/** What the ledger does not say. */
export interface Facts {
  /** What the scanners of the open round read. */
  batches: readonly string[][]
  /** Experiments whose judging process has died, or is on a machine that cannot be seen from here. */
  lost: ReadonlySet<string>
  /** Whether kept experiments are merged when the lanes of a round have ended. */
  merges: boolean
}

type LiveParts = Pick<Spec, 'agent' | 'gradient'>

/** By task, what an agent of the loop may be asked now. Empty when no round is open. */
export const nextTasks = (state: State, spec: LiveParts, facts: Facts): Task[] =>
  agendaOf(state, spec, facts).tasks

/** Empty when no round is open. */
export function agendaOf(state: State, spec: LiveParts, facts: Facts): Agenda {
  const round = currentRound(state)
  if (!round) return NOTHING
  const found = tasksAndEffects(state, round, spec, facts)
  const both = all([found, steering(state)])
  return { ...both, tasks: both.tasks.map((task) => withModel(task, round, spec)) }
}

function tasksAndEffects(state: State, round: Round, { gradient }: LiveParts, facts: Facts): Agenda {
  if (round.opened.suite === 'gradient') return gradientRound(state, round, gradient?.candidates ?? [], facts)
  if (round.opened.suite === 'repeat') return repetition(state, round)
  return round.briefed?.lanes.length ? lanesOf(state, round, facts) : beforeLanes(state, round, facts)
}

/**
 * A task of a lane whose experiment or round has ended. The agenda no longer names it, but an agent may still work on it.
 * null: the id is not of such a task.
 */
export function taskLeftOut(state: State, spec: Pick<Spec, 'agent'>, id: string): Task | null {
  const place = placeOfTask(id)
  if (place === null || place.lane === null) return null
  const { at, round, lane } = place
  const made = state.keys.get(`${at}/new`)
  const node = made?.type === 'created' ? state.experiments.get(made.experiment) : undefined
  const of = roundAt(state, round)
  if (!node || !of || (!hasEnded(node) && of.closed === null)) return null
  const step = stepOf(state, node, { at, lane })
  const task = step === 'passed' ? undefined : step.tasks.find((one) => one.id === id)
  return task ? withModel(task, of, spec) : null
}

/** The meta controller's last tick, which no round waits for: its agent is asked, then what it says is done. */
function steering({ meta, answers }: State): Agenda {
  const { ticks: tick, adjusted } = meta
  if (tick === 0 || adjusted === tick) return NOTHING
  const id = metaTask(tick)
  const answer = answers.get(id)
  if (answer === undefined)
    return asks({ id, role: 'meta', phase: null, label: 'meta', experiment: null, lane: null })
  return answer.answer === null ? NOTHING : does({ do: 'steer', tick })
}

const NOTHING: Agenda = { tasks: [], effects: [], measuring: [] }
const asks = (...tasks: Task[]): Agenda => ({ ...NOTHING, tasks })
const does = (...effects: Effect[]): Agenda => ({ ...NOTHING, effects })
const all = (parts: readonly Agenda[]): Agenda => ({
  tasks: parts.flatMap(({ tasks }) => tasks),
  effects: parts.flatMap(({ effects }) => effects),
  measuring: parts.flatMap(({ measuring }) => measuring),
})
const isEmpty = ({ tasks, effects, measuring }: Agenda): boolean =>
  tasks.length + effects.length + measuring.length === 0

/** The first part that has something left to do: what comes later waits for it. */
function first(parts: readonly (() => Agenda)[]): Agenda {
  for (const part of parts) {
    const found = part()
    if (!isEmpty(found)) return found
  }
  return NOTHING
}

// ---------------------------------------------------------------- whose turn it is

/** null: of the round, not of a lane. */
export function laneOfEffect(state: State, effect: Effect): number | null {
  if (effect.do === 'create') return effect.lane.lane
  return 'experiment' in effect ? laneOfExperiment(state, effect.experiment) : null
}

export const laneOfExperiment = (state: State, id: string): number | null =>
  state.experiments.get(id)?.created.lane ?? null

/** Lanes of the open round in which something is left to do or to be measured, in order. */
export function lanesLeft(state: State, { tasks, effects, measuring }: Agenda): number[] {
  const lanes = [
    ...tasks.map(({ lane }) => lane),
    ...effects.map((effect) => laneOfEffect(state, effect)),
    ...measuring.map((id) => laneOfExperiment(state, id)),
  ]
  return [...new Set(lanes.filter((lane) => lane !== null))].sort((a, b) => a - b)
}

// ---------------------------------------------------------------- before the lanes

const IDEATORS = ['exploit', 'explore', 'failures'] as const
export type Ideator = (typeof IDEATORS)[number]

function beforeLanes(state: State, round: Round, facts: Facts): Agenda {
  const at = roundPlace(round.round)
  const open = (task: Task): Agenda => (state.answers.has(task.id) ? NOTHING : asks(task))
  const ideators = round.opened.ideate === null ? [] : IDEATORS
  return first([
    () => stepsAt('before-scan', state, round, 'Scan'),
    () =>
      all(
        facts.batches.map((_, index) =>
          open(roundTask(scanTask(round.round, index + 1), 'scan', 'Scan', `scan batch ${index + 1}`)),
        ),
      ),
    () => stepsAt('after-scan', state, round, 'Scan'),
    () =>
      all(
        ideators.map((kind) => {
          const task = `${at}/ideate/${kind}`
          const answer = state.answers.get(task)
          if (answer === undefined) return asks(roundTask(task, 'ideate', 'Ideate', `ideate ${kind}`))
          return listIn(answer, 'ideas').length === 0 || state.keys.has(task)
            ? NOTHING
            : does({ do: 'propose', task })
        }),
      ),
    () => parking(state),
    () => stepsAt('before-brief', state, round, 'Brief'),
    () => briefing(state, round, facts),
  ])
}

function parking(state: State): Agenda {
  const ideas = untold(state)
  return ideas.length === 0 ? NOTHING : does({ do: 'park', ideas: ideas.map(({ idea }) => idea.id) })
}

/** A brief that no lane came of is asked for once more, with the reasons. */
function briefing(state: State, round: Round, facts: Facts): Agenda {
  const at = roundPlace(round.round)
  for (const [task, label] of [
    [`${at}/brief`, 'brief'],
    [`${at}/brief/again`, 'brief again'],
  ] as const) {
    const record = laidRecord(task)
    const wanted = round.opened.width > (round.opened.arm ?? 0) && state.knobs?.briefs !== 'backlog'
    const answer = state.answers.get(task)
    if (wanted && answer === undefined) return asks(roundTask(task, 'brief', 'Brief', label))
    if (!state.answers.has(record)) return does({ do: 'brief', task, record })
    // None were written: that is an answer. No answer at all is not.
    if (!wanted || (answer?.answer != null && listIn(answer, 'briefs').length === 0)) break
  }
  return collecting(state, round, facts)
}

function stepsAt(seam: string, state: State, { round }: Round, phase: PhaseTitle): Agenda {
  const { steps } = directionsOf(state.meta, round)
  return all(
    steps
      .filter((step) => step.seam === seam)
      .map(({ edit }) => roundTask(stepTask(round, edit), 'step', phase, `step ${edit}`))
      .filter(({ id }) => !state.answers.has(id))
      .map((task) => asks(task)),
  )
}

const roundTask = (id: string, role: Role, phase: PhaseTitle, label: string): Task => ({
  id,
  role,
  phase,
  label,
  experiment: null,
  lane: null,
})

const listIn = ({ answer }: TaskAnswered, field: string): unknown[] => {
  const list = answer?.[field]
  return Array.isArray(list) ? list : []
}

// ---------------------------------------------------------------- rounds of a suite: a text gradient, or a repetition

const gradientPlace = (round: number): string => `${roundPlace(round)}/gradient`
const gradientKey = (round: number): string => `${gradientPlace(round)}/new`

/**
 * One question for each candidate text; then the CLI makes an experiment of the best answer, which is measured. If the text
 * of the round before was not kept, no agent is asked.
 */
function gradientRound(state: State, { round }: Round, candidates: readonly string[], facts: Facts): Agenda {
  if (wasTurnedDown(state, round - 1)) return does({ do: 'close' })
  const record = takenRecord(round)
  const taken = state.answers.get(record)
  const open = candidates
    .map((name) => roundTask(gradientTask(round, name), 'gradient', 'Brief', `gradient ${name}`))
    .filter(({ id }) => !state.answers.has(id))
  if (!taken && open.length > 0) return asks(...open)
  const descend = does({ do: 'descend', round, record, key: gradientKey(round) })
  if (!taken) return descend
  if (typeof taken.answer?.artifact !== 'string') return does({ do: 'close' })
  const node = madeOf(state, round)
  const at = gradientPlace(round)
  if (state.answers.has(notMadeRecord(round))) return does({ do: 'close' })
  if (!node) return descend
  if (node.status === 'running' && !facts.lost.has(node.id)) return { ...NOTHING, measuring: [node.id] }
  // What is lost for good is ended with the round.
  if (node.status === 'running')
    return first([() => runAgain(state, node.id, at), () => does({ do: 'close' })])
  const unsealed = node.status === 'open' && lastAttempt(node) === null
  if (unsealed) return descend
  if (node.status === 'open' && !unsealed && !state.answers.has(`${at}/not-run`))
    return does({ do: 'run', experiment: node.id, record: `${at}/not-run`, lost: false })
  return does({ do: 'close' })
}

/** The experiment of a round's gradient. */
function madeOf(state: State, round: number): Experiment | undefined {
  const made = state.keys.get(gradientKey(round))
  return made?.type === 'created' ? state.experiments.get(made.experiment) : undefined
}

/** Measured, and not kept. That the machine spoilt it says nothing about the text. */
function wasTurnedDown(state: State, round: number): boolean {
  const node = madeOf(state, round)
  const judged = node && lastJudged(node)
  return judged != null && judged.status !== 'kept' && judged.failure_class !== 'environment'
}

function repetition(state: State, { round }: Round): Agenda {
  const record = repeatRecord(round)
  return does(state.answers.has(record) ? { do: 'close' } : { do: 'repeat', record })
}

// ---------------------------------------------------------------- the lanes, and what follows them

function lanesOf(state: State, round: Round, facts: Facts): Agenda {
  const lanes = all((round.briefed?.lanes ?? []).map((lane) => laneOf(state, round, lane, facts)))
  return isEmpty(lanes) ? collecting(state, round, facts) : lanes
}

function collecting(state: State, round: Round, facts: Facts): Agenda {
  const task = `${roundPlace(round.round)}/collect`
  const asked = state.answers.has(task) ? NOTHING : asks(roundTask(task, 'collect', 'Collect', 'collect'))
  return first([
    () => all([asked, merging(state, round, facts)]),
    () => stepsAt('after-collect', state, round, 'Collect'),
    () => does({ do: 'close' }),
  ])
}

/**
 * One set after the other, until no new one is left. What the machine spoilt is not tried again in this round; if only an
 * experiment of the set was revoked meanwhile, the next set does without it.
 */
function merging(state: State, { round, openedSeq }: Round, facts: Facts): Agenda {
  const at = `${roundPlace(round)}/merge`
  const record = `${at}/ended`
  // Also one that an earlier round, or a command, began.
  const byMachine = (node: Experiment) => {
    const judged = node.created.merge && (node.judgedSeq ?? -1) >= openedSeq ? lastJudged(node) : null
    return judged !== null && saysNothing(judged) && judged.reason !== 'dependency'
  }
  if (!facts.merges || state.answers.has(record) || [...state.experiments.values()].some(byMachine))
    return NOTHING
  const experiments = nextMerge(mergePlan(state))
  if (experiments === null) return NOTHING
  const begun = mergeOf(state, experiments)
  if (begun?.status !== 'running') return does({ do: 'merge', experiments, record })
  const { id } = begun
  return facts.lost.has(id) ? runAgain(state, id, `${at}/${id}`) : { ...NOTHING, measuring: [id] }
}

/** One chain of experiments, which waits for no other lane. Empty when it has ended. */
function laneOf(state: State, { round, opened }: Round, lane: Lane, facts: Facts): Agenda {
  let parent = lane.parent
  // A lane of the baseline arm makes one try.
  const depths = lane.arm === undefined ? opened.depth : 1
  for (let depth = 1; depth <= depths; depth++) {
    const at = lanePlace(round, lane.lane, depth)
    const made = state.keys.get(`${at}/new`)
    const node = made?.type === 'created' ? state.experiments.get(made.experiment) : undefined
    if (!made || (node && hadNoRoom(node))) {
      // That it could not be created was recorded: the lane ends there.
      if (state.answers.has(`${at}/refused`)) return NOTHING
      return does({ do: 'create', lane, depth, parent, key: `${at}/new`, refused: `${at}/refused` })
    }
    if (!node) return NOTHING
    const step = chainOf(state, node, { at, lane: lane.lane }, facts)
    if (step !== 'passed') return step
    parent = node.id
  }
  return NOTHING
}

interface Place {
  at: string
  lane: number
}

/** One experiment, from its edit to its audit; `passed` when the lane goes deeper from it. */
function chainOf(state: State, node: Experiment, place: Place, facts: Facts): Agenda | 'passed' {
  const { id, status } = node
  if (hasEnded(node)) return NOTHING
  if (status === 'running')
    return facts.lost.has(id) ? runAgain(state, id, place.at) : { ...NOTHING, measuring: [id] }
  // Nothing measures it any more: what ends the round ends it.
  if (state.answers.has(`${place.at}/not-run`)) return NOTHING
  return stepOf(state, node, place)
}

/** Nobody works on it any more, whatever was still to be done for it. */
const hasEnded = ({ status }: Experiment): boolean =>
  status === 'discarded' || status === 'pruned' || status === 'revoked'

/** The next step from what was answered and judged so far. */
function stepOf(state: State, node: Experiment, place: Place): Agenda | 'passed' {
  const { id } = node
  let builds = 0
  const most = state.knobs?.revise ?? 0
  for (let turn = 0; ; turn++) {
    const edit = editOf(state, node, place, turn)
    if ('tasks' in edit) return edit
    const { attempt, refused } = edit
    if (attempt === null) return giveUp(id, 'environment', refused ?? 'its agent left no edit')
    const judged = node.attempts.find((one) => one.attempt === attempt)?.judged ?? null
    if (judged === null) {
      const against = edit.findings.length > 0 ? edit.findings : verdictOf(state, place, turn)
      if (against === null) return asks(laneTask(node, place.lane, verifyTask(place.at, turn), 'verify'))
      if (against.length === 0)
        return does({ do: 'run', experiment: id, record: `${place.at}/not-run`, lost: false })
      // It was not measured, so nothing is known of the idea.
      if (turn - builds >= most) return giveUp(id, 'eval', 'no candidate passed verification', against)
    } else {
      if (judged.status === 'kept') return audited(state, node, place)
      // It was stopped because it is hopeless.
      if (judged.aborted || judged.failure_class !== 'build' || builds > 0) return NOTHING
      builds++
    }
    const revise = reviseTask(place.at, turn + 1)
    if (!state.answers.has(revise)) return asks(laneTask(node, place.lane, revise, 'revise'))
  }
}

/** Of one experiment. What was measured before its process died is not measured again, so most of these are short. */
export const TRIES = 10

function runAgain(state: State, experiment: string, at: string): Agenda {
  for (let count = 1; count <= TRIES; count++) {
    const record = `${at}/run-again.${count}`
    const begun = state.answers.get(record)
    if (!begun) return does({ do: 'run', experiment, record, lost: true })
    if (begun.answer?.refused) return NOTHING
  }
  return NOTHING
}

interface Edited {
  /** null: there is nothing to judge. */
  attempt: number | null
  refused: string | null
  findings: unknown[]
}

/** The seal of one edit, which the CLI makes and checks by itself; else what is still to be done for it. */
function editOf(state: State, node: Experiment, place: Place, turn: number): Agenda | Edited {
  const answer = editTask(place.at, turn)
  const last = lastAttempt(node)
  // A driver of an earlier version asked, and left no answer in the ledger: its seal says that there was one.
  const before = turn === 0 && last !== null && !state.answers.has(answer)
  if (before && last.judged) return { attempt: last.attempt, refused: null, findings: [] }
  if (!before && !state.answers.has(answer)) return asks(laneTask(node, place.lane, answer, 'implement'))
  const record = sealedRecord(place.at, turn)
  const sealed = state.answers.get(record)
  if (!sealed) return does({ do: 'seal', experiment: node.id, record, answer })
  const { attempt, refused } = sealed.answer ?? {}
  return {
    attempt: typeof attempt === 'number' ? attempt : null,
    refused: typeof refused === 'string' ? refused : null,
    findings: listIn(sealed, 'findings'),
  }
}

/** What the verifier found; null when it was not asked. One that gave no answer found nothing. */
function verdictOf(state: State, { at }: Place, turn: number): unknown[] | null {
  const answer = state.answers.get(verifyTask(at, turn))
  if (!answer) return null
  if (answer.answer === null || answer.answer.passed === true) return []
  const findings = listIn(answer, 'findings')
  return findings.length > 0 ? findings : [{ message: 'the verifier did not pass it' }]
}

function audited(state: State, node: Experiment, place: Place): Agenda | 'passed' {
  const task = `${place.at}/audit`
  const answer = state.answers.get(task)
  // A person who revokes it is no auditor of this lane.
  const isRecorded =
    state.keys.has(task) || lastAttempt(node)?.audited.some(({ outcome }) => outcome !== 'revoked') === true
  if (!answer && !isRecorded) return asks(laneTask(node, place.lane, task, 'audit'))
  if (answer?.answer && !isRecorded) return does({ do: 'audit', experiment: node.id, task })
  return node.status === 'kept' && node.flagged === null ? 'passed' : NOTHING
}

const giveUp = (
  experiment: string,
  failure: 'eval' | 'environment',
  why: string,
  findings: readonly unknown[] = [],
): Agenda => does({ do: 'discard', experiment, class: failure, why, findings })

const laneTask = ({ id: experiment }: Experiment, lane: number, id: string, role: Role): Task => ({
  id,
  role,
  phase: 'Lanes',
  label: `${role} lane ${lane} ${experiment}`,
  experiment,
  lane,
})

// ---------------------------------------------------------------- who is asked

function withModel(task: Task, round: Round, { agent }: Pick<Spec, 'agent'>): Task {
  if (agent === null) return task
  const lane = round.briefed?.lanes.find((one) => one.lane === task.lane)
  const { model, effort } = mindOf(agent, task.role, lane?.brief.hard === true)
  return { ...task, ...(model ? { model } : {}), ...(effort ? { effort } : {}) }
}
