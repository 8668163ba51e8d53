/** Everything that `report` tells of a run, as data. */
import { gainOf } from '../evaluate/figure.ts'
import { bestOf, bestsInOrder } from '../ledger/best.ts'
import { BASELINE, type Experiment, failureClassOf, lastJudged, severalParents } from '../ledger/state.ts'
import { learningsOf } from '../loop/open.ts'
import { liveSpec, type OpenRun } from '../run/open.ts'
import { plain } from '../text.ts'
import { attributionOfBest } from './attribution.ts'
import { armsOf, bestPath, leftOf, pointOf, runDuration, spendOf, stepData } from './chart.ts'
import { jobsDone, queuedSeconds } from './jobs.ts'
import { judgedItems } from './judging.ts'
import { type ListPart, partOf } from './node.ts'
import { predictionsOf } from './predictions.ts'
import { statusOf } from './run.ts'

export type ReportData = ReturnType<typeof reportData>

/** Experiments in parts; of the other lists the newest, with the number of those that are left out. `part`: all when it is absent. */
export function reportData(run: OpenRun, part: ListPart = { limit: Number.POSITIVE_INFINITY, after: null }) {
  const { state } = run.ledger
  const left: Record<string, number> = {}
  const newest = <T>(name: string, list: readonly T[]): T[] => {
    const more = Math.max(0, list.length - part.limit)
    if (more > 0) left[name] = more
    return list.slice(more)
  }
  const all = [...state.experiments.values()]
  const { nodes, next } = partOf(all, part)
  const status = statusOf(run)
  const bests = bestsInOrder(state).map(({ id }) => id)
  const best = bestOf(state)
  const judged = best && lastJudged(best)
  const path = bestPath(state)
  const attribution = attributionOfBest(state)
  const measured = jobsDone(state)
  const predictions = predictionsOf(state, run.started.metric.direction)
  const { repairable, retests, ...others } = leftOf(run)
  return {
    ...status,
    /** Those that became the best, in order. */
    bests: newest('bests', bests),
    points: nodes.map(pointOf),
    name: run.started.name,
    goal: liveSpec(run).goal,
    path: newest('path', path).map(stepData),
    gain: gainOf(status.baseline.value, status.best?.value ?? null, run.started.metric.direction),
    /** Of the best's own comparison: signed, in metric units, against `against`. */
    interval: best?.id === BASELINE ? null : (judged?.interval ?? null),
    against: judged?.against ?? null,
    improvements: newest(
      'improvements',
      path.slice(1).map((step, index) => ({ step, from: path[index]?.value ?? null })),
    ).map(({ step, from }) => ({
      ...stepData(step),
      from,
      gain: gainOf(from, step.value, run.started.metric.direction),
    })),
    duration: runDuration(run),
    spend: spendOf(run),
    arms: armsOf(state),
    left: { repairable: newest('repairable', repairable), retests: newest('retests', retests), ...others },
    experiments: nodes.map((node) => rowOf(run, node)),
    learnings: newest('learnings', learningsOf(state)),
    /** Absent when no attempt was measured by a job. */
    ...(measured && { measured_by_jobs: measured }),
    /** Of the best, if its parts were tested. */
    ...(attribution && { attribution }),
    ...(status.judging && { judged_items: judgedItems(run) }),
    ...(predictions.length === 0 ? {} : { predictions }),
    notes: newest('notes', [...state.notes]).map(({ kind, experiment, text, at }) => ({
      kind,
      experiment,
      text,
      at,
    })),
    /** Behind which experiment the next part begins; absent when this is the last one. */
    ...(next && { next }),
    /** How many older entries of a list are left out; absent when none are. */
    ...(Object.keys(left).length > 0 && { more: left }),
  }
}

function rowOf(run: OpenRun, node: Experiment) {
  const judged = lastJudged(node)
  const { round, lane, depth } = node.created
  return {
    run: run.run,
    experiment: node.id,
    parent: node.parent,
    ...severalParents(node),
    status: node.status,
    reason: judged?.reason ?? null,
    failure_class: failureClassOf(node),
    epoch: node.epoch,
    round,
    lane,
    depth,
    value: node.value,
    parent_value: judged?.parent_value ?? null,
    improvement: judged?.improvement ?? null,
    improvement_abs: judged?.improvement_abs ?? null,
    interval_low: judged?.interval?.[0] ?? null,
    interval_high: judged?.interval?.[1] ?? null,
    samples: judged?.samples ?? null,
    attempts: node.attempts.length,
    ...jobOf(node),
    created: node.created.at,
    judged: judged?.at ?? null,
    hypothesis: node.hypothesis,
  }
}

/** On which machine its last attempt was measured, and how long that was queued; nothing for one without a job. */
function jobOf({ attempts }: Experiment): { node?: string | null; queued_seconds?: number | null } {
  const last = attempts.findLast(({ job }) => job !== undefined)
  return last ? { node: last.job?.placed?.node ?? null, queued_seconds: queuedSeconds(last) } : {}
}

const COLUMNS = [
  'run',
  'experiment',
  'parent',
  'status',
  'reason',
  'failure_class',
  'epoch',
  'round',
  'lane',
  'depth',
  'value',
  'parent_value',
  'improvement',
  'improvement_abs',
  'interval_low',
  'interval_high',
  'samples',
  'attempts',
  'created',
  'judged',
  'hypothesis',
] as const satisfies readonly (keyof ReturnType<typeof rowOf>)[]

export function reportCsv(reports: readonly ReportData[]): string {
  const rows = reports.flatMap(({ experiments }) =>
    experiments.map((row) =>
      COLUMNS.map((column): CsvValue => {
        // A cell holds them all.
        const value = column === 'parent' ? (row.parents?.join(' ') ?? row.parent) : row[column]
        return typeof value === 'string' ? plain(value) : value
      }),
    ),
  )
  return csv(COLUMNS, rows)
}

// ---------------------------------------------------------------- tables for other programs (RFC 4180), one line a row

export type CsvValue = string | number | boolean | null

/** Unknown is an empty cell. Text that a spreadsheet would take for a formula gets an apostrophe in front. */
function csv(columns: readonly string[], rows: readonly (readonly CsvValue[])[]): string {
  return [columns, ...rows].map((row) => `${row.map(cellOf).join(',')}\n`).join('')
}

function cellOf(value: CsvValue): string {
  if (value === null) return ''
  if (typeof value !== 'string') return String(value)
  const text = /^[=+\-@\t\r]/.test(value) ? `'${value}` : value
  return /[",\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}
