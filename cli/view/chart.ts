/** What the chart of a run and the numbers under it are made of. */

import { parkedIdeas, runnableIdeas } from '../ledger/backlog.ts'
import { bestAmong, bestOf, bestsInOrder } from '../ledger/best.ts'
import type { Direction, Status, StopReason } from '../ledger/events.ts'
import {
  BASELINE,
  type Experiment,
  lastJudged,
  type Numbered,
  type NumbersOf,
  nodeValue,
  pathTo,
  repairable,
  retestable,
  type State,
  select,
  withTraits,
} from '../ledger/state.ts'
import { waitingIdea } from '../loop/parked.ts'
import { prunesLeft } from '../loop/prunes.ts'
import type { OpenRun, RunRecord } from '../run/open.ts'
import { attributionOfBest } from './attribution.ts'
import { jobsDone, jobsText } from './jobs.ts'
import { type PredictionRow, predictionsOf } from './predictions.ts'
import { statusOf } from './run.ts'

// ---------------------------------------------------------------- what a run took, and what it leaves

/** First to last event of the ledger; `active` is what the driver, or judging by hand, took of it. */
export function runDuration({ started, ledger: { state } }: OpenRun) {
  const last = state.lastAt ?? started.at
  return {
    first: started.at,
    last,
    ms: Math.max(0, Date.parse(last) - Date.parse(started.at)),
    active_ms: state.activeMs,
  }
}

/** Of the calls that told what they cost; `at_least` when some did not. */
export function spendOf({ ledger: { state } }: OpenRun) {
  const { calls, tokensIn, tokensOut, usd, unknown } = state.usage
  return {
    calls: calls - state.judge.calls,
    tokens_in: tokensIn,
    tokens_out: tokensOut,
    usd,
    at_least: unknown > 0,
  }
}

/** The work that could be continued. */
export function leftOf({ ledger: { state } }: OpenRun) {
  const parked = parkedIdeas(state)
  const prune = prunesLeft(state)
  return {
    ...(prune.length === 0 ? {} : { prune }),
    repairable: repairable(state).map(({ id }) => id),
    retests: retestable(state).map(({ id }) => id),
    ideas: runnableIdeas(state).map(({ hypothesis }) => hypothesis),
    ...(parked.length === 0 ? {} : { parked: parked.map(waitingIdea) }),
  }
}

// ----------------------------------------------------------------
// Whether the search helped: its lanes beside those that tried from the baseline, per experiment that was
// judged.

/** The search, compared with attempts that knew nothing about it. Values are in metric units; null when nothing was kept. */
export interface Arms {
  baseline: { experiments: number; best: number | null }
  /** `best_at_same`: after as many experiments as the baseline arm had; null when it had fewer, or kept none. */
  search: { experiments: number; best: number | null; best_at_same: number | null }
}

/** null without a baseline arm. What people opened belongs to neither. */
export function armsOf(state: State): Arms | null {
  // Few runs have one, and what follows reads the attempts of all.
  if (!withTraits(state, ({ special }) => special).some(({ created }) => created.arm === 'baseline'))
    return null
  const lanes = [...state.experiments.values()]
    .filter(({ created, judgedSeq }) => created.lane !== null && judgedSeq !== null)
    // What was rejected free of charge took no part of the budget.
    .filter(({ attempts }) => attempts.some(({ claim }) => claim !== null))
    .sort((a, b) => (a.judgedSeq ?? 0) - (b.judgedSeq ?? 0))
  const arm = lanes.filter(({ created }) => created.arm === 'baseline')
  if (arm.length === 0) return null
  const search = lanes.filter(({ created }) => created.arm === undefined)
  return {
    baseline: { experiments: arm.length, best: bestIn(state, arm) },
    search: {
      experiments: search.length,
      best: bestIn(state, search),
      best_at_same: search.length < arm.length ? null : bestIn(state, search.slice(0, arm.length)),
    },
  }
}

function bestIn(state: State, nodes: readonly Experiment[]): number | null {
  const best = bestAmong(state, nodes)
  return best && nodeValue(best)
}

export interface ChartPoint {
  experiment: string
  status: Status
  /** In metric units; null when there is none. */
  value: number | null
}

/** Points in the order of the experiments, one number of each in each column: there may be very many. */
export interface ChartColumns {
  /** In metric units; NaN when there is none. */
  values: Float64Array
  /** Places among `STATUSES`. */
  statuses: ArrayLike<number>
  /** At the ends of their ids; NaN when there is none. */
  numbers: Float64Array
}

export interface ChartInput {
  metric: { name: string; direction: Direction; unit?: string; target: number | null }
  points: ChartColumns
  /** Places among the points of those that became the best, in order; the baseline first. */
  best: readonly number[]
  baseline: number | null
  /** Experiments that are left out because their scores cannot be compared with these. */
  earlier?: number
}

