/** A run's state as data: what `status` and the report are made of. */

import { stuck } from '../experiment/wait.ts'
import { parkedIdeas } from '../ledger/backlog.ts'
import { bestOf } from '../ledger/best.ts'
import { type Autonomy, isLive, isOf, type SessionLease } from '../ledger/driver.ts'
import type { Status, StopReason } from '../ledger/events.ts'
import {
  BASELINE,
  clearing,
  lastingDoubt,
  nodeValue,
  type State,
  severalParents,
  type Traits,
  withTraits,
} from '../ledger/state.ts'
import { candidatesOf, pinnedOf } from '../loop/frontier.ts'
import { type WaitingIdea, waitingIdea } from '../loop/parked.ts'
import type { Said } from '../next.ts'
import {
  budgetOf,
  type Cap,
  stopCause,
  stopReason,
  type TargetStanding,
  targetsOf,
  type Used,
} from '../run/budget.ts'
import { callerIn, livingDriver } from '../run/driver.ts'
import { otherThanBaseline } from '../run/machine.ts'
import type { OpenRun } from '../run/open.ts'
import { type JobInFlight, jobsInFlight } from './jobs.ts'
import { judgingOf } from './judging.ts'
import { objectionsOf, type RaisedObjection } from './objections.ts'
import type { JudgingData } from './page-model.ts'

export interface StatusData {
  run: string
  /** What approvals are bound to. */
  spec_hash: string
  epoch: number
  metric: { name: string; direction: 'minimize' | 'maximize'; target: number | null }
  baseline: { experiment: string; value: number | null }
  best: {
    experiment: string
    value: number | null
    parents?: readonly string[]
    /** How the machine that measured it differs from that of the baseline; absent: it does not. */
    other_machine?: string
  } | null
  counts: Record<Status, number>
  budget: Record<Cap, Used>
  round: number | null
  driver: { name: string; pid: number; host: string; since: string } | null
  /** For what the driver waits: a host whose provider asked for it, until when, and its words; null = for nothing. */
  waiting: { host: string; until: string; why: string } | null
  /** The session of a host that has the turn, or had it last; null = none says so. `live`: no other session may continue. */
  turn: (SessionLease & { mine: boolean; live: boolean }) | null
  /** The session that continues a prose loop by itself: `config autonomous`. */
  autonomous: (Autonomy & { mine: boolean }) | null
  stop: StopReason | null
  /** The cause of `stop`, where the stop reason alone does not say it. */
  stop_cause: string | null
  /** Why a person paused the loop; null when it is not paused. */
  paused: string | null
  /** Texts of people that no round and no agent has received yet. */
  steering: { waiting: number; delivered: number }
  /** What people want as parents, the newest last; absent when nothing is pinned. */
  pins?: PinnedData[]
  knobs: State['knobs']
  /** Absent when no judge scores. */
  judging?: JudgingData
  /** Kept, but something stands against them: no parents, and none is the best. */
  flagged: string[]
  /** The same, each with the reason and with the next step for a person. */
  doubts: { experiment: string; doubt: string; lasting_doubt: string | null; hint: Said }[]
  /** How many more are in doubt than are named; absent when all are. */
  doubts_more?: number
  /** Kept in an earlier epoch and not measured in this one: neither parents nor best. */
  outdated: number
  /** What a person should read before the winner is trusted; absent when nothing was objected. */
  objections?: RaisedObjection[]
  /** What the best must reach before the loop ends, when that is more than the target of the metric. */
  targets?: TargetStanding[]
  /** Ideas that wait for an approval of packages; absent when none does. */
  parked?: WaitingIdea[]
  notes: number
  /** Attempts that wait for a job; absent when none does. */
  jobs?: JobInFlight[]
  /** `running` by the ledger, but no process on this machine judges them. */
  stuck: { experiment: string; message: string; hint: Said }[]
  /** How many more are stuck than are named; absent when all are. */
  stuck_more?: number
}

export interface PinnedData {
  experiment: string
  why: string
  /** Whether a round may offer it: not in doubt, of this epoch, confirmed. */
  parent: boolean
}

