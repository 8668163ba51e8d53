/**
 * One test of an attribution: is the reference, as the candidate, better than what is left of it, as its parent? It is the
 * judge stage of a trial, in a slot, with the gates on what is left. No test changes the status of an experiment.
 */

import { existsSync, lstatSync, readFileSync, readlinkSync, renameSync } from 'node:fs'
import { join } from 'node:path'
import { tailOf } from '../evaluate/command.ts'
import { recordable } from '../evaluate/comparable.ts'
import { compareDeterministic } from '../evaluate/compare.ts'
import { checkConstraints } from '../evaluate/constraints.ts'
import { crowdAround, isCandidates, isSpoiltByCrowd } from '../evaluate/crowd.ts'
import { counted, figure, percent } from '../evaluate/figure.ts'
import type { Pinned } from '../git/store.ts'
import type { Attributed, AttributionStarted, Comparison, GateRule, Sample, Side } from '../ledger/events.ts'
import { isSameValue } from '../ledger/same-value.ts'
import { type Experiment, isOfMachine, nodeValue } from '../ledger/state.ts'
import { gatesOf, readSteps, samplesOf, stepsDigest } from '../ledger/steps.ts'
import { attributionFolder, slotPath, stepsFile } from '../paths.ts'
import { fail, ok, type Problem, type Result } from '../result.ts'
import type { OpenRun, RunRecord } from '../run/open.ts'
import { noEvidence, runGates } from './attempt.ts'
import { modeOf } from './comparison.ts'
import type { Preparation } from './decisions.ts'
import { contextAgainst, faultOfOther, runPairs } from './pairs.ts'
import { choicesWithoutAttempt, type RandomChoices } from './random-choices.ts'
import type { Seat, Session, WantedSample } from './session.ts'
import { interrupted, type LeasedSlot } from './slot.ts'
import { baselineSample, Recorder, RecordLost } from './steps.ts'
import { partBytecode } from './tamper.ts'
import {
  accept,
  type Plan,
  RecordedSource,
  type RunInTrial,
  type SampleAt,
  type SampleSource,
  sampleOnce,
  type Trial,
} from './trial.ts'
import { changedBeside } from './verdict-event.ts'
import { measureWithoutAttempt, preparationProblem } from './without-attempt.ts'

export interface TestPlan {
  started: Pick<AttributionStarted, 'attribution' | 'nonce'>
  /** From 1. */
  test: number
  node: Experiment
  without: readonly string[]
  /** The files that differ. */
  paths: readonly string[]
  /** Where the reference is the whole candidate, its value is known. */
  isWhole: boolean
}

/** The part of the event that a measurement decides. */
export type TestAnswer = Pick<
  Attributed,
  'outcome' | 'pairs' | 'estimate' | 'interval' | 'samples' | 'message' | 'varied'
>

/** Nothing was found out: the machine or an interruption is the cause. */
interface Unmeasured {
  unmeasured: Problem
  /** What was taken says nothing, so that the next process takes it again. */
  again?: true
}

/** Each test has its own choices. What is compared was sealed, or follows from a seal, before the nonce was drawn. */
const choicesOf = ({ started, test, node }: TestPlan): RandomChoices =>
  choicesWithoutAttempt(started.nonce, `${node.id} attribution ${started.attribution} test ${test}`)

/** What is left, as messages and records name it. */
export const nameOfLeft = ({ node, without }: Pick<TestPlan, 'node' | 'without'>): string =>
  `${node.id} without ${without.join(', ')}`

/** Loses to what it is compared with by any amount: a least improvement is asked of the whole, not of its parts. */
const ANY = { absolute: 0 } as const
const ONE_LOOK: Plan = { look: 1, endsEarly: false }

// ---------------------------------------------------------------- the rule, on samples from the slot or from the record

