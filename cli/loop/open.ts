/** `round open`: where the run stands, and which experiments may be parents in the round that begins. */
import { hasSeal } from '../experiment/create.ts'
import { approvedPackages } from '../ledger/backlog.ts'
import { bestOf } from '../ledger/best.ts'
import { isOf } from '../ledger/driver.ts'
import type { Idea, Judged, Knobs, Lane, NewDirection, Noted, Pick, StopReason } from '../ledger/events.ts'
import { refusal } from '../ledger/ledger.ts'
import { type Directions, directionsOf, knobsOfNextRound, type Step } from '../ledger/meta.ts'
import {
  BASELINE,
  currentRound,
  type Experiment,
  failureClassOf,
  isPinned,
  lastJudged,
  newestFirst,
  newestNotes,
  nodeValue,
  type Round,
  remarksIn,
  remarkText,
  repairable,
  retestable,
  roundAt,
  type State,
  stallOf,
} from '../ledger/state.ts'
import { noDiskSpace, warnOfDiskSpace } from '../measure/disk-space.ts'
import { worktreePath } from '../paths.ts'
import { fail, ok, type Result } from '../result.ts'
import { stopReason } from '../run/budget.ts'
import { callerIn, giveUp, saidBy, takeTurn } from '../run/driver.ts'
import { liveSpec, type OpenRun } from '../run/open.ts'
import { waitingSteers } from '../run/steer.ts'
import { byScore, type Candidate, firstOf } from '../search/frontier.ts'
import { OBSERVED, type Observed, type Pattern, patternsOf } from '../search/patterns.ts'
import { type Conflict, combinable } from '../search/unmerged.ts'
import { plain } from '../text.ts'
import { candidatesOf, pickParents } from './frontier.ts'
import { openIdeas } from './ideas.ts'
import { baselineArmLanes, metaInterval, roundSize, searchLanes } from './round.ts'

// ---------------------------------------------------------------- after a takeover: the agents of the earlier session do not know of it, and still work in their worktrees

/** One sentence for each candidate of the open round that may have two editors, if the caller begins its lane now. */
function stillEdited(run: OpenRun, { round, opened, briefed }: Round): string[] {
  const by = briefed?.by ?? opened.by
  const me = callerIn(run.env)
  if (by === undefined || isOf(by, me)) return []
  const { driver, experiments } = run.ledger.state
  const lease = driver.session
  const mine = lease !== null && isOf(lease, me) ? lease.since : null
  const whose = `agents of session ${by.session.slice(0, 100)} of ${by.host}, which had this round`
  return [...experiments.values()].flatMap((node) => {
    const { id, created, status } = node
    if (created.round !== round || created.merge || status !== 'open' || hasSeal(node)) return []
    // Begun by the caller, since it has the turn.
    if (mine !== null && created.at >= mine) return []
    const worktree = worktreePath(run.site, run.run, id)
    return `${id} (lane ${created.lane}) has no seal: ${whose}, may still edit ${worktree}; wait until they have ended, or assay discard ${id} --failure-class environment --reason TEXT`
  })
}

// ---------------------------------------------------------------- when the search stands on a plateau, and what the next round does otherwise

/** Rounds without a new best that are a plateau; fewer than those that end the loop, so that something is tried before. */
export const plateauOf = ({ ideate_stall, stall }: Knobs): number =>
  Math.max(1, Math.min(ideate_stall, stall - 1))

/**
 * Null while there is no plateau. The other parent is one of the frontier that no lane of the plateau started from, and
 * that the policy did not pick anyway: the best that no kept child has surpassed, else the best.
 */
