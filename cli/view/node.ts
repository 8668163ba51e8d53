/** One experiment as data: what `tree`, `path` and `show` are made of. */

import { candidateRef } from '../git/refs.ts'
import type { Reason, Sample, Status } from '../ledger/events.ts'
import { type Experiment, failureClassOf, lastJudged, nodeValue, severalParents } from '../ledger/state.ts'
import { declaredArtifacts } from '../measure/artifacts.ts'
import { gatesWithOrigin } from '../measure/gates.ts'
import { recordedComparisons, recordedSamples } from '../measure/steps.ts'
import type { OpenRun } from '../run/open.ts'
import { judgedExperiment } from './judging.ts'

/** The newest; all are counted. */
const ANNOTATIONS = 20

/** Which part of a list of experiments is asked for: so many, behind one of them. */
export interface ListPart {
  limit: number
  after: string | null
}

/** As many as an answer has when nobody says how many. */
export const USUAL_LIMIT = 1_000

/** `next`: behind which one the next part begins; absent when this is the end. */
export function partOf(
  nodes: readonly Experiment[],
  { limit, after }: ListPart,
): { nodes: Experiment[]; next?: string } {
  const begin = after === null ? 0 : nodes.findIndex(({ id }) => id === after) + 1
  const part = nodes.slice(begin, begin + limit)
  const last = part.at(-1)
  return { nodes: part, ...(last && begin + limit < nodes.length && { next: last.id }) }
}

export interface NodeData {
  experiment: string
  parent: string | null
  /** All of them, the best first; absent = one at most. */
  parents?: readonly string[]
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
    ...severalParents(node),
    status: node.status,
    reason: judged?.reason ?? null,
    value: nodeValue(node),
    /** Read when it is shown: a tree of all has few of them. */
    get hypothesis() {
      return node.hypothesis
    },
    flagged: node.flagged !== null,
    epoch: node.epoch,
  }
}

function pinOf({ ledger }: OpenRun, { id }: Experiment): { pinned?: string } {
  const pin = ledger.state.pins.find(({ experiment }) => experiment === id)
  return pin === undefined ? {} : { pinned: pin.why }
}

/** Everything about one experiment; the samples are read from its attempts' records. */
export function showData(run: OpenRun, node: Experiment) {
  const judged = lastJudged(node)
  const last = node.attempts.at(-1)
  const items = judgedExperiment(run, node)
  return {
    ...nodeData(node),
    failure_class: failureClassOf(node),
    why: node.why,
    /** What stands against a kept one: no parent before it is confirmed or restored. */
    doubt: node.flagged,
    /** Why a person wants it as a parent; absent = nobody does. */
    ...pinOf(run, node),
    /** The best at that moment, which a kept one was measured against and not found better than, whatever its value. */
    lost_to: node.lostTo,
    /** What `abort` said has to be mended. */
    fix: judged?.aborted?.fix ?? null,
    annotations: node.annotations
      .slice(-ANNOTATIONS)
      .map(({ at, task, tag, text }) => ({ at, task, tag, text })),
    annotations_count: node.annotations.length,
    notes_count: [...run.ledger.state.notes].filter(({ experiment }) => experiment === node.id).length,
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
    ...(node.created.repair && { repair: node.created.repair }),
    ...(node.created.reduces && { reduces: node.created.reduces }),
    ...(node.created.merge && { merge: node.created.merge }),
    candidate: last
      ? {
          commit: last.sealed.commit,
          tree: last.sealed.tree,
          ref: candidateRef(run.run, node.id, last.attempt),
        }
      : null,
    ...(items && { judged_items: items }),
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
  processors = null,
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
  /** What the machine's did meanwhile, as shares; null = not known. */
  processors,
  exit,
  signal,
  seed,
  fault,
})
