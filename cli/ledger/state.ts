/** What the ledger's events add up to. Built by `fold`, read by every command; pure. */
import { call, type Next, next, type Said } from '../next.ts'
import { type DriverRecord, noDriver } from './driver.ts'
import {
  ANSWERS,
  type AnchorAnswer,
  type Annotated,
  type Attributed,
  type AttributionEnded,
  type AttributionStarted,
  type Audited,
  type Configured,
  type ConfirmationStarted,
  type Confirmed,
  type Conflicted,
  type Created,
  type Dispatched,
  type Event,
  FAILURE_CLASSES,
  type FailureClass,
  FREE_REASONS,
  type GateRule,
  type Idea,
  type Isolated,
  type Judged,
  type Knobs,
  type Machine,
  type NoiseMode,
  type Noted,
  type RoundBriefed,
  type RoundClosed,
  type RoundOpened,
  type RunStarted,
  type SampleFault,
  type Sealed,
  STATUSES,
  type Started,
  type Status,
  type TaskAnswered,
  type Transform,
} from './events.ts'
import { type MetaState, noMeta } from './meta.ts'

/** `id` is that of the `started` event: what a take-over must name. */
export interface Claim extends Pick<Started, 'id' | 'owner' | 'at'> {
  /** In which its measurements began. */
  epoch: number
  /** What chance decides follows from it; null when it was claimed by 0.1.0. */
  nonce: string | null
}

/** What measures an attempt or a confirmation, where an executor does. */
export interface AttemptJob extends Pick<Dispatched, 'executor' | 'folder' | 'at' | 'config' | 'as_of'> {
  key: string
  /** What the engine calls it. */
  id: string
  /** null while it is queued, as far as was seen. */
  placed: { node: string; at: string; machine?: Machine } | null
  /** This one measures on held-out data; what it measured before. */
  first?: AttemptJob
}

/** A confirmation that a job measures, and that has no result yet. */
export interface PendingConfirmation
  extends Pick<
    ConfirmationStarted,
    'experiment' | 'attempt' | 'confirmation' | 'against' | 'look' | 'epoch' | 'nonce'
  > {
  /** The id of the event: what it began with is the state after it. */
  started: string
  asked: string | null
  /** null: it was not handed over yet. */
  job: AttemptJob | null
}

export interface Attempt {
  attempt: number
  sealed: Sealed
  claim: Claim | null
  /** Absent: it is measured in a slot of this machine, or was not handed over yet. */
  job?: AttemptJob
  judged: Judged | null
  confirmed: Confirmed[]
  audited: Audited[]
}

export interface Experiment {
  id: string
  /** What it is compared with; null for the baseline only. */
  parent: string | null
  /** All that it is built on, `parent` first; empty for the baseline. */
  parents: readonly string[]
  children: string[]
  /** 0 for the baseline. */
  generation: number
  status: Status
  hypothesis: string
  created: Created
  attempts: Attempt[]
  /** The verdict that counts: the last one. */
  verdict: Judged | null
  /** Attempts that count against `max_attempts`: claimed, and not spoilt by the environment. */
  used: number
  /** Children that the search or a person made: those of the baseline arm apart. */
  tries: number
  /** In metric units, as last measured; null when there is none. */
  value: number | null
  /** The epoch in which it was measured; scores of different epochs are never compared. */
  epoch: number
  /** Gates added here: they bind it and everything below it. */
  gates: GateRule[]
  /** Names of gates that no longer bind from here on. */
  droppedGates: string[]
  annotations: Annotated[]
  /** What stands against it, as a sentence: not a parent until it is confirmed or restored. */
  flagged: string | null
  /** The best that it was not better than: it cannot be the best while that one stands. */
  lostTo: string | null
  /** Why it was discarded, pruned or revoked. */
  why: string | null
  discard_class: FailureClass | null
  /** Number of its last verdict in the run's order of events; null before one. */
  judgedSeq: number | null
  /** The program that edited it last, and its model where one is named; absent when no call was recorded. */
  agent?: string | undefined
}

export interface Round {
  round: number
  opened: RoundOpened
  briefed: RoundBriefed | null
  closed: RoundClosed | null
  /** Events folded when it opened: what was known then. */
  openedSeq: number
  bestAtOpen: { experiment: string; value: number | null } | null
}

/** How candidates of this epoch are compared, and what is known of the noise. */
export interface Noise {
  mode: NoiseMode
  transform: Transform
  /** Of the baseline's samples. */
  values: number[]
  varied: string[]
  /** Differences of the newest stages with two pairs or more, oldest first. */
  stages: number[][]
}