export function newDirection(
  state: State,
  candidates: readonly Candidate[],
  picked: readonly string[],
): NewDirection | null {
  const { knobs } = state
  const stall = stallOf(state)
  if (!knobs || stall < plateauOf(knobs)) return null
  const lanes = [...state.rounds]
    .slice(-stall)
    .flatMap(({ briefed }) => briefed?.lanes ?? [])
    .filter(({ arm }) => arm === undefined)
  const tried = new Set([...lanes.map(({ parent }) => parent), ...picked])
  const [other] = candidates
    .filter(({ id }) => !tried.has(id))
    .sort((a, b) => Number(a.keptChildren > 0) - Number(b.keptChildren > 0) || byScore(a, b))
  const kinds = [...new Set(lanes.map(({ brief }) => brief.kind))].slice(0, MOST_KINDS)
  const steps = [
    other ? `start from ${other.id} too` : 'no other parent is left to start from',
    ...(kinds.length > 0 ? [`leave what was done (${kinds.join(', ')})`] : []),
    'and count every brief as hard',
  ]
  return {
    change: { parent: other?.id ?? null, kinds, hard: true },
    why: `${rounds(stall)} without a new best: ${steps.join(', ')}`,
  }
}

/** A number of rounds in words. */
const rounds = (count: number): string => (count === 1 ? '1 round' : `${count} rounds`)

const MOST_KINDS = 10

// ---------------------------------------------------------------- whether a round asks for new ideas, and why

/**
 * Ideas are asked for when the loop stalls, and when much was kept since they were last asked for, or since the first
 * round: what was kept before is no reason to begin with it.
 */
export function ideateBecause(state: State): { why: string } | null {
  const { knobs } = state
  if (!knobs) return null
  const stall = stallOf(state)
  const asked = state.rounds.findLast((round) => round.opened.ideate)
  const sinceAsked = state.rounds.length - ((asked?.round ?? 1) - 1)
  const plateau = plateauOf(knobs)
  if (stall >= plateau && sinceAsked >= plateau) {
    return { why: `${rounds(stall)} without a new best` }
  }
  const since = (asked ?? roundAt(state, 1))?.openedSeq ?? state.seq
  const keeps = [...state.experiments.values()].filter(
    (node) => node.status === 'kept' && node.id !== BASELINE && (node.judgedSeq ?? 0) >= since,
  ).length
  return keeps >= knobs.ideate_keeps
    ? { why: `${keeps} experiments kept since ideas were last asked for` }
    : null
}

// ---------------------------------------------------------------- what the scanners of a round read

/**
 * What was judged since the last turn began, newest last, in bounded batches. When it is too much, what was kept stays:
 * the next rounds start from there. Places that are left in the last batch go to the parents of the round, which cost
 * nothing more there. When no verdict is new, the parents are what is read: the next changes begin in them.
 */
export function scanBatches(state: State, knobs: Knobs, parents: readonly Pick[]): string[][] {
  const { scan_batch: size, scan_max: most } = knobs
  const since = state.rounds.at(-2)?.openedSeq ?? 0
  const judged = [...state.experiments.values()].filter(
    (node) => node.id !== BASELINE && (node.judgedSeq ?? -1) >= since,
  )
  const chosen = new Set(
    [...judged]
      .reverse()
      .sort((a, b) => Number(isKept(b)) - Number(isKept(a)))
      .slice(0, most),
  )
  const read = judged.filter((node) => chosen.has(node)).map(({ id }) => id)
  const places = Math.min(most, Math.max(1, Math.ceil(read.length / size)) * size) - read.length
  const beside = parents
    .map(({ experiment }) => experiment)
    .filter((id) => id !== BASELINE && !read.includes(id))
    .slice(0, places)
  const all = [...beside, ...read]
  const batches: string[][] = []
  for (let i = 0; i < all.length; i += size) batches.push(all.slice(i, i + size))
  return batches
}

const isKept = (node: Experiment): boolean => node.status === 'kept'

// ---------------------------------------------------------------- what the ledger alone says about the search so far

/** A warning that an axis is exhausted names one that was not tried, where the record knows one. */
export function patternsIn(state: State, candidates?: readonly Candidate[]): Pattern[] {
  const found = patternsOf(observedIn(state))
  const warned = found.filter(({ kind }) => kind === 'axis_warning')
  if (warned.length === 0) return found
  const untried = untriedBeside(state, warned, candidates ?? candidatesOf(state))
  return found.map((pattern) => {
    const other = pattern.kind === 'axis_warning' ? untried(pattern) : []
    return other.length === 0
      ? pattern
      : { ...pattern, message: `${pattern.message}; not tried yet: ${other.join(', or ')}` }
  })
}