export interface BudgetUsed {
  used: number
  /** null when there is none. */
  limit: number | null
  /** Some spending is not known. */
  at_least?: boolean
}

/** A node of the best path. */
export interface PathStep {
  experiment: string
  value: number | null
  hypothesis: string
  /** Of its improvement over what it was compared with, in metric units; null or absent when there is none. */
  interval?: readonly [number, number] | null
}

export interface SummaryInput {
  metric: { name: string; direction: Direction; unit?: string; target: number | null }
  counts: Readonly<Partial<Record<Status, number>>>
  /** From the baseline to the best, both included; only the baseline when nothing was better. */
  path: readonly PathStep[]
  budget: { experiments: BudgetUsed; hours: BudgetUsed; failures: BudgetUsed }
  stop: StopReason | null
  /** What the run has done so far. */
  stop_cause?: string | null
  /** First to last event, and what was worked of it. */
  duration?: { ms: number; active_ms: number }
  spend?: { calls: number; tokens_in: number; tokens_out: number; usd: number; at_least: boolean }
  /** With a baseline arm: what each arm came to. */
  arms?: Arms | null
  predictions?: readonly PredictionRow[]
  objections?: number
  /** Which parts of the best pay, in a sentence; null when they were not tested. */
  parts?: string | null
  /** Where jobs measured, in a sentence; null when none did. */
  jobs?: string | null
  /** How many experiments could be continued. */
  left?: { repairable: number; retests: number; ideas: number; prune?: number; parked?: number }
}

export interface EpochPoint extends ChartPoint {
  epoch: number
}

export const pointOf = ({ id, status, value, epoch }: Experiment): EpochPoint => ({
  ...{ experiment: id, status, value, epoch },
})

/** Of this epoch: scores of different epochs never stand on one axis. */
export function chartInput(run: Pick<RunRecord, 'started' | 'ledger'>): ChartInput {
  const { state } = run.ledger
  const baseline = state.experiments.get(BASELINE)
  const all = select(state, () => true)
  // In the first epoch there is no earlier one.
  const epochs = state.epoch === 1 ? null : all.numbers('epoch')
  const isShown = (_: unknown, at: number) => epochs?.[at] === state.epoch
  const column = <N extends Numbered>(of: N): NumbersOf<N> => {
    const numbers = all.numbers(of)
    return epochs ? (numbers.filter(isShown) as NumbersOf<N>) : numbers
  }
  const points = { values: column('value'), statuses: column('status'), numbers: column('number') }
  let count = 0
  const places = epochs?.map((epoch) => (epoch === state.epoch ? count++ : count))
  const best = bestsInOrder(state).map(({ id }) => all.indexOf(id))
  return {
    metric: run.started.metric,
    points,
    best: places ? best.map((at) => places[at] ?? -1) : best,
    baseline: baseline && baseline.epoch === state.epoch ? nodeValue(baseline) : null,
    earlier: all.length - points.values.length,
  }
}

/** From the baseline to the best; a value of another epoch is null: it says nothing here. */
export function bestPath(state: State): PathStep[] {
  const best = bestOf(state)
  return (best ? pathTo(state, best.id) : []).map(
    (node) => new Step(node, node.epoch === state.epoch ? nodeValue(node) : null),
  )
}

/** Its texts are read when it is shown: a path may be long. */
class Step implements PathStep {
  readonly #node: Experiment
  readonly experiment: string
  readonly value: number | null

  constructor(node: Experiment, value: number | null) {
    this.#node = node
    this.experiment = node.id
    this.value = value
  }

  get interval(): readonly [number, number] | null {
    return lastJudged(this.#node)?.interval ?? null
  }

  get hypothesis(): string {
    return this.#node.hypothesis
  }
}

/** A step as plain data. */
export const stepData = ({ experiment, value, interval = null, hypothesis }: PathStep) => ({
  ...{ experiment, value, interval, hypothesis },
})

export function summaryData(run: OpenRun): SummaryInput {
  const { metric, counts, budget, stop, stop_cause, objections = [] } = statusOf(run)
  const { ms, active_ms } = runDuration(run)
  const measured = jobsDone(run.ledger.state)
  const { repairable, retests, ideas, prune, parked } = leftOf(run)
  return {
    metric,
    counts,
    budget,
    stop,
    stop_cause,
    path: bestPath(run.ledger.state),
    duration: { ms, active_ms },
    jobs: measured && jobsText(measured),
    spend: spendOf(run),
    arms: armsOf(run.ledger.state),
    predictions: predictionsOf(run.ledger.state, metric.direction),
    objections: objections.length,
    parts: attributionOfBest(run.ledger.state)?.summary ?? null,
    left: {
      repairable: repairable.length,
      retests: retests.length,
      ideas: ideas.length,
      ...(prune === undefined ? {} : { prune: prune.length }),
      ...(parked === undefined ? {} : { parked: parked.length }),
    },
  }
}
