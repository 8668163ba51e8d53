/** `round open`: where the run stands, and who may become a parent in the turn that begins. */

import { noRoom, warnOfRoom } from '../experiment/room.ts'
import { repairable } from '../ledger/ancestry.ts'
import { bestOf } from '../ledger/best.ts'
import type { Idea, Knobs, Lane, NewDirection, Noted, Pick, StopReason } from '../ledger/events.ts'
import { refusal } from '../ledger/ledger.ts'
import { type Directions, directionsOf, knobsOfNextRound, type Step } from '../ledger/meta.ts'
import {
  BASELINE,
  currentRound,
  type Experiment,
  nodeValue,
  type Round,
  type State,
} from '../ledger/state.ts'
import { fail, ok, type Result } from '../result.ts'
import { giveUp, saidBy, takeTurn } from '../run/lease.ts'
import type { OpenRun } from '../run/open.ts'
import { waitingSteers } from '../run/steer.ts'
import { stopReason } from '../run/stop.ts'
import type { Pattern } from '../search/observed.ts'
import { newDirection } from './direction.ts'
import { stillEdited } from './edited.ts'
import { patternsIn } from './facts.ts'
import { candidatesOf, pickParents } from './frontier.ts'
import { ideateBecause } from './ideate.ts'
import { openIdeas } from './propose.ts'
import { scanBatches } from './scan.ts'
import { armLanes, roundSize, searchLanes } from './size.ts'

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
  patterns: Pattern[]
  proposals: Idea[]
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

/** How much of the past a turn is told. */
const RECENT = { learnings: 30, proposals: 20, notes: 20, repairable: 50 }

/** Opens the next round, or answers the one that is open, to whoever may drive. `takeOver`: see `takeTurn`. */
export function openRound(run: OpenRun, takeOver = false): Result<RoundAnswer> {
  const { state } = run.ledger
  const open = currentRound(state)
  if (open) return goOnWith(run, open, takeOver)
  // By the knobs of the round that would open: an edit may have lifted what stops it.
  const next = { ...state, knobs: state.knobs && knobsOfNextRound(state.meta, state.knobs) }
  const stop = stopReason(next)
  if (stop) return over(run, stop)
  const mine = takeTurn(run, { adopt: false, takeOver })
  if (!mine.ok) return mine
  const full = noRoom(run, 'no round was opened')
  if (full) return fail(full)
  const round = state.rounds.length + 1
  const frontier = pickParents(run, { round })
  if (!frontier.ok) return frontier
  const { picks } = frontier.value
  if (picks.length === 0) return over(run, 'frontier_empty')
  const direction = newDirection(
    next,
    candidatesOf(state),
    picks.map(({ experiment }) => experiment),
  )
  const steering = waitingSteers(state, null)
  const size = roundSize(next)
  const arm = armLanes(state, run.spec.loop.baseline_arm, size.width)
  const proposal = run.ledger.propose<'round_opened'>(
    {
      type: 'round_opened',
      round,
      token: run.random(8),
      ...size,
      ...(arm === 0 ? {} : { arm }),
      parents: withOther(picks, direction, state),
      policy: frontier.value.policy,
      seed: frontier.value.seed,
      ideate: directionsOf(state.meta, round).phases.ideate ? ideateBecause(next) : null,
      direction,
      ...(steering.length === 0 ? {} : { steering: steering.map(({ id }) => id) }),
      ...saidBy(run),
    },
    run.clock(),
  )
  if (!proposal.ok) return proposal
  const now = currentRound(state)
  if (!proposal.value.accepted) return now ? goOnWith(run, now, false) : refusal(proposal.value.because)
  if (!now) return ok(describe(run, null, stopReason(state)))
  // A process may have begun to drive since it was looked for: it came first.
  const still = takeTurn(run, { adopt: true, takeOver: false })
  if (!still.ok) giveUp(run)
  return still.ok ? ok(describe(run, now, null)) : still
}

function goOnWith(run: OpenRun, open: Round, takeOver: boolean): Result<RoundAnswer> {
  const mine = takeTurn(run, { adopt: true, takeOver })
  return mine.ok ? ok({ ...describe(run, open, null), repeated: true }) : mine
}

function over(run: OpenRun, stop: StopReason): Result<RoundAnswer> {
  const left = giveUp(run)
  return left.ok ? ok(describe(run, null, stop)) : left
}

/** First, so that it is taken also where there is but one lane. */
function withOther(picks: Pick[], direction: NewDirection | null, state: State): Pick[] {
  const other = state.experiments.get(direction?.change.parent ?? '')
  if (!other || !direction) return picks
  const first = {
    experiment: other.id,
    value: nodeValue(other),
    rank: 1,
    why: 'another start after a plateau',
  }
  return [first, ...picks.map((pick) => ({ ...pick, rank: pick.rank + 1 }))]
}

function describe(run: OpenRun, round: Round | null, stop: StopReason | null): RoundAnswer {
  const { state } = run.ledger
  const { spec } = run
  const best = bestOf(state)
  const { knobs, meta } = state
  const { prompts, phases, steps } = directionsOf(meta, meta.round)
  if (!knobs) throw new Error('a run that has started has knobs')
  return {
    round: round?.round ?? null,
    token: round?.opened.token ?? null,
    stop,
    best: best && standing(best),
    baseline: baselineOf(state),
    target: run.started.metric.target,
    goal: spec.goal,
    metric: { name: spec.metric.name, direction: spec.metric.direction },
    parents: round?.opened.parents ?? [],
    width: round ? searchLanes(round) : 0,
    depth: round?.opened.depth ?? 0,
    ideate: round?.opened.ideate ?? null,
    direction: round?.opened.direction ?? null,
    repairable: repairable(state)
      .slice(-RECENT.repairable)
      .map(({ id }) => id),
    retests: untested(state),
    patterns: patternsIn(state),
    proposals: openIdeas(state, RECENT.proposals),
    learnings: learningsOf(state).slice(-RECENT.learnings),
    notes: state.notes
      .filter(({ kind }: Noted) => kind !== 'learning')
      .slice(-RECENT.notes)
      .map(({ text }) => text),
    steering: state.steers.flatMap(({ id, text }) => (round?.opened.steering?.includes(id) ? [text] : [])),
    rules: spec.instructions.rules,
    skills: spec.skills,
    noise: state.noise.mode,
    knobs,
    prompts,
    phases,
    steps: round ? steps : [],
    meta: spec.loop.meta ? { every_ms: spec.loop.meta.every } : null,
    scan: { batches: phases.scan ? scanBatches(state, knobs, round?.opened.parents ?? []) : [] },
    warnings: round
      ? [...stillEdited(run, round), ...warnOfRoom(run, round.opened.width * round.opened.depth)]
      : [],
    lanes: round?.briefed && round.briefed.lanes.length > 0 ? round.briefed.lanes : null,
  }
}

export function learningsOf(state: State): string[] {
  const fromRounds = state.rounds.flatMap(({ closed }) =>
    closed ? [...closed.learnings, ...closed.suggestions] : [],
  )
  return [...fromRounds, ...state.notes.filter(({ kind }) => kind === 'learning').map(({ text }) => text)]
}

export const standing = (node: Experiment): Standing => ({ experiment: node.id, value: nodeValue(node) })

export function baselineOf(state: State): Standing | null {
  const node = state.experiments.get(BASELINE)
  return node ? standing(node) : null
}

function untested(state: State): string[] {
  return [...state.experiments.values()]
    .filter((node) => node.status === 'failed' && node.attempts.at(-1)?.judged?.failure_class === 'eval')
    .slice(-RECENT.repairable)
    .map(({ id }) => id)
}
