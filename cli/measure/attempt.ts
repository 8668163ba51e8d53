/**
 * Everything between the claim and the verdict: waits for a slot, asks everything that the verdict needs of a candidate, in order, and answers the
 * evidence. `experiment/submit.ts` asks for it, the job on a node, and whoever computes a verdict again. It has nothing to do with the
 * model that judges answers: that is in `judged-pairs.ts` and `cli/judge/`.
 */

import { join } from 'node:path'
import { calibrate } from '../evaluate/calibrate.ts'
import { checkConstraints } from '../evaluate/constraints.ts'
import { unfitFor } from '../evaluate/plausible.ts'
import { median } from '../evaluate/stats.ts'
import { type Changed, looksLikeTest, type TestFinding, testsGone } from '../evaluate/tests-gone.ts'
import { decideVerdict, type VerdictFacts } from '../evaluate/verdict.ts'
import { patchBetween, type TreeChange, treePaths } from '../git/trees.ts'
import type { GatePhase, GateResult, GateRule, SampleFault } from '../ledger/events.ts'
import { distinctValues } from '../ledger/same-value.ts'
import {
  BASELINE,
  type Experiment,
  isOfMachine,
  lastAttempt,
  lastJudged,
  nodeValue,
} from '../ledger/state.ts'
import { fail, ok, type Result } from '../result.ts'
import type { OpenRun, RunRecord } from '../run/open.ts'
import { pauseLoop } from '../run/steer.ts'
import { artifactPlaces, type Guard, guardArtifacts, looseArtifacts, startFault } from './artifacts.ts'
import { compareTrial } from './comparison.ts'
import { type Preparation, stepOfGates } from './decisions.ts'
import { gatesOn } from './gates.ts'
import { heldOut, removeHeldData } from './holdout.ts'
import { openItemJudge } from './item-judge.ts'
import { firstAnchors } from './judged-pairs.ts'
import { choicesOfAttempt } from './random-choices.ts'
import type { Seal } from './seal.ts'
import { Session } from './session.ts'
import { interrupted, type LeasedSlot, leaseSlot, placeCandidate, type RunInSlot } from './slot.ts'
import { type InSlot, SlotSource } from './slot-source.ts'
import { type AttemptRecord, baselineSample, type Recorder, recordedSamples } from './steps.ts'
import {
  ATTEMPT,
  accept,
  addFault,
  type Evidence,
  HeldOutLater,
  must,
  Orphaned,
  orphanedBy,
  RecordedSource,
  type RunInTrial,
  sampleOnce,
  type Trial,
  throwIfOrphaned,
} from './trial.ts'
import { preparationProblem } from './without-attempt.ts'
import { judgedCommit } from './worktree.ts'

// ---------------------------------------------------------------- the baseline's samples: its value and its noise

/** How many samples a baseline needs if a model judges the metric. */
const JUDGED_SAMPLES = 2

/** Each sample has a seed of its own: a metric that depends on the seed varies. False when a sample ends the trial. */
async function calibration(trial: Trial): Promise<boolean> {
  const { run, evidence, record } = trial
  const { facts, samples } = evidence
  const { judge, noise } = run.spec
  // Answers are compared, never values: two samples show that the benchmark gives them.
  const count = judge !== undefined ? JUDGED_SAMPLES : noise.mode === 'single' ? 1 : noise.calibrate
  for (let pair = 0; pair < count; pair++) {
    if (!accept(trial, await sampleOnce(trial, { stage: 'calibrate', pair, side: 'candidate' }))) return false
  }
  const known = calibrate(noise.mode, run.spec.metric.name, samples)
  // No spread of values says anything of a judge.
  const found = judge === undefined ? known : { ...known, values: [0] }
  facts.value = median(found.values)
  evidence.calibration = found
  record.step('measure', 'ended', found)
  if (found.mode === 'deterministic' && distinctValues(found.values).length > 1) {
    return addFault(trial, {
      reason: 'metric_error',
      message: `${found.values.length} samples of the same code differ (${found.values.join(', ')}), and noise.mode says deterministic: write auto or paired`,
    })
  }
  for (const sample of samples) {
    const message = unfitFor({ controls: run.spec.controls ?? [], metric: run.spec.metric }, sample)
    if (message !== null) return addFault(trial, { reason: 'metric_error', message })
  }
  facts.constraints = checkConstraints(run.spec.constraints, samples)
  if (facts.constraints.length > 0) record.step('constraints', 'ended', facts.constraints)
  const [first] = samples
  if (facts.constraints.length > 0) return false
  return judge === undefined || first === undefined || firstAnchors(trial, first)
}

