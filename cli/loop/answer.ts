/**
 * The tasks of the loop: hands them out (`round next`, `task`), takes their answers (`answer`), and does by itself what needs no
 * agent. `agenda.ts` says what is to do.
 */
import { createHash } from 'node:crypto'
import { audit } from '../experiment/audit.ts'
import { checkSeal } from '../experiment/check.ts'
import { createExperiment } from '../experiment/create.ts'
import { annotate, discard } from '../experiment/manual-decisions.ts'
import { judgedElsewhere, settled, whenLedger } from '../experiment/wait.ts'
import { startWorker } from '../experiment/worker.ts'
import { refuseDamaged } from '../git/objects.ts'
import { extractObject, schemaCheckOf } from '../hosts/agent-answer.ts'
import { mayEdit } from '../hosts/rights.ts'
import { bestOf } from '../ledger/best.ts'
import type { Finding, Idea, StopReason, TaskAnswered } from '../ledger/events.ts'
import { directionsOf } from '../ledger/meta.ts'
import {
  currentRound,
  type Experiment,
  lastAttempt,
  lastJudged,
  type Round,
  type State,
} from '../ledger/state.ts'
import { artifactPlaces } from '../measure/artifacts.ts'
import { differs, nodeFor, seal, snapshot, storedSeal } from '../measure/seal.ts'
import { baseOf, ensureWorktree, judgedCommit } from '../measure/worktree.ts'
import { artifactsFolder, worktreePath } from '../paths.ts'
import { fail, ok, type Problem, type Result } from '../result.ts'
import { mayGoOn } from '../run/driver.ts'
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
  taskLeftOut,
} from './agenda.ts'
import { ANSWERS_OF, bounded, knownFields } from './answers.ts'
import { takeBriefs, type WrittenBrief } from './briefs.ts'
import { closeRound, type LaneReport } from './close.ts'
import { checkFindings, type ScanFinding } from './findings.ts'
import { fitted } from './fit.ts'
import { alertOfHeldAccelerators } from './held-accelerators.ts'
import { metaDue } from './meta/apply.ts'
import { applyLook, look, untilLook } from './meta/look.ts'
import { metaPrompt } from './meta/prompt.ts'
import { describe, openRound, type RoundAnswer, scanBatches, stopOfNext } from './open.ts'
import { type Against, type PromptLane, type PromptTask, promptOf } from './prompts.ts'
import { propose } from './propose.ts'
import { roundLine } from './round-line.ts'

// ---------------------------------------------------------------- what comes next

export interface NextAnswer {
  /** null: no round is open. */
  round: number | null
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
        return ok({ ...NOBODY, over: stopOfNext(state) ?? 'until' })
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
    if (turn.value.stop !== null) return ok({ ...NOBODY, over: turn.value.stop })
    if (opens) held.push(...(await alertOfHeldAccelerators(run)))
    const looked = await look(run)
    if (!looked.ok) return looked
    const agenda = await advance(run, request.lane)
    if (!agenda.ok) return agenda
    // It was closed by what needed no agent: the next one may open.
    if (currentRound(state) === null) continue
    const found = {
      ...listed(state, agenda.value, { lane: request.lane, look: looked.value }),
      alerts: [...turn.value.warnings, ...held],
      line: lineOf(state),
      paused: pauseOf(state),
    }
    if (request.lane !== null && !found.lanes.includes(request.lane)) return ok({ ...found, over: 'lane' })
    if (found.tasks.length > 0 || performance.now() >= deadline || run.signal.aborted)
      return ok({ ...found, over: null })
    const before = state.seq
    const due = untilLook(run)
    const until = Math.min(deadline, due === null ? deadline : performance.now() + Math.max(due, LOOK_MS))
    const seen = await whenLedger(run, until, () =>
      state.seq > before || hasLost(run, agenda.value.measuring) ? true : null,
    )
    if (!seen.ok) return seen
    if (seen.value === null && performance.now() >= deadline) return ok({ ...found, over: null })
  }
}

/** While it is time to look and there is nothing new. */
const LOOK_MS = 10_000

/**
 * `lane`: only what is of this lane; null = everything. A look of the meta controller is handed out once, to the caller that
 * made it, since no task waits for its answer; after an interval there is a new one.
 */
