/** The chart of a run and the numbers under it: what `report` shows, and `loop` at its end. */
import { bestOf, bestsInOrder } from '../ledger/best.ts'
import { BASELINE, lastJudged, nodeValue, pathTo, type State } from '../ledger/state.ts'
import { type ChartInput, type ChartPoint, chart } from '../report/chart.ts'
import { painter } from '../report/colour.ts'
import { type PathStep, type SummaryInput, summary } from '../report/summary.ts'
import type { Line } from '../report/view.ts'
import type { OpenRun } from '../run/open.ts'
import { armsOf } from './report-arms.ts'
import { durationOf, leftOf, spendOf } from './report-facts.ts'
import { statusOf } from './standing.ts'

export async function chartLines(
  run: OpenRun,
  size: { width: number; height: number; colour: boolean },
): Promise<string[]> {
  const paint = await painter(size.colour)
  return chartView(run, size).map(paint)
}

export function chartView(run: OpenRun, size: { width: number; height: number }): Line[] {
  return [...chart(chartInput(run), size), [], ...summary(summaryData(run), size.width)]
}

export interface EpochPoint extends ChartPoint {
  epoch: number
}

export interface ChartData extends ChartInput {
  points: readonly EpochPoint[]
  epoch: number
}

/** All experiments, also those whose scores belong to an earlier epoch. */
export function chartData(run: OpenRun): ChartData {
  const { state } = run.ledger
  const baseline = state.experiments.get(BASELINE)
  return {
    metric: run.started.metric,
    epoch: state.epoch,
    points: [...state.experiments.values()].map((node) => ({
      experiment: node.id,
      status: node.status,
      value: nodeValue(node),
      epoch: node.epoch,
    })),
    best: bestsInOrder(state).map(({ id }) => id),
    baseline: baseline && baseline.epoch === state.epoch ? nodeValue(baseline) : null,
  }
}

/** Scores of different epochs never stand on one axis. */
function chartInput(run: OpenRun): ChartInput {
  const data = chartData(run)
  const points = data.points.filter(({ epoch }) => epoch === data.epoch)
  return { ...data, points, earlier: data.points.length - points.length }
}

/** From the baseline to the best; a value of another epoch is null: it says nothing here. */
export function bestPath(state: State): PathStep[] {
  const best = bestOf(state)
  return (best ? pathTo(state, best.id) : []).map((node) => ({
    experiment: node.id,
    value: node.epoch === state.epoch ? nodeValue(node) : null,
    interval: lastJudged(node)?.interval ?? null,
    hypothesis: node.hypothesis,
  }))
}

export function summaryData(run: OpenRun): SummaryInput {
  const { metric, counts, budget, stop, stop_cause } = statusOf(run)
  const { ms, active_ms } = durationOf(run)
  const { repairable, retests, ideas } = leftOf(run)
  return {
    metric,
    counts,
    budget,
    stop,
    stop_cause,
    path: bestPath(run.ledger.state),
    duration: { ms, active_ms },
    spend: spendOf(run),
    arms: armsOf(run.ledger.state),
    left: { repairable: repairable.length, retests: retests.length, ideas: ideas.length },
  }
}