export function noEvidence(run: RunInTrial, node: Experiment): Evidence {
  const parent = node.parent ? run.ledger.state.experiments.get(node.parent) : undefined
  const facts: VerdictFacts = {
    metric: { name: run.spec.metric.name, direction: run.spec.metric.direction },
    baseline: node.id === BASELINE,
    value: null,
    parentValue: parent ? nodeValue(parent) : null,
    setup: null,
    build: null,
    gates: [],
    faults: [],
    constraints: [],
    comparison: null,
    tieBreak: null,
    confirm: null,
    dependency: null,
    protected: [],
    holdout: null,
  }
  return {
    facts,
    samples: [],
    others: [],
    parentHere: null,
    tampered: [],
    beside: false,
    by: null,
    artifacts: {},
    calibration: null,
    differences: {},
    varied: null,
    lostTo: null,
    doubt: null,
    flaky: [],
    tests: [],
    loose: [],
  }
}

/**
 * Waits for a slot, then collects evidence until something speaks against the candidate or nothing is left to ask, and answers what `settle` makes of it. It is
 * called before the slot is left: who waits for the slot goes by the verdict.
 */
export async function collectEvidence<T>(
  run: OpenRun,
  node: Experiment,
  { seal, record }: { seal: Seal; record: Recorder },
  settle: (evidence: Evidence) => Promise<T>,
): Promise<Result<T>> {
  // The session asks for them, and would keep the slot from others meanwhile. A failure shows there.
  await treePaths(run.site, seal.tree)
  const leased = await leaseSlot(run)
  if (leased === null) {
    const evidence = noEvidence(run, node)
    evidence.facts.faults.push({
      side: 'candidate',
      fault: { reason: 'aborted', message: 'it was interrupted while it waited for a slot' },
    })
    return ok(await settle(evidence))
  }
  if (!leased.ok) return leased
  try {
    const evidence = await collectInSlot(run, node, { seal, record, leased: leased.value })
    return evidence.ok ? ok(await settle(evidence.value)) : evidence
  } finally {
    leased.value.release()
  }
}

async function collectInSlot(
  run: OpenRun,
  node: Experiment,
  { seal, record, leased }: { seal: Seal; record: Recorder; leased: LeasedSlot },
): Promise<Result<Evidence>> {
  const evidence = noEvidence(run, node)
  const choices = choicesOfAttempt(run, node, seal.attempt)
  removeHeldData()
  const looked = await lookAtTests(run, seal, record)
  if (!looked.ok) return looked
  evidence.tests = looked.value
  record.step('build', 'began')
  // Verdicts of other processes that were recorded during the wait count.
  if (orphanedBy({ run, node, record }) !== null) {
    record.decide({ is: 'prepared', preparation: UNBUILT })
    const source = new RecordedSource({}, record)
    await collect({ run, node, plan: ATTEMPT, choices, record, source, evidence }, UNBUILT)
    return ok(evidence)
  }
  const places = artifactPlaces(run, node)
  evidence.loose = await looseArtifacts(run, node, places, record)
  const session = new Session(run, leased, {
    experiment: node.id,
    touches: join(record.folder, 'touches.json'),
  })
  const own = await session.put(seal, choices.place('candidate'), {
    outputs: record.folder,
    artifacts: places,
  })
  if (!own.ok) return own
  const guard = await guardArtifacts(places)
  const preparation = await prepared(run, node, { session, choices, own: own.value, guard })
  record.decide({ is: 'prepared', preparation })
  // The baseline is compared with its own first sample.
  const reference = () =>
    node.id === BASELINE ? (recordedSamples(run, node.id, seal.attempt)[0] ?? null) : baselineSample(run)
  const judge = await openItemJudge(run, { experiment: node.id, tree: seal.tree, folder: record.folder })
  if (!judge.ok) return judge
  const source = new SlotSource({
    ...{ run, session, choices, guard, reference },
    own: own.value,
    judge: judge.value,
  })
  await collect({ run, node, plan: ATTEMPT, choices, record, source, evidence }, preparation)
  // Each further attempt would only be paid for.
  const drifted = evidence.facts.faults.find(({ fault }) => fault.judge_drift)
  if (drifted) must(pauseLoop(run, drifted.fault.message))
  const { paths: tampered, by, beside } = await source.tampered()
  Object.assign(evidence, { tampered, beside, by })
  record.decide({ is: 'tampered', tampered, beside, by })
  return ok(evidence)
}

