/** The chart of a run and the numbers under it: what `report` shows, and `loop` at its end. */
import { tainted } from '../ledger/ancestry.ts'
import { bestOf, better } from '../ledger/best.ts'
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
    best: bestsInOrder(state),
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

/** The experiments that were the best when they were judged, as far as they still stand; the baseline first. */
function bestsInOrder(state: State): string[] {
  const direction = state.run?.metric.direction ?? 'minimize'
  const bad = tainted(state)
  // A node of an earlier epoch that was measured again keeps the place of its verdict, before the new baseline's.
  const place = (id: string, seq: number | null) => (id === BASELINE ? -1 : (seq ?? 0))
  const standing = [...state.experiments.values()]
    .filter(({ status, flagged }) => (status === 'kept' || status === 'pruned') && !flagged)
    .filter(({ id, epoch }) => epoch === state.epoch && !bad.has(id))
    .sort((a, b) => place(a.id, a.judgedSeq) - place(b.id, b.judgedSeq))
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
