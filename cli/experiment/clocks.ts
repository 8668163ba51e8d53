/** Whether a gain in time shows on Assay's own clocks. */
import { doubt } from '../evaluate/plausible.ts'
import type { OpenRun } from '../run/open.ts'
import type { StageAnswer } from './pairs.ts'

/** A sentence for a gain that no clock of Assay's shows in these stages, else null. */
export function doubtOn({ spec }: OpenRun, stages: readonly StageAnswer[]): string | null {
  const { name, direction } = spec.metric
  const pairs = stages.flatMap(({ candidate, other }) =>
    candidate.flatMap((sample, pair) => {
      const parent = other[pair]
      return parent ? [{ candidate: sample, parent }] : []
    }),
  )
  return doubt({ direction, metricName: name, unit: pairs[0]?.candidate.units[name] ?? null, pairs })
}
