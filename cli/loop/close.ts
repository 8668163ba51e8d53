/** `round close`: whether the round brought a new best, how many rounds have not, and whether the loop is over. */

import { abort } from '../experiment/abort.ts'
import { settled } from '../experiment/wait.ts'
import { bestOf } from '../ledger/best.ts'
import type { RoundClosed, StopReason } from '../ledger/events.ts'
import { betterBy } from '../ledger/same-value.ts'
import {
  type Experiment,
  failureClassOf,
  nodeValue,
  type Round,
  type State,
  stallOf,
} from '../ledger/state.ts'
import { placeOfTask, takenRecord } from '../ledger/task-id.ts'
import { ok, type Result } from '../result.ts'
import { stopReason } from '../run/budget.ts'
import { giveUp, mayGoOn, saidBy } from '../run/driver.ts'
import type { OpenRun } from '../run/open.ts'
import { distinctShapes } from '../search/similar.ts'
import { textsOf } from '../text.ts'
import { newestLearnings } from './open.ts'
import { applyPrunes } from './prunes.ts'
import { fitted } from './record-answer.ts'
import { type RoundRef, roundOf, roundRefusal } from './round.ts'

export interface LaneReport {
  lane: number
  learnings: string[]
  suggestions: string[]
}

export interface CloseAnswer
  extends Pick<RoundClosed, 'round' | 'token' | 'improved' | 'stall' | 'prune' | 'learnings'> {
  best: { experiment: string; value: number | null } | null
  stop: StopReason | null
  repeated?: true
}

/** What one lane may leave behind: enough for a thought, too little for a transcript. */
const LIMITS = { texts: 10, inAll: 20, characters: 400 }
/** Distinct hypotheses without a keep from which a parent looks exhausted. */
const REGRESSED = 3

export async function closeRound(
  run: OpenRun,
  ref: RoundRef,
  lanes: readonly LaneReport[],
): Promise<Result<CloseAnswer>> {
  const round = roundOf(run, ref)
  if (!round.ok) return round
  if (round.value.closed) return again(run, round.value.closed)
  const mine = mayGoOn(run)
  if (!mine.ok) return mine
  const { state } = run.ledger
  const left = await endOrphans(run, round.value)
  if (!left.ok) return left
  const improved = hasImproved(state, round.value)
  const stall = improved ? 0 : stallOf(state) + (asksNobody(state, round.value) ? 0 : 1)
  const best = bestOf(state)
  const proposal = run.ledger.propose<'round_closed'>(
    {
      type: 'round_closed',
      round: round.value.round,
      token: ref.token,
      ...saidBy(run),
      improved,
      best: best?.id ?? '',
      stall,
      ...fitted(LIMITS.characters, (most) => ({
        learnings: bounded(
          lanes.flatMap((lane) => lane.learnings.slice(0, LIMITS.texts)),
          most,
        ),
        suggestions: bounded(
          lanes.flatMap((lane) => lane.suggestions.slice(0, LIMITS.texts)),
          most,
        ),
        prune: exhausted(state),
      })),
    },
    run.clock(),
  )
  if (!proposal.ok) return proposal
  if (proposal.value.accepted) return done(run, proposal.value.event)
  return round.value.closed ? again(run, round.value.closed) : roundRefusal(run, proposal.value.because)
}

/** Also when it is repeated: the process that closed it may have been killed before it gave the run up. */
function done(run: OpenRun, closed: RoundClosed): Result<CloseAnswer> {
  const pruned = applyPrunes(run, closed)
  if (!pruned.ok) return pruned
  const ended = stopReason(run.ledger.state) === null ? ok(undefined) : giveUp(run)
  return ended.ok ? ok(answer(run, closed)) : ended
}

function again(run: OpenRun, closed: RoundClosed): Result<CloseAnswer> {
  const was = done(run, closed)
  return was.ok ? ok({ ...was.value, repeated: true }) : was
}

/**
 * What a lane opened and then left without a verdict: no agent will come back to it. Its files stay, as after any discard.
 * One whose process died as often as its lane would try could not be judged, which says nothing against it; nor could one
 * of an earlier round whose process still lived when that was closed.
 */
