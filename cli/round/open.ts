/** `round open`: where the run stands, and who may become a parent in the turn that begins. */

import { bestOf } from '../ledger/best.ts'
import type { Idea, Knobs, Noted, Pick, StopReason } from '../ledger/events.ts'
import { refusal } from '../ledger/ledger.ts'
import {
  BASELINE,
  currentRound,
  type Experiment,
  nodeValue,
  type Round,
  repairable,
  type State,
  stallOf,
} from '../ledger/state.ts'
import { ok, type Result } from '../result.ts'
import type { OpenRun } from '../run/open.ts'
import { waitingSteers } from '../run/steer.ts'
import { stopReason } from '../run/stop.ts'
import type { Pattern } from '../search/observed.ts'
import { patternsIn } from './facts.ts'
import { pickParents } from './frontier.ts'
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
  /** Rejected or failed, with attempts left. */
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
  /** Directives that the meta controller gave, by prompt. */
  prompts: Record<string, string>
  scan: { batches: string[][] }
  repeated?: true
}

/** How much of the past a turn is told. */
const RECENT = { learnings: 30, proposals: 20, notes: 20, repairable: 50 }

export function openRound(run: OpenRun): Result<RoundAnswer> {
  const { state } = run.ledger
  const open = currentRound(state)
  if (open) return ok({ ...describe(run, open, null), repeated: true })
  const stop = stopReason(state)
  if (stop) return ok(describe(run, null, stop))
  const round = state.rounds.length + 1
  const frontier = pickParents(run, { round })
  if (!frontier.ok) return frontier
  if (frontier.value.picks.length === 0) return ok(describe(run, null, 'frontier_empty'))
  const steering = waitingSteers(state, null)
  const size = roundSize(state)
  const arm = armLanes(state, run.spec.loop.baseline_arm, size.width)
  const proposal = run.ledger.propose<'round_opened'>(
    {
      type: 'round_opened',
      round,
      token: run.random(8),
      ...size,
      ...(arm === 0 ? {} : { arm }),
      parents: frontier.value.picks,
      policy: frontier.value.policy,
      seed: frontier.value.seed,
      ideate: ideateBecause(state),
      ...(steering.length === 0 ? {} : { steering: steering.map(({ id }) => id) }),
    },
    run.clock(),
  )
  if (!proposal.ok) return proposal
  const now = currentRound(state)
  if (now) return ok(describe(run, now, null))
  return proposal.value.accepted
    ? ok(describe(run, null, stopReason(state)))
    : refusal(proposal.value.because)
}

/** Ideas are asked for when the loop stalls, and when much was kept since they were last asked for. */
function ideateBecause(state: State): { why: string } | null {
  const { knobs } = state
  if (!knobs) return null
  const stall = stallOf(state)
  const asked = state.rounds.findLast((round) => round.opened.ideate)
  const sinceAsked = state.rounds.length - ((asked?.round ?? 1) - 1)
  if (stall >= knobs.ideate_stall && sinceAsked >= knobs.ideate_stall) {
    return { why: `${stall} rounds without a new best` }
  }
  const since = asked?.openedSeq ?? 0
  const keeps = [...state.experiments.values()].filter(
    (node) => node.status === 'kept' && node.id !== BASELINE && (node.judgedSeq ?? 0) >= since,
  ).length
  return keeps >= knobs.ideate_keeps
    ? { why: `${keeps} experiments kept since ideas were last asked for` }
    : null
}

function describe(run: OpenRun, round: Round | null, stop: StopReason | null): RoundAnswer {
  const { state } = run.ledger
  const { spec } = run
  const best = bestOf(state)
  const { knobs } = state
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
    repairable: repairable(state)
      .slice(-RECENT.repairable)
      .map(({ id }) => id),
    retests: untested(state),
    patterns: patternsIn(state),
    proposals: state.ideas.slice(-RECENT.proposals),
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
    prompts: {},
    scan: { batches: scanBatches(state, knobs) },
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

/** What was judged since the last turn began, newest last, in bounded batches. */
function scanBatches(state: State, knobs: Knobs): string[][] {
  const since = state.rounds.at(-2)?.openedSeq ?? 0
  const judged = [...state.experiments.values()].filter(
    (node) => node.id !== BASELINE && (node.judgedSeq ?? -1) >= since,
  )
  const recent = judged.slice(-knobs.scan_max).map(({ id }) => id)
  const batches: string[][] = []
  for (let i = 0; i < recent.length; i += knobs.scan_batch)
    batches.push(recent.slice(i, i + knobs.scan_batch))
  return batches
}
