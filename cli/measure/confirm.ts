/**
 * `confirm`: a kept experiment is measured again, on fresh samples in a slot. It is a trial: the same source, pairs and
 * guards. This file has what differs: earlier looks, the rule for two samples, and the consequences of an answer.
 */

import { join } from 'node:path'
import { incomparable } from '../evaluate/comparable.ts'
import { breakTie, compareDeterministic } from '../evaluate/compare.ts'
import { checkConstraints } from '../evaluate/constraints.ts'
import {
  crowdAround,
  foremost,
  inWords,
  isCandidates,
  isSpoiltByCrowd,
  type Objection,
} from '../evaluate/crowd.ts'
import { figure } from '../evaluate/figure.ts'
import { regressions } from '../evaluate/protected.ts'
import { summaryOfMetrics } from '../evaluate/stats.ts'
import type { ExecutorConfig } from '../executor/config.ts'
import type { Pinned } from '../git/store.ts'
import { bestOf } from '../ledger/best.ts'
import { refusedBy } from '../ledger/decide.ts'
import type { Comparison, Confirmed, Sample, SampleFault, Side, Status } from '../ledger/events.ts'
import { Ledger, refusal } from '../ledger/ledger.ts'
import { distinctValues, isSameValue } from '../ledger/same-value.ts'
import {
  BASELINE,
  type Experiment,
  isOfMachine,
  lastJudged,
  lastKept,
  lineageOf,
  nodeValue,
  type PendingConfirmation,
  pathTo,
  pendingConfirmation,
  type State,
  undermined,
} from '../ledger/state.ts'
import { acquireLease } from '../lock.ts'
import { call, next } from '../next.ts'
import { confirmsFolder } from '../paths.ts'
import { fail, ok, type Problem, type Result } from '../result.ts'
import { differencesOf, machineNow, machineOf, newMachine } from '../run/machine.ts'
import { liveSpec, nodeFor, type OpenRun, type RunRecord } from '../run/open.ts'
import { noEvidence, runGates } from './attempt.ts'
import { modeOf, steadyBreakers } from './comparison.ts'
import type { DecisionOf } from './decisions.ts'
import { confirmationByJob, executorOfConfirmation, notForJobs } from './dispatch.ts'
import { doubtOn, protectedPairsNeeded } from './guardrails.ts'
import { openItemJudge } from './item-judge.ts'
import { lengthObjection } from './judged-pairs.ts'
import { faultOfOther, protectedPairs, runPairs, type StageAnswer } from './pairs.ts'
import type { Confirmation } from './parcel.ts'
import { choicesWithoutAttempt, drawNonce } from './random-choices.ts'
import { sampleOfOther } from './same-here.ts'
import { interrupted } from './slot.ts'
import { SlotSource } from './slot-source.ts'
import { baselineSample, Recorder, RecordLost } from './steps.ts'
import { bytecodeDoubt, partBytecode } from './tamper.ts'
import {
  addFault,
  lacking,
  type Plan,
  placeOther,
  RecordedSource,
  type RunInTrial,
  sampleOnce,
  type Trial,
} from './trial.ts'
import { changedBeside, changedByItself, changedByOther } from './verdict-event.ts'
import {
  type ExtraMeasurement,
  measureWithoutAttempt,
  numberedFolder,
  preparationProblem,
} from './without-attempt.ts'
import { judgedCommit } from './worktree.ts'

// ---------------------------------------------------------------- the rule: what fresh samples of a kept experiment prove

interface ConfirmedPair {
  run: RunInTrial
  node: Experiment
  /** What it is compared with. */
  other: Experiment
}

/** In the form of the event. */
export type ConfirmationResult = Pick<
  Confirmed,
  'passed' | 'value' | 'comparison' | 'samples' | 'differences' | 'varied' | 'metrics'
> & {
  message: string
}

/** A clause: only a crowd speaks against the experiment, so there is no answer. */
interface CrowdObjection {
  crowd: string
}

const crowdObjection = (found: Objection | undefined): CrowdObjection | null =>
  found?.crowd === undefined ? null : { crowd: inWords(found) }

/** Why a sample of the experiment cannot be compared with the baseline's; null when it can. */
function whyIncomparable(run: RunInTrial, sample: Sample): SampleFault | null {
  const message = incomparable(baselineSample(run), sample)
  return message === null ? null : { reason: 'metric_error', message }
}