export function pinsOf(state: State): PinnedData[] {
  if (state.pins.length === 0) return []
  const offered = new Set(pinnedOf(state, candidatesOf(state)).map(({ id }) => id))
  return state.pins.map(({ experiment, why }) => ({ experiment, why, parent: offered.has(experiment) }))
}

export function statusOf(run: OpenRun): StatusData {
  const { state } = run.ledger
  const best = bestOf(state)
  const baseline = state.experiments.get(BASELINE)
  const moved = best && otherThanBaseline(state, best)
  const { knobs } = state
  const objections = objectionsOf(state)
  const parked = parkedIdeas(state)
  const judging = judgingOf(run)
  const jobs = jobsInFlight(state)
  const driver = livingDriver(run)
  const pins = pinsOf(state)
  const waiting = state.steers.filter(({ delivered }) => delivered === null).length
  return {
    run: run.run,
    spec_hash: run.started.spec_hash,
    epoch: state.epoch,
    metric: run.started.metric,
    baseline: { experiment: BASELINE, value: baseline ? nodeValue(baseline) : null },
    best: best && {
      experiment: best.id,
      value: nodeValue(best),
      ...severalParents(best),
      ...(moved && { other_machine: moved }),
    },
    counts: state.counts,
    budget: budgetOf(state),
    round: state.rounds.at(-1)?.round ?? null,
    driver: driver && {
      name: driver.driver,
      pid: driver.owner.pid,
      host: driver.owner.host,
      since: driver.since,
    },
    waiting: driver?.waiting ?? null,
    ...sessionsOf(run),
    stop: stopReason(state),
    stop_cause: stopCause(state),
    paused: state.paused,
    steering: { waiting, delivered: state.steers.length - waiting },
    ...(pins.length === 0 ? {} : { pins }),
    knobs,
    ...(judging && { judging }),
    ...doubts(state),
    notes: state.notes.length,
    ...(jobs.length === 0 ? {} : { jobs }),
    ...(knobs?.targets === undefined ? {} : { targets: targetsOf(state) }),
    ...(parked.length === 0 ? {} : { parked: parked.map(waitingIdea) }),
    ...(objections.length === 0 ? {} : { objections }),
    ...stuckIn(state),
  }
}

/** `mine`: the session in which this command runs. */
function sessionsOf({ env, clock, ledger: { state } }: OpenRun): Pick<StatusData, 'turn' | 'autonomous'> {
  const me = callerIn(env)
  const { autonomous, session: lease } = state.driver
  return {
    turn: lease && { ...lease, mine: isOf(lease, me), live: isLive(lease, clock().toISOString()) },
    autonomous: autonomous && { ...autonomous, mine: autonomous.session === me?.session },
  }
}

const NAMED = 20

function stuckIn(state: State): Pick<StatusData, 'stuck' | 'stuck_more'> {
  if (state.counts.running === 0) return { stuck: [] }
  const found = withTraits(state, ({ status }) => status === 'running').flatMap((node) => {
    const { message, hint = '' } = stuck(node) ?? {}
    return message === undefined ? [] : [{ experiment: node.id, message, hint }]
  })
  const more = found.length - NAMED
  return { stuck: found.slice(0, NAMED), ...(more > 0 && { stuck_more: more }) }
}

function doubts(state: State): Pick<StatusData, 'flagged' | 'doubts' | 'doubts_more' | 'outdated'> {
  const found: StatusData['doubts'] = []
  let [outdated, more] = [0, 0]
  const isStanding = ({ status }: Traits) => status === 'kept' || status === 'pruned'
  for (const node of withTraits(state, (traits) => isStanding(traits) && traits.flagged)) {
    if (found.length === NAMED) more++
    else if (node.flagged)
      found.push({
        experiment: node.id,
        doubt: node.flagged,
        lasting_doubt: lastingDoubt(node),
        hint: clearing(node),
      })
  }
  if (state.epoch > 1)
    outdated = withTraits(state, isStanding).filter(({ epoch }) => epoch !== state.epoch).length
  const flagged = found.map(({ experiment }) => experiment)
  return { flagged, doubts: found, ...(more > 0 && { doubts_more: more }), outdated }
}
