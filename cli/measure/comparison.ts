/**
 * The comparison of an attempt: the candidate with its parent, then with the best, and what else a keep requires. A metric that
 * does not vary needs single samples, any other needs pairs.
 */

import { variedMetrics, variesByNature } from '../evaluate/calibrate.ts'
import { breakTie, compareDeterministic, type TieBreaker } from '../evaluate/compare.ts'
import { isCandidates } from '../evaluate/crowd.ts'
import { summaryOfMetrics } from '../evaluate/stats.ts'
import { bestOf } from '../ledger/best.ts'
import type { NoiseMode, Sample } from '../ledger/events.ts'
import { betterBy, isSameValue } from '../ledger/same-value.ts'
import { BASELINE, type Experiment, isOfMachine, nodeMetrics, nodeValue } from '../ledger/state.ts'
import type { DecisionOf } from './decisions.ts'
import {
  constraintsHold,
  doubtOn,
  protectedHold,
  protectedInPairs,
  protectedSinceBaseline,
} from './guardrails.ts'
import { heldOut } from './holdout.ts'
import { runPairs, type StageAnswer } from './pairs.ts'
import { noteOtherMachines, ONE_KIND, otherMachine, sampleOfOther, valueMoved } from './same-here.ts'
import { accept, addFault, must, placeOther, type RunInTrial, sampleOnce, type Trial } from './trial.ts'

// ---------------------------------------------------------------- tie-breakers, for when candidate and parent are equally good

/** Under noise only a metric that does not vary may break a tie; the others would decide by chance. */
function tieInPairs({ run }: Trial, { candidate, other }: StageAnswer): ReturnType<typeof breakTie> {
  const varied = new Set([...variedMetrics(candidate), ...variedMetrics(other)])
  const breakers = run.spec.tie_breakers.filter(({ metric }) => !varied.has(metric))
  return breakTie(breakers, summaryOfMetrics(candidate), summaryOfMetrics(other))
}

/** The tie-breakers for single samples: those that nothing has shown to vary, in the run or in these samples. */
export function steadyBreakers(run: RunInTrial, samples: readonly Sample[]): TieBreaker[] {
  const varied = new Set([...run.ledger.state.noise.varied, ...variedMetrics(samples)])
  const units = samples[0]?.units ?? {}
  return run.spec.tie_breakers.filter(
    ({ metric }) => !varied.has(metric) && !variesByNature(metric, units[metric]),
  )
}

// ---------------------------------------------------------------- the comparison without noise: one sample can reject, and a candidate that would be kept is measured once more

/** `varied`: the metric does vary, so this comparison proves nothing. */
async function compareOnce(trial: Trial, gatesAfter: () => Promise<boolean>): Promise<boolean | 'varied'> {
  const { facts } = trial.evidence
  noteOtherMachines(trial, [trial.node.parent, BASELINE])
  const sample = await sampleOnce(trial, { stage: 'judge', pair: 0, side: 'candidate' })
  if (!accept(trial, sample)) return whoseFault(trial, sample)
  facts.value = sample.value
  const holds = constraintsHold(trial)
  if (facts.constraints.some(isCandidates)) return false
  const parent = await parentHolds(trial)
  if (parent !== true) return parent
  // A constraint that is broken only in a crowd does not reject, so the comparison is needed.
  if (!compareWithRecorded(trial) || !holds || !(await gatesAfter())) return false
  return measureAgain(trial)
}

/** A fault is the candidate's only if its unchanged parent works in this slot now; else the machine is at fault. */
async function whoseFault(trial: Trial, { fault: found }: Sample): Promise<false> {
  const { run, node, evidence } = trial
  if (!found || isOfMachine(found)) return false
  const parent = node.parent ?? ''
  if (!(await placeOther(trial, parent))) return false
  const sample = await sampleOnce(trial, { stage: 'judge', pair: 0, side: 'parent' })
  if (sample.fault) return addFault(trial, sample.fault, 'parent')
  const recorded = run.ledger.state.experiments.get(parent)?.value ?? null
  if (!isSameValue(sample.value, recorded) && run.spec.noise.mode === 'auto')
    evidence.varied = differs(parent, recorded, sample.value)
  return false
}

