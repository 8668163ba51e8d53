/** The candidate against its parent, then what else a keep must hold: as the noise of the metric asks. */
import { bestOf, better } from '../ledger/best.ts'
import type { NoiseMode } from '../ledger/events.ts'
import { nodeValue } from '../ledger/state.ts'
import { doubtOn } from './clocks.ts'
import { constraintsHold, protectedHold, protectedInPairs } from './guards.ts'
import { heldOut } from './holdout.ts'
import { weighOnce } from './once.ts'
import { runPairs } from './pairs.ts'
import { tieInPairs } from './ties.ts'
import { must, placeOther, type Trial } from './trial.ts'

type Gates = () => Promise<boolean>

/** False when something speaks against the candidate, or nothing can be said of it. */
export async function weigh(trial: Trial, gatesAfter: Gates): Promise<boolean> {
  if (modeOf(trial) === 'paired') return weighInPairs(trial, gatesAfter)
  const once = await weighOnce(trial, gatesAfter)
  if (once !== 'varied')
    return once && (await protectedInPairs(trial)) && (!rival(trial).could || heldOut(trial))
  // What was measured under the assumption that just fell proves nothing.
  const { evidence } = trial
  evidence.samples = []
  const gates = evidence.facts.gates.filter(({ phase }) => phase === 'before')
  Object.assign(evidence.facts, { gates, value: null, comparison: null, tieBreak: null, confirm: null })
  return weighInPairs(trial, gatesAfter)
}

/** As it was when the measurement began, also for a process that takes the attempt up. */
function modeOf({ run, record }: Trial): NoiseMode {
  const known = record.details('measure').find((detail) => Object.hasOwn(Object(detail), 'mode'))
  if (known) return (known as { mode: NoiseMode }).mode
  const { mode } = run.ledger.state.noise
  record.step('measure', 'ended', { mode })
  return mode
}

async function weighInPairs(trial: Trial, gatesAfter: Gates): Promise<boolean> {
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
  // The first estimate was selected for being good; the fresh one was not.
  facts.value = confirmed.score
  const { outcome } = confirmed.comparison
  const stands = outcome === 'improved' || (tie && outcome === 'tie')
  trial.evidence.doubt = stands ? doubtOn(trial.run, [judged, confirmed]) : null
  return stands && constraintsHold(trial) && protectedHold(trial, [judged, confirmed]) && contest(trial)
}

/** Better than its parent is one thing, best of the run another: measured only when its score says that it could be. */
async function contest(trial: Trial): Promise<boolean> {
  const { node, evidence, record } = trial
  const { best, could } = rival(trial)
  if (best === null || best === node.parent) return heldOut(trial)
  if (!could) return true
  const before = evidence.facts.faults.length
  const found = (await placeOther(trial, best)) && (await runPairs(trial, 'best', best))
  if (found && found.comparison.outcome === 'improved') return heldOut(trial)
  const { faults } = evidence.facts
  // That the best cannot be measured is no fault of this one; an interruption is no answer.
  evidence.facts.faults = faults.filter(
    ({ side, fault }, index) => index < before || side === 'candidate' || fault.reason === 'aborted',
  )
  if (evidence.facts.faults.length > 0) return false
  evidence.lostTo = best
  record.step('confirm', 'ended', { lost_to: best })
  return true
}

interface Rival {
  best: string | null
  /** Whether the score says that it could be better than the best. */
  could: boolean
}

/** As of the confirmation, also for a process that takes the attempt up. */
function rival(trial: Trial): Rival {
  const { run, record } = trial
  const known = record.details('confirm').find((detail) => Object.hasOwn(Object(detail), 'could'))
  if (known) return known as Rival
  must(run.ledger.refresh())
  const found = { best: bestOf(run.ledger.state)?.id ?? null, could: couldBeBest(trial) }
  record.step('confirm', 'ended', found)
  return found
}

function couldBeBest({ run, evidence }: Trial): boolean {
  const best = bestOf(run.ledger.state)
  const value = best && nodeValue(best)
  const score = evidence.facts.value
  if (value === null || score === null) return true
  return better(run.spec.metric.direction, score, value) > 0
}
