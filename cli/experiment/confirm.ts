/** `confirm`: a kept experiment is measured again, on fresh samples in a slot. */
import type { Confirmed, Status } from '../ledger/events.ts'
import { refusal } from '../ledger/ledger.ts'
import { BASELINE, type Experiment, nodeValue, pathTo } from '../ledger/state.ts'
import { hintFor, TRANSITIONS } from '../ledger/transitions.ts'
import { confirmsFolder } from '../paths.ts'
import { fail, ok, type Result } from '../result.ts'
import type { OpenRun } from '../run/open.ts'
import { lookAgain } from './confirm-look.ts'
import { inSlot, numberedFolder } from './probe.ts'
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
  const earlier = key === null ? undefined : run.ledger.state.keys.get(key)
  if (earlier?.type === 'confirmed' && earlier.experiment === experiment)
    return ok({ ...answerOf(run, node.value, earlier, null), repeated: true })
  const may = mayConfirm(node.value)
  if (!may.ok) return may
  const other = otherFor(run, node.value, against)
  if (!other.ok) return other
  const own = against === null ? other : otherFor(run, node.value, null)
  const aside = !own.ok || own.value.id !== other.value.id
  const kept = keptCommit(run, experiment)
  if (!kept) throw new Error(`${experiment} is kept and has no candidate`)
  const { epoch } = run.ledger.state
  const recordedValue = nodeValue(node.value)
  const at = numberedFolder(confirmsFolder(run.paths, experiment))
  const found = await inSlot(run, at, (put) =>
    lookAgain({ run, node: node.value, other: other.value, kept, at, put }),
  )
  if (!found.ok) return found
  const { message, ...answer } = found.value
  const attempt = node.value.attempts.findLast((one) => one.judged?.status === 'kept')?.attempt ?? 0
  const recorded = run.ledger.record<'confirmed'>(
    {
      type: 'confirmed',
      experiment,
      attempt,
      against: other.value.id,
      ...answer,
      ...(aside ? { aside: true as const } : {}),
      epoch,
      message: message.slice(0, 500),
    },
    run.clock(),
    key,
  )
  if (!recorded.ok) return recorded
  return ok(answerOf(run, node.value, recorded.value.event, recordedValue))
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