/** If another kind of machine judged the parent, its record counts only if the parent gives the same value here. */
async function parentHolds(trial: Trial): Promise<boolean | 'varied'> {
  const { run, node, evidence } = trial
  const parent = run.ledger.state.experiments.get(node.parent ?? '')
  const because = parent ? otherMachine(trial, parent.id) : null
  if (!parent || because === null) return true
  const sample = await sampleOfOther(trial, parent, { stage: 'judge', pair: 0 })
  if (sample === null) return false
  evidence.others.push(sample)
  evidence.parentHere = sample
  const moved = valueMoved(parent, sample, because)
  if (moved === null) return true
  if (run.spec.noise.mode !== 'auto') return movedFault(trial, moved)
  evidence.varied = `${differs(parent.id, nodeValue(parent), sample.value)} on another kind of machine`
  return 'varied'
}

/** The machine is at fault: a value that the spec takes to be free of noise is another one now. */
const movedFault = (trial: Trial, moved: string): false =>
  addFault(trial, { reason: 'environment', message: `${moved}; ${ONE_KIND}` })

/** The parent's value is known: it was measured twice when the parent was kept. */
function compareWithRecorded(trial: Trial): boolean {
  const { run, node, evidence, record } = trial
  const { facts } = evidence
  const parent = node.parent ? run.ledger.state.experiments.get(node.parent) : undefined
  const other = parent ? nodeValue(parent) : null
  if (facts.value === null || !parent || other === null) throw new Error('a comparison needs two values')
  facts.comparison = compareDeterministic({
    direction: run.spec.metric.direction,
    value: facts.value,
    other,
    against: parent.id,
    minImprovement: run.spec.metric.min_improvement,
  })
  if (facts.comparison.outcome === 'tie') {
    facts.tieBreak = tieOnce(trial, parent)
  }
  record.step('comparison', 'ended', { comparison: facts.comparison, tie_break: facts.tieBreak })
  return facts.comparison.outcome === 'improved' || (facts.tieBreak?.better ?? false)
}

/** By metrics that have not varied yet; the others would decide by chance. */
const tieOnce = ({ run, evidence: { samples, parentHere } }: Trial, parent: Experiment) =>
  breakTie(
    steadyBreakers(run, samples),
    samples[0]?.metrics ?? {},
    parentHere?.metrics ?? nodeMetrics(parent),
  )

/** That the metric does not vary is an assumption: a candidate that would be kept must give the same value twice. */
async function measureAgain(trial: Trial): Promise<boolean | 'varied'> {
  const { run, node, evidence, record } = trial
  const { facts } = evidence
  if (facts.comparison === null) return true
  if (run.spec.noise.mode === 'single') return facts.tieBreak?.better ?? true
  record.step('confirm', 'began')
  const sample = await sampleOnce(trial, { stage: 'confirm', pair: 0, side: 'candidate' })
  if (!accept(trial, sample) || !constraintsHold(trial)) return false
  const same = isSameValue(sample.value, facts.value)
  if (!same && run.spec.noise.mode === 'auto') {
    evidence.varied = differs(node.id, facts.value, sample.value)
    record.step('confirm', 'ended', { varied: evidence.varied })
    return 'varied'
  }
  facts.confirm = {
    ...facts.comparison,
    ...(same ? {} : { outcome: 'inconclusive' as const }),
    inputs: { ...facts.comparison.inputs, first: facts.value, again: sample.value },
  }
  record.step('confirm', 'ended', facts.confirm)
  const parent = run.ledger.state.experiments.get(node.parent ?? '')
  if (!same && parent && !(await parentHeld(trial, parent))) return false
  if (facts.tieBreak && parent) facts.tieBreak = tieOnce(trial, parent)
  return same && (facts.tieBreak?.better ?? true)
}

/** Two samples of the candidate differ: if its parent gives another value than before as well, it is not the candidate that varies. */
async function parentHeld(trial: Trial, parent: Experiment): Promise<boolean> {
  const { record, source, evidence } = trial
  const isAsked = record.decided('asked').some(({ because }) => because === null)
  // Records of earlier releases have no such sample.
  if (!isAsked && source.machine() === null) return true
  if (!isAsked) record.decide({ is: 'asked', asked: parent.id, because: null })
  const sample = await sampleOfOther(trial, parent, { stage: 'confirm', pair: 0 })
  if (sample === null) return false
  evidence.others.push(sample)
  const moved = valueMoved(parent, sample, null)
  return moved === null || movedFault(trial, moved)
}

const differs = (experiment: string, before: number | null, now: number | null): string =>
  `${experiment} gave ${before}, then ${now}`

type Gates = () => Promise<boolean>