function listed(
  state: State,
  agenda: Agenda,
  { lane, look }: { lane: number | null; look: string | null },
): Pick<NextAnswer, 'round' | 'tasks' | 'measuring' | 'lanes'> {
  return {
    round: currentRound(state)?.round ?? null,
    tasks: givenOut(state, agenda).filter((task) =>
      task.role === 'meta' ? task.id === look : lane === null || task.lane === lane,
    ),
    measuring: agenda.measuring.filter((id) => lane === null || laneOfExperiment(state, id) === lane),
    lanes: lanesLeft(state, agenda),
  }
}

/** While a person holds the loop, nothing new is begun. */
const givenOut = (state: State, { tasks }: Agenda): Task[] => (state.paused === null ? tasks : [])

function pauseOf({ paused, pausedAt }: State): NextAnswer['paused'] {
  return paused === null ? null : { why: paused, since: pausedAt ?? '' }
}

/** Of those that were being measured: one that was lost before has been dealt with, or is of no round. */
const hasLost = ({ ledger }: OpenRun, measuring: readonly string[]): boolean =>
  measuring.some((id) => {
    const node = ledger.state.experiments.get(id)
    return node !== undefined && settled(node) === 'lost'
  })

const NOBODY = { round: null, tasks: [], measuring: [], lanes: [], alerts: [], line: null, paused: null }

function lineOf(state: State): string | null {
  const open = currentRound(state)
  return open && roundLine(state, open)
}

export function factsOf(run: OpenRun): Facts {
  const { state } = run.ledger
  const round = currentRound(state)
  const { knobs, meta } = state
  const scans = round && knobs && directionsOf(meta, round.round).phases.scan
  return {
    batches: scans ? scanBatches(state, knobs, round.opened.parents) : [],
    lost: new Set(
      [...state.experiments.values()].flatMap((node) =>
        settled(node) === 'lost' || judgedElsewhere(node) ? [node.id] : [],
      ),
    ),
  }
}

/**
 * Does what needs no agent until only agents and measurements are left. Safe to be done by several at once; `lane`: only
 * what is of this lane, since each lane has a caller of its own.
 */
async function advance(run: OpenRun, lane: number | null): Promise<Result<Agenda>> {
  let before = ''
  for (;;) {
    const read = run.ledger.refresh()
    if (!read.ok) return read
    const agenda = agendaOf(run.ledger.state, liveSpec(run), factsOf(run))
    // A person holds the loop: what begins a lane waits.
    const effects = agenda.effects.filter(
      (effect) =>
        (effect.do !== 'create' || run.ledger.state.paused === null) &&
        (lane === null || laneOfEffect(run.ledger.state, effect) === lane),
    )
    if (effects.length === 0) return ok(agenda)
    const now = JSON.stringify([effects, run.ledger.state.seq])
    if (now === before) throw new Error(`the loop cannot go on: ${effects.map((one) => one.do).join(', ')}`)
    before = now
    for (const effect of effects) {
      const done = await doIt(run, effect)
      if (!done.ok) return done
    }
  }
}

/** One effect of the agenda. A problem says that it may be done later, or that it is not this caller's to do. */
export async function doIt(run: OpenRun, effect: Effect): Promise<Result<unknown>> {
  const { state } = run.ledger
  switch (effect.do) {
    case 'propose': {
      const { ideas } = state.answers.get(effect.task)?.answer ?? {}
      return propose(run, (ideas ?? []) as Idea[], effect.task)
    }
    case 'brief':
      return lay(run, effect)
    case 'create': {
      const { lane, depth, parent, key, refused } = effect
      const round = currentRound(state)
      const made = await createExperiment(run, {
        parent,
        hypothesis: lane.brief.objective,
        key,
        place: { round: round?.round ?? 0, lane: lane.lane, depth },
      })
      return made.ok ? made : ends(run, refused, null, made.problem)
    }
    case 'seal':
      return sealOf(run, effect)
    case 'run': {
      const { experiment, record, lost } = effect
      const node = state.experiments.get(experiment)
      const far = node ? judgedElsewhere(node) : null
      // Its verdict counts when it comes, but it cannot be known here whether it comes.
      if (far) return recordOwn(run, record, experiment, { refused: far.message })
      // Its process said why only to its own log.
      const intact = lost && node ? await storeIntact(run, node) : ok(undefined)
      if (!intact.ok) return intact
      if (lost) recordOwn(run, record, experiment, {})
      const begun = await startWorker(run, experiment, { key: null, asSealed: true })
      return begun.ok || lost ? ok(undefined) : ends(run, record, experiment, begun.problem)
    }
    case 'audit': {
      const { findings } = state.answers.get(effect.task)?.answer ?? {}
      const read = (findings ?? []) as Partial<Finding>[]
      return audit(run, effect.experiment, read.map(findingOf), effect.task)
    }
    case 'discard': {
      const { experiment, why, class: failureClass } = effect
      const text = effect.findings.flatMap((one) => (one as Partial<Finding>).message ?? []).join('; ')
      // First, so that a driver that is killed in between does both again.
      const kept =
        text === ''
          ? ok(null)
          : annotate(run, experiment, { text, task: null, tag: 'verify', key: `${experiment}/turned-down` })
      if (!kept.ok) return kept
      return discard(run, experiment, { why, failureClass, key: null })
    }
    case 'steer':
      return applyLook(run, effect.tick)
    case 'close':
      return close(run)
  }
}