/** One search for the parts of a kept experiment that pay. */
export interface Attribution {
  started: AttributionStarted
  /** In order. */
  tests: Attributed[]
  ended: AttributionEnded | null
}

/** As much of a map as readers use: one that is read from a snapshot bit by bit has no more. */
export interface Entries<V> {
  readonly size: number
  has(key: string): boolean
  get(key: string): V | undefined
  set(key: string, value: V): unknown
  keys(): IterableIterator<string>
  values(): IterableIterator<V>
}

/** As much of an array, for the same reason. */
export interface List<T> extends Iterable<T> {
  readonly length: number
  at(index: number): T | undefined
  push(...items: T[]): number
  findLast(is: (item: T) => unknown): T | undefined
}

export interface Notes extends List<Noted> {
  /** Places of those of a kind; absent where all are in memory. */
  placesOf?: (kind: Noted['kind']) => number[]
}

/** What is known of each experiment without reading it. */
export interface Traits {
  status: Status
  /** Its last verdict answers the idea: nothing is there to repair. */
  answered: boolean
  /** It was not simply made from one parent: `created` says how. */
  special: boolean
  remarks: boolean
  /** In doubt. */
  flagged: boolean
  /** An executor measured an attempt of it, or was to. */
  jobs: boolean
  /** Gates were added to it or taken away. */
  gates: boolean
  /** Built on nothing: the baseline. */
  root: boolean
}

export interface Experiments extends Entries<Experiment> {
  // Absent where all are in memory.
  /** For who only reads it. */
  look?: (id: string) => Experiment | undefined
  withTraits?: (is: (traits: Traits) => boolean) => Experiment[]
  newestFirst?: () => IterableIterator<Experiment>
  select?: (is: (traits: Traits) => boolean) => Selected
}

/** Some experiments in order of creation, and what is compared of them. */
export interface Selected {
  readonly length: number
  /** For who only reads it. */
  at(index: number): Experiment
  /** One number for each of them; nobody may change it. */
  numbers<N extends Numbered>(of: N): NumbersOf<N>
  /** -1 when it is not among them. */
  indexOf(id: string): number
  /** Of any experiment: see `key` of `NUMBERED`. */
  keyOf(id: string): number
}

type KeyOf = (id: string) => number

/** What is compared of experiments, as numbers. */
export const NUMBERED = {
  /** Another one for each experiment; -1 where a parent is missing. */
  key: ({ id }: Experiment, keyOf: KeyOf) => keyOf(id),
  parent: ({ parent }: Experiment, keyOf: KeyOf) => (parent === null ? -1 : keyOf(parent)),
  /** NaN when there is none. */
  value: ({ value }: Experiment) => value ?? Number.NaN,
  epoch: ({ epoch }: Experiment) => epoch,
  /** At the end of its id; NaN when there is none. */
  number: ({ id }: Experiment) => Number(/(\d{1,12})$/.exec(id)?.[1] ?? Number.NaN),
  tries: ({ tries }: Experiment) => tries,
  /** -1 before a verdict. */
  judgedSeq: ({ judgedSeq }: Experiment) => judgedSeq ?? -1,
  /** Its place among `STATUSES`. */
  status: ({ status }: Experiment) => STATUSES.indexOf(status),
  special: (node: Experiment) => Number(isSpecial(node)),
  flagged: ({ flagged }: Experiment) => Number(flagged !== null),
  /** Attempts that count. */
  used: ({ used }: Experiment) => used,
  /** Whether its verdict is one of a measurement that somebody stopped. */
  aborted: ({ verdict }: Experiment) => Number(verdict?.aborted !== undefined),
  /** Of its verdict: the place among `FAILURE_CLASSES`; -1 when there is none. */
  failureClass: ({ verdict }: Experiment) =>
    verdict?.failure_class == null ? -1 : FAILURE_CLASSES.indexOf(verdict.failure_class),
}

export type Numbered = keyof typeof NUMBERED

/** NaN needs floats, and the others are quicker as whole numbers. */
export type NumbersOf<N extends Numbered> = N extends 'value' | 'number' ? Float64Array : Int32Array

export const emptyNumbers = <N extends Numbered>(of: N, length: number): NumbersOf<N> =>
  (of === 'value' || of === 'number' ? new Float64Array(length) : new Int32Array(length)) as NumbersOf<N>