async function answerTest(
  trial: Trial,
  plan: TestPlan,
  { setup, build }: Preparation,
): Promise<TestAnswer | Unmeasured> {
  const broken = setup ?? build?.fault
  if (broken) {
    const { message } = broken
    if (isOfMachine(broken)) return unmeasured(plan, message)
    return brokenBy(`worktree.${setup ? 'setup' : 'build'} fails: ${message}`)
  }
  if (!(await runGates(trial, 'before', trial.node.id))) return gateAnswer(trial)
  const found = await compared(trial, plan)
  if ('unmeasured' in found || found.outcome === 'improved' || found.outcome === 'broken') return found
  // What is left may be what stays, so it must hold all that a candidate must.
  const held = await runGates(trial, 'after', trial.node.id)
  if (!held) return { ...found, outcome: 'broken', message: gateAnswer(trial).message }
  const violated = checkConstraints(trial.run.spec.constraints, trial.evidence.others).find(isCandidates)
  return violated ? { ...found, outcome: 'broken', message: violated.message } : found
}

async function compared(trial: Trial, plan: TestPlan): Promise<TestAnswer | Unmeasured> {
  if (modeOf(trial) === 'paired') return inPairs(trial, plan, 0)
  const { run, node, evidence } = trial
  const at = (side: SampleAt['side']): SampleAt => ({ stage: 'judge', pair: 0, side })
  const left = await sampleOnce(trial, at('parent'))
  const theirs = faultOfOther(run, left)
  if (theirs) return isOfMachine(theirs) ? unmeasured(plan, theirs.message) : brokenBy(theirs.message, 1, 1)
  const own = await sampleOnce(trial, at('candidate'))
  if (!accept(trial, own)) return faulty(trial, plan)
  const [value, other] = [own.value ?? 0, left.value ?? 0]
  const known = nodeValue(node)
  if (plan.isWhole && !isSameValue(value, known) && run.spec.noise.mode === 'auto') {
    const found = await inPairs(trial, plan, 1)
    return 'unmeasured' in found ? found : { ...found, varied: `${node.id} gave ${known}, then ${value}` }
  }
  evidence.others.push(left)
  const { direction } = run.spec.metric
  const comparison = compareDeterministic({
    direction,
    value,
    other,
    against: nameOfLeft(plan),
    minImprovement: ANY,
  })
  const outcome =
    comparison.improvement_abs < 0 ? 'worse' : comparison.outcome === 'improved' ? 'improved' : 'not_better'
  const { name } = run.spec.metric
  const message = `${name} = ${figure(value)}, and ${figure(other)} without`
  return { outcome, pairs: 1, estimate: comparison.improvement, interval: null, samples: 2, message }
}

/** `from`: the pairs that were not taken yet. */
async function inPairs(trial: Trial, plan: TestPlan, from: number): Promise<TestAnswer | Unmeasured> {
  const { run, node, record } = trial
  const against = nameOfLeft(plan)
  const score = nodeValue(node)
  if (score === null) throw new Error(`${node.id} is kept and has no value`)
  if (!record.decided('stage').some(({ context }) => context.against === against)) {
    const context = {
      ...contextAgainst(run, 'judge', { against, score }),
      min_improvement: ANY,
      seeks_tie: false,
    }
    record.decide({ is: 'stage', stage: 'judge', context })
  }
  const answer = await runPairs(trial, 'judge', against, from)
  if (answer === null) return faulty(trial, plan)
  const { comparison, differences } = answer
  // A metric that no crowd changes is only noisy.
  const spoilt = comparison.outcome === 'inconclusive' && isSpoiltByCrowd(run.spec.metric.name)
  const crowd = spoilt ? crowdAround(comparison) : null
  if (crowd !== null) {
    const when = 'repeat the command when the machine is less busy'
    return { ...unmeasured(plan, crowd, when), again: true }
  }
  const pairs = differences.length
  return {
    outcome: comparison.outcome === 'tie' ? 'not_better' : comparison.outcome,
    pairs,
    estimate: comparison.improvement,
    interval: shareOf(comparison, score),
    samples: 2 * (pairs + from),
    message: `${counted(pairs, 'pair')}${described(comparison)}`,
  }
}

/** The interval of the comparison as shares of the score that it moves. */
function shareOf({ interval }: Comparison, score: number): [number, number] | null {
  if (interval === null || score === 0) return null
  const [low, high] = interval
  return [low / Math.abs(score), high / Math.abs(score)]
}