/** What a person must repair first: the loop ends, its round stays open, and nothing counts against a candidate. */
const BROKEN = ['disk_full', 'objects_damaged']

/** What a broken machine or a lost turn refuses may be done later; anything else ends the lane. */
function ends(run: OpenRun, task: string, experiment: string | null, problem: Problem): Result<unknown> {
  if ([...BROKEN, 'driven', 'worker_died'].includes(problem.code)) return fail(problem)
  return recordOwn(run, task, experiment, { refused: problem.message })
}

/** An auditor's own word for what it saw is an opinion: only the listed codes can be checked. */
const findingOf = ({ code, message, path }: Partial<Finding>): Finding => ({
  code: code === 'hash' || code === 'task_set' || code === 'path' ? code : 'opinion',
  message: message ?? '',
  ...(path ? { path } : {}),
})

async function lay(
  run: OpenRun,
  { task, record }: Extract<Effect, { do: 'brief' }>,
): Promise<Result<unknown>> {
  const { state } = run.ledger
  const round = currentRound(state)
  if (!round) return ok(undefined)
  const given = state.answers.get(task)
  // An author that gave no answer is asked once more, before a round without lanes is recorded.
  if (given?.answer === null && !task.endsWith('/again')) return recordOwn(run, record, null, { refused: [] })
  const { token } = round.opened
  const briefs = ((given?.answer?.briefs ?? []) as Partial<WrittenBrief>[]).map((brief) => ({
    parent: null,
    kind: 'edit',
    objective: '',
    boundaries: [],
    pointers: [],
    hard: false,
    ...brief,
  }))
  const laid = await takeBriefs(run, { token, round: round.round }, briefs)
  if (!laid.ok) return laid
  return recordOwn(run, record, null, { refused: laid.value.refused.map(({ message }) => message) })
}

async function sealOf(
  run: OpenRun,
  { experiment, record, answer }: Extract<Effect, { do: 'seal' }>,
): Promise<Result<unknown>> {
  const node = nodeFor(run, experiment)
  if (!node.ok) return node
  const given = run.ledger.state.answers.get(answer)
  const last = lastAttempt(node.value)
  const found = (data: Record<string, unknown>) => recordOwn(run, record, experiment, data)
  const stands = async () => {
    if (!given && last && !last.judged) return storedSeal(run, node.value, last)
    const taken = await snapshot(run, node.value)
    if (!taken.ok) return taken
    // An agent that left nothing says nothing about the idea. What it left is paid for, whatever came after it.
    if (given?.answer === null && !differs(taken.value, last)) return ok(null)
    const said = given?.answer?.hypothesis
    return seal(run, node.value, taken.value, typeof said === 'string' && said.trim() !== '' ? said : null)
  }
  const sealed = await stands()
  if (!sealed.ok) {
    const { code, message, hint } = sealed.problem
    if (BROKEN.includes(code)) return sealed
    if (code === 'parent_revoked') return found({ attempt: null, refused: 'what it is built on was revoked' })
    // Why it cannot be sealed is a finding. No attempt has the number 0.
    return found({ attempt: 0, findings: [{ message: hint ? `${message}: ${String(hint)}` : message }] })
  }
  if (sealed.value === null) return found({ attempt: null, refused: 'its agent gave no answer' })
  const findings = checkSeal(run, sealed.value)
  // What differs because the store was damaged is not the candidate's doing.
  const intact = findings.length > 0 ? await storeIntact(run, node.value) : ok(undefined)
  if (!intact.ok) return intact
  return found({ attempt: sealed.value.attempt, findings })
}