async function endOrphans(run: OpenRun, { round }: Round): Promise<Result<null>> {
  for (const node of [...run.ledger.state.experiments.values()]) {
    const of = node.created.round
    if (of === null) continue
    const why = `round ${of} was closed before it had a verdict`
    const ended =
      settled(node) === 'lost'
        ? await abort(run, node.id, {
            ifRunning: true,
            failureClass: 'environment',
            why: `${why}: the process that judged it was ended from outside`,
            fix: null,
            key: null,
          })
        : of === round
          ? discardOpen(run, node, why)
          : ok(null)
    if (!ended.ok) return ended
  }
  return ok(null)
}

/** One that is refused has found its verdict, or its end, meanwhile. */
function discardOpen(run: OpenRun, { id, status }: Experiment, why: string): Result<unknown> {
  if (status !== 'open') return ok(null)
  return run.ledger.propose<'discarded'>(
    { type: 'discarded', experiment: id, why, failure_class: 'environment' },
    run.clock(),
  )
}

/** A new best that stands, better than the one when the round opened. A mere better-than-parent is not. */
function hasImproved(state: State, round: Round): boolean {
  const best = bestOf(state)
  const value = best && nodeValue(best)
  const before = round.bestAtOpen?.value ?? null
  if (value === null || !state.run) return false
  return before === null || betterBy(state.run.metric.direction, value, before) > 0
}

/** A gradient round after a text that was not kept. */
const asksNobody = (state: State, { round, opened }: Round): boolean =>
  opened.suite === 'gradient' && !state.answers.has(takenRecord(round))

/** Parents that may be pruned; what the machine spoilt says nothing about them. */
export function exhausted(state: State): RoundClosed['prune'] {
  const best = bestOf(state)?.id
  const found: RoundClosed['prune'] = []
  for (const node of state.experiments.values()) {
    if (node.status !== 'kept' || node.id === best) continue
    const judged = node.children
      .flatMap((id) => state.experiments.get(id) ?? [])
      .filter((child) => wasCompared(child) && (child.parent === node.id || child.status === 'kept'))
    if (judged.some((child) => child.status === 'kept')) continue
    if (distinctShapes(judged, ({ hypothesis }) => hypothesis).length >= REGRESSED) {
      found.push({ experiment: node.id, why: `${judged.length} children, none better` })
    }
  }
  return found.slice(0, 20)
}

const wasCompared = (node: Experiment): boolean =>
  node.status === 'kept' ||
  (!node.created.merge &&
    (node.status === 'rejected' || node.status === 'discarded') &&
    failureClassOf(node) !== 'environment')

function answer(run: OpenRun, closed: RoundClosed): CloseAnswer {
  const { state } = run.ledger
  const best = bestOf(state)
  return {
    round: closed.round,
    token: closed.token,
    improved: closed.improved,
    best: best && { experiment: best.id, value: nodeValue(best) },
    stall: closed.stall,
    stop: stopReason(state),
    prune: closed.prune,
    learnings: newestLearnings(state, LIMITS.texts * 3).items,
  }
}

const bounded = (texts: readonly string[], characters: number): string[] =>
  texts.slice(0, LIMITS.inAll).map((text) => text.slice(0, characters))

/** What agents of each lane, and of the whole round, say that they have learnt; by the number of the lane. */
export function reportsOf(state: State, round: number): LaneReport[] {
  const reports = new Map<number, LaneReport>()
  for (const { task, sha256, answer } of state.answers.values()) {
    const place = placeOfTask(task)
    if (sha256 === null || answer === null || place?.round !== round) continue
    const lane = place.lane ?? OF_ALL
    const report = reports.get(lane) ?? { lane, learnings: [], suggestions: [] }
    reports.set(lane, report)
    report.learnings.push(...textsOf(answer.learnings))
    report.suggestions.push(...textsOf(answer.suggestions))
  }
  return [...reports.values()].sort((a, b) => a.lane - b.lane)
}

/** The lane of what is said of the whole round; it comes after what the lanes say. */
export const OF_ALL = 0
