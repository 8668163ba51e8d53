/** Whether a gain is to be doubted: it shows on no clock of Assay's, or the other side is not what it was. */
import { doubt } from '../evaluate/plausible.ts'
import { differsBySide } from '../evaluate/sides.ts'
import { BASELINE } from '../ledger/state.ts'
import type { OpenRun } from '../run/open.ts'
import type { StageAnswer } from './pairs.ts'
import { recordedSamples } from './samples.ts'

/** A sentence for a gain in these stages, over one other node, that is to be doubted; else null. */
export function doubtOn(run: OpenRun, stages: readonly StageAnswer[]): string | null {
  const { spec } = run
  const { name, direction } = spec.metric
  const pairs = stages.flatMap(({ candidate, other }) =>
    candidate.flatMap((sample, pair) => {
      const parent = other[pair]
      return parent ? [{ candidate: sample, parent }] : []
    }),
  )
  const unit = pairs[0]?.candidate.units[name] ?? spec.metric.unit ?? null
  // The spec of a run that an earlier version began says nothing of isolation.
  const asBefore = spec.measure.isolation === undefined
  return doubt({ direction, metricName: name, unit, asBefore, pairs }) ?? otherChanged(run, stages)
}

/** What it is compared with, now and in its own verdict of this epoch. The baseline is the user's, and has no sides. */
function otherChanged(run: OpenRun, stages: readonly StageAnswer[]): string | null {
  const [first] = stages
  const other = run.ledger.state.experiments.get(first?.comparison.against ?? '')
  const kept = other?.attempts.findLast(({ judged }) => judged?.status === 'kept')
  if (!first || !other || other.id === BASELINE || !kept || kept.claim?.epoch !== run.ledger.state.epoch)
    return null
  const own = recordedSamples(run, other.id, kept.attempt).filter(
    ({ side, stage }) => side === 'candidate' && (stage === 'judge' || stage === 'confirm'),
  )
  const { name } = run.spec.metric
  return differsBySide({
    experiment: other.id,
    metric: { name, unit: first.other[0]?.units[name] },
    asCandidate: own.flatMap(({ value }) => value ?? []),
    asParent: stages.flatMap((stage) => stage.other.flatMap(({ value }) => value ?? [])),
  })
}
