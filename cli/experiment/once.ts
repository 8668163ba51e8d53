/** The comparison without noise: one sample says no, and a would-be keep is measured once more. */
import { breakTie, compareDeterministic } from '../evaluate/compare.ts'
import { isCandidates } from '../evaluate/crowd.ts'
import type { Judged, Sample } from '../ledger/events.ts'
import { lastJudged, nodeValue } from '../ledger/state.ts'
import { constraintsHold } from './guards.ts'
import { steadyBreakers } from './ties.ts'
import { accept, fault, placeOther, sampleOnce, type Trial } from './trial.ts'

/** `varied`: the metric does vary, so all this proves nothing. */
export async function weighOnce(
  trial: Trial,
  gatesAfter: () => Promise<boolean>,
): Promise<boolean | 'varied'> {
  const { facts } = trial.evidence
  const sample = await sampleOnce(trial, { stage: 'judge', pair: 0, side: 'candidate' })
  if (!accept(trial, sample)) return blame(trial, sample)
  facts.value = sample.value
  const holds = constraintsHold(trial)
  if (facts.constraints.some(isCandidates)) return false
  // What only a crowd violates counts against nobody, so whether it is better has to be known.
  if (!comparison(trial) || !holds || !(await gatesAfter())) return false
  return confirm(trial)
}

/** A fault is the candidate's only if its unchanged parent works here and now: else the machine is to blame. */
async function blame(trial: Trial, { fault: found }: Sample): Promise<false> {
  const { run, node, evidence } = trial
  if (!found || found.reason === 'aborted' || found.reason === 'environment') return false
  const parent = node.parent ?? ''
  if (!(await placeOther(trial, parent))) return false
  const sample = await sampleOnce(trial, { stage: 'judge', pair: 0, side: 'parent' })
  if (sample.fault) return fault(trial, sample.fault, 'parent')
  const recorded = run.ledger.state.experiments.get(parent)?.value ?? null
  if (sample.value !== recorded && run.spec.noise.mode === 'auto')
    evidence.varied = differs(parent, recorded, sample.value)
  return false
}

/** The parent's value is known: it was measured, and measured again, when it was kept. */
function comparison(trial: Trial): boolean {
  const { run, node, evidence, record } = trial
  const { facts } = evidence
  const parent = node.parent ? run.ledger.state.experiments.get(node.parent) : undefined
  const judged = parent && lastJudged(parent)
  // A confirmation in a later epoch replaces the value of the verdict.
  const other = parent ? nodeValue(parent) : null
  if (facts.value === null || !judged || other === null) throw new Error('a comparison needs two values')
  facts.comparison = compareDeterministic({
    direction: run.spec.metric.direction,
    value: facts.value,
    other,
    against: judged.experiment,
    minImprovement: run.spec.metric.min_improvement,
  })
  if (facts.comparison.outcome === 'tie') {
    facts.tieBreak = tieOnce(trial, judged)
  }
  record.step('comparison', 'ended', { comparison: facts.comparison, tie_break: facts.tieBreak })
  return facts.comparison.outcome === 'improved' || (facts.tieBreak?.better ?? false)
}

/** By what has not varied yet: the rest would be decided by chance. */
const tieOnce = ({ run, evidence: { samples } }: Trial, { metrics }: Judged) =>
  breakTie(steadyBreakers(run, samples), samples[0]?.metrics ?? {}, metrics)

/** That the metric does not vary is a hypothesis: a would-be keep must say the same twice. */
async function confirm(trial: Trial): Promise<boolean | 'varied'> {
  const { run, node, evidence, record } = trial
  const { facts } = evidence
  if (facts.comparison === null) return true
  record.step('confirm', 'began')
  const sample = await sampleOnce(trial, { stage: 'confirm', pair: 0, side: 'candidate' })
  if (!accept(trial, sample) || !constraintsHold(trial)) return false
  const same = sample.value === facts.value
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
  const judged = parent && lastJudged(parent)
  if (facts.tieBreak && judged) facts.tieBreak = tieOnce(trial, judged)
  return same && (facts.tieBreak?.better ?? true)
}

const differs = (experiment: string, before: number | null, now: number | null): string =>
  `${experiment} gave ${before}, then ${now}`