export interface State {
  run: RunStarted | null
  knobs: Knobs | null
  /** From 1. */
  epoch: number
  /** Events accepted so far. */
  seq: number
  /** When the last of them was written; null before the first. */
  lastAt: string | null
  /** In order of creation. */
  experiments: Experiments
  counts: Record<Status, number>
  /** Experiments with a revoked one among their ancestors or themselves. */
  tainted: Set<string>
  noise: Noise
  /** On which was measured, each since an event with that number. */
  machines: { since: number; machine: Machine }[]
  /** null: what is measured is not kept apart from the machine. */
  isolation: Isolated | null
  /** Attempts claimed, the baseline's apart. */
  claims: number
  /** Confirmations by jobs that have no result: at most one of each experiment. */
  confirming: PendingConfirmation[]
  /** Attempts that could not be judged, environment apart. */
  failures: number
  /** Identical failures in a row. */
  streak: { signature: string; count: number; message: string } | null
  /** Candidate tree → where it was judged, as far as that verdict counts for a duplicate: once for each set of artifacts. */
  trees: Entries<{ experiment: string; attempt: number }[]>
  /** Idempotency key → the event that counted with it: its answer is the answer. */
  keys: Entries<Event>
  rounds: List<Round>
  /** In order of their numbers, from 1. */
  attributions: Attribution[]
  /** In order. */
  conflicts: Conflicted[]
  /** The backlog, in order of their numbers. */
  ideas: BacklogIdea[]
  /** Task of the loop → what became of it. */
  answers: Entries<TaskAnswered>
  /** What rounds learnt and suggested, in order. */
  learnings: List<string>
  /** Answers and notes that object to something, in order: there are many of both, and few object. */
  objections: (TaskAnswered | Noted)[]
  /** What was noted, and why experiments were aborted. */
  notes: Notes
  driver: DriverRecord
  activeMs: number
  /** A person stopped the loop. */
  stopped: string | null
  /** Why a person paused the loop; null when it is not paused. */
  paused: string | null
  /** When that began. */
  pausedAt: string | null
  /** The last round as of the last `resumed`: that it had no hypothesis no longer ends the loop. */
  resumedRound: number
  configured: Configured[]
  meta: MetaState
  usage: { calls: number; tokensIn: number; tokensOut: number; usd: number; unknown: number }
  /** By role: what is reserved for a call, and how many calls did not tell. */
  costs: Map<string, RoleCost>
  /** What the judge was asked; `anchors`: those of this epoch, newest last, as many as are looked at. */
  judge: { calls: number; tokens: number; usd: number; unscored: number; anchors: AnchorAnswer[] }
  /** What people said to the loop, in order. */
  steers: Steer[]
  /** What people want as parents, the newest last; whether each may be one is another question. */
  pins: PinnedParent[]
  /** Texts of the gradient that were not kept since a person set its learning rate. */
  halvings: number
}

/** An idea, and what happened to it; `backlog.ts` says what that makes of it. */
export interface BacklogIdea extends Idea {
  /** `idea_0001` */
  id: string
  /** Id of the event that added it. */
  added: string
  /** By a person. */
  approved: boolean
  /** People were told that it waits for an approval. */
  told: boolean
  /** The lane whose brief carries it out, and that lane's first experiment; null = none. */
  taken: { round: number; lane: number; experiment: string | null } | null
  /** Why a person dropped it; null = nobody did. */
  dropped: string | null
}

export type Unit = 'tokens' | 'usd'

export interface RoleCost {
  /** The most that one call reported; null when none did. */
  highest: Record<Unit, number | null>
  unknown: Record<Unit, number>
}

export interface Steer {
  id: string
  at: string
  /** null = the next round. */
  experiment: string | null
  text: string
  /** To which call or round; null while it waits. */
  delivered: { role: string; round: number | null; experiment: string | null } | null
}

export interface PinnedParent {
  experiment: string
  at: string
  why: string
}

export function emptyState(): State {
  return {
    run: null,
    knobs: null,
    epoch: 1,
    seq: 0,
    lastAt: null,
    experiments: new Map(),
    counts: {
      open: 0,
      running: 0,
      kept: 0,
      rejected: 0,
      failed: 0,
      discarded: 0,
      pruned: 0,
      revoked: 0,
    },
    tainted: new Set(),
    noise: { mode: 'deterministic', transform: 'linear', values: [], varied: [], stages: [] },
    machines: [],
    isolation: null,
    claims: 0,
    confirming: [],
    failures: 0,
    streak: null,
    trees: new Map(),
    keys: new Map(),
    rounds: [],
    attributions: [],
    conflicts: [],
    ideas: [],
    answers: new Map(),
    learnings: [],
    objections: [],
    notes: [],
    driver: noDriver(),
    activeMs: 0,
    stopped: null,
    paused: null,
    pausedAt: null,
    resumedRound: 0,
    configured: [],
    meta: noMeta(),
    usage: { calls: 0, tokensIn: 0, tokensOut: 0, usd: 0, unknown: 0 },
    costs: new Map(),
    judge: { calls: 0, tokens: 0, usd: 0, unscored: 0, anchors: [] },
    steers: [],
    pins: [],
    halvings: 0,
  }
}

