/** Decisions about an experiment that need no measurement: `prune`, `revoke`, `restore`, `discard`, `annotate`. */

import type { Audited, FailureClass, Pruned, Restored, Status } from '../ledger/events.ts'
import { answered, type Recorded } from '../ledger/ledger.ts'
import { BASELINE, lastJudged, remarksIn } from '../ledger/state.ts'
import { call, next } from '../next.ts'
import { fail, ok, type Result } from '../result.ts'
import { nodeFor, type OpenRun } from '../run/open.ts'

export interface ManualAnswer {
  experiment: string
  status: Status
  /** Whether an audit's opinion still stands against it. */
  flagged: boolean
  /** False when there was nothing to do. */
  changed: boolean
  repeated?: true
}

const REASON = 1000

/** No more children from here; its score still counts. */
export function prune(
  run: OpenRun,
  experiment: string,
  { why, key }: { why: string; key: string | null },
): Result<ManualAnswer> {
  const node = nodeFor(run, experiment)
  if (!node.ok) return node
  if (experiment === BASELINE) return fail(neverBaseline('pruned'))
  if (node.value.status === 'pruned') return ok(answer(run, experiment, false, key !== null))
  const recorded = run.ledger.record<'pruned'>(
    { type: 'pruned', experiment, why: why.slice(0, REASON) },
    run.clock(),
    key,
  )
  return settled(run, recorded)
}

/**
 * A keep does not stand, whatever a measurement says: its benchmark was gamed. What is built on it counts no more, and only
 * `restore` undoes it. It is recorded as an audit, whose finding is the reason.
 */
export function revoke(
  run: OpenRun,
  experiment: string,
  { why, key }: { why: string; key: string | null },
): Result<ManualAnswer> {
  const node = nodeFor(run, experiment)
  if (!node.ok) return node
  if (experiment === BASELINE) return fail(neverBaseline('revoked'))
  const { status } = node.value
  const attempt = lastJudged(node.value)?.attempt
  const earlier = run.ledger.answeredBefore(['audited'], key)
  if (status === 'revoked' && !earlier) return ok(answer(run, experiment, false, false))
  if (!earlier && (attempt === undefined || (status !== 'kept' && status !== 'pruned')))
    return fail({
      kind: 'refused',
      code: `is_${status}`,
      message: `${experiment} is ${status}: only what was kept can be revoked`,
      hint: next`${call('show', experiment)} tells why; to give it up: ${call('discard', experiment, '--reason', 'TEXT')}`,
    })
  const message = why.slice(0, REASON)
  const recorded = run.ledger.record<'audited'>(
    {
      type: 'audited',
      experiment,
      attempt: attempt ?? 1,
      outcome: 'revoked',
      findings: [{ code: 'opinion', message }],
    },
    run.clock(),
    key,
  )
  return settled(run, recorded)
}

/** Undoes a discard, a prune or a revocation, and lifts a flag. Nothing to undo is no failure. */
export function restore(
  run: OpenRun,
  experiment: string,
  { why, key }: { why: string; key: string | null },
): Result<ManualAnswer> {
  const node = nodeFor(run, experiment)
  if (!node.ok) return node
  const { status, flagged } = node.value
  const gone = status === 'discarded' || status === 'pruned' || status === 'revoked'
  const earlier = run.ledger.answeredBefore(['restored'], key)
  if (!gone && !flagged && !earlier) return ok(answer(run, experiment, false, false))
  const recorded = run.ledger.record<'restored'>(
    { type: 'restored', experiment, why: why.slice(0, REASON) },
    run.clock(),
    key,
  )
  return settled(run, recorded)
}

function settled(
  run: OpenRun,
  recorded: Result<Recorded<Pruned | Restored | Audited>>,
): Result<ManualAnswer> {
  if (!recorded.ok) return recorded
  const { event, repeated } = recorded.value
  return ok(answer(run, event.experiment, true, repeated))
}

function answer(run: OpenRun, experiment: string, changed: boolean, repeated: boolean): ManualAnswer {
  const node = run.ledger.state.experiments.get(experiment)
  if (!node) throw new Error(`${experiment} was changed and is not there`)
  const { status, flagged } = node
  return {
    experiment,
    status,
    flagged: flagged !== null,
    changed,
    ...(repeated ? { repeated: true as const } : {}),
  }
}

const neverBaseline = (what: string) =>
  ({
    kind: 'refused',
    code: 'is_baseline',
    message: `the baseline cannot be ${what}: everything is compared with it`,
    hint: next`to measure it again: ${call('epoch open', '--reason', 'TEXT')}; to start a new run: ${call('init', '--new')}`,
  }) as const

// ---------------------------------------------------------------- `discard`: an experiment is given up. Its record and its candidates stay

export interface DiscardAnswer {
  experiment: string
  status: Status
  repeated?: true
}

export function discard(
  run: OpenRun,
  experiment: string,
  { why, failureClass, key }: { why: string; failureClass: FailureClass | null; key: string | null },
): Result<DiscardAnswer> {
  const node = nodeFor(run, experiment)
  if (!node.ok) return node
  if (experiment === BASELINE) return fail(neverBaseline('discarded'))
  if (node.value.status === 'discarded') return ok({ experiment, status: 'discarded', repeated: true })
  const recorded = run.ledger.record<'discarded'>(
    { type: 'discarded', experiment, why: why.slice(0, 1000), failure_class: failureClass },
    run.clock(),
    key,
  )
  return answered(recorded, (event) => ({
    experiment: event.experiment,
    status: run.ledger.state.experiments.get(event.experiment)?.status ?? node.value.status,
  }))
}

export interface AnnotateAnswer {
  experiment: string
  task: string | null
  tag: string | null
  text: string
  repeated?: true
}

export interface ListedRemarks {
  remarks: { at: string; experiment: string; task: string | null; tag: string | null; text: string }[]
}

/** Of one experiment or of all, oldest first. */
export function listRemarks(
  run: OpenRun,
  { experiment, tag }: { experiment: string | null; tag: string | null },
): Result<ListedRemarks> {
  if (experiment !== null) {
    const node = nodeFor(run, experiment)
    if (!node.ok) return node
  }
  const found = remarksIn(run.ledger.state, tag).filter(
    (remark) => experiment === null || remark.experiment === experiment,
  )
  return ok({
    remarks: found.map(({ at, experiment, task, tag, text }) => ({ at, experiment, task, tag, text })),
  })
}

/** A remark on an experiment, or on one of its tasks; any status will do. */
export function annotate(
  run: OpenRun,
  experiment: string,
  { text, task, tag, key }: { text: string; task: string | null; tag: string | null; key: string | null },
): Result<AnnotateAnswer> {
  const node = nodeFor(run, experiment)
  if (!node.ok) return node
  const recorded = run.ledger.record<'annotated'>(
    {
      type: 'annotated',
      experiment,
      task: task?.slice(0, 200) ?? null,
      tag: tag?.slice(0, 100) ?? null,
      text: text.slice(0, 2000),
    },
    run.clock(),
    key,
  )
  return answered(recorded, (event) => ({
    experiment: event.experiment,
    task: event.task,
    tag: event.tag,
    text: event.text,
  }))
}
