/** `confirm`: a kept experiment is measured again, on fresh samples in a slot. */
import type { Confirmed, Status } from '../ledger/events.ts'
import { refusal } from '../ledger/ledger.ts'
import { BASELINE, type Experiment, nodeValue, pathTo } from '../ledger/state.ts'
import { hintFor, TRANSITIONS } from '../ledger/transitions.ts'
import { confirmsFolder } from '../paths.ts'
import { fail, ok, type Result } from '../result.ts'
import type { OpenRun } from '../run/open.ts'
import { lookAgain } from './confirm-look.ts'
import type { Again } from './confirm-verdict.ts'
import { inSlot, interrupted, numberedFolder, type Pinned } from './probe.ts'
import { nodeFor } from './seal.ts'
import { keptCommit } from './worktree.ts'

export interface ConfirmAnswer {
  experiment: string
  passed: boolean
  /** Its status now: evidence against it revokes. */
  status: Status
  /** It stands, but it is no parent before another confirmation: the evidence was not clear. */
  flagged: boolean
  value: number | null
  /** As it was recorded before. */
  recorded: number | null
  against: string
  against_value: number | null
  improvement: number | null
  improvement_abs: number
  interval: [number, number] | null
  samples: number
  epoch: number
  message: string
  repeated?: true
}

/**
 * Without noise it passes when the value is the recorded one and still better than that of `against`; in a later epoch
 * than the one of its value, when it is better there. Under noise it passes when fresh pairs confirm it; when they are
 * not clear it stands, flagged. Against another than its parent (`against`) it is told and changes nothing about its
 * standing, except that one it had lost to is beaten. A fault passes for evidence only when `against` works in the same slot.
 */
export async function confirm(
  run: OpenRun,
  experiment: string,
  { against, key }: { against: string | null; key: string | null },
): Promise<Result<ConfirmAnswer>> {
  const node = nodeFor(run, experiment)
  if (!node.ok) return node
  const earlier = answered(run, node.value, key)
  if (earlier) return ok(earlier)
  const may = plan(run, node.value, against)
  if (!may.ok) return may
  const at = numberedFolder(confirmsFolder(run.paths, experiment))
  return inSlot(run, { ...at, about: experiment }, async (put, { nonce, chance }) => {
    // Others may have looked while this one waited for the slot, and what did not pass then asks for more now. So what
    // comes of it is recorded before the slot is given back.
    const read = run.ledger.refresh()
    if (!read.ok) return read
    const meanwhile = answered(run, node.value, key)
    if (meanwhile) return ok(meanwhile)
    const planned = plan(run, node.value, against)
    if (!planned.ok) return planned
    const again = await lookAgain({ run, node: node.value, at, chance, put, ...planned.value })
    if (!again.ok) return again
    return run.signal.aborted
      ? fail(interrupted)
      : remember(run, node.value, planned.value, { ...again.value, nonce }, key)
  })
}

function remember(
  run: OpenRun,
  node: Experiment,
  { other, aside, epoch, recordedValue }: Plan,
  { message, ...answer }: Again & { nonce: string },
  key: string | null,
): Result<ConfirmAnswer> {
  const attempt = node.attempts.findLast((one) => one.judged?.status === 'kept')?.attempt ?? 0
  const recorded = run.ledger.record<'confirmed'>(
    {
      type: 'confirmed',
      experiment: node.id,
      attempt,
      against: other.id,
      ...answer,
      ...(aside ? { aside: true as const } : {}),
      epoch,
      message: message.slice(0, 500),
    },
    run.clock(),
    key,
  )
  return recorded.ok ? ok(answerOf(run, node, recorded.value.event, recordedValue)) : recorded
}

/** What the key was answered before; null when it is new. */
function answered(run: OpenRun, node: Experiment, key: string | null): ConfirmAnswer | null {
  const earlier = key === null ? undefined : run.ledger.state.keys.get(key)
  return earlier?.type === 'confirmed' && earlier.experiment === node.id
    ? { ...answerOf(run, node, earlier, null), repeated: true }
    : null
}

interface Plan {
  other: Experiment
  /** Nothing but what is told of it depends on the answer. */
  aside: boolean
  kept: Pinned
  epoch: number
  recordedValue: number | null
}

/** What is compared with what, as the ledger is known now; refused when there is nothing to confirm. */
function plan(run: OpenRun, node: Experiment, against: string | null): Result<Plan> {
  const may = mayConfirm(node)
  if (!may.ok) return may
  const other = otherFor(run, node, against)
  if (!other.ok) return other
  const own = against === null ? other : otherFor(run, node, null)
  const aside = !own.ok || own.value.id !== other.value.id
  const kept = keptCommit(run, node.id)
  if (!kept) throw new Error(`${node.id} is kept and has no candidate`)
  return ok({
    other: other.value,
    aside,
    kept,
    epoch: run.ledger.state.epoch,
    recordedValue: nodeValue(node),
  })
}

function mayConfirm(node: Experiment): Result<void> {
  if (node.id === BASELINE) {
    return fail({
      kind: 'refused',
      code: 'is_baseline',
      message: 'the baseline is compared with nothing, so there is nothing to confirm',
      hint: 'to measure it again: assay epoch open --reason TEXT',
    })
  }
  const rule = TRANSITIONS.confirm[node.status]
  if (!('refused' in rule)) return ok(undefined)
  return refusal({
    code: `is_${node.status}`,
    message: `cannot confirm ${node.id}: ${rule.refused}`,
    hint: hintFor(rule, node.id),
  })
}

/** Its parent; in an epoch that knows nothing of the parent, the nearest one above that was measured in it. */
function otherFor(run: OpenRun, node: Experiment, wanted: string | null): Result<Experiment> {
  const { state } = run.ledger
  const usable = (one: Experiment) => one.epoch === state.epoch && nodeValue(one) !== null
  if (wanted !== null) {
    const other = nodeFor(run, wanted)
    if (!other.ok) return other
    if (other.value.id !== node.id && usable(other.value) && keptCommit(run, other.value.id)) return other
    return fail({
      kind: 'refused',
      code: 'not_comparable',
      message: `${wanted} has no value of epoch ${state.epoch} that ${node.id} could be compared with`,
      hint: 'leave --against away, or name a kept experiment of this epoch: assay tree',
    })
  }
  const above = pathTo(state, node.id).slice(0, -1)
  const other = above.findLast((one) => usable(one) && (one.status === 'kept' || one.status === 'pruned'))
  if (other) return ok(other)
  return fail({
    kind: 'refused',
    code: 'other_epoch',
    message: `nothing above ${node.id} has been measured in epoch ${state.epoch}`,
    hint: `measure the baseline first: assay run ${BASELINE}`,
  })
}

function answerOf(run: OpenRun, node: Experiment, event: Confirmed, recorded: number | null): ConfirmAnswer {
  const other = run.ledger.state.experiments.get(event.against)
  const { comparison } = event
  return {
    experiment: node.id,
    passed: event.passed,
    status: node.status,
    flagged: node.flagged !== null,
    value: event.value,
    recorded: recorded ?? nodeValue(node),
    against: event.against,
    against_value: other ? nodeValue(other) : null,
    improvement: comparison.improvement,
    improvement_abs: comparison.improvement_abs,
    interval: comparison.interval,
    samples: event.samples ?? 0,
    epoch: event.epoch ?? run.ledger.state.epoch,
    message: event.message ?? '',
  }
}