/** A person wants it as a parent. */
export const isPinned = ({ pins }: Pick<State, 'pins'>, id: string): boolean =>
  pins.some(({ experiment }) => experiment === id)

export const BASELINE = 'exp_0000'

/** The role under which the calls of the judge are recorded. */
export const JUDGE = 'judge'

// ---------------------------------------------------------------- questions

/** Why an experiment was discarded that got no worktree: it is opened again when there is disk space. */
export const NO_ROOM = 'the disk had no room for its worktree'

export const hadNoRoom = ({ status, why }: Experiment): boolean => status === 'discarded' && why === NO_ROOM

const plainEvent = <T extends object>(event: T): T =>
  'toJSON' in event && typeof event.toJSON === 'function' ? event.toJSON() : event

/** A copy of plain data, to be spread or handed over: what is read from a snapshot has its fields behind getters. */
export const plainExperiment = (node: Experiment): Experiment => ({
  ...{ id: node.id, parent: node.parent, parents: node.parents, children: node.children },
  ...{ generation: node.generation, status: node.status, hypothesis: node.hypothesis },
  ...{ created: plainEvent(node.created), attempts: node.attempts, used: node.used, tries: node.tries },
  verdict: node.verdict && plainEvent(node.verdict),
  ...{ value: node.value, epoch: node.epoch, gates: node.gates, droppedGates: node.droppedGates },
  ...{ annotations: node.annotations, flagged: node.flagged, lostTo: node.lostTo, why: node.why },
  ...{ discard_class: node.discard_class, judgedSeq: node.judgedSeq },
  ...(node.agent === undefined ? {} : { agent: node.agent }),
})

/** Those with such traits, in order. A list of a few of them does not cost the reading of all. */
export const withTraits = (
  { experiments }: Pick<State, 'experiments'>,
  is: (traits: Traits) => boolean,
): Experiment[] =>
  experiments.withTraits?.(is) ?? [...experiments.values()].filter((node) => is(traitsOf(node)))

/** The same, for who compares many and reads few. */
export const select = (
  { experiments }: Pick<State, 'experiments'>,
  is: (traits: Traits) => boolean,
): Selected =>
  experiments.select?.(is) ??
  new SelectedNodes([...experiments.values()].filter((node) => is(traitsOf(node))))

class SelectedNodes implements Selected {
  readonly #nodes: readonly Experiment[]
  readonly #keys = new Map<string, number>()

  constructor(nodes: readonly Experiment[]) {
    this.#nodes = nodes
  }

  get length(): number {
    return this.#nodes.length
  }

  at(index: number): Experiment {
    return this.#nodes[index] as Experiment
  }