function described({ improvement, outcome }: Comparison): string {
  const clear = outcome === 'inconclusive' ? ', which is not clear' : ''
  if (improvement === null) return clear
  return `: ${percent(Math.abs(improvement))} ${improvement < 0 ? 'worse' : 'better'} than without${clear}`
}

/** One of what is left says that the rest is needed. One of the reference is the machine's, since it was kept. */
function faulty({ evidence: { facts }, record }: Trial, plan: TestPlan): TestAnswer | Unmeasured {
  const own = facts.faults.find(({ side }) => side === 'candidate')?.fault
  const left = facts.faults.find(({ side }) => side === 'parent')?.fault
  const fault = own ?? left
  if (fault?.reason === 'aborted') return { unmeasured: interrupted }
  if (own || !left || isOfMachine(left))
    return unmeasured(plan, fault?.message ?? 'its values cannot be compared')
  const samples = record.taken
  return brokenBy(left.message, Math.ceil(samples / 2), samples)
}

/** The gate that ended it; one that could not run is never recorded. */
const gateAnswer = ({ evidence: { facts } }: Trial): TestAnswer =>
  brokenBy(`gate ${facts.gates.at(-1)?.name} does not pass`)

const brokenBy = (message: string, pairs = 0, samples = 0): TestAnswer => ({
  outcome: 'broken',
  pairs,
  estimate: null,
  interval: null,
  samples,
  message,
})

const unmeasured = (
  plan: TestPlan,
  message: string,
  then = 'remove the cause, then repeat the command: it goes on from here',
): Unmeasured => ({
  unmeasured: {
    kind: 'failed',
    code: 'not_measured',
    message: `test ${plan.test} of attribution ${plan.started.attribution} could not be measured: ${message}`,
    hint: then,
  },
})

// ---------------------------------------------------------------- in the slot

export interface TestMeasured extends TestAnswer {
  steps: Attributed['steps']
  /** What the part that does not work printed last; empty when it works. */
  output: string
}

/** Takes the test in a slot. A process that resumes it uses the samples that are there. A failure records nothing. */
export async function measureTest(
  run: OpenRun,
  plan: TestPlan,
  { reference, left }: { reference: Pinned; left: Pinned },
): Promise<Result<TestMeasured>> {
  const { node, started, test } = plan
  const folder = attributionFolder(run.paths, node.id, { attribution: started.attribution, test })
  const record = new Recorder(run, { experiment: node.id, folder }, { tells: false })
  const found = await measureWithoutAttempt(run, { folder, about: node.id }, async ({ session, put }) => {
    const choices = choicesOf(plan)
    const rest = await put({ experiment: nameOfLeft(plan), ...left }, choices.place('parent'))
    if (!rest.ok) return rest
    const { setup, build } = rest.value.placed
    const printed = setup || build ? tailOf(join(folder, setup ? 'setup.out' : 'build.out'), PRINTED) : ''
    // What cannot be prepared says something only where the reference can, now and here.
    const whole = await put({ experiment: node.id, ...reference }, choices.place('candidate'))
    if (!whole.ok) return whole
    const unprepared = preparationProblem(whole.value)
    if (unprepared) return fail(unprepared)
    const preparation: Preparation = {
      setup,
      build: build && { fault: build, parentToo: false },
      seed: null,
    }
    record.decide({ is: 'prepared', preparation })
    if (setup || build) session.leave(choices.place('parent'))
    else if (sameOutputs(run, session.leased, [whole.value, rest.value], plan.paths))
      return ok({ ...brokenBy('it builds to the same'), outcome: 'same' as const, output: '' })
    const source = new TestSource({
      session,
      choices,
      seats: { candidate: whole.value, parent: rest.value },
      units: () => baselineSample(run),
      lost: (message) => new RecordLost(unmeasured(plan, message).unmeasured),
    })
    const trial: Trial = {
      run,
      node,
      plan: ONE_LOOK,
      choices,
      record,
      source,
      evidence: noEvidence(run, node),
    }
    const found = await answerTest(trial, plan, preparation)
    const { paths, beside } = await session.tampered()
    const { changed } = partBytecode(paths)
    // Their samples prove nothing, so they are not used by a later process either.
    const answer =
      beside && changed.length > 0 ? { ...unmeasured(plan, changedBeside(changed)), again: true } : found
    if ('unmeasured' in answer) {
      if (answer.again) setAside(folder)
      return fail(answer.unmeasured)
    }
    const [tampered] = changed
    if (tampered !== undefined)
      record.decide({ is: 'tampered', tampered: [tampered], beside: false, by: null })
    const told = tampered === undefined ? answer : tamperedWith(answer, tampered)
    return ok({ ...told, output: told.outcome === 'broken' ? printed || printedIn(folder, record) : '' })
  })
  if (!found.ok) return found
  const steps = stepsDigest(stepsFile(folder))
  return steps.ok ? ok({ ...found.value, steps: steps.value }) : steps
}