/** Problem `objects_damaged`: of what a trial of the experiment checks out. */
async function storeIntact(run: OpenRun, node: Experiment): Promise<Result<void>> {
  const best = bestOf(run.ledger.state)
  const commits = [
    lastAttempt(node)?.sealed.commit,
    baseOf(run, node.id).commit,
    best && judgedCommit(run, best.id)?.commit,
  ]
  for (const commit of new Set(commits)) {
    const intact = commit ? await refuseDamaged(run.site, commit) : ok(undefined)
    if (!intact.ok) return intact
  }
  return ok(undefined)
}

function close(run: OpenRun): Promise<Result<unknown>> | Result<unknown> {
  const { state } = run.ledger
  const round = currentRound(state)
  if (!round) return ok(undefined)
  const all = reportsOf(state, round.round)
  // First, so that they are not what a limit cuts off: the next round reads them among the learnings.
  const steps = directionsOf(state.meta, round.round).steps.flatMap(({ edit, seam }) =>
    seam === 'after-collect'
      ? textsIn(state.answers.get(`r${round.round}/step/${edit}`)?.answer?.findings)
      : [],
  )
  const lanes = [
    { lane: OF_ALL, learnings: steps, suggestions: [] },
    ...all.filter(({ lane }) => lane !== OF_ALL),
    ...all.filter(({ lane }) => lane === OF_ALL),
  ]
  return closeRound(run, { token: round.opened.token, round: round.round }, lanes)
}

/** What agents of each lane, and of the whole round, say that they have learnt; by the number of the lane. */
function reportsOf(state: State, round: number): LaneReport[] {
  const reports = new Map<number, LaneReport>()
  for (const { task, sha256, answer } of state.answers.values()) {
    if (sha256 === null || answer === null || !task.startsWith(`r${round}/`)) continue
    const lane = laneOfTask(task) ?? OF_ALL
    const report = reports.get(lane) ?? { lane, learnings: [], suggestions: [] }
    reports.set(lane, report)
    report.learnings.push(...textsIn(answer.learnings))
    report.suggestions.push(...textsIn(answer.suggestions))
  }
  return [...reports.values()].sort((a, b) => a.lane - b.lane)
}

/** The lane of what is said of the whole round; it comes after what the lanes say. */
const OF_ALL = 0

export const textsIn = (value: unknown): string[] =>
  Array.isArray(value) ? value.filter((one): one is string => typeof one === 'string') : []

/** What the CLI found itself; the first one counts. */
function recordOwn(
  run: OpenRun,
  task: string,
  experiment: string | null,
  answer: Record<string, unknown>,
): Result<unknown> {
  return recordAnswer(run, { task, experiment, sha256: null, answer })
}

