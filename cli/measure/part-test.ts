/** Takes one test of an attribution: it is an errand, which a slot of this machine or a job does. */
import { existsSync, lstatSync, readFileSync, readlinkSync, renameSync } from 'node:fs'
import { join } from 'node:path'
import { tailOf } from '../evaluate/command.ts'
import { recordable } from '../evaluate/comparable.ts'
import type { Pinned } from '../git/store.ts'
import { attributable } from '../ledger/decide.ts'
import type { Attributed, GateRule, Sample, Side } from '../ledger/events.ts'
import { Ledger } from '../ledger/ledger.ts'
import { type AttemptJob, isOfMachine } from '../ledger/state.ts'
import { gatesOf, readSteps, samplesOf, stepsDigest } from '../ledger/steps.ts'
import { attributionFolder, slotPath, stepsFile } from '../paths.ts'
import { fail, ok, type Result } from '../result.ts'
import { nodeFor, type OpenRun, type RunRecord } from '../run/open.ts'
import { noEvidence } from './attempt.ts'
import {
  answerTest,
  brokenBy,
  choicesOf,
  nameOfLeft,
  ONE_LOOK,
  recomputeTest,
  type TestAnswer,
  type TestPlan,
  tamperedWith,
  unmeasured,
} from './attribution.ts'
import type { Preparation } from './decisions.ts'
import { doErrand, type ErrandKind } from './errand.ts'
import type { RandomChoices } from './random-choices.ts'
import type { Seat, Session, WantedSample } from './session.ts'
import { interrupted, type LeasedSlot } from './slot.ts'
import { baselineSample, Recorder, RecordLost } from './steps.ts'
import { partBytecode } from './tamper.ts'
import type { SampleAt, SampleSource, Trial } from './trial.ts'
import { changedBeside } from './verdict-event.ts'
import { measureWithoutAttempt, preparationProblem } from './without-attempt.ts'

interface TestTaken extends TestAnswer {
  /** What the part that does not work printed last; empty when it works. */
  output: string
}

export interface TestMeasured extends TestTaken, Pick<Attributed, 'steps' | 'placed'> {}

/**
 * A process that goes on with a test uses the samples that are there, or waits for the job that an earlier one began. A failure records
 * nothing. What a job measured is answered from its record, as the state was when the job was packed.
 */
export async function measureTest(
  run: OpenRun,
  plan: TestPlan,
  { reference, left }: { reference: Pinned; left: Pinned },
): Promise<Result<TestMeasured>> {
  const { node, ...asked } = plan
  const { started, test } = plan
  const home = attributionFolder(run.paths, node.id, { attribution: started.attribution, test })
  const done = await doErrand(run, PART_TEST, {
    node,
    asked,
    candidates: [reference, left],
    home,
    about: `test ${test} of attribution ${started.attribution}`,
    wanted: () => {
      const now = run.ledger.state.experiments.get(node.id)
      return now !== undefined && attributable(run.ledger.state, now) === null
    },
  })
  if (!done.ok) return done
  const { found, job } = done.value
  // Whether two builds are the same is in no record.
  const answer = job && found.outcome !== 'same' ? await fromRecord(run, plan, job) : ok(found)
  if (!answer.ok) return answer
  const steps = stepsDigest(stepsFile(home))
  if (!steps.ok) return steps
  const placed = job?.placed && { node: job.placed.node, machine: job.placed.machine, as_of: job.as_of }
  return ok({
    ...answer.value,
    output: found.output,
    steps: steps.value,
    ...(placed && { placed }),
  })
}

async function fromRecord(
  run: OpenRun,
  plan: TestPlan,
  { as_of }: Pick<AttemptJob, 'as_of'>,
): Promise<Result<TestAnswer>> {
  const begun = Ledger.after(run.ledger.file, as_of)
  if (!begun.ok) return begun
  const then: OpenRun = { ...run, ledger: begun.value }
  const node = nodeFor(then, plan.node.id)
  return node.ok ? recomputeTest(run, then, { ...plan, node: node.value }) : node
}

export const PART_TEST: ErrandKind<Omit<TestPlan, 'node'>, TestTaken> = {
  name: 'part-test',
  take: async (run, { node, asked, candidates: [reference, left], folder }) => {
    if (!reference || !left) throw new Error('a test compares two candidates')
    return takeTest(run, { ...asked, node }, { reference, left, folder })
  },
}

async function takeTest(
  run: OpenRun,
  plan: TestPlan,
  { reference, left, folder }: { reference: Pinned; left: Pinned; folder: string },
): Promise<Result<TestTaken>> {
  const { node } = plan
  const record = new Recorder(run, { experiment: node.id, folder }, { tells: false })
  return measureWithoutAttempt(run, { folder, about: node.id }, async ({ session, put }) => {
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
}

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
function sameOutputs(
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