/** False when a check failed, or when there is no answer. */
export async function compareTrial(trial: Trial, gatesAfter: Gates): Promise<boolean> {
  if (modeOf(trial) === 'paired') return compareInPairs(trial, gatesAfter)
  const once = await compareOnce(trial, gatesAfter)
  if (once !== 'varied')
    return (
      once &&
      (await protectedInPairs(trial)) &&
      (await protectedSinceBaseline(trial)) &&
      (!mayBeFinished(trial) || heldOut(trial))
    )
  // Samples that were taken under the refuted assumption prove nothing.
  const { evidence } = trial
  Object.assign(evidence, { samples: [], others: [], parentHere: null })
  const gates = evidence.facts.gates.filter(({ phase }) => phase === 'before')
  Object.assign(evidence.facts, { gates, value: null, comparison: null, tieBreak: null, confirm: null })
  return compareInPairs(trial, gatesAfter)
}

/** The mode from when the measurement began, also in a process that resumes the attempt. */
export function modeOf({ run, record }: Pick<Trial, 'run' | 'record'>): NoiseMode {
  const [known] = record.decided('mode')
  if (known) return known.mode
  const { mode } = run.ledger.state.noise
  record.decide({ is: 'mode', mode })
  return mode
}

async function compareInPairs(trial: Trial, gatesAfter: Gates): Promise<boolean> {
  const { facts } = trial.evidence
  const parent = trial.node.parent ?? ''
  if (!(await placeOther(trial, parent))) return false
  const judged = await runPairs(trial, 'judge', parent)
  if (!judged) return false
  facts.comparison = judged.comparison
  facts.value = judged.score
  const tie = judged.comparison.outcome === 'tie'
  if (tie) facts.tieBreak = tieInPairs(trial, judged)
  if (!constraintsHold(trial)) return false
  const promising = judged.comparison.outcome === 'improved' || (facts.tieBreak?.better ?? false)
  if (!promising || !(await gatesAfter())) return false
  const confirmed = await runPairs(trial, 'confirm', parent)
  if (!confirmed) return false
  facts.confirm = confirmed.comparison
  // The first estimate was selected because it was good; the fresh one was not.
  facts.value = confirmed.score
  const { outcome } = confirmed.comparison
  const stands = outcome === 'improved' || (tie && outcome === 'tie')
  trial.evidence.doubt = stands ? doubtOn(trial.run, [judged, confirmed]) : null
  return (
    stands &&
    constraintsHold(trial) &&
    protectedHold(trial, [judged, confirmed]) &&
    (await protectedSinceBaseline(trial)) &&
    compareWithBest(trial)
  )
}

/** Compares the candidate with the best of the run, only when its score says that it could be better. */
async function compareWithBest(trial: Trial): Promise<boolean> {
  const { node, evidence, record } = trial
  await trial.run.news?.()
  const { best, could } = bestToBeat(trial)
  if (best === null || best === node.parent) return heldOut(trial)
  if (!could) return !mayBeFinished(trial) || heldOut(trial)
  const before = evidence.facts.faults.length
  const found = (await placeOther(trial, best)) && (await runPairs(trial, 'best', best))
  if (found && found.comparison.outcome === 'improved') return heldOut(trial)
  const { faults } = evidence.facts
  // If the best cannot be measured, that is not held against this candidate; an interruption gives no answer.
  evidence.facts.faults = faults.filter(
    ({ side, fault }, index) => index < before || side === 'candidate' || fault.reason === 'aborted',
  )
  if (evidence.facts.faults.length > 0) return false
  evidence.lostTo = best
  record.step('confirm', 'ended', { lost_to: best })
  return !bestToBeat(trial).instead || heldOut(trial)
}

/** Only what may be finished is measured on held-out data: each measurement there tells a little about them. */
function mayBeFinished(trial: Trial): boolean {
  const { could, instead = false } = bestToBeat(trial)
  return could || instead
}

/** The best as of the confirmation, also in a process that resumes the attempt. */
function bestToBeat(trial: Trial): DecisionOf<'rival'> {
  const { run, record } = trial
  const [known] = record.decided('rival')
  if (known) return known
  must(run.ledger.refresh())
  const found = {
    is: 'rival',
    best: bestOf(run.ledger.state)?.id ?? null,
    could: couldBeBest(trial),
    ...(trial.node.created.reduces ? { instead: true as const } : {}),
  } as const
  record.decide(found)
  return found
}

function couldBeBest({ run, evidence }: Trial): boolean {
  const best = bestOf(run.ledger.state)
  const value = best && nodeValue(best)
  const score = evidence.facts.value
  if (value === null || score === null) return true
  return betterBy(run.spec.metric.direction, score, value) > 0
}
