/** A run's state as data: what `status`, `tree`, `show` and the report are made of. */

import { declaredArtifacts } from '../experiment/artifacts.ts'
import { gatesWithOrigin } from '../experiment/gates.ts'
import { recordedComparisons, recordedSamples } from '../experiment/samples.ts'
import { sessionAround } from '../hosts/session.ts'
import { bestOf } from '../ledger/best.ts'
import type { Reason, Sample, Status, StopReason } from '../ledger/events.ts'
import { BASELINE, type Experiment, lastJudged, nodeValue, type State, type Trust } from '../ledger/state.ts'
import { candidateRef } from '../paths.ts'
import { isAlive } from '../process.ts'
import { budgetOf, type Cap, type Used } from '../run/budget.ts'
import type { OpenRun } from '../run/open.ts'
import { stopCause, stopReason } from '../run/stop.ts'

export interface StatusData {
  run: string
  /** What approvals are bound to. */
  spec_hash: string
  epoch: number
  metric: { name: string; direction: 'minimize' | 'maximize'; target: number | null }
  baseline: { experiment: string; value: number | null }
  best: { experiment: string; value: number | null } | null
  counts: Record<Status, number>
  budget: Record<Cap, Used>
  round: number | null
  driver: { name: string; pid: number; host: string; since: string } | null
  /** Which session of a host opened the last round; null when none did, or none said so. */
  turn: { host: string; session: string; at: string; mine: boolean } | null
  /** The session that goes on with a prose loop by itself: `config autonomous`. */
  autonomous: (Trust & { mine: boolean }) | null
  stop: StopReason | null
  /** What lies behind `stop`, where that is more than its word. */
  stop_cause: string | null
  /** Why a person holds the loop; null when nobody does. */
  paused: string | null
  /** Words of people that no round and no agent was told yet. */
  steering: { waiting: number; delivered: number }
  knobs: State['knobs']
  /** Kept, but an audit's opinion stands against them. */
  flagged: string[]
  /** Kept in an earlier epoch and not measured in this one: neither parents nor best. */
  outdated: number
  notes: number
}

export function statusOf(run: OpenRun): StatusData {
  const { state } = run.ledger
  const best = bestOf(state)
  const baseline = state.experiments.get(BASELINE)
  const { driver, knobs } = state
  const waiting = state.steers.filter(({ delivered }) => delivered === null).length
  return {
    run: run.run,
    spec_hash: run.started.spec_hash,
    epoch: state.epoch,
    metric: run.started.metric,
    baseline: { experiment: BASELINE, value: baseline ? nodeValue(baseline) : null },
    best: best && { experiment: best.id, value: nodeValue(best) },
    counts: state.counts,
    budget: budgetOf(state),
    round: state.rounds.at(-1)?.round ?? null,
    driver:
      driver && isAlive(driver.owner)
        ? { name: driver.driver, pid: driver.owner.pid, host: driver.owner.host, since: driver.since }
        : null,
    ...sessionsOf(run),
    stop: stopReason(state),
    stop_cause: stopCause(state),
    paused: state.paused,
    steering: { waiting, delivered: state.steers.length - waiting },
    knobs,
    ...doubts(state),
    notes: state.notes.length,
  }
}

/** `mine`: the session in which this command runs. */
function sessionsOf({ env, ledger: { state } }: OpenRun): Pick<StatusData, 'turn' | 'autonomous'> {
  const mine = sessionAround(env)?.id
  const { by, at } = state.rounds.at(-1)?.opened ?? {}
  const { entrusted } = state
  return {
    turn: by && at ? { ...by, at, mine: by.session === mine } : null,
    autonomous: entrusted && { ...entrusted, mine: entrusted.session === mine },
  }
}

const NAMED = 20

function doubts(state: State): Pick<StatusData, 'flagged' | 'outdated'> {
  const flagged: string[] = []
  let outdated = 0
  for (const node of state.experiments.values()) {
    if (node.status !== 'kept' && node.status !== 'pruned') continue
    if (node.flagged && flagged.length < NAMED) flagged.push(node.id)
    if (node.epoch !== state.epoch) outdated++
  }
  return { flagged, outdated }
}