/** The best parent that nothing was built on, else that the warned experiments did not start from; and the best open idea. */
function untriedBeside(
  state: State,
  warned: readonly Pattern[],
  candidates: readonly Candidate[],
): (pattern: Pattern) => string[] {
  const parentsOf = ({ experiments }: Pattern) =>
    new Set(experiments.map((id) => state.experiments.get(id)?.parent))
  const most = Math.max(...warned.map((pattern) => parentsOf(pattern).size))
  const freshest = (a: Candidate, b: Candidate) =>
    Number(a.children > 0) - Number(b.children > 0) || byScore(a, b)
  // There may be many candidates: all warnings choose from one list.
  const first = firstOf(candidates, most + 1, freshest)
  const [idea] = openIdeas(state, 20)
  return (pattern) => {
    const worn = parentsOf(pattern)
    const parent = first.find(({ id }) => !worn.has(id))
    return [
      ...(parent
        ? [`${parent.id} as the parent${parent.children === 0 ? ', on which nothing was built' : ''}`]
        : []),
      ...(idea ? [`the idea "${plain(idea.hypothesis, 160)}"`] : []),
    ]
  }
}

export function observedIn(state: State): Observed[] {
  const ideas: Experiment[] = []
  for (const node of newestFirst(state)) {
    if (ideas.length === OBSERVED) break
    if (!node.created.merge) ideas.push(node)
  }
  return ideas.reverse().map((node) => new Observation(node))
}

/** Texts are read when a pattern tells them. */
class Observation implements Observed {
  readonly #node: Experiment
  readonly #judged: Judged | null
  readonly id: string
  readonly parent: string | null
  readonly status: Observed['status']
  readonly reason: Observed['reason']
  readonly failure_class: Observed['failure_class']
  readonly value: number | null
  readonly gates: Observed['gates']
  readonly tasks: Observed['tasks']
  readonly signature: string | null

  constructor(node: Experiment) {
    const judged = lastJudged(node)
    this.#node = node
    this.#judged = judged
    this.id = node.id
    this.parent = node.parent
    this.status = node.status
    this.reason = judged?.reason ?? null
    this.failure_class = failureClassOf(node)
    this.value = judged?.value ?? null
    this.gates = judged?.gates ?? []
    this.tasks = judged?.tasks ?? null
    this.signature = judged?.signature ?? null
  }

  get hypothesis(): string {
    return this.#node.hypothesis
  }

  get message(): string {
    return this.#judged?.message ?? ''
  }
}

export interface Standing {
  experiment: string
  value: number | null
}

export interface RoundAnswer {
  /** null when the loop is over: then `stop` says why. */
  round: number | null
  token: string | null
  stop: StopReason | null
  best: Standing | null
  baseline: Standing | null
  target: number | null
  goal: string
  metric: { name: string; direction: string }
  parents: Pick[]
  /** Briefs that are asked for: the lanes of the baseline arm need none. */
  width: number
  depth: number
  ideate: { why: string } | null
  /** After a plateau: what this round does otherwise. */
  direction: NewDirection | null
  /** Rejected or failed for something that can be mended, with attempts left. */
  repairable: string[]
  /** Could not be evaluated: the idea itself has not been tested. */
  retests: string[]
  /** Kept, worth to be combined, and git cannot merge them: a brief may ask an agent to do so. Absent = none. */
  combine?: Conflict[]
  patterns: Pattern[]
  proposals: (Idea & { id: string })[]
  learnings: string[]
  notes: string[]
  /** What people said to this round. */
  steering: string[]
  rules: string[]
  skills: string[]
  noise: 'deterministic' | 'paired'
  knobs: Knobs
  /** What the meta controller made of the prompts, the phases and the seams; one and the same for the whole round. */
  prompts: Directions['prompts']
  phases: Directions['phases']
  steps: Step[]
  /** How often it looks; null = it is off. */
  meta: { every_ms: number } | null
  scan: { batches: string[][] }
  /** What a person should do something about: two may edit one candidate; the disk or the worktrees would stop the loop. */
  warnings: string[]
  /** Of a round that was briefed before; null = briefs are wanted. */
  lanes: Lane[] | null
  repeated?: true
}

/** How much of the past a round gets. */
const RECENT = { learnings: 30, proposals: 20, notes: 20, repairable: 50, combine: 5 }

