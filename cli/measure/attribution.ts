/**
 * What one test of an attribution says: is the reference, as the candidate, better than what is left of it, as its parent? It is the
 * judge stage of a trial, with the gates on what is left. `part-test.ts` takes the samples. No test changes the status of an experiment.
 */

import { compareDeterministic } from '../evaluate/compare.ts'
import { checkConstraints } from '../evaluate/constraints.ts'
import { crowdAround, isCandidates, isSpoiltByCrowd } from '../evaluate/crowd.ts'
import { counted, figure, percent } from '../evaluate/figure.ts'
import type { Attributed, AttributionStarted, Comparison } from '../ledger/events.ts'
import { isSameValue } from '../ledger/same-value.ts'
import { type Experiment, isOfMachine, nodeValue } from '../ledger/state.ts'
import { attributionFolder } from '../paths.ts'

import { fail, ok, type Problem, type Result } from '../result.ts'
import type { OpenRun } from '../run/open.ts'
import { noEvidence, runGates } from './attempt.ts'
import { modeOf } from './comparison.ts'
import type { Preparation } from './decisions.ts'
import { contextAgainst, faultOfOther, runPairs } from './pairs.ts'
import { choicesWithoutAttempt, type RandomChoices } from './random-choices.ts'
import { interrupted } from './slot.ts'
import { Recorder, RecordLost } from './steps.ts'
import {
  accept,
  type Plan,
  RecordedSource,
  type RunInTrial,
  type SampleAt,
  sampleOnce,
  type Trial,
} from './trial.ts'

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
export interface Unmeasured {
  unmeasured: Problem
  /** What was taken says nothing, so that the next process takes it again. */
  again?: true
}

/** Each test has its own choices. What is compared was sealed, or follows from a seal, before the nonce was drawn. */
export const choicesOf = ({ started, test, node }: TestPlan): RandomChoices =>
  choicesWithoutAttempt(started.nonce, `${node.id} attribution ${started.attribution} test ${test}`)

/** What is left, as messages and records name it. */
export const nameOfLeft = ({ node, without }: Pick<TestPlan, 'node' | 'without'>): string =>
  `${node.id} without ${without.join(', ')}`

/** Loses to what it is compared with by any amount: a least improvement is asked of the whole, not of its parts. */
const ANY = { absolute: 0 } as const
export const ONE_LOOK: Plan = { look: 1, endsEarly: false }

// ---------------------------------------------------------------- the rule, on samples from the slot or from the record

export async function answerTest(
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

export const brokenBy = (message: string, pairs = 0, samples = 0): TestAnswer => ({
  outcome: 'broken',
  pairs,
  estimate: null,
  interval: null,
  samples,
  message,
})

export const unmeasured = (
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

export const tamperedWith = (answer: TestAnswer, path: string): TestAnswer => ({
  ...answer,
  outcome: 'broken',
  message: `a run changed what judges it: ${path}`,
})

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