/** Something other than the comparison speaks against it. */
export function refuted({ other }: ConfirmedPair, because: string, samples: number): ConfirmationResult {
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

/** The experiment is better but must not stay kept. */
const refutedDespiteGain = (found: ConfirmationResult, because: string): ConfirmationResult => ({
  ...found,
  passed: false,
  comparison: { ...found.comparison, ...NOT_BETTER },
  message: `not confirmed: ${because}`,
})

/** Nothing refutes it, and something speaks against it: it stays kept, in doubt. */
const inDoubt = (found: ConfirmationResult, because: string): ConfirmationResult => ({
  ...found,
  passed: false,
  comparison: { ...found.comparison, ...UNCLEAR },
  // Without them the answer of a metric that does not vary would be a refutation.
  differences: found.differences ?? {},
  message: `not confirmed: ${because}`,
})

const NOT_BETTER = { outcome: 'not_better' } as const
const UNCLEAR = { outcome: 'inconclusive' } as const

/** With pairs of both: the comparison, and the other guards of a verdict. */
function outcomeOfPairs(
  { run, node, other, trial }: Look,
  answer: StageAnswer,
): ConfirmationResult | CrowdObjection {
  const { comparison, score, differences, candidate, other: theirs } = answer
  const { name } = run.spec.metric
  const found = foremost([
    ...checkConstraints(run.spec.constraints, candidate),
    ...[lengthObjection(trial, 'confirm')].filter((one) => one !== null),
    ...regressions(run.spec.protected, candidate, theirs),
  ])
  const violated = found && isCandidates(found) ? found : null
  const { outcome } = comparison
  const tie = outcome === 'tie' && lastJudged(node)?.reason === 'tie_broken'
  const pairs = `${candidate.length} pairs`
  const percent = describe(comparison.improvement)
  const objection =
    violated?.message ??
    (outcome === 'improved' || tie
      ? null
      : `${name} against ${other.id} in ${pairs}${percent}, which is ${outcome === 'inconclusive' ? 'not clear' : outcome.replaceAll('_', ' ')}${repeated(comparison)}`)
  const spoilt = objection === null ? crowdObjection(found) : null
  if (spoilt) return spoilt
  const doubt = objection === null ? doubtOn(run, [answer]) : null
  const against = objection ?? doubt
  return {
    passed: against === null,
    value: score,
    // An experiment in doubt stays kept and in doubt.
    comparison: { ...comparison, ...(violated ? NOT_BETTER : doubt === null ? {} : UNCLEAR) },
    samples: 2 * candidate.length,
    differences: { confirm: differences },
    ...metricsOf(against === null, candidate),
    message: against === null ? `better than ${other.id} in ${pairs}${percent}` : `not confirmed: ${against}`,
  }
}

/** Why this look needed more evidence than an earlier one, in parentheses; empty for the first. */
const repeated = ({ inputs: { look } }: Comparison): string =>
  typeof look === 'number'
    ? ` (look ${look} at these two, which takes more evidence than the first: assay guide verdict)`
    : ''

/** Fresh samples of a metric that does not vary. */
interface FreshSamples {
  /** Of the experiment. */
  own: readonly Sample[]
  /** Of what it is compared with, one. */
  theirs: Sample
  /** What it is compared with gives another value than when it was recorded. */
  moved: boolean
}

/** What fresh samples of both prove, where the metric does not vary. If only a crowd speaks against it, the answer says so. */
function confirmationOf(compared: ConfirmedPair, fresh: FreshSamples): ConfirmationResult | CrowdObjection {
  const { run, other } = compared
  const { own: samples } = fresh
  const [value, theirs] = [samples[0]?.value ?? null, fresh.theirs.value]
  if (value === null || theirs === null) throw new Error('a sample without a fault has a value')
  const comparison = compareDeterministic({
    direction: run.spec.metric.direction,
    value,
    other: theirs,
    against: other.id,
    minImprovement: run.spec.metric.min_improvement,
  })
  const violated = foremost(checkConstraints(run.spec.constraints, samples))
  const objection = objectionTo(compared, fresh, comparison, violated)
  const spoilt = objection === null ? crowdObjection(violated) : null
  if (spoilt) return spoilt
  const name = run.spec.metric.name
  const message =
    objection === null
      ? `${name} = ${figure(value)}${fresh.moved ? '' : ' again'}, against ${figure(theirs)} of ${theirsNow(compared, fresh)}`
      : `not confirmed: ${objection}`
  return {
    passed: objection === null,
    value,
    comparison,
    samples: samples.length + 1,
    ...metricsOf(objection === null, samples),
    message,
  }
}

/** What a child is compared with later, when the look made the experiment comparable again. */
const metricsOf = (passed: boolean, samples: readonly Sample[]): Pick<ConfirmationResult, 'metrics'> =>
  passed ? { metrics: summaryOfMetrics(samples) } : {}

function objectionTo(
  compared: ConfirmedPair,
  fresh: FreshSamples,
  comparison: Comparison,
  violated: Objection | undefined,
): string | null {
  const { run, node } = compared
  const { own: samples, theirs, moved } = fresh
  const { name } = run.spec.metric
  const [first] = samples
  const value = first?.value ?? null
  for (const sample of samples) {
    const different = whyIncomparable(run, sample)
    if (different !== null) return different.message
  }
  // If both changed, something beside the experiment did it, and the fresh values are compared alone.
  if (!moved && node.epoch === run.ledger.state.epoch && !isSameValue(value, nodeValue(node)))
    return `${name} = ${value} now, ${nodeValue(node)} when it was judged`
  if (violated && isCandidates(violated)) return violated.message
  if (comparison.outcome === 'improved') return null
  if (
    comparison.outcome === 'tie' &&
    breakTie(steadyBreakers(run, samples), first?.metrics ?? {}, theirs.metrics)?.better
  )
    return null
  return `${name} = ${figure(value)} is no better than ${figure(theirs.value)} of ${theirsNow(compared, fresh)}`
}

/** With what it gave before, if that is another value. */
const theirsNow = ({ other }: ConfirmedPair, { moved }: FreshSamples): string =>
  moved
    ? `${other.id}, which gave ${figure(nodeValue(other))} before: something outside of the repository changed`
    : other.id

const describe = (improvement: number | null): string =>
  improvement === null
    ? ''
    : `: ${figure(100 * Math.abs(improvement))} % ${improvement < 0 ? 'worse' : 'better'}`

// ---------------------------------------------------------------- taking the evidence: gates and fresh samples

/** Without noise: a value that varies mostly differs in the first two samples. */
const SAMPLES = 2

interface Look extends ConfirmedPair {
  trial: Trial
  record: Recorder
}

/** Of `Planned`, what is measured. */
type Looked = Pick<Planned, 'other' | 'kept' | 'look'> & { node: Experiment; folder: string }

/** A problem when the machine, not the experiment, is at fault. */
async function lookAgain(
  run: OpenRun,
  { node, other, kept, look, folder }: Looked,
  { session, choices, put }: ExtraMeasurement,
): Promise<Result<ConfirmationResult>> {
  const own = await put({ experiment: node.id, ...kept }, choices.place('candidate'))
  if (!own.ok) return own
  const problem = preparationProblem(own.value)
  if (problem) return fail(problem)
  const record = new Recorder(run, { experiment: node.id, folder }, { tells: false })
  const judge = await openItemJudge(run, { experiment: node.id, tree: kept.tree, folder })
  if (!judge.ok) return judge
  const source = new SlotSource({
    run,
    session,
    choices,
    own: own.value,
    guard: null,
    reference: () => baselineSample(run),
    judge: judge.value,
  })
  const plan: Plan = { look, endsEarly: false }
  const evidence = noEvidence(run, node)
  const trial: Trial = { run, node, plan, choices, record, source, evidence }
  const at = { run, node, other, trial, record }
  const found = await ask(at)
  if (!found.ok) return found
  const { paths, by, beside } = await source.tampered()
  const tampered = { tampered: paths, beside, by }
  record.decide({ is: 'tampered', ...tampered })
  return weighed(at, found.value, tampered)
}

/** The same from the record of a look that a job took, by the state that the job began with. */
async function lookFromRecord(
  run: RunInTrial,
  { node, other, look, folder }: Looked,
  { recorder, nonce }: { recorder: OpenRun; nonce: string },
): Promise<Result<ConfirmationResult>> {
  const record = new Recorder(recorder, { experiment: node.id, folder }, { writes: false })
  const trial: Trial = {
    ...{ run, node, record },
    plan: { look, endsEarly: false },
    choices: choicesWithoutAttempt(nonce, node.id),
    source: new RecordedSource({}, record),
    evidence: noEvidence(run, node),
  }
  const at = { run, node, other, trial, record }
  try {
    const found = await ask(at)
    if (!found.ok) return found
    const tampered = record.decided('tampered').at(-1)
    if (!tampered) return fail(lacking('its end').problem)
    return weighed(at, found.value, tampered)
  } catch (error) {
    if (error instanceof RecordLost) return fail(error.problem)
    throw error
  }
}

/** What a job does for a confirmation. The answer is in the record that it leaves in `folder`. */
export async function confirmOnNode(
  run: OpenRun,
  node: Experiment,
  { against, look, nonce }: Confirmation,
  folder: string,
): Promise<Result<void>> {
  const other = run.ledger.state.experiments.get(against)
  const kept = judgedCommit(run, node.id)
  if (!other || !kept) throw new Error('a parcel lacks what its job confirms')
  const done = await measureWithoutAttempt(run, { folder, about: node.id, nonce }, (looking) =>
    lookAgain(run, { node, other, kept, look, folder }, looking),
  )
  return done.ok ? ok(undefined) : done
}

/** With what the runs did to files. */
function weighed(
  { run, node, other, trial: { evidence } }: Look,
  found: ConfirmationResult,
  { tampered: paths, beside, by }: Omit<DecisionOf<'tampered'>, 'is'>,
): Result<ConfirmationResult> {
  const { changed } = partBytecode(paths)
  if (changed.length > 0 && (beside || by !== null))
    return notMeasured(node.id, beside ? changedBeside(changed) : changedByOther(by ?? '', changed))
  if (!found.passed) return ok(found)
  if (changed.length > 0)
    return ok(refuted({ run, node, other }, changedByItself(changed), found.samples ?? 0))
  const because = evidence.flaky[0] ?? bytecodeDoubt(run.ledger.state, node.id, paths, node.id)
  return ok(because === null ? found : inDoubt(found, because))
}

async function ask(look: Look): Promise<Result<ConfirmationResult>> {
  const { node, other, trial } = look
  if (!((await runGates(trial, 'before', other.id)) && (await runGates(trial, 'after', other.id)))) {
    const failing = trial.evidence.facts.gates.at(-1)
    if (failing?.fault && isOfMachine(failing.fault)) return notMeasured(node.id, failing.fault.message)
    if (failing?.parentToo)
      return notMeasured(
        node.id,
        `gate ${failing.name} does not pass, and ${other.id} does not pass it now either: ${failing.fault?.message}`,
      )
    return ok(refuted(look, `gate ${failing?.name} does not pass`, 0))
  }
  return modeOf(trial) === 'paired' ? inPairs(look, 0) : once(look)
}

async function once(look: Look): Promise<Result<ConfirmationResult>> {
  const { run, node, other, trial } = look
  const samples: Sample[] = []
  const most = run.spec.noise.mode === 'single' ? 1 : SAMPLES
  for (let pair = 0; pair < most; pair++) {
    const sample = await sampleOnce(trial, { stage: 'confirm', pair, side: 'candidate' })
    samples.push(sample)
    if (!sample.fault) continue
    addFault(trial, sample.fault)
    return faulty(look)
  }
  const values = distinctValues(samples.map(({ value }) => value))
  const known = node.epoch === run.ledger.state.epoch ? [nodeValue(node)] : []
  const seen = distinctValues([...known, ...values])
  if (seen.length > 1 && run.spec.noise.mode === 'auto')
    return varied(look, `${node.id} gave ${seen.join(', then ')}`)
  const [mine] = samples
  if (values.length > 1 || !mine)
    return ok(refuted(look, `${samples.length} samples differ (${values.join(', ')})`, samples.length))
  // Also what it is compared with is measured: else a change outside of the repository would be the experiment's gain, or loss.
  const theirs = await sampleOfOther(trial, other, { stage: 'confirm', pair: 0 })
  if (theirs === null) return faulty(look)
  const moved = !isSameValue(theirs.value, nodeValue(other))
  if (moved && run.spec.noise.mode === 'auto')
    return varied(look, `${other.id} gave ${nodeValue(other)}, then ${theirs.value}`)
  const found = confirmationOf(look, { own: samples, theirs, moved })
  return 'passed' in found && found.passed ? guarded(look, found, samples) : told(look, found)
}

/** One tree gave two values: only pairs can compare. */
async function varied(look: Look, because: string): Promise<Result<ConfirmationResult>> {
  const found = await inPairs(look, SAMPLES)
  return found.ok ? ok({ ...found.value, varied: because }) : found
}

/** Protected metrics on fresh samples of both, in as many pairs as they need when they vary. */
async function guarded(
  look: Look,
  found: ConfirmationResult,
  candidate: Sample[],
): Promise<Result<ConfirmationResult>> {
  const { run, other, trial, record } = look
  if (run.spec.protected.length === 0) return ok(found)
  if (!(await placeOther(trial, other.id))) return faulty(look)
  const pairs = await protectedPairs(trial, (sofar) =>
    Math.max(
      ...[[...candidate, ...sofar.candidate], sofar.other].map((seen) => protectedPairsNeeded(run, seen)),
    ),
  )
  if (pairs === null) return faulty(look)
  for (const sample of pairs.other) {
    const broken = faultOfOther(run, sample)
    if (broken) return notMeasured(other.id, broken.message)
  }
  // Samples from before the pairs only say whether a value varies; the comparison uses those of the pairs.
  const worse = foremost(regressions(run.spec.protected, pairs.candidate, pairs.other))
  const again = crowdObjection(worse) ?? (worse ? refutedDespiteGain(found, worse.message) : found)
  return told(look, 'crowd' in again ? again : { ...again, samples: record.taken })
}

/** `from`: the pairs of this look that were not taken yet. */
async function inPairs(look: Look, from: number): Promise<Result<ConfirmationResult>> {
  const { other, trial } = look
  if (!(await placeOther(trial, other.id))) return faulty(look)
  const answer = await runPairs(trial, 'confirm', other.id, from)
  if (answer === null) return faulty(look)
  const crowd = isSpoiltByCrowd(look.run.spec.metric.name) ? crowdAround(answer.comparison) : null
  return told(look, crowd === null ? outcomeOfPairs(look, answer) : { crowd })
}

/** A busy machine neither confirms nor refutes what was kept on a quiet one. */
const told = ({ node }: Look, found: ConfirmationResult | CrowdObjection): Result<ConfirmationResult> =>
  'crowd' in found
    ? notMeasured(node.id, found.crowd, 'repeat the command when the machine is less busy')
    : ok(found)

/** No pair has this number: the other half of the pair that failed may have been taken before it. */
const ASKED_ALONE = 1_000_000

/** A fault is the experiment's only if what it is compared with can be measured in this very slot after it. */
async function faulty(look: Look): Promise<Result<ConfirmationResult>> {
  const { node, other, trial, record } = look
  const found = (wanted: Side) => trial.evidence.facts.faults.find(({ side }) => side === wanted)?.fault
  const own = found('candidate')
  if (own && isOfMachine(own)) return notMeasured(node.id, own.message)
  if (own && !found('parent') && (await placeOther(trial, other.id))) {
    const { fault: theirs } = await sampleOnce(trial, { stage: 'confirm', pair: ASKED_ALONE, side: 'parent' })
    if (theirs) addFault(trial, theirs, 'parent')
  }
  const theirs = found('parent')
  if (!own) return notMeasured(other.id, theirs?.message ?? 'it was interrupted')
  if (theirs) return notMeasured(node.id, `${own.message}; so does ${other.id}`)
  return ok(refuted(look, own.message, record.taken))
}

const notMeasured = (
  experiment: string,
  message: string,
  then = 'remove the cause, then confirm the experiment again',
) =>
  fail({
    kind: 'failed',
    code: 'not_measured',
    message: `${experiment} could not be measured: ${message}`,
    hint: `nothing was recorded; ${then}`,
  })

export interface ConfirmAnswer {
  experiment: string
  passed: boolean
  /** Its status now: evidence against it revokes. */
  status: Status
  /** It stays kept, but the evidence was not clear: it may not become a parent before a further confirmation. */
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
  /** What it is built on was revoked, as a sentence: it does not count, whatever this measurement shows. */
  undermined?: string
  repeated?: true
}

/**
 * Measures a kept experiment again and compares it with `against`.
 *
 * - A metric that does not vary: it is confirmed if the fresh value is the recorded one and better than a fresh value of
 *   `against`. If its value is of an earlier epoch, or `against` gives another value than before, it need only be better.
 * - A metric that varies: it is confirmed if fresh pairs show that it is better. If they are not clear, it stays kept, in doubt.
 * - If `against` is not the parent, the comparison is only reported and changes no status; except that an experiment which had
 *   won against it before, and loses now, has lost.
 * - A fault of the experiment counts against it only if `against` works in the same slot.
 */
export async function confirm(
  run: OpenRun,
  experiment: string,
  { against, key }: { against: string | null; key: string | null },
): Promise<Result<ConfirmAnswer>> {
  const node = nodeFor(run, experiment)
  if (!node.ok) return node
  const earlier = answered(run, node.value, key)
  if (earlier) return earlier
  const may = planned(run, node.value, against)
  if (!may.ok) return may
  if (liveSpec(run).executor || pendingConfirmation(run.ledger.state, experiment))
    return confirmByJob(run, node.value, { against, key })
  const { folder } = numberedFolder(confirmsFolder(run.paths, experiment))
  return measureWithoutAttempt(run, { folder, about: experiment }, async (looking) => {
    // Other commands may have looked while this one waited for the slot, and a look that failed raises the evidence that
    // this one needs. So the answer is recorded before the slot is released.
    const read = run.ledger.refresh()
    if (!read.ok) return read
    const meanwhile = answered(run, node.value, key)
    if (meanwhile) return meanwhile
    const now = planned(run, node.value, against)
    if (!now.ok) return now
    const at = { node: node.value, folder }
    const again = await lookAgain(run, { ...now.value, ...at }, looking)
    if (!again.ok) return again
    return run.signal.aborted
      ? fail(interrupted)
      : remember(run, node.value, now.value, { ...again.value, nonce: looking.nonce }, key)
  })
}

/**
 * By jobs, one after the other: each look that did not pass raises the evidence that the next one needs. First the job that an
 * earlier command began and did not wait for: if it is about the same, its answer is the answer.
 */
async function confirmByJob(
  run: OpenRun,
  node: Experiment,
  { against, key }: { against: string | null; key: string | null },
): Promise<Result<ConfirmAnswer>> {
  const { signal, tell } = run
  const lease = await acquireLease({
    folder: join(confirmsFolder(run.paths, node.id), 'lease'),
    capacity: 1,
    ...{ signal, tell },
  }).catch((error: unknown) => {
    if (!signal.aborted) throw error
    return null
  })
  if (lease === null) return fail(interrupted)
  try {
    for (;;) {
      const read = run.ledger.refresh()
      if (!read.ok) return read
      const meanwhile = answered(run, node, key)
      if (meanwhile) return meanwhile
      const wanted = planned(run, node, against)
      if (!wanted.ok) return wanted
      const { executor } = liveSpec(run)
      const unfit = executor ? notForJobs(run) : null
      if (unfit) return fail(unfit)
      const pending = pendingConfirmation(run.ledger.state, node.id)
      if (!pending) {
        if (!executor) break
        const begun = beginConfirmation(run, node, wanted.value, key)
        if (!begun.ok) return begun
        continue
      }
      const isSame = pending.against === wanted.value.other.id
      const isAsked = isSame && (pending.asked === null || key === null || pending.asked === key)
      const home = homeOf(run, pending)
      const config = executorOfConfirmation(run, home, pending)
      const by = pending.asked ?? (isAsked ? key : null)
      const answer = config
        ? await endConfirmation(run, node, pending, { config, home, key: by })
        : abandoned(run, pending, NOT_HANDED_OVER)
      const isOver = pendingConfirmation(run.ledger.state, node.id)?.confirmation !== pending.confirmation
      if ((isAsked && config) || !isOver || signal.aborted) return answer
      run.tell({
        type: 'log',
        message: `the job that confirmed ${node.id} against ${pending.against} has ended, for a different command`,
      })
    }
  } finally {
    lease.release()
  }
  // The executor was removed, and no job is left.
  return confirm(run, node.id, { against, key })
}

const NOT_HANDED_OVER = 'it was not handed to an engine before the section executor was removed'

const homeOf = ({ paths }: OpenRun, { experiment, confirmation }: PendingConfirmation): string =>
  join(confirmsFolder(paths, experiment), String(confirmation))

function beginConfirmation(
  run: OpenRun,
  node: Experiment,
  { other, look, epoch }: Planned,
  key: string | null,
): Result<unknown> {
  const { number } = numberedFolder(confirmsFolder(run.paths, node.id))
  return run.ledger.record<'confirmation_started'>(
    {
      type: 'confirmation_started',
      experiment: node.id,
      attempt: lastKept(node)?.attempt ?? 0,
      confirmation: number,
      against: other.id,
      ...{ look, epoch },
      nonce: drawNonce(run),
      ...(key === null ? {} : { asked: key }),
    },
    run.clock(),
  )
}

/** Waits for the job, and judges its record. What comes to no answer is recorded, so that nobody waits for it. */
async function endConfirmation(
  run: OpenRun,
  now: Experiment,
  pending: PendingConfirmation,
  { config, home, key }: { config: ExecutorConfig; home: string; key: string | null },
): Promise<Result<ConfirmAnswer>> {
  const begun = Ledger.after(run.ledger.file, pending.started)
  if (!begun.ok) return begun
  const then: OpenRun = { ...run, ledger: begun.value }
  const node = nodeFor(then, pending.experiment)
  if (!node.ok) return node
  const plan = planned(then, node.value, pending.against)
  if (!plan.ok) return abandoned(run, pending, plan.problem.message)
  const done = await confirmationByJob(run, { pending, home, config })
  if (!done.ok) return abandoned(run, pending, done.problem.message, done.problem)
  const looked = { ...plan.value, look: pending.look, node: node.value, folder: home }
  const { nonce, confirmation } = pending
  const found = await lookFromRecord(then, looked, { recorder: run, nonce })
  if (!found.ok) return abandoned(run, pending, found.problem.message, found.problem)
  const read = run.ledger.refresh()
  if (!read.ok) return read
  const answer = remember(run, now, plan.value, { ...found.value, nonce, confirmation }, key)
  return answer.ok ? answer : abandoned(run, pending, answer.problem.message, answer.problem)
}

/** Nobody waits for it any more. */
function abandoned(
  run: OpenRun,
  { experiment, confirmation }: PendingConfirmation,
  why: string,
  problem?: Problem,
): Result<never> {
  const read = run.ledger.refresh()
  if (!read.ok) return read
  // A new epoch may have ended it.
  if (pendingConfirmation(run.ledger.state, experiment)?.confirmation === confirmation) {
    const ended = run.ledger.propose(
      { type: 'confirmation_ended', experiment, confirmation, why: why.slice(0, 500) },
      run.clock(),
    )
    if (!ended.ok) return ended
  }
  return problem ? fail(problem) : notMeasured(experiment, why)
}

function remember(
  run: OpenRun,
  node: Experiment,
  { other, aside, epoch, recordedValue }: Planned,
  { message, ...answer }: ConfirmationResult & { nonce: string; confirmation?: number },
  key: string | null,
): Result<ConfirmAnswer> {
  const { state } = run.ledger
  const attempt = lastKept(node)?.attempt ?? 0
  const isHere = answer.confirmation === undefined
  const recorded = run.ledger.record<'confirmed'>(
    {
      type: 'confirmed',
      experiment: node.id,
      attempt,
      against: other.id,
      ...answer,
      // That of a node is recorded when its job begins.
      ...(isHere ? newMachine(state) : {}),
      ...(aside ? { aside: true as const } : {}),
      epoch,
      message: `${message}${answer.passed ? '' : onOtherMachine(state, node, isHere)}`.slice(0, 500),
    },
    run.clock(),
    key,
  )
  return recorded.ok ? ok(answerOf(run, node, recorded.value.event, recordedValue)) : recorded
}

/** What may explain that this result is not that of the verdict. */
function onOtherMachine(state: State, node: Experiment, isHere: boolean): string {
  const then = machineOf(state, node)
  const now = isHere ? machineNow() : pendingConfirmation(state, node.id)?.job?.placed?.machine
  const different = then && now && differencesOf(then, now)
  return different
    ? `; ${isHere ? 'this machine' : 'the node'} is not the one of the verdict: ${different}`
    : ''
}

/** The earlier answer to this key; null when it is new. */
function answered(run: OpenRun, node: Experiment, key: string | null): Result<ConfirmAnswer> | null {
  const earlier = run.ledger.answeredBefore(['confirmed'], key, node.id)
  return (
    earlier && (earlier.ok ? ok({ ...answerOf(run, node, earlier.value, null), repeated: true }) : earlier)
  )
}

interface Planned {
  other: Experiment
  /** The answer is only reported; it has no consequence. */
  aside: boolean
  kept: Pinned
  /** See `Plan`. */
  look: number
  epoch: number
  recordedValue: number | null
}

/** Which experiment is compared with which, by the current ledger; refused when there is nothing to confirm. */
function planned(run: RunRecord, node: Experiment, against: string | null): Result<Planned> {
  const may = mayConfirm(node)
  if (!may.ok) return may
  const other = otherFor(run, node, against)
  if (!other.ok) return other
  const own = against === null ? other : otherFor(run, node, null)
  const aside = !own.ok || own.value.id !== other.value.id
  const kept = judgedCommit(run, node.id)
  if (!kept) throw new Error(`${node.id} is kept and has no candidate`)
  return ok({
    other: other.value,
    aside,
    kept,
    look: 1 + failedLooks(run, node, other.value),
    epoch: run.ledger.state.epoch,
    recordedValue: nodeValue(node),
  })
}

/** The number of looks at these two in this epoch that the experiment did not pass: each repetition is a further chance. */
const failedLooks = (run: RunRecord, node: Experiment, other: Experiment): number =>
  node.attempts
    .flatMap(({ confirmed }) => confirmed)
    .filter(
      (one) =>
        one.against === other.id && one.epoch === run.ledger.state.epoch && one.differences && !one.passed,
    ).length

function mayConfirm(node: Experiment): Result<void> {
  if (node.id === BASELINE) {
    return fail({
      kind: 'refused',
      code: 'is_baseline',
      message: 'the baseline has no parent, so there is nothing to confirm',
      hint: next`to measure it again: ${call('epoch open', '--reason', 'TEXT')}`,
    })
  }
  const because = refusedBy(node, 'confirm')
  return because ? refusal(because) : ok(undefined)
}

/** Its parent; in an epoch that knows nothing of the parent, the nearest one above that was measured in it. */
function otherFor(run: RunRecord, node: Experiment, wanted: string | null): Result<Experiment> {
  const { state } = run.ledger
  const usable = (one: Experiment) => one.epoch === state.epoch && nodeValue(one) !== null
  if (wanted !== null) {
    const other = nodeFor(run, wanted)
    if (!other.ok) return other
    if (other.value.id !== node.id && usable(other.value) && judgedCommit(run, other.value.id)) return other
    return fail({
      kind: 'refused',
      code: 'not_comparable',
      message: `${wanted} has no value of epoch ${state.epoch} that ${node.id} could be compared with`,
      hint: next`omit --against, or name a kept experiment of this epoch: ${call('tree')}`,
    })
  }
  const above = pathTo(state, node.id).slice(0, -1)
  const other = above.findLast((one) => usable(one) && (one.status === 'kept' || one.status === 'pruned'))
  if (other) return ok(other)
  return fail({
    kind: 'refused',
    code: 'other_epoch',
    message: `no ancestor of ${node.id} has been measured in epoch ${state.epoch}`,
    hint: next`measure the baseline first: ${call('run', BASELINE)}`,
  })
}

function answerOf(
  run: RunRecord,
  node: Experiment,
  event: Confirmed,
  recorded: number | null,
): ConfirmAnswer {
  const other = run.ledger.state.experiments.get(event.against)
  const { comparison } = event
  const fresh = comparison.inputs.rule === 'deterministic' ? comparison.inputs.other : null
  const fallen = undermined(run.ledger.state, node)
  return {
    experiment: node.id,
    passed: event.passed,
    status: node.status,
    flagged: node.flagged !== null,
    value: event.value,
    recorded: recorded ?? nodeValue(node),
    against: event.against,
    against_value: typeof fresh === 'number' ? fresh : other ? nodeValue(other) : null,
    improvement: comparison.improvement,
    improvement_abs: comparison.improvement_abs,
    interval: comparison.interval,
    samples: event.samples ?? 0,
    epoch: event.epoch ?? run.ledger.state.epoch,
    message: event.message ?? '',
    ...(fallen && { undermined: fallen.message }),
  }
}

// ---------------------------------------------------------------- when the metric turns out to vary: experiments that were kept before are confirmed again, so that the run can continue

/** All that the best is built on, from the baseline on, and itself. */
export function pathOfBest(state: State): string[] {
  const best = bestOf(state)
  return best ? lineageOf(state, best.id).map(({ id }) => id) : []
}

/**
 * Confirms them one after the other, each against its parent. What is built on one that does not pass stays in doubt until a
 * person or agent confirms it.
 */
export async function confirmAgain(run: OpenRun, path: readonly string[]): Promise<void> {
  const failed = new Set<string>()
  for (const id of path) {
    const node = run.ledger.state.experiments.get(id)
    if (node?.status !== 'kept' || node.flagged === null) continue
    if (lineageOf(run.ledger.state, id).some((one) => failed.has(one.id))) continue
    run.tell({ type: 'preparing', what: `confirming ${id} again: ${node.flagged}` })
    const answer = await confirm(run, id, { against: null, key: null })
    if (answer.ok && answer.value.passed) continue
    const why = answer.ok ? answer.value.message : answer.problem.message
    const now = answer.ok && answer.value.status === 'revoked' ? 'is revoked' : 'stays in doubt'
    run.tell({ type: 'warning', message: `${id} ${now}: ${why}` })
    if (run.signal.aborted) return
    failed.add(id)
  }
}