/** Opens the next round, or answers the one that is open, to a caller that may drive. `takeOver`: see `takeTurn`. */
export function openRound(run: OpenRun, takeOver = false): Result<RoundAnswer> {
  const { state } = run.ledger
  const open = currentRound(state)
  if (open) return goOnWith(run, open, takeOver)
  const next = atNextRound(state)
  const stop = stopReason(next)
  if (stop) return over(run, stop)
  const mine = takeTurn(run, { adopt: false, takeOver })
  if (!mine.ok) return mine
  const full = noDiskSpace(run, 'no round was opened')
  if (full) return fail(full)
  const round = state.rounds.length + 1
  const frontier = pickParents(run)
  if (!frontier.ok) return frontier
  const { picks } = frontier.value
  if (picks.length === 0) return over(run, 'frontier_empty')
  const direction = newDirection(
    next,
    candidatesOf(state),
    picks.map(({ experiment }) => experiment),
  )
  const steering = waitingSteers(state, null)
  const suite = suiteRound(run)
  const size = suite === null ? roundSize(next) : SUITE_ROUND
  const arm = suite === null ? baselineArmLanes(state, liveSpec(run).loop.baseline_arm, size.width) : 0
  const proposal = run.ledger.propose<'round_opened'>(
    {
      type: 'round_opened',
      round,
      token: run.random(8),
      ...size,
      ...(arm === 0 ? {} : { arm }),
      parents: withOther(picks, direction, state),
      policy: frontier.value.policy,
      seed: run.started.seed,
      ideate: suite === null && directionsOf(state.meta, round).phases.ideate ? ideateBecause(next) : null,
      direction,
      ...(steering.length === 0 ? {} : { steering: steering.map(({ id }) => id) }),
      ...(suite === null ? {} : { suite }),
      ...saidBy(run),
    },
    run.clock(),
  )
  if (!proposal.ok) return proposal
  const now = currentRound(state)
  if (!proposal.value.accepted) return now ? goOnWith(run, now, false) : refusal(proposal.value.because)
  if (!now) return ok(roundAnswer(run, null, stopReason(state)))
  // A process may have begun to drive since it was looked for: it came first.
  const still = takeTurn(run, { adopt: true, takeOver: false })
  if (!still.ok) giveUp(run)
  return still.ok ? ok(roundAnswer(run, now, null)) : still
}

/** A round of a suite has one experiment at most. */
export const SUITE_ROUND = { width: 1, depth: 1 }

/** What a round of a run with a suite does; null = the run has none. */
export const suiteRound = (run: OpenRun): 'gradient' | 'repeat' | null =>
  run.spec.measure.suite === undefined ? null : liveSpec(run).gradient ? 'gradient' : 'repeat'

/** By the knobs of the round that would open: an edit may have lifted what stops it. */
const atNextRound = (state: State): State => ({
  ...state,
  knobs: state.knobs && knobsOfNextRound(state.meta, state.knobs),
})

/** Why no further round would open, as far as the ledger says; null when one would. */
export const stopOfNext = (state: State): StopReason | null => stopReason(atNextRound(state))

function goOnWith(run: OpenRun, open: Round, takeOver: boolean): Result<RoundAnswer> {
  const mine = takeTurn(run, { adopt: true, takeOver })
  return mine.ok ? ok({ ...roundAnswer(run, open, null), repeated: true }) : mine
}

function over(run: OpenRun, stop: StopReason): Result<RoundAnswer> {
  const left = giveUp(run)
  return left.ok ? ok(roundAnswer(run, null, stop)) : left
}

/** Before what the policy picked, so that it is taken also where there is but one lane; what a person pinned stays first. */
function withOther(picks: Pick[], direction: NewDirection | null, state: State): Pick[] {
  const other = state.experiments.get(direction?.change.parent ?? '')
  if (!other || !direction) return picks
  const isFirst = ({ experiment }: Pick) => isPinned(state, experiment)
  const added = { experiment: other.id, value: nodeValue(other), why: 'another start after a plateau' }
  return [...picks.filter(isFirst), added, ...picks.filter((pick) => !isFirst(pick))].map((pick, at) => ({
    ...pick,
    rank: at + 1,
  }))
}