/**
 * The measurement on held-out data of an attempt that a different job measured: the rest is in its record. `paired`: whether the
 * candidate was compared in pairs.
 */
export async function collectHeldOut(
  run: OpenRun,
  node: Experiment,
  seal: Seal,
  { record, paired }: { record: Recorder; paired: boolean },
): Promise<Result<void>> {
  const choices = choicesOfAttempt(run, node, seal.attempt)
  const leased = await leaseSlot(run)
  if (leased === null) return fail(interrupted)
  if (!leased.ok) return leased
  try {
    removeHeldData()
    const session = new Session(run, leased.value, {
      experiment: node.id,
      touches: join(record.folder, 'touches.json'),
    })
    const places = artifactPlaces(run, node)
    const own = await session.put(seal, choices.place('candidate'), {
      outputs: record.folder,
      artifacts: places,
    })
    if (!own.ok) return own
    const problem = preparationProblem(own.value)
    if (problem) return fail(problem)
    const guard = await guardArtifacts(places)
    const reference = () => (node.id === BASELINE ? null : baselineSample(run))
    const source = new SlotSource({ run, session, choices, guard, reference, own: own.value, judge: null })
    const evidence = noEvidence(run, node)
    if (paired) evidence.differences.judge = []
    await heldOut({ run, node, plan: ATTEMPT, choices, record, source, evidence })
    const now = await source.tampered()
    const before = record.decided('tampered').at(-1)
    const tampered = [...new Set([...(before?.tampered ?? []), ...now.paths])]
    const beside = now.beside || (before?.beside ?? false)
    // If several did it, nobody can be told from the candidate.
    const whose = [...(before?.tampered.length ? [before.by] : []), ...(now.paths.length > 0 ? [now.by] : [])]
    const [by = null, ...more] = [...new Set(whose)]
    record.decide({ is: 'tampered', tampered, beside, by: more.length > 0 ? null : by })
    return ok(undefined)
  } finally {
    leased.value.release()
  }
}

/** Nothing is built when the attempt cannot count any more; the record still has what was measured before. */
const UNBUILT: Preparation = { setup: null, build: null, seed: null }

async function prepared(
  run: RunInSlot,
  node: Experiment,
  { session, choices, own, guard }: Pick<InSlot, 'session' | 'choices' | 'own'> & { guard: Guard },
): Promise<Preparation> {
  const { setup, build } = own.placed
  if (setup || !build)
    return { setup, build: null, seed: startFault(guard, run.spec.worktree.build !== null) }
  const parent = node.parent ? judgedCommit(run, node.parent) : null
  if (!parent || build.reason === 'aborted')
    return { setup, build: { fault: build, parentToo: false }, seed: null }
  const how = { outputs: own.outputs, rebuild: true }
  const unchanged = must(await placeCandidate(run, session.leased, choices.place('parent'), parent, how))
  return { setup, build: { fault: build, parentToo: unchanged.build !== null }, seed: null }
}

/**
 * What is asked of a candidate once it is built, in order; the first that speaks against it ends the attempt. Nothing counts when the baseline
 * was measured again in a new epoch meanwhile: the record has values of the earlier epoch, and what they are compared with is of
 * this one.
 */
export async function collect(trial: Trial, preparation: Preparation): Promise<void> {
  const { run, node, evidence } = trial
  if (!isOfEarlierEpoch(trial)) {
    try {
      await ask(trial, preparation)
    } catch (error) {
      if (error instanceof HeldOutLater) {
        evidence.heldOutLater = true
        return
      }
      if (!(error instanceof Orphaned)) throw error
      evidence.facts.dependency = error.message
    }
    must(run.ledger.refresh())
    if (!isOfEarlierEpoch(trial) || decideVerdict(evidence.facts).reason === 'aborted') return
  }
  const { tests, loose } = evidence
  Object.assign(evidence, noEvidence(run, node), { tests, loose })
  addFault(trial, {
    reason: 'environment',
    message: `epoch ${run.ledger.state.epoch} was opened while it was measured, and values of different epochs are never compared; run it again`,
  })
}