const tamperedWith = (answer: TestAnswer, path: string): TestAnswer => ({
  ...answer,
  outcome: 'broken',
  message: `a run changed what judges it: ${path}`,
})

/** In characters. */
const PRINTED = 4000

function printedIn(folder: string, record: Recorder): string {
  const steps = readSteps(record.file)
  const gate = gatesOf(steps).find(({ passed }) => !passed)
  if (gate) return gate.output
  const sample = samplesOf(steps).findLast(({ side, fault }) => side === 'parent' && fault !== null)
  return sample
    ? `${tailOf(join(folder, sample.stderr), PRINTED)}\n${tailOf(join(folder, sample.stdout), PRINTED)}`
    : ''
}

/** Beside the place of the test, so that its pairs can be looked at. */
function setAside(folder: string): void {
  for (let n = 1; ; n++) {
    const place = `${folder}.${n}`
    if (existsSync(place)) continue
    renameSync(folder, place)
    return
  }
}

interface InTest {
  session: Session
  choices: RandomChoices
  seats: Record<Side, Seat>
  /** The sample in whose units all are recorded. */
  units: () => Sample | null
  /** What ends the test when the machine is at fault: before anything of it is recorded. */
  lost: (message: string) => RecordLost
}

/** Gates ask what is left: the reference passed them when it was judged. */
class TestSource implements SampleSource {
  /** A judged metric is refused before. */
  readonly judge = null
  readonly #in: InTest

  constructor(test: InTest) {
    this.#in = test
  }

  /** Both sides are measured here. */
  machine() {
    return null
  }

  place() {
    return Promise.resolve(null)
  }

  async sample(at: SampleAt): Promise<Sample> {
    const wanted = this.#wanted(at)
    return this.#checked(wanted, await this.#in.session.sample(wanted.seat, wanted.asked))
  }

  async pair(at: Omit<SampleAt, 'side'>, first: (task: number) => Side): Promise<Record<Side, Sample>> {
    const own = this.#wanted({ ...at, side: 'candidate' })
    const other = this.#wanted({ ...at, side: 'parent' })
    const taken = await this.#in.session.pair({ candidate: own, parent: other }, first)
    return {
      candidate: this.#checked(own, taken.candidate),
      parent: this.#checked(other, taken.parent),
    }
  }

  #wanted({ stage, pair, side }: SampleAt): WantedSample {
    const { choices, seats, units } = this.#in
    const seat = seats[side]
    const seed = choices.seed(stage, pair)
    return { seat, asked: { stage, side, pair, seed, folder: seat.outputs, reference: units() } }
  }

  #checked({ seat, asked }: WantedSample, sample: Sample): Sample {
    const { fault } = sample
    if (fault && fault.reason !== 'aborted' && (asked.side === 'candidate' || isOfMachine(fault)))
      throw this.#in.lost(`${seat.experiment}: ${fault.message}`)
    return recordable(sample)
  }

  async gate(gate: GateRule) {
    const { session, seats, lost } = this.#in
    const done = await session.gate(seats.parent, gate)
    if (done.fault?.reason === 'aborted') throw new RecordLost(interrupted)
    if (done.fault && isOfMachine(done.fault)) throw lost(`gate ${gate.name}: ${done.fault.message}`)
    return done
  }

  gateAgain = async (gate: GateRule) => (await this.gate(gate)).fault

  async gateOfOther(gate: GateRule) {
    const { session, seats, lost } = this.#in
    const { fault } = await session.gate(seats.candidate, gate)
    if (fault?.reason === 'aborted') throw new RecordLost(interrupted)
    if (fault)
      throw lost(`gate ${gate.name} does not pass for ${seats.candidate.experiment} either: ${fault.message}`)
    return null
  }

  artifacts() {
    return { records: {} }
  }
}