/** The rules that agents read: those of the spec, and which packages they may add. */
export function rulesOf(run: OpenRun): string[] {
  const { rules } = liveSpec(run).instructions
  const approved = approvedPackages(run.ledger.state)
  if (approved === null) return rules
  const which = approved.size === 0 ? 'no package' : `no package other than ${[...approved].join(', ')}`
  return [
    ...rules,
    `Add ${which}: a candidate that does is rejected. Propose an idea that names what it needs.`,
  ]
}

/** The round as its agents see it. */
export function roundAnswer(run: OpenRun, round: Round | null, stop: StopReason | null): RoundAnswer {
  const { state } = run.ledger
  const live = liveSpec(run)
  const every = metaInterval(run)
  const best = bestOf(state)
  const { knobs, meta } = state
  const pairs = combinable(state).slice(0, RECENT.combine)
  const { prompts, phases, steps } = directionsOf(meta, meta.round)
  if (!knobs) throw new Error('a run that has started has knobs')
  return {
    round: round?.round ?? null,
    token: round?.opened.token ?? null,
    stop,
    best: best && standing(best),
    baseline: baselineOf(state),
    target: run.started.metric.target,
    goal: live.goal,
    metric: { name: run.spec.metric.name, direction: run.spec.metric.direction },
    parents: round?.opened.parents ?? [],
    width: round ? searchLanes(round) : 0,
    depth: round?.opened.depth ?? 0,
    ideate: round?.opened.ideate ?? null,
    direction: round?.opened.direction ?? null,
    repairable: repairable(state)
      .slice(-RECENT.repairable)
      .map(({ id }) => id),
    retests: retestable(state)
      .slice(-RECENT.repairable)
      .map(({ id }) => id),
    ...(pairs.length > 0 && { combine: pairs }),
    patterns: patternsIn(state),
    proposals: knobs.briefs === 'author' ? [] : openIdeas(state, RECENT.proposals),
    learnings: newestLearnings(state, RECENT.learnings).items,
    notes: notesIn(state).slice(-RECENT.notes),
    steering: state.steers.flatMap(({ id, text }) => (round?.opened.steering?.includes(id) ? [text] : [])),
    rules: rulesOf(run),
    skills: live.skills,
    noise: state.noise.mode,
    knobs,
    prompts,
    phases,
    steps: round ? steps : [],
    meta: every === null ? null : { every_ms: every },
    scan: { batches: phases.scan ? scanBatches(state, knobs, round?.opened.parents ?? []) : [] },
    warnings: round
      ? [...stillEdited(run, round), ...warnOfDiskSpace(run, round.opened.width * round.opened.depth)]
      : [],
    lanes: round?.briefed && round.briefed.lanes.length > 0 ? round.briefed.lanes : null,
  }
}

/** Notes of people and agents, and remarks on experiments, oldest first. */
function notesIn(state: State): string[] {
  return [
    ...[...state.notes]
      .filter(({ kind }: Noted) => kind !== 'learning' && kind !== 'objection')
      .map(({ at, text }) => ({ at, text })),
    ...remarksIn(state).map((remark) => ({ at: remark.at, text: remarkText(remark) })),
  ]
    .sort((a, b) => (a.at < b.at ? -1 : a.at > b.at ? 1 : 0))
    .map(({ text }) => text)
}

export function learningsOf(state: State): string[] {
  return [...state.learnings, ...newestNotes(state, 'learning').items.map(({ text }) => text)]
}

/** The newest of `learningsOf`, and how many there are. */
export function newestLearnings(state: State, most: number): { items: string[]; count: number } {
  const notes = newestNotes(state, 'learning', most)
  const { length } = state.learnings
  const left = Math.min(length, Math.max(0, most - notes.count))
  const older = Array.from({ length: left }, (_, at) => state.learnings.at(length - left + at) ?? '')
  return {
    items: [...older, ...notes.items.map(({ text }) => text)],
    count: length + notes.count,
  }
}

const standing = (node: Experiment): Standing => ({ experiment: node.id, value: nodeValue(node) })

function baselineOf(state: State): Standing | null {
  const node = state.experiments.get(BASELINE)
  return node ? standing(node) : null
}
