/** The chart of a run and the numbers under it: what `report` shows, and `loop` at its end. */
import { BASELINE, bestOf, better, nodeValue, pathTo, type State } from '../ledger/state.ts'
import { type ChartInput, chart } from '../report/chart.ts'
import { painter } from '../report/colour.ts'
import { type SummaryInput, summary } from '../report/summary.ts'
import type { OpenRun } from '../run/open.ts'
import { statusOf } from './standing.ts'

export async function chartLines(
  run: OpenRun,
  size: { width: number; height: number; colour: boolean },
): Promise<string[]> {
  const paint = await painter(size.colour)
  return [...chart(chartData(run), size), [], ...summary(summaryData(run), size.width)].map(paint)
}

export function chartData(run: OpenRun): ChartInput {
  const { state } = run.ledger
  const baseline = state.experiments.get(BASELINE)
  return {
    metric: run.started.metric,
    points: [...state.experiments.values()].map((node) => ({
      experiment: node.id,
      status: node.status,
      // Scores of different epochs do not belong in one picture.
      value: node.epoch === state.epoch ? nodeValue(node) : null,
    })),
    best: bestsInOrder(state),
    baseline: baseline ? nodeValue(baseline) : null,
  }
}

export function summaryData(run: OpenRun): SummaryInput {
  const { state } = run.ledger
  const { metric, counts, budget, stop } = statusOf(run)
  const best = bestOf(state)
  const path = best ? pathTo(state, best.id) : []
  return {
    metric,
    counts,
    budget,
    stop,
    path: path.map((node) => ({ experiment: node.id, value: nodeValue(node), hypothesis: node.hypothesis })),
  }
}

/** The experiments that were the best when they were judged, as far as they still stand. */
function bestsInOrder(state: State): string[] {
  const direction = state.run?.metric.direction ?? 'minimize'
  const standing = [...state.experiments.values()]
    .filter(
      ({ status, flagged, epoch }) =>
        (status === 'kept' || status === 'pruned') && !flagged && epoch === state.epoch,
    )
    .sort((a, b) => (a.judgedSeq ?? 0) - (b.judgedSeq ?? 0))
  const bests: string[] = []
  let best: number | null = null
  for (const node of standing) {
    const value = nodeValue(node)
    if (value === null || (best !== null && better(direction, value, best) <= 0)) continue
    best = value
    bests.push(node.id)
  }
  return bests
}
