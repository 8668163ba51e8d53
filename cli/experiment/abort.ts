/** `abort`: stops the judging of an experiment. It writes its verdict first, because the first verdict in the ledger counts. */

import { refusedBy } from '../ledger/decide.ts'
import type { FailureClass, Status } from '../ledger/events.ts'
import { refusal } from '../ledger/ledger.ts'
import { type Attempt, type Experiment, lastAttempt, lastJudged } from '../ledger/state.ts'
import { cancelJobOf } from '../measure/dispatch.ts'
import { freeSlots, isSameProcess, redactLeftoverOutputs, removeUnfinishedOutputs } from '../measure/slot.ts'
import { recordJudged } from '../measure/verdict-event.ts'
import { call, next } from '../next.ts'
import { attemptFolder } from '../paths.ts'
import { type EndedBy, endProcess } from '../process.ts'
import { ok, type Result } from '../result.ts'
import { nodeFor, type OpenRun } from '../run/open.ts'
import { writeResults } from '../run/results.ts'

export interface AbortAnswer {
  experiment: string
  status: Status
  /** False when it was not running, or got its verdict first. */
  aborted: boolean
  attempt: number | null
  failure_class: FailureClass | null
  /** What became of the process that was judging it; null when nothing was done. */
  process: EndedBy | null
  fix: string | null
  message: string
  repeated?: true
}

export interface AbortRequest {
  ifRunning: boolean
  failureClass: FailureClass
  why: string
  fix: string | null
  key: string | null
}

/** A worker ends its sample's group and what left it within 0.7 s of being asked. */
const GRACE_MS = 5000

export async function abort(
  run: OpenRun,
  experiment: string,
  request: AbortRequest,
): Promise<Result<AbortAnswer>> {
  const found = nodeFor(run, experiment)
  if (!found.ok) return found
  const node = found.value
  const earlier = run.ledger.answeredBefore(['judged'], request.key, experiment)
  if (earlier) return earlier.ok ? ok({ ...standing(node, true, null), repeated: true }) : earlier
  const attempt = lastAttempt(node)
  if (node.status !== 'running' || !attempt?.claim) {
    if (request.ifRunning) return ok(standing(node, false, null))
    const because = refusedBy(node, 'abort')
    if (!because) throw new Error(`${experiment} is running, but its attempt has no claim`)
    const hint = next`its status: ${call('show', experiment)}; with --if-running this is not an error`
    return refusal({ ...because, hint })
  }
  const { owner } = attempt.claim
  const recorded = await record(run, node, attempt, request)
  if (!recorded.ok) {
    // It got its verdict before the abort was recorded: that verdict counts.
    if (recorded.problem.raced) return ok(standing(node, false, null))
    return recorded
  }
  writeResults(run)
  const ended = await endProcess(owner, GRACE_MS)
  // The user knows that this process is gone, so its hold on a slot is released: otherwise measurements would wait for it.
  if (ended === 'elsewhere') await freeSlots(run, (one) => isSameProcess(one, owner))
  const cancelled = await cancelJobOf(run, experiment, attempt)
  if (!cancelled.ok)
    run.tell({
      type: 'warning',
      message: `its job could not be cancelled: ${cancelled.problem.message}; ${cancelled.problem.hint}`,
    })
  redactLeftoverOutputs(attemptFolder(run.paths, experiment, attempt.attempt))
  removeUnfinishedOutputs(run.site)
  return ok(standing(node, true, ended))
}

function record(
  run: OpenRun,
  node: Experiment,
  { attempt, claim }: Attempt,
  { failureClass, why, fix, key }: AbortRequest,
): Promise<Result<unknown>> {
  const now = run.clock()
  return recordJudged(
    run,
    { experiment: node.id, attempt },
    () => ({
      type: 'judged',
      experiment: node.id,
      attempt,
      status: 'failed',
      reason: 'aborted',
      failure_class: failureClass,
      value: null,
      parent_value: null,
      improvement: null,
      improvement_abs: null,
      interval: null,
      samples: 0,
      against: null,
      confirmed: false,
      gates: [],
      metrics: {},
      tasks: null,
      message: why.slice(0, 500),
      // Three aborts in a row are decisions of a person or controller, not a row of identical failures.
      signature: null,
      wall_ms: Math.max(0, now.getTime() - Date.parse(claim?.at ?? now.toISOString())),
      aborted: { fix: fix === null ? null : fix.slice(0, 1000) },
    }),
    key,
  )
}

function standing(node: Experiment, aborted: boolean, process: EndedBy | null): AbortAnswer {
  const judged = lastJudged(node)
  return {
    experiment: node.id,
    status: node.status,
    aborted,
    attempt: judged?.attempt ?? null,
    failure_class: judged?.failure_class ?? null,
    process,
    fix: judged?.aborted?.fix ?? null,
    message: aborted ? (judged?.message ?? '') : `it is ${node.status}${judged ? `: ${judged.message}` : ''}`,
  }
}