  numbers<N extends Numbered>(of: N): NumbersOf<N> {
    const keyOf = (id: string) => this.keyOf(id)
    const numbers = emptyNumbers(of, this.length)
    for (const [at, node] of this.#nodes.entries()) numbers[at] = NUMBERED[of](node, keyOf)
    return numbers
  }

  #indexes: ReadonlyMap<string, number> | null = null
  indexOf(id: string): number {
    this.#indexes ??= new Map(this.#nodes.map((node, at) => [node.id, at]))
    return this.#indexes.get(id) ?? -1
  }

  keyOf(id: string): number {
    const known = this.#keys.get(id)
    if (known !== undefined) return known
    this.#keys.set(id, this.#keys.size)
    return this.#keys.size - 1
  }
}

export const newestFirst = ({ experiments }: Pick<State, 'experiments'>): Iterable<Experiment> =>
  experiments.newestFirst?.() ?? [...experiments.values()].reverse()

/** So many of the newest, newest first. */
export function newestOf(state: Pick<State, 'experiments'>, most: number): Experiment[] {
  const found: Experiment[] = []
  for (const node of newestFirst(state)) {
    if (found.length === most) break
    found.push(node)
  }
  return found
}

export function traitsOf(node: Experiment): Traits {
  const { status, verdict, annotations, flagged, attempts, gates, droppedGates } = node
  return {
    status,
    answered: verdict?.reason != null && ANSWERS.includes(verdict.reason),
    special: isSpecial(node),
    remarks: annotations.length > 0,
    flagged: flagged !== null,
    jobs: attempts.some(({ job }) => job),
    gates: gates.length > 0 || droppedGates.length > 0,
    root: node.generation === 0,
  }
}

const isSpecial = ({ created }: Experiment): boolean => SPECIAL.some((field) => created[field] !== undefined)

/** Fields that few experiments begin with. */
export const SPECIAL = ['arm', 'from_artifact', 'repair', 'reduces', 'parents', 'merge', 'text'] as const

export const lastAttempt = (experiment: Experiment): Attempt | null => experiment.attempts.at(-1) ?? null

export const attemptOf = (experiment: Experiment, number: number): Attempt | undefined =>
  experiment.attempts.find(({ attempt }) => attempt === number)

/** Rejections that the same content need not get again. */
const UNSETTLED: readonly Judged['reason'][] = ['inconclusive', 'unconfirmed', 'dependency']

/** Whether the attempt has a verdict that the same content would get again, so that nothing is paid for it twice. */
export function isSettled({ judged }: Attempt): boolean {
  if (!judged || judged.status === 'failed') return false
  return !UNSETTLED.includes(judged.reason)
}

/** Whether the verdict may come before a claim, and so cost nothing. */
export const isFree = ({ reason }: Pick<Judged, 'reason'>): boolean =>
  FREE_REASONS.some((free) => free === reason)

/** Whether the verdict was paid for, and other experiments with the same content would get it again. */
export function holdsForTwins({ status, reason }: Judged): boolean {
  if (status !== 'rejected') return status === 'kept'
  return !isFree({ reason }) && reason !== 'inconclusive' && reason !== 'dependency'
}

/** The verdict that counts: the last one. */
export const lastJudged = ({ verdict }: Pick<Experiment, 'verdict'>): Judged | null => verdict

/** Whether it is more than its files, so that it cannot be divided or merged by them. */
export const hasArtifacts = (node: Experiment): boolean =>
  Boolean(node.created.from_artifact) || Object.keys(lastJudged(node)?.artifacts ?? {}).length > 0

/** The attempt of the last verdict that kept the experiment, also when it was revoked later; null if none kept it. */
export const lastKept = ({ attempts }: Pick<Experiment, 'attempts'>): Attempt | null =>
  attempts.findLast(({ judged }) => judged?.status === 'kept') ?? null

/** Of a discard, else of the verdict that counts; null when neither gave one. */
export const failureClassOf = (experiment: Experiment): FailureClass | null =>
  experiment.discard_class ?? lastJudged(experiment)?.failure_class ?? null

export const nodeValue = (experiment: Experiment): number | null => experiment.value

/**
 * All metrics, from when its value was measured: of its verdict, or, if a look in a later epoch made it comparable again, of that
 * look. Looks of earlier releases do not have them.
 */
export function nodeMetrics(experiment: Experiment): Record<string, number | boolean> {
  const { attempts, epoch } = experiment
  const last = attempts.findLast(({ judged }) => judged)
  const look =
    last?.claim?.epoch === epoch
      ? undefined
      : last?.confirmed.find((one) => one.passed && !one.aside && one.epoch === epoch)
  return look?.metrics ?? last?.judged?.metrics ?? {}
}

/** Attempts that count against `max_attempts`. */
export const attemptsUsed = ({ used }: Pick<Experiment, 'used'>): number => used

/** Free rejections of this experiment: not charged, but bounded. */
export function freeRejections(experiment: Experiment): number {
  return experiment.attempts.filter((a) => a.judged && !a.claim).length
}

/** One that is not changed: its state need not remember what is read of it. */
const look = ({ experiments }: Pick<State, 'experiments'>, id: string): Experiment | undefined =>
  experiments.look ? experiments.look(id) : experiments.get(id)

/** Along first parents, root first. Iterative: a chain of ten thousand is an ordinary run. */
export function pathTo(state: State, id: string): Experiment[] {
  const path: Experiment[] = []
  for (let node = look(state, id); node; node = node.parent ? look(state, node.parent) : undefined) {
    path.push(node)
  }
  return path.reverse()
}

/** All that an experiment is built on and itself, each after its parents. A path, unless there are merges in it. */
export function lineageOf(state: State, id: string): Experiment[] {
  const found = new Map<string, Experiment>()
  const left = [id]
  for (let next = left.pop(); next !== undefined; next = left.pop()) {
    const node = look(state, next)
    if (!node || found.has(next)) continue
    found.set(next, node)
    left.push(...node.parents)
  }
  return [...found.values()].reverse().sort((a, b) => a.generation - b.generation)
}

/** Rounds are numbered from 1. */
export const roundAt = ({ rounds }: State, number: number): Round | undefined =>
  number < 1 ? undefined : rounds.at(number - 1)

export const currentRound = (state: State): Round | null => {
  const last = state.rounds.at(-1)
  return last && !last.closed ? last : null
}

/** Rounds in a row, up to the last closed one, that brought no new best. */
export const stallOf = (state: State): number => state.rounds.findLast((r) => r.closed)?.closed?.stall ?? 0

export interface AddedGate extends GateRule {
  /** The experiment that it was added to. */
  from: string
}

type Gates = ReadonlyMap<string, AddedGate>

/**
 * The gates that were added to this node or above it, on any way from the baseline, and that still bind on one. What
 * gives the gain of an experiment with less of its diff must pass the gates of that experiment, too.
 */
export function addedGates(state: State, id: string): AddedGate[] {
  // Few runs have any, and reading a long path is slower than this look.
  if (state.experiments.withTraits?.(({ gates }) => gates).length === 0) return []
  const at = new Map<string, Gates>()
  for (const node of lineageOf(state, id)) {
    const { reduces } = node.created
    const above = node.parents.map((parent): Gates => at.get(parent) ?? new Map())
    if (reduces) above.push(byName(addedGates(state, reduces.experiment)))
    const [only] = above
    const same = above.length === 1 && node.gates.length === 0 && node.droppedGates.length === 0
    const gates = same ? new Map<string, AddedGate>() : together(above)
    for (const gate of node.gates) gates.set(gate.name, { ...gate, from: node.id })
    for (const name of node.droppedGates) gates.delete(name)
    at.set(node.id, same && only ? only : gates)
  }
  return [...(at.get(id)?.values() ?? [])]
}

const byName = (gates: readonly AddedGate[]): Gates => new Map(gates.map((gate) => [gate.name, gate]))

/** All of them. Of different gates with one name, the later ones get the experiment that they were added to into their name. */
function together(above: readonly Gates[]): Map<string, AddedGate> {
  const all = new Map<string, AddedGate>()
  for (const gate of above.flatMap((some) => [...some.values()])) {
    const isSame = ({ from, command, phase }: AddedGate) =>
      from === gate.from && phase === gate.phase && String(command) === String(gate.command)
    if ([...all.values()].some(isSame)) continue
    const name = all.has(gate.name) ? `${gate.name} (${gate.from})` : gate.name
    all.set(name, { ...gate, name })
  }
  return all
}

// ---------------------------------------------------------------- the baseline, which every epoch begins with

/**
 * Of a later epoch that has no score of it: the one experiment that is judged again as it was kept, whatever became of it
 * there. All others rest on it, so it is never edited.
 */
export function isOutdatedBaseline(state: State, { id, status, epoch }: Experiment): boolean {
  if (id !== BASELINE || state.epoch === 1) return false
  return status === 'kept' ? epoch < state.epoch : status === 'rejected' || status === 'failed'
}

// ---------------------------------------------------------------- what is left of a doubt after a measurement, and what clears it

/** The part of the doubt that no measurement clears; null when there is none, or a person has cleared it. */
export function lastingDoubt(node: Experiment): string | null {
  const lasting = lastJudged(node)?.lasting_doubt
  return lasting !== undefined && node.flagged?.includes(lasting) ? lasting : null
}

/** The next step for a person, as a hint. */
export const clearing = (node: Experiment): Next =>
  lastingDoubt(node) === null
    ? next`measure it again: ${call('confirm', node.id)}`
    : next`look at ${call('diff', node.id)}; when it is right, clear it: ${call('restore', node.id)}`

/** The newest notes of a kind, oldest first, and how many there are. */
export function newestNotes(
  { notes }: Pick<State, 'notes'>,
  kind: Noted['kind'],
  most = Number.POSITIVE_INFINITY,
): { items: Noted[]; count: number } {
  const places = notes.placesOf?.(kind) ?? [...notes].flatMap((note, at) => (note.kind === kind ? [at] : []))
  const items = places.slice(Math.max(0, places.length - most)).map((at) => notes.at(at) as Noted)
  return { items, count: places.length }
}

/** Remarks on experiments and their tasks, oldest first; `tag`: only those with this word. */
export function remarksIn(state: State, tag: string | null = null): Annotated[] {
  return withTraits(state, ({ remarks }) => remarks)
    .flatMap(({ annotations }) => annotations)
    .filter((remark) => tag === null || remark.tag === tag)
    .sort((a, b) => (a.at < b.at ? -1 : a.at > b.at ? 1 : 0))
}

/** A remark as one text for agents: `exp_0007, task parse (profile): …`. */
export const remarkText = ({
  experiment,
  task,
  tag,
  text,
}: Pick<Annotated, 'experiment' | 'task' | 'tag' | 'text'>): string =>
  `${experiment}${task === null ? '' : `, task ${task}`}${tag === null ? '' : ` (${tag})`}: ${text}`

/** The last search for the parts of an experiment that pay; null when there was none. */
export const attributionOf = (state: State, experiment: string): Attribution | null =>
  state.attributions.findLast(({ started }) => started.experiment === experiment) ?? null

// ---------------------------------------------------------------- merges

export const isSameSet = (one: readonly string[], other: readonly string[]): boolean =>
  one.length === other.length && one.every((id) => other.includes(id))

/** As data: the parents of what has several; empty for all others, whose one parent stands beside it. */
export const severalParents = ({ parents }: Experiment): { parents?: readonly string[] } =>
  parents.length > 1 ? { parents } : {}

/** How often what the CLI put together is measured when it fails: as often as a gate that does not pass. */
const TRIES_OF_FAILED = 2

/** Whether the verdict says nothing of the idea, because a person stopped it, or the machine spoilt it. */
export const saysNothing = ({ failure_class, reason }: Judged): boolean =>
  failure_class === 'environment' || reason === 'aborted'

/**
 * Of a merge, or of what an attribution left over: whether it failed, perhaps by chance (a build that fails now and then), and is
 * measured once more. An agent repairs an experiment of its own; no agent repairs these. A time limit is not waited for twice.
 */
export function mayHaveFailedByChance({ knobs }: State, node: Experiment): boolean {
  const judged = lastJudged(node)
  if (judged?.status !== 'failed' || saysNothing(judged) || judged.reason === 'timeout') return false
  return attemptsUsed(node) < Math.min(TRIES_OF_FAILED, knobs?.max_attempts ?? TRIES_OF_FAILED)
}

/** Of the same: whether it has a verdict that says something of the idea, and is not measured once more. */
export function isTried(state: State, node: Experiment): boolean {
  const judged = node.status === 'running' ? null : lastJudged(node)
  return judged !== null && !saysNothing(judged) && !mayHaveFailedByChance(state, node)
}

/** The merge of exactly these experiments in this epoch, unless somebody gave it up before it was measured; null = none. */
export function mergeOf(state: State, parents: readonly string[]): Experiment | null {
  // It is a child of each of them.
  for (const id of state.experiments.get(parents[0] ?? '')?.children ?? []) {
    const node = state.experiments.get(id)
    if (!node?.created.merge || !isSameSet(node.parents, parents)) continue
    if (node.status === 'discarded' || (isTried(state, node) && node.epoch !== state.epoch)) continue
    return node
  }
  return null
}

// ---------------------------------------------------------------- what stands above an experiment, and what falls with it

/**
 * With which it falls: its parents, and of what an attribution left over the experiment whose parts it has. That one may be a merge,
 * and then the parts are those of its other parents.
 */
export const restsOn = ({
  parents,
  created: { reduces },
}: Pick<Experiment, 'parents'> & { created: Pick<Created, 'reduces'> }): readonly string[] =>
  reduces ? [...parents, reduces.experiment] : parents

/** Ids of experiments that are revoked or rest on a revoked one. */
export const tainted = (state: State): ReadonlySet<string> => state.tainted

/**
 * Rejected or failed for something that can be mended, with attempts left, and built on nothing that was revoked. What
 * somebody stopped from outside is not taken up again by itself.
 */
export function repairable(state: State): Experiment[] {
  const open = select(
    state,
    ({ status, answered }) => !answered && (status === 'rejected' || status === 'failed'),
  )
  const bad = tainted(state)
  const repaired = usedByLater(state, ({ repair }) => repair)
  const limit = state.knobs?.max_attempts ?? 0
  const [used, aborted, special] = [open.numbers('used'), open.numbers('aborted'), open.numbers('special')]
  return among(open, (at) => {
    if ((used[at] as number) >= limit || aborted[at] === 1) return false
    if (special[at] === 1 && open.at(at).created.merge) return false
    if (bad.size === 0 && repaired.size === 0) return true
    const { id } = open.at(at)
    return !bad.has(id) && !repaired.has(id)
  })
}

/** Those of a selection whose place is wanted. */
function among(selected: Selected, isWanted: (at: number) => boolean): Experiment[] {
  const found: Experiment[] = []
  for (let at = 0; at < selected.length; at++) if (isWanted(at)) found.push(selected.at(at))
  return found
}

/**
 * Sealed, and never measured to an answer, so that the idea is untested. Each stays until it is judged itself, or an
 * experiment that repairs it, or starts from its artifact, was measured.
 */
export function retestable(state: State): Experiment[] {
  const tested = new Set([
    ...usedByLater(state, ({ repair }) => repair),
    ...usedByLater(state, ({ from_artifact }) => from_artifact?.experiment),
  ])
  const ended = select(state, ({ status }) => status === 'failed' || status === 'discarded')
  const [classes, statuses] = [ended.numbers('failureClass'), ended.numbers('status')]
  const special = ended.numbers('special')
  return among(ended, (at) => {
    if (statuses[at] === FAILED) {
      if (classes[at] !== EVAL) return false
    } else if (lastAttempt(ended.at(at)) === null || failureClassOf(ended.at(at)) !== 'eval') return false
    if (special[at] === 1 && ended.at(at).created.merge) return false
    return tested.size === 0 || !tested.has(ended.at(at).id)
  })
}

const FAILED = STATUSES.indexOf('failed')
const EVAL = FAILURE_CLASSES.indexOf('eval')

/** The experiments that a later one repairs or retests, if that one was measured to an answer. */
function usedByLater(state: State, sourceOf: (created: Created) => string | undefined): Set<string> {
  const found = new Set<string>()
  for (const node of withTraits(state, ({ special }) => special)) {
    const source = sourceOf(node.created)
    const judged = source === undefined ? null : lastJudged(node)
    if (source !== undefined && judged && !isFree(judged) && !UNTESTED.includes(judged.failure_class))
      found.add(source)
  }
  return found
}

/** Classes of verdicts that say nothing about the idea because it was not measured. */
const UNTESTED: readonly (FailureClass | null)[] = ['eval', 'environment']

export interface Undermined {
  code: 'parent_revoked'
  /** Names the nearest ancestor that was revoked, and why. */
  message: string
  /** How to continue from the nearest kept ancestor. */
  hint: Said
}

/** Why nothing more is to be paid for an experiment: what it is built on was revoked. null when all of that stands. */
export function undermined(
  state: State,
  node: Pick<Experiment, 'id' | 'parents' | 'created'>,
): Undermined | null {
  const { id } = node
  if (state.counts.revoked === 0) return null
  const bad = tainted(state)
  const above = (ids: readonly string[]) =>
    state.experiments.get(ids.find((one) => bad.has(one)) ?? ids[0] ?? '')
  let nearest: Experiment | null = null
  /** Nothing below the uppermost revoked one can be a parent. */
  let sound = BASELINE
  let found = false
  for (let one = above(restsOn(node)); one; one = above(restsOn(one))) {
    if (one.status === 'revoked') {
      nearest ??= one
      found = false
    } else if (nearest && !found && one.status === 'kept' && !one.flagged && one.epoch === state.epoch) {
      sound = one.id
      found = true
    }
  }
  return (
    nearest && {
      code: 'parent_revoked',
      message: `${id} is built on ${nearest.id}, which was revoked: ${nearest.why ?? 'no reason was given'}`,
      hint: next`make a child of a sound experiment: ${call('new', '--parent', sound, '-m', 'TEXT')}; the change itself: ${call('diff', id)}`,
    }
  )
}

/** The confirmation of an experiment that has no result yet; null when there is none. */
export const pendingConfirmation = (
  { confirming }: Pick<State, 'confirming'>,
  experiment: string,
): PendingConfirmation | null => confirming.find((one) => one.experiment === experiment) ?? null

/** How long it waited for a node, with the job before it; 0 where its start was not seen. */
export const queuedMs = ({ at, placed, first }: AttemptJob): number =>
  (placed ? Math.max(0, Date.parse(placed.at) - Date.parse(at)) : 0) + (first ? queuedMs(first) : 0)

/** Whether a fault says nothing about the candidate: the machine is broken, or somebody interrupted the work. */
export const isOfMachine = ({ reason }: Pick<SampleFault, 'reason'>): boolean =>
  reason === 'environment' || reason === 'aborted'