function recordAnswer(
  run: OpenRun,
  given: Pick<TaskAnswered, 'task' | 'experiment' | 'sha256' | 'answer'>,
): Result<boolean> {
  const { state } = run.ledger
  const round = Number(/^r(\d+)\//.exec(given.task)?.[1] ?? currentRound(state)?.round ?? 0)
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

// ---------------------------------------------------------------- an answer

export interface TakenAnswer {
  task: string
  repeated?: true
  /** Names of fields that are not read. */
  ignored: string[]
  /** Of an edit: the number of its seal; 0 = it cannot be sealed; null = there is none. */
  attempt: number | null
  /** For an edit: what the CLI has against its seal, free of charge. */
  findings: string[]
  next: Pick<NextAnswer, 'round' | 'tasks' | 'measuring' | 'lanes'>
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
  if (given === null && !isOpen(run, id)) return follow(run, id, { repeated: false })
  const foreign = otherWorktree(run, task.value)
  if (foreign) return fail(foreign)
  const recorded = await record(run, task.value, { given, sha256 })
  if (!recorded.ok) return recorded
  const { counts, ignored } = recorded.value
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

/** Whether an agent is to be asked the task, as far as the ledger was read. */
export const isOpen = (run: OpenRun, id: string): boolean =>
  nextTasks(run.ledger.state, liveSpec(run), factsOf(run)).some((task) => task.id === id)

/** The answer of an agent that the caller itself asked; what follows from it is the caller's to do. */
export async function recordGiven(run: OpenRun, task: Task, given: string | null): Promise<Result<unknown>> {
  const mine = mayGoOn(run)
  if (!mine.ok) return mine
  if (given === null && !isOpen(run, task.id)) return ok(undefined)
  const recorded = await record(run, task, { given, sha256: digestOf(given) })
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
  const recorded = recordAnswer(run, { task: id, experiment, sha256, answer: known })
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
  const check = await schemaCheckOf(ANSWERS_OF[role])
  if (!check.ok) return check
  const wrong = check.value(object)
  return wrong === null ? ok(knownFields(role, object)) : bad('bad_answer', wrong, shapeOf(role))
}

const shapeOf = (role: Task['role']): string =>
  `it must satisfy ${JSON.stringify(ANSWERS_OF[role])}; hand it in again`

const bad = (code: string, message: string, hint: string) => fail({ kind: 'usage', code, message, hint })

/** What follows from the answer is done, as far as it is of its lane. */
async function follow(
  run: OpenRun,
  id: string,
  { ignored = [], repeated }: { ignored?: string[]; repeated: boolean },
): Promise<Result<TakenAnswer>> {
  const lane = laneOfTask(id)
  const agenda = await advance(run, lane)
  if (!agenda.ok) return agenda
  const { state } = run.ledger
  const next = listed(state, agenda.value, { lane, look: null })
  const sealed = state.answers.get(sealOfAnswer(id))?.answer
  // What comes after the last lane is of the round.
  const ofRound = givenOut(state, agenda.value).filter(
    (task) => lane !== null && task.lane === null && task.role !== 'meta',
  )
  return ok({
    task: id,
    ...(repeated ? { repeated: true as const } : {}),
    ignored,
    attempt: typeof sealed?.attempt === 'number' ? sealed.attempt : null,
    findings: messages(sealed?.findings),
    next: { ...next, tasks: [...next.tasks, ...ofRound] },
  })
}

/** `r1/l2/d1/implement` → 2; null for a task of the round. */
function laneOfTask(id: string): number | null {
  const lane = /^r\d+\/l(\d+)\//.exec(id)?.[1]
  return lane === undefined ? null : Number(lane)
}

/** `r1/l1/d1/implement` → `r1/l1/d1/sealed`, `…/revise.2` → `…/sealed.2`. */
const sealOfAnswer = (id: string): string => id.replace(/\/(?:implement|revise(\.\d+))$/, '/sealed$1')

const messages = (findings: unknown): string[] =>
  Array.isArray(findings)
    ? findings.flatMap((one: { message?: unknown } | null) =>
        typeof one?.message === 'string' ? [one.message] : [],
      )
    : []

function answeredBefore(id: string, { answer }: TaskAnswered): Problem {
  return {
    kind: 'refused',
    code: 'answered',
    message: `${id} was answered before, and the first answer counts`,
    hint: 'ask what comes next: assay round next',
    data: { answer },
  }
}

function notOpen(id: string, tasks: readonly Task[]): Problem {
  const open = tasks.map((task) => task.id)
  return {
    kind: 'refused',
    code: 'not_open',
    message: `no task ${id.slice(0, 100)} is open`,
    hint: open.length > 0 ? `open are: ${open.slice(0, 20).join(', ')}` : 'none is open: assay round next',
    data: { open },
  }
}

/** An agent that calls from the worktree of an experiment answers for that one. */
function otherWorktree(run: OpenRun, { id, experiment }: Task): Problem | null {
  const here = [...run.ledger.state.experiments.keys()].find((one) => {
    const folder = worktreePath(run.site, run.run, one)
    return run.cwd === folder || run.cwd.startsWith(`${folder}/`)
  })
  if (here === undefined || experiment === null || here === experiment) return null
  return {
    kind: 'refused',
    code: 'other_experiment',
    message: `${id} is about ${experiment}, and this is the worktree of ${here}`,
    hint: 'answer the task that you were given, or call from the folder of the run',
  }
}

// ---------------------------------------------------------------- the prompt of a task

export interface TaskAnswer extends Task {
  prompt: string
  /** JSON Schema. */
  answer: object
}

/** The whole prompt of an open task. */
export async function taskOf(run: OpenRun, id: string): Promise<Result<TaskAnswer>> {
  const before = run.ledger.state.answers.get(id)
  if (before) return fail(answeredBefore(id, before))
  const agenda = agendaOf(run.ledger.state, liveSpec(run), factsOf(run))
  const task = agenda.tasks.find((one) => one.id === id)
  const round = currentRound(run.ledger.state)
  if (!task || !round) return fail(notOpen(id, agenda.tasks))
  // A process that was killed may have left the experiment without its folder.
  const made =
    task.experiment !== null && mayEdit(task.role) ? await ensureWorktree(run, task.experiment) : null
  if (made?.ok === false) return made
  const answer = ANSWERS_OF[task.role]
  if (task.role !== 'meta')
    return ok({ ...task, prompt: promptOf(inputsOf(run, { ...task, role: task.role }, round)), answer })
  const seen = await metaDue(run, null)
  if (!seen.ok) return seen
  const { facts, knobs, phases, edits } = seen.value
  const told = run.ledger.state.meta.lastTick?.facts ?? []
  const own = liveSpec(run).loop.prompts?.meta
  const prompt = metaPrompt({
    ...{ id, run: run.run, round: round.round, goal: liveSpec(run).goal, knobs, phases, edits },
    facts: facts.filter(({ name }) => told.includes(name)),
    ...(own ? { own } : {}),
  })
  return ok({ ...task, prompt, answer })
}

function inputsOf(run: OpenRun, task: Task & { role: PromptTask['role'] }, round: Round): PromptTask {
  const { state } = run.ledger
  const turn = describe(run, round, null)
  const lane = laneOf(run, task, round)
  const { id, role } = task
  const inputs: PromptTask = {
    id,
    role,
    round: {
      run: run.run,
      round: round.round,
      goal: turn.goal,
      metric: turn.metric,
      parents: turn.parents,
      width: turn.width,
      ideate: turn.ideate,
      direction: turn.direction,
      steering: lane?.arm ? [] : turn.steering,
      prompts: turn.prompts,
      capsule: capsuleOf(turn, lane?.arm !== undefined),
      skills: turn.skills,
      own: liveSpec(run).loop.prompts ?? {},
    },
    answer: ANSWERS_OF[role],
    ...(lane ? { lane } : {}),
  }
  const at = `r${round.round}`
  const last = id.slice(id.lastIndexOf('/') + 1)
  switch (role) {
    case 'scan':
      return { ...inputs, batch: factsOf(run).batches[Number(last) - 1] ?? [] }
    case 'ideate':
      return {
        ...inputs,
        author: last as 'exploit' | 'explore' | 'failures',
        findings: findingsOf(run, round),
      }
    case 'brief': {
      const { proposals, repairable, retests, patterns } = turn
      const refused = textsIn(state.answers.get(`${at}/brief/laid`)?.answer?.refused)
      const findings = findingsOf(run, round)
      return { ...inputs, refused, findings, proposals, repairable, retests, patterns }
    }
    case 'step': {
      const step = turn.steps.find(({ edit }) => edit === last)
      return step ? { ...inputs, text: step.text, seam: step.seam } : inputs
    }
    case 'verify':
      return { ...inputs, claim: claimOf(state, id) }
    case 'revise':
      return { ...inputs, ...againstOf(state, task) }
    case 'collect':
      return { ...inputs, ...lanesOfRound(state, round) }
    default:
      return inputs
  }
}

function laneOf(run: OpenRun, { experiment, lane: number }: Task, round: Round): PromptLane | null {
  const lane = round.briefed?.lanes.find((one) => one.lane === number)
  const node = experiment === null ? undefined : run.ledger.state.experiments.get(experiment)
  if (!lane || !node) return null
  return {
    lane: lane.lane,
    depth: node.created.depth ?? 1,
    experiment: node.id,
    parent: node.parent ?? '',
    worktree: worktreePath(run.site, run.run, node.id),
    artifacts: artifactsFolder(run.paths, node.id),
    parentArtifacts: node.parent === null ? null : artifactsFolder(run.paths, node.parent),
    ...startOf(run, node),
    brief: lane.brief,
    ...(lane.arm ? { arm: lane.arm } : {}),
  }
}

/** What it starts from beside its parent. */
function startOf(run: OpenRun, node: Experiment): Pick<PromptLane, 'seed' | 'repair'> {
  const { seed } = artifactPlaces(run, node)
  const broken = run.ledger.state.experiments.get(node.created.repair ?? '')
  return {
    ...(seed ? { seed: seed.path } : {}),
    ...(broken
      ? { repair: { experiment: broken.id, why: lastJudged(broken)?.message ?? broken.why ?? '' } }
      : {}),
  }
}

/** The baseline arm knows nothing of the search. */
function capsuleOf(turn: RoundAnswer, arm: boolean): Record<string, unknown> {
  const { goal, metric, best, skills, learnings, rules, notes, steering } = turn
  const blank = { best: null, learnings: [], notes: [], steering: [] }
  return { goal, metric, best, skills, learnings, rules, notes, steering, ...(arm ? blank : {}) }
}

/** Of one step. */
const SAID = { items: 10, characters: 1000 }

/** What steps and scanners of the round said; of the scanners, what the stored outputs prove. */
function findingsOf(run: OpenRun, { round }: Round): { message: string }[] {
  const given = [...run.ledger.state.answers.values()]
  const { steps: all } = directionsOf(run.ledger.state.meta, round)
  const steps = all.flatMap(({ edit, seam }) =>
    textsIn(run.ledger.state.answers.get(`r${round}/step/${edit}`)?.answer?.findings)
      .slice(0, SAID.items)
      .map((message) => ({ kind: seam, message: message.slice(0, SAID.characters) })),
  )
  const scanned = given
    .filter(({ task }) => task.startsWith(`r${round}/scan/`))
    .flatMap(({ answer }) => (answer?.findings ?? []) as ScanFinding[])
  return [...steps, ...checkFindings(run, scanned).findings]
}

function claimOf(state: State, id: string): Record<string, unknown> {
  const turn = /\/verify(?:\.(\d+))?$/.exec(id)?.[1]
  const edit = turn === undefined ? 'implement' : `revise.${turn}`
  const said = state.answers.get(id.replace(/\/verify(\.\d+)?$/, `/${edit}`))?.answer ?? {}
  // A person reads objections; a verifier judges the change.
  const { objection: _, ...claim } = said
  return bounded(claim, 1000, 20) as Record<string, unknown>
}

function againstOf(state: State, { id, experiment }: Task): { against: Against[]; build: boolean } {
  const before = Number(/\.(\d+)$/.exec(id)?.[1] ?? 1) - 1
  const at = id.slice(0, id.lastIndexOf('/'))
  const suffix = before === 0 ? '' : `.${before}`
  const sealed = state.answers.get(`${at}/sealed${suffix}`)?.answer
  const node = experiment === null ? undefined : state.experiments.get(experiment)
  const judged = node && lastJudged(node)
  if (judged && judged.attempt === (sealed?.attempt ?? judged.attempt))
    return { against: [{ message: judged.message }], build: true }
  const checked = findingsIn(sealed)
  const read = findingsIn(state.answers.get(`${at}/verify${suffix}`)?.answer)
  const against = checked.length > 0 ? checked : read
  return {
    against: against.length > 0 ? against : [{ message: 'the verifier did not pass it' }],
    build: false,
  }
}

const findingsIn = (answer: TaskAnswered['answer'] | undefined): Against[] =>
  ((answer?.findings ?? []) as Against[]).map((finding) => bounded(finding, 1000, 20) as Against)

function lanesOfRound(state: State, { round, briefed }: Round): { lost: string[]; lanes: unknown[] } {
  const nodes = [...state.experiments.values()].filter(({ created }) => created.round === round)
  const of = (node: (typeof nodes)[number]) => ({
    experiment: node.id,
    status: node.status,
    reason: lastJudged(node)?.reason ?? null,
  })
  const lost = nodes
    .filter(({ status }) => status !== 'kept')
    .map(of)
    .map(({ experiment, reason, status }) => `${experiment} (${reason ?? status})`)
  const reports = reportsOf(state, round)
  const lanes = (briefed?.lanes ?? []).map(({ lane }) => ({
    lane,
    experiments: nodes.filter(({ created }) => created.lane === lane).map(of),
    ...(bounded(reports.find((report) => report.lane === lane) ?? {}, 1000, 20) as Partial<LaneReport>),
  }))
  return { lost, lanes }
}
