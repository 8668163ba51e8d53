/** `confirm`: a kept experiment is measured again, on fresh samples in a slot. */
import { incomparable } from '../evaluate/comparable.ts'
import { compareDeterministic } from '../evaluate/compare.ts'
import { checkConstraints } from '../evaluate/constraints.ts'
import { breakTie } from '../evaluate/tie.ts'
import type { Comparison, Sample, Status } from '../ledger/events.ts'
import { refusal } from '../ledger/ledger.ts'
import { BASELINE, type Experiment, lastJudged, nodeValue, pathTo } from '../ledger/state.ts'
import { recordStep } from '../ledger/steps.ts'
import { TRANSITIONS } from '../ledger/transitions.ts'
import { confirmsFolder, stepsFile } from '../paths.ts'
import { fail, ok, type Result } from '../result.ts'
import type { OpenRun } from '../run/open.ts'
import { gatesOn } from './gates.ts'
import { inSlot, type Numbered, numberedFolder, type Pinned, type Probe, unpreparedProblem } from './probe.ts'
import { baselineSample } from './samples.ts'
import { nodeFor } from './seal.ts'
import { keptCommit } from './worktree.ts'

export interface ConfirmAnswer {
  experiment: string
  passed: boolean
  /** Its status now: a failing confirmation revokes it. */
  status: Status
  value: number | null
  /** As it was recorded before. */
  recorded: number | null
  against: string
  against_value: number | null
  improvement: number | null
  improvement_abs: number
  samples: number
  epoch: number
  message: string
  repeated?: true
}

/** Two samples: a value that varies shows in the first pair mostly, and the metric is held to be one that does not. */
const SAMPLES = 2

interface Found {
  samples: Sample[]
  /** What speaks against it; null when nothing does. */
  because: string | null
}

/**
 * Passes when the value is the recorded one and still better than that of `against`; in a later epoch than the one of
 * its value, when it is better there. A fault passes for evidence only when `against` works in the same slot.
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
  const kept = keptCommit(run, experiment)
  if (!kept) throw new Error(`${experiment} is kept and has no candidate`)
  const epoch = run.ledger.state.epoch
  const recordedValue = nodeValue(node.value)
  const at = numberedFolder(confirmsFolder(run.paths, experiment))
  const found = await inSlot(run, at, (put) => measure(run, node.value, other.value, kept, at, put))
  if (!found.ok) return found
  const judged = judge(run, node.value, other.value, found.value)
  const attempt = node.value.attempts.findLast((one) => one.judged?.status === 'kept')?.attempt ?? 0
  const recorded = run.ledger.record<'confirmed'>(
    {
      type: 'confirmed',
      experiment,
      attempt,
      against: other.value.id,
      passed: judged.because === null,
      value: judged.value,
      comparison: judged.comparison,
      epoch,
      message: judged.message.slice(0, 500),
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
    hint: rule.hint.replaceAll('ID', node.id),
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

async function measure(
  run: OpenRun,
  node: Experiment,
  other: Experiment,
  kept: Pinned,
  at: Numbered,
  put: (candidate: Pinned, place: 'a' | 'b', experiment: string) => Promise<Result<Probe>>,
): Promise<Result<Found>> {
  const placed = await put(kept, 'b', node.id)
  if (!placed.ok) return placed
  const probe = placed.value
  if (probe.unprepared) return unpreparedProblem(node.id, probe.unprepared)
  const gates = gatesOn(run, node.id)
  const failing = (await probe.gates(gates)).find(({ passed }) => !passed)
  if (failing?.fault?.reason === 'environment') return notMeasured(node.id, failing.fault.message)
  if (failing) return ok({ samples: [], because: `gate ${failing.name} does not pass` })
  const samples: Sample[] = []
  for (let pair = 0; pair < SAMPLES; pair++) {
    const sample = await probe.sample({ stage: 'confirm', side: 'candidate', pair })
    const kept_ = recordStep(stepsFile(at.folder), { step: 'sample', sample: bounded(sample) }, run.clock())
    if (!kept_.ok) return kept_
    samples.push(sample)
    if (!sample.fault) continue
    if (sample.fault.reason === 'environment') return notMeasured(node.id, sample.fault.message)
    const blame = await worksElsewhere(run, other, put)
    if (!blame.ok) return blame
    if (!blame.value) return notMeasured(node.id, `${sample.fault.message}; so does ${other.id}`)
    return ok({ samples, because: sample.fault.message })
  }
  return ok({ samples, because: null })
}

/** Whether what it is compared with can be measured in this very slot: then the fault is the candidate's. */
async function worksElsewhere(
  run: OpenRun,
  other: Experiment,
  put: (candidate: Pinned, place: 'a' | 'b', experiment: string) => Promise<Result<Probe>>,
): Promise<Result<boolean>> {
  const commit = keptCommit(run, other.id)
  if (!commit) return ok(false)
  const probe = await put(commit, 'a', other.id)
  if (!probe.ok) return probe
  if (probe.value.unprepared) return ok(false)
  const sample = await probe.value.sample({ stage: 'confirm', side: 'parent', pair: 0 })
  return ok(sample.fault === null)
}