export interface NodeData {
  experiment: string
  parent: string | null
  status: Status
  reason: string | null
  value: number | null
  hypothesis: string
  flagged: boolean
  /** In which its value was measured. */
  epoch: number
}

export function nodeData(node: Experiment): NodeData & { reason: Reason | null } {
  const judged = lastJudged(node)
  return {
    experiment: node.id,
    parent: node.parent,
    status: node.status,
    reason: judged?.reason ?? null,
    value: nodeValue(node),
    hypothesis: node.hypothesis,
    flagged: node.flagged !== null,
    epoch: node.epoch,
  }
}

/** Everything about one experiment; the samples are read from its attempts' records. */
export function showData(run: OpenRun, node: Experiment) {
  const judged = lastJudged(node)
  const last = node.attempts.at(-1)
  return {
    ...nodeData(node),
    failure_class: node.discard_class ?? judged?.failure_class ?? null,
    why: node.why,
    /** What stands against a kept one: no parent before it is confirmed or restored. */
    doubt: node.flagged,
    /** The best at that moment, which a kept one was measured against and not found better than, whatever its value. */
    lost_to: node.lostTo,
    /** What `abort` said has to be mended. */
    fix: judged?.aborted?.fix ?? null,
    annotations: node.annotations.slice(-NAMED).map(({ at, task, tag, text }) => ({ at, task, tag, text })),
    annotations_count: node.annotations.length,
    notes_count: run.ledger.state.notes.filter(({ experiment }) => experiment === node.id).length,
    /** Every gate that binds it; those of its verdict are in `gates`. */
    binding_gates: gatesWithOrigin(run, node.id).map(({ name, phase, from }) => ({ name, phase, from })),
    message: judged?.message ?? null,
    round: node.created.round,
    lane: node.created.lane,
    depth: node.created.depth,
    children: node.children,
    improvement: judged?.improvement ?? null,
    improvement_abs: judged?.improvement_abs ?? null,
    parent_value: judged?.parent_value ?? null,
    metrics: judged?.metrics ?? {},
    tasks: judged?.tasks ?? null,
    same_as: judged?.same_as ?? null,
    gates: judged?.gates ?? [],
    artifacts: declaredArtifacts(node),
    from_artifact: node.created.from_artifact ?? null,
    candidate: last
      ? {
          commit: last.sealed.commit,
          tree: last.sealed.tree,
          ref: candidateRef(run.run, node.id, last.attempt),
        }
      : null,
    comparisons: judged ? recordedComparisons(run, node.id, judged.attempt) : [],
    attempts: node.attempts.map((attempt) => ({
      attempt: attempt.attempt,
      status: attempt.judged?.status ?? null,
      reason: attempt.judged?.reason ?? null,
      value: attempt.judged?.value ?? null,
      gates: attempt.judged?.gates ?? [],
      diffstat: attempt.sealed.diff,
      started: attempt.claim?.at ?? null,
      finished: attempt.judged?.at ?? null,
      message: attempt.judged?.message ?? null,
      confirmations: attempt.confirmed.map(({ at, against, passed, value, message: said }) => ({
        at,
        against,
        passed,
        value,
        message: said ?? null,
      })),
      audits: attempt.audited.map(({ outcome, findings }) => ({ outcome, findings })),
      measurements: recordedSamples(run, node.id, attempt.attempt).map(measurement),
    })),
  }
}

const measurement = ({
  side,
  stage,
  pair,
  value,
  wall_ms,
  cpu_ms,
  peak_mb,
  exit,
  signal,
  seed,
  fault,
}: Sample) => ({
  side,
  stage,
  pair,
  // Who could read how it does on held-out data could climb on it.
  value: stage === 'holdout' ? null : value,
  wall_ms,
  cpu_ms,
  peak_mb,
  exit,
  signal,
  seed,
  fault,
})
