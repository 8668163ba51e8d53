/** The candidate against its parent, then what else a keep must hold: as the noise of the metric asks. */
import { bestOf, better } from '../ledger/best.ts'
import { nodeValue } from '../ledger/state.ts'
import { constraintsHold, protectedHold, protectedInPairs } from './guards.ts'
import { heldOut } from './holdout.ts'
import { weighOnce } from './once.ts'
import { runPairs } from './pairs.ts'
import { tieInPairs } from './ties.ts'
import { must, placeOther, type Trial } from './trial.ts'

type Gates = () => Promise<boolean>

/** False when something speaks against the candidate, or nothing can be said of it. */
export async function weigh(trial: Trial, gatesAfter: Gates): Promise<boolean> {
  if (trial.run.ledger.state.noise.mode === 'paired') return weighInPairs(trial, gatesAfter)
  const once = await weighOnce(trial, gatesAfter)
  if (once !== 'varied')
    return once && (await protectedInPairs(trial)) && (!couldBeBest(trial) || heldOut(trial))
  // What was measured under the assumption that just fell proves nothing.
  const { evidence } = trial
  evidence.samples = []
  Object.assign(evidence.facts, { value: null, comparison: null, tieBreak: null, confirm: null })
  return weighInPairs(trial, gatesAfter)
}

async function weighInPairs(trial: Trial, gatesAfter: Gates): Promise<boolean> {
  const { facts } = trial.evidence
  const parent = await placeOther(trial, trial.node.parent ?? '')
  if (!parent) return false
  const judged = await runPairs(trial, 'judge', parent)
  if (!judged) return false
  facts.comparison = judged.comparison
  facts.value = judged.score
  if (!constraintsHold(trial)) return false
  const tie = judged.comparison.outcome === 'tie'
  if (tie) facts.tieBreak = tieInPairs(trial, judged)
  const promising = judged.comparison.outcome === 'improved' || (facts.tieBreak?.better ?? false)
  if (!promising || !(await gatesAfter())) return false
  const confirmed = await runPairs(trial, 'confirm', parent)
  if (!confirmed) return false
  facts.confirm = confirmed.comparison
  // The first estimate was selected for being good; the fresh one was not.
  facts.value = confirmed.score
  const { outcome } = confirmed.comparison
  const stands = outcome === 'improved' || (tie && outcome === 'tie')
  return stands && constraintsHold(trial) && protectedHold(trial, [judged, confirmed]) && contest(trial)
}

/** Better than its parent is one thing, best of the run another: measured only when its score says that it could be. */
async function contest(trial: Trial): Promise<boolean> {
  const { run, node, evidence } = trial
  must(run.ledger.refresh())
  const best = bestOf(run.ledger.state)
  if (!best || best.id === node.parent) return heldOut(trial)
  if (!couldBeBest(trial)) return true
  const other = await placeOther(trial, best.id)
  const found = other && (await runPairs(trial, 'best', other))
  if (found?.comparison.outcome === 'improved') return heldOut(trial)
  evidence.lostTo = best.id
  // That the best cannot be measured is no fault of this one.
  evidence.facts.faults = evidence.facts.faults.filter(({ side }) => side === 'candidate')
  return evidence.facts.faults.length === 0
}

function couldBeBest({ run, evidence }: Trial): boolean {
  const best = bestOf(run.ledger.state)
  const value = best && nodeValue(best)
  const score = evidence.facts.value
  if (value === null || score === null) return true
  return better(run.spec.metric.direction, score, value) > 0
}
