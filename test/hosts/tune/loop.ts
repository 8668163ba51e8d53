import { proposeStep, type TuneTrial } from '../../../cli/hosts/tune/propose.ts'
import type { Range } from '../../../cli/hosts/tune/space.ts'

export interface Search {
  parameters: Range[]
  start: number[]
  /** Higher is better; null is a failed experiment. */
  score: (values: number[]) => number | null
  seed: number
  experiments: number
  width?: number
}

/** The loop in small: rounds of lanes on the best nodes, deeper after a keep, at most three deep. */
export function search({ parameters, start, score, seed, experiments, width = 2 }: Search): TuneTrial[] {
  const trials: TuneTrial[] = [trial('e0', null, null, null, null, start, score(start), 'kept')]
  for (let round = 1; trials.length <= experiments; round++) {
    const history = [...trials]
    const parents = history
      .filter((t) => t.status === 'kept')
      .sort((a, b) => (b.score ?? 0) - (a.score ?? 0))
      .slice(0, width)
    for (let lane = 1; lane <= width; lane++) {
      let parent = parents[(lane - 1) % parents.length] ?? trial('none', null, 0, 0, 0, start, null, 'kept')
      const own: TuneTrial[] = []
      for (let depth = 1; depth <= 3 && trials.length <= experiments; depth++) {
        const from = parent.values ?? start
        const values = proposeStep({
          parameters,
          parent: from,
          current: from,
          history,
          lane: own,
          seed,
          round,
          laneNumber: lane,
          depth,
        })
        if (values === null) return trials
        const value = score(values)
        const status =
          value === null ? 'failed' : value > (parent.score ?? Number.NEGATIVE_INFINITY) ? 'kept' : 'rejected'
        const made = trial(`e${trials.length}`, parent.experiment, round, lane, depth, values, value, status)
        trials.push(made)
        own.push(made)
        if (status !== 'kept') break
        parent = made
      }
    }
  }
  return trials
}

export function bestOf(trials: TuneTrial[]): number {
  return Math.max(...trials.flatMap((t) => t.score ?? []))
}

function trial(
  experiment: string,
  parent: string | null,
  round: number | null,
  lane: number | null,
  depth: number | null,
  values: number[],
  score: number | null,
  status: string,
): TuneTrial {
  return { experiment, parent, round, lane, depth, values, score, status }
}