function isOfEarlierEpoch({ run: { ledger }, node }: Trial): boolean {
  const { state } = ledger
  const claim = lastAttempt(state.experiments.get(node.id) ?? node)?.claim
  return claim != null && claim.epoch < state.epoch && state.experiments.get(BASELINE)?.epoch === state.epoch
}

async function ask(trial: Trial, { setup, build, seed }: Preparation): Promise<void> {
  Object.assign(trial.evidence.facts, { setup, build })
  if (setup || build) return
  if (seed) {
    addFault(trial, seed)
    return
  }
  if (!(await runGates(trial, 'before', trial.node.parent))) return
  trial.record.step('measure', 'began')
  const after = () => runGates(trial, 'after', trial.node.parent)
  if (!trial.evidence.facts.baseline) await compareTrial(trial, after)
  else if ((await calibration(trial)) && (await after())) await heldOut(trial)
}

/**
 * `other`: the experiment that the candidate is compared with; null = none. If the candidate does not pass a gate, the gate
 * runs once more: if it passes now, chance decides what this gate says, and a keep is in doubt. If it fails again, and the
 * other one passed it when it was judged, the other one is asked: if it fails now as well, the machine is at fault.
 */
export async function runGates(trial: Trial, phase: GatePhase, other: string | null): Promise<boolean> {
  const { run, node, record, source, evidence } = trial
  const due = gatesOn(run, node.id).filter((gate) => gate.phase === phase)
  if (due.length === 0) return true
  record.step(stepOfGates(phase), 'began')
  for (const gate of due) {
    const paid = record.paidGate(gate.name, phase)
    if (!paid) throwIfOrphaned(trial)
    const done: GateResult & { fault?: SampleFault | null } = paid ?? (await source.gate(gate))
    const again = mayBeItsFault(done) ? await askAgain(trial, gate, done) : null
    const passes = again?.fault === null
    const isOpen = mayBeItsFault(done) && !passes && again?.fault?.reason !== 'aborted'
    const theirs = isOpen ? await faultOfOtherGate(trial, gate, other) : null
    if (!paid) record.gate({ ...done, output: done.output.slice(-2000) })
    if (again?.isNew && again.fault?.reason !== 'aborted')
      record.decide({ is: 'gate_again', gate: gate.name, phase, again: again.fault })
    if (passes) {
      evidence.flaky.push(sayFlaky(done))
      evidence.facts.gates.push({ ...done, passed: true, fault: null })
      continue
    }
    // Where a person interrupted it, it is asked again.
    if (theirs?.isNew && theirs.fault?.reason !== 'aborted')
      record.decide({ is: 'other_gate', gate: gate.name, phase, other: theirs.fault })
    const stopped = [again, theirs].find((one) => one?.fault?.reason === 'aborted')
    const interrupted = stopped ? { fault: stopped.fault } : {}
    evidence.facts.gates.push({ ...done, ...(theirs?.fault ? { parentToo: true } : {}), ...interrupted })
    if (!done.passed) return false
  }
  return true
}

/** Whether the candidate may be why a gate did not pass. */
const mayBeItsFault = ({ passed, fault }: GateResult & { fault?: SampleFault | null }): boolean =>
  !passed && !(fault && isOfMachine(fault))

const sayFlaky = ({ name, exit, signal }: GateResult): string =>
  `gate ${name} did not pass at first (${exit === null ? `ended by ${signal ?? 'a signal'}` : `exit ${exit}`}), and passed when it ran again on the same files`

/** null when nothing was asked: a time limit may be long, and the baseline has its user beside it. */
async function askAgain(
  { node, record, source }: Trial,
  gate: GateRule,
  { phase, timed_out }: GateResult,
): Promise<{ fault: SampleFault | null; isNew: boolean } | null> {
  const known = record.decided('gate_again').find((one) => one.gate === gate.name && one.phase === phase)
  if (known) return { fault: known.again, isNew: false }
  if (timed_out || node.id === BASELINE) return null
  const fault = await source.gateAgain(gate)
  return fault === undefined ? null : { fault, isNew: true }
}