function judge(run: OpenRun, node: Experiment, other: Experiment, { samples, because }: Found) {
  const direction = run.spec.metric.direction
  const value = because === null ? (samples[0]?.value ?? null) : null
  const against = nodeValue(other) ?? 0
  const comparison: Comparison =
    value === null
      ? {
          outcome: 'inconclusive',
          against: other.id,
          improvement: null,
          improvement_abs: 0,
          interval: null,
          inputs: { rule: 'none', because },
        }
      : compareDeterministic({
          direction,
          value,
          other: against,
          against: other.id,
          minImprovement: run.spec.metric.min_improvement,
        })
  const objection = because ?? objectionTo(run, node, other, samples, comparison)
  const name = run.spec.metric.name
  const message =
    objection === null
      ? `${name} = ${value} again, against ${against} of ${other.id}`
      : `not confirmed: ${objection}`
  return { value, comparison, because: objection, message }
}

function objectionTo(
  run: OpenRun,
  node: Experiment,
  other: Experiment,
  samples: readonly Sample[],
  comparison: Comparison,
): string | null {
  const name = run.spec.metric.name
  const values = [...new Set(samples.map(({ value }) => value))]
  if (values.length > 1) return `${samples.length} samples differ (${values.join(', ')})`
  const reference = baselineSample(run)
  for (const sample of samples) {
    const different = incomparable(reference, sample)
    if (different !== null) return different
  }
  const recorded = nodeValue(node)
  if (node.epoch === run.ledger.state.epoch && values[0] !== recorded)
    return `${name} = ${values[0]} now, ${recorded} when it was judged`
  const [violated] = checkConstraints(run.spec.constraints, samples)
  if (violated) return violated.message
  if (comparison.outcome === 'improved') return null
  const theirs = lastJudged(other)?.metrics ?? {}
  if (
    comparison.outcome === 'tie' &&
    breakTie(run.spec.tie_breakers, samples[0]?.metrics ?? {}, theirs)?.better
  )
    return null
  return `${name} = ${values[0]} is no better than ${nodeValue(other)} of ${other.id}`
}

function answerOf(
  run: OpenRun,
  node: Experiment,
  event: import('../ledger/events.ts').Confirmed,
  recorded: number | null,
): ConfirmAnswer {
  const other = run.ledger.state.experiments.get(event.against)
  return {
    experiment: node.id,
    passed: event.passed,
    status: node.status,
    value: event.value,
    recorded: recorded ?? nodeValue(node),
    against: event.against,
    against_value: other ? nodeValue(other) : null,
    improvement: event.comparison.improvement,
    improvement_abs: event.comparison.improvement_abs,
    samples: SAMPLES,
    epoch: event.epoch ?? run.ledger.state.epoch,
    message: event.message ?? '',
  }
}

const notMeasured = (experiment: string, message: string) =>
  fail({
    kind: 'failed',
    code: 'not_measured',
    message: `${experiment} could not be measured: ${message}`,
    hint: 'nothing was recorded; mend the cause, then confirm it again',
  })

const bounded = (sample: Sample): Sample => ({
  ...sample,
  fault: sample.fault && { ...sample.fault, message: sample.fault.message.slice(0, 1000), raw: '' },
})
