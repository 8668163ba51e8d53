/** The second look at a kept experiment: gates and fresh samples, and what they say. */
import { incomparable } from '../evaluate/comparable.ts'
import { compareDeterministic } from '../evaluate/compare.ts'
import { checkConstraints } from '../evaluate/constraints.ts'
import { breakTie } from '../evaluate/tie.ts'
import type { Comparison, Confirmed, Sample, SampleFault, Side } from '../ledger/events.ts'
import { type Experiment, lastJudged, nodeValue } from '../ledger/state.ts'
import { recordStep } from '../ledger/steps.ts'
import { stepsFile } from '../paths.ts'
import { fail, ok, type Result } from '../result.ts'
import type { OpenRun } from '../run/open.ts'
import { gatesOn } from './gates.ts'
import { faultOfOther, orderOf, type StageAnswer, stageContext, untilClear } from './pairs.ts'
import { type Numbered, type Pinned, type Probe, unpreparedProblem } from './probe.ts'
import { baselineSample } from './samples.ts'
import { RecordLost } from './steps.ts'
import { keptCommit } from './worktree.ts'

/** Without noise: a value that varies shows in the first two mostly. */
const SAMPLES = 2

export interface Look {
  run: OpenRun
  node: Experiment
  other: Experiment
  kept: Pinned
  at: Numbered
  put: (candidate: Pinned, place: 'a' | 'b', experiment: string) => Promise<Result<Probe>>
}

/** As the event has it. */
export type Again = Pick<
  Confirmed,
  'passed' | 'value' | 'comparison' | 'samples' | 'differences' | 'varied'
> & {
  message: string
}

/** A problem when the machine, not the experiment, is to blame. */
export async function lookAgain(look: Look): Promise<Result<Again>> {
  const { run, node, kept, put } = look
  const placed = await put(kept, 'b', node.id)
  if (!placed.ok) return placed
  const probe = placed.value
  if (probe.unprepared) return unpreparedProblem(node.id, probe.unprepared)
  const failing = (await probe.gates(gatesOn(run, node.id))).find(({ passed }) => !passed)
  if (failing?.fault?.reason === 'environment') return notMeasured(node.id, failing.fault.message)
  if (failing) return ok(against(look, `gate ${failing.name} does not pass`, 0))
  try {
    if (run.ledger.state.noise.mode === 'paired') return await inPairs(look, probe)
    return await once(look, probe)
  } catch (error) {
    if (error instanceof RecordLost) return fail(error.problem)
    throw error
  }
}

async function once(look: Look, probe: Probe): Promise<Result<Again>> {
  const { run, node } = look
  const samples: Sample[] = []
  for (let pair = 0; pair < SAMPLES; pair++) {
    const sample = await take(look, probe, 'candidate', pair)
    samples.push(sample)
    if (sample.fault) return await faulty(look, sample.fault, samples.length)
  }
  const values = [...new Set(samples.map(({ value }) => value))]
  const known = node.epoch === run.ledger.state.epoch ? [nodeValue(node)] : []
  const seen = [...new Set([...known, ...values])]
  if (seen.length > 1 && run.spec.noise.mode === 'auto') {
    const found = await inPairs(look, probe, SAMPLES)
    return found.ok ? ok({ ...found.value, varied: `${node.id} gave ${seen.join(', then ')}` }) : found
  }
  return ok(judge(look, samples, values))
}

/** One sample, kept in the record of this look. */
async function take(look: Look, probe: Probe, side: Side, pair: number): Promise<Sample> {
  const { run, node, at } = look
  const sample = await probe.sample({ stage: 'confirm', side, pair, subject: node.id })
  const written = recordStep(stepsFile(at.folder), { step: 'sample', sample: bounded(sample) }, run.clock())
  if (!written.ok) throw new RecordLost(written.problem)
  return sample
}

/** `from`: the pairs of this look that were not taken yet. */
async function inPairs(look: Look, probe: Probe, from = 0): Promise<Result<Again>> {
  const { run, node, other, at } = look
  const partner = await partnerOf(look)
  if (!partner.ok) return partner
  const context = stageContext(run, 'confirm', other.id)
  const detail = { stage: 'confirm', context }
  const began = recordStep(stepsFile(at.folder), { step: 'confirm', state: 'began', detail }, run.clock())
  if (!began.ok) return began
  let ended: SampleFault | null = null
  let taken = 0
  const answer = await untilClear(
    context,
    async (index) => {
      const pair = from + index
      const pairOf: Partial<Record<Side, Sample>> = {}
      for (const side of orderOf(run, node.id, 'confirm', at.number, pair)) {
        const sample = await take(look, side === 'candidate' ? probe : partner.value, side, pair)
        taken++
        pairOf[side] = sample
        if (side === 'candidate') ended = sample.fault ?? mismatch(run, sample)
        if (ended !== null) return null
      }
      const { candidate, parent } = pairOf
      return candidate && parent ? { candidate, other: parent } : null
    },
    (sample) => faultOfOther(run, sample),
  )
  if (answer === null)
    return await faulty(look, ended ?? { reason: 'aborted', message: 'it was interrupted' }, taken)
  if ('broken' in answer) return notMeasured(other.id, answer.broken.message)
  return ok(weigh(look, answer))
}