/** null when the other one cannot tell anything about this failure. */
async function faultOfOtherGate(
  { run, record, source }: Trial,
  gate: GateRule,
  other: string | null,
): Promise<{ fault: SampleFault | null; isNew: boolean } | null> {
  const { name, phase } = gate
  const known = record.decided('other_gate').find((one) => one.gate === name && one.phase === phase)
  if (known) return { fault: known.other, isNew: false }
  const theirs = other === null ? undefined : run.ledger.state.experiments.get(other)
  const passed = theirs && lastJudged(theirs)?.gates.some((one) => one.name === name && one.passed)
  if (other === null || !passed) return null
  return { fault: await source.gateOfOther(gate, other), isNew: true }
}

// ---------------------------------------------------------------- what a candidate did to tests, compared with its parent

/** Changes of more files than this are not examined; a person would not read them either. */
const MOST_FILES = 400
/** Lines of one file. */
const MOST_LINES = 20_000
/** Context of a patch, so that it holds both files whole. */
const WHOLE = 1_000_000
const KEPT = 50
const SOURCE =
  /\.(?:[cm]?[jt]sx?|vue|svelte|py|rb|rs|go|java|kt|scala|groovy|cs|fs|swift|php|c|cc|cpp|cxx|h|hh|hpp|zig|d|dart|ex|exs|lua|jl|pl|r|sh|bash)$/i

/**
 * The tests that a candidate removed or weakened against its parent. If an earlier process of this attempt recorded findings,
 * they are the answer; else the patch is read, and what it shows is recorded. A patch that is too large gives no findings.
 */
export async function lookAtTests(
  run: RunRecord,
  { parentTree, tree, changes }: Pick<Seal, 'parentTree' | 'tree' | 'changes'>,
  record: AttemptRecord,
): Promise<Result<TestFinding[]>> {
  const known = testsIn(record)
  if (known.length > 0) return ok(known)
  const telling = changes.filter(isTelling).slice(0, MOST_FILES)
  if (telling.length === 0) return ok([])
  const paths = telling.map(({ path }) => path)
  const patch = await patchBetween(run.site, parentTree, tree, { paths, context: WHOLE })
  // A patch that is too large to be read gives no findings.
  if (!patch.ok) return patch.problem.code === 'git_output_too_large' ? ok([]) : patch
  const found = testsGone(wholeFiles(patch.value, telling)).slice(0, KEPT)
  if (found.length > 0) record.decide({ is: 'tests', tests: found })
  return ok(found)
}

/** The recorded findings; none for attempts that were judged by a version that did not look for them. */
export function testsIn(record: AttemptRecord): TestFinding[] {
  return record.decided('tests')[0]?.tests ?? []
}

/** Text, and a test, a configuration, or code that could end its process. */
const isTelling = ({ path, status, added, removed }: TreeChange): boolean =>
  status !== 'T' &&
  added !== null &&
  removed !== null &&
  added + removed > 0 &&
  added < MOST_LINES &&
  (looksLikeTest(path) || SOURCE.test(path) || /\.(?:ini|toml|json|ya?ml|xml)$|(?:^|\/)\.\w+$/.test(path))

/** Both sides of a patch that has the whole of each file as its context, in the order of `changes`. */
function wholeFiles(patch: string, changes: readonly TreeChange[]): Changed[] {
  const sections = patch.split(/^diff --git /m).slice(1)
  if (sections.length !== changes.length)
    throw new Error(`a patch of ${changes.length} files has ${sections.length} parts`)
  return changes.map(({ path, status }, index): Changed => {
    const [, ...hunks] = (sections[index] ?? '').split(/^@@ .*$/m)
    const lines = hunks.join('').split('\n').slice(1)
    const side = (sign: string) =>
      lines.flatMap((line) => (line[0] === ' ' || line[0] === sign ? [line.slice(1)] : [])).join('\n')
    return {
      path,
      before: status === 'A' ? null : side('-'),
      after: status === 'D' ? null : side('+'),
    }
  })
}