// ---------------------------------------------------------------- from the record

/** The answer to a test that was measured, computed again from its record. `before`: the run as it was then. */
export async function recomputeTest(
  run: Pick<OpenRun, 'paths' | 'env' | 'tell' | 'clock'>,
  before: RunInTrial,
  plan: TestPlan,
): Promise<Result<TestAnswer>> {
  const { node, started, test } = plan
  const folder = attributionFolder(run.paths, node.id, { attribution: started.attribution, test })
  const record = new Recorder(run, { experiment: node.id, folder }, { writes: false })
  const prepared = record.decided('prepared').at(-1)
  if (!prepared) return fail(incomplete)
  const trial: Trial = {
    run: before,
    node,
    plan: ONE_LOOK,
    choices: choicesOf(plan),
    record,
    source: new RecordedSource({}, record),
    evidence: noEvidence(before, node),
  }
  try {
    const answer = await answerTest(trial, plan, prepared.preparation)
    if ('unmeasured' in answer) return fail(answer.unmeasured)
    const [tampered] = record.decided('tampered').at(-1)?.tampered ?? []
    return ok(tampered === undefined ? answer : tamperedWith(answer, tampered))
  } catch (error) {
    if (error instanceof RecordLost) return fail(error.problem)
    throw error
  }
}

const incomplete: Problem = {
  kind: 'refused',
  code: 'record_incomplete',
  message: 'the record of the test lacks the build',
  hint: 'a file of the run is damaged or gone',
}

// ---------------------------------------------------------------- candidates that were built to the same
// Whether two candidates in the checkouts of a slot were built to the same, so that no measurement can tell them apart.

/** Sources that only a compiler reads. Any other file may be read by the benchmark itself. */
const COMPILED =
  /\.(?:c|cc|cpp|cxx|h|hh|hpp|hxx|inl|m|mm|rs|go|java|kt|scala|swift|zig|d|hs|ml|mli|f|f90|adb|ads|cu|s)$/i

/** Larger outputs are not compared: that would take longer than the measurement. */
const MOST_BYTES = 256 * 2 ** 20

/**
 * True when only sources for a compiler differ, and what setup and build left is the same, byte by byte. `paths`: the
 * files that differ. False when that is not certain.
 */
export function sameOutputs(
  { spec }: Pick<RunRecord, 'spec'>,
  { site, slot }: Pick<LeasedSlot, 'site' | 'slot'>,
  [one, other]: readonly [Seat, Seat],
  paths: readonly string[],
): boolean {
  if (spec.worktree.build === null || !paths.every((path) => COMPILED.test(path))) return false
  const [mine, theirs] = [one, other].map(({ place, placed }) => ({
    top: slotPath(site, slot, place),
    files: Object.keys(placed.before.files).sort(),
  }))
  if (!mine || !theirs || mine.files.length === 0 || mine.files.join('\0') !== theirs.files.join('\0'))
    return false
  let bytes = 0
  return mine.files.every((path) => {
    const [a, b] = [join(mine.top, path), join(theirs.top, path)]
    const [first, second] = [lstatSync(a), lstatSync(b)]
    if (first.mode !== second.mode || first.size !== second.size) return false
    if (first.isSymbolicLink()) return readlinkSync(a) === readlinkSync(b)
    bytes += first.size
    return first.isFile() && bytes <= MOST_BYTES && readFileSync(a).equals(readFileSync(b))
  })
}