function mismatch(run: OpenRun, sample: Sample): SampleFault | null {
  const message = incomparable(baselineSample(run), sample)
  return message === null ? null : { reason: 'metric_error', message }
}

/** What it is compared with, in the slot's other checkout. */
async function partnerOf({ run, other, put }: Look): Promise<Result<Probe>> {
  const commit = keptCommit(run, other.id)
  if (!commit) throw new Error(`${other.id} is compared with, and was never kept`)
  const probe = await put(commit, 'a', other.id)
  if (!probe.ok || !probe.value.unprepared) return probe
  return run.signal.aborted ? probe : unpreparedProblem(other.id, probe.value.unprepared)
}

/** The fault is the experiment's only if what it is compared with can be measured in this very slot. */
async function faulty(look: Look, fault: SampleFault, samples: number): Promise<Result<Again>> {
  const { node, other } = look
  if (fault.reason === 'environment' || fault.reason === 'aborted') return notMeasured(node.id, fault.message)
  const probe = await partnerOf(look)
  if (!probe.ok) return probe
  const sample = await take(look, probe.value, 'parent', 0)
  if (sample.fault) return notMeasured(node.id, `${fault.message}; so does ${other.id}`)
  return ok(against(look, fault.message, samples + 1))
}

/** Something else than the comparison speaks against it. */
function against({ other }: Look, because: string, samples: number): Again {
  const comparison: Comparison = {
    outcome: 'not_better',
    against: other.id,
    improvement: null,
    improvement_abs: 0,
    interval: null,
    inputs: { rule: 'none', because },
  }
  return { passed: false, value: null, comparison, samples, message: `not confirmed: ${because}` }
}

function weigh(
  { run, node, other }: Look,
  { comparison, score, differences, candidate }: StageAnswer,
): Again {
  const { name } = run.spec.metric
  const [violated] = checkConstraints(run.spec.constraints, candidate)
  const { outcome } = comparison
  const tie = outcome === 'tie' && lastJudged(node)?.reason === 'tie_broken'
  const pairs = `${candidate.length} pairs`
  const percent = describe(comparison.improvement)
  const objection =
    violated?.message ??
    (outcome === 'improved' || tie
      ? null
      : `${name} against ${other.id} in ${pairs}${percent}, which is ${outcome === 'inconclusive' ? 'not clear' : outcome.replaceAll('_', ' ')}`)
  const message =
    objection === null ? `better than ${other.id} in ${pairs}${percent}` : `not confirmed: ${objection}`
  return {
    passed: objection === null,
    value: score,
    comparison: violated ? { ...comparison, outcome: 'not_better' } : comparison,
    samples: 2 * candidate.length,
    differences: { confirm: differences },
    message,
  }
}

function judge(look: Look, samples: readonly Sample[], values: readonly (number | null)[]): Again {
  const { run, other } = look
  const [value = null] = values
  const theirs = nodeValue(other) ?? 0
  if (value === null) throw new Error('a sample without a fault has a value')
  const comparison = compareDeterministic({
    direction: run.spec.metric.direction,
    value,
    other: theirs,
    against: other.id,
    minImprovement: run.spec.metric.min_improvement,
  })
  const objection = objectionTo(look, samples, values, comparison)
  const name = run.spec.metric.name
  const message =
    objection === null
      ? `${name} = ${value} again, against ${theirs} of ${other.id}`
      : `not confirmed: ${objection}`
  return { passed: objection === null, value, comparison, samples: samples.length, message }
}

function objectionTo(
  { run, node, other }: Look,
  samples: readonly Sample[],
  values: readonly (number | null)[],
  comparison: Comparison,
): string | null {
  const name = run.spec.metric.name
  if (values.length > 1) return `${samples.length} samples differ (${values.join(', ')})`
  for (const sample of samples) {
    const different = mismatch(run, sample)
    if (different !== null) return different.message
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

const describe = (improvement: number | null): string =>
  improvement === null
    ? ''
    : `: ${figure(100 * Math.abs(improvement))} % ${improvement < 0 ? 'worse' : 'better'}`

const figure = (value: number): string => String(Number(value.toPrecision(4)))
