/** A run's state as data: what `status`, `tree`, `show` and the report are made of. */

import { declaredArtifacts } from '../experiment/artifacts.ts'
import { recordedSamples } from '../experiment/samples.ts'
import type { Sample, Status, StopReason } from '../ledger/events.ts'
import { BASELINE, bestOf, type Experiment, lastJudged, nodeValue, type State } from '../ledger/state.ts'
import { candidateRef } from '../paths.ts'
import { isAlive } from '../process.ts'
import type { OpenRun } from '../run/open.ts'
import { stopReason } from '../run/stop.ts'

export interface Used {
  used: number
  limit: number | null
  at_least: boolean
}

export interface StatusData {
  run: string
  epoch: number
  metric: { name: string; direction: 'minimize' | 'maximize'; target: number | null }
  baseline: { experiment: string; value: number | null }
  best: { experiment: string; value: number | null } | null
  counts: Record<Status, number>
  budget: { experiments: Used; hours: Used; failures: Used }
  round: number | null
  driver: { name: string; pid: number; host: string; since: string } | null
  stop: StopReason | null
  knobs: State['knobs']
}

export function statusOf(run: OpenRun): StatusData {
  const { state } = run.ledger
  const best = bestOf(state)
  const baseline = state.experiments.get(BASELINE)
  const { driver, knobs } = state
  const used = (amount: number, limit: number | null | undefined): Used => ({
    used: amount,
    limit: limit ?? null,
    at_least: false,
  })
  return {
    run: run.run,
    epoch: state.epoch,
    metric: run.started.metric,
    baseline: { experiment: BASELINE, value: baseline ? nodeValue(baseline) : null },
    best: best && { experiment: best.id, value: nodeValue(best) },
    counts: state.counts,
    budget: {
      experiments: used(state.claims, knobs?.experiments),
      hours: used(Number((state.activeMs / 3_600_000).toFixed(4)), knobs?.hours),
      failures: used(state.failures, knobs?.failures),
    },
    round: state.rounds.at(-1)?.round ?? null,
    driver:
      driver && isAlive(driver.owner)
        ? { name: driver.driver, pid: driver.owner.pid, host: driver.owner.host, since: driver.since }
        : null,
    stop: stopReason(state),
    knobs,
  }
}

export interface NodeData {
  experiment: string
  parent: string | null
  status: Status
  reason: string | null
  value: number | null
  hypothesis: string
}

export function nodeData(node: Experiment) {
  const judged = lastJudged(node)
  return {
    experiment: node.id,
    parent: node.parent,
    status: node.status,
    reason: judged?.reason ?? null,
    value: judged?.value ?? null,
    hypothesis: node.hypothesis,
  }
}

/** Everything about one experiment; the samples are read from its attempts' records. */
export function showData(run: OpenRun, node: Experiment) {
  const judged = lastJudged(node)
  const last = node.attempts.at(-1)
  return {
    ...nodeData(node),
    failure_class: node.discard_class ?? judged?.failure_class ?? null,
    flagged: node.flagged,
    why: node.why,
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
  value,
  wall_ms,
  cpu_ms,
  peak_mb,
  exit,
  signal,
  seed,
  fault,
})
