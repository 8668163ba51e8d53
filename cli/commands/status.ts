import { BASELINE } from '../ledger/state.ts'
import { plain } from '../report/text.ts'
import { ok, type Result } from '../result.ts'
import { type EditedSpec, editedSpec } from '../run/edited-spec.ts'
import type { Answer, Context, Parsed } from './command.ts'
import { type StatusData, statusOf, type Used } from './standing.ts'
import { theRun } from './verb.ts'
import { counted, figure, percent } from './words.ts'

export async function run(context: Context, args: Parsed): Promise<Result<Answer>> {
  const opened = theRun(context, args)
  if (!opened.ok) return opened
  const data = { ...statusOf(opened.value), spec: await editedSpec(opened.value) }
  return ok({ data, text: () => describe(data, opened.value.started.name) })
}

function describe(data: StatusData & { spec: EditedSpec | null }, name: string): string[] {
  const { metric, budget } = data
  const counts = Object.entries(data.counts).flatMap(([status, count]) =>
    count > 0 ? [`${count} ${status}`] : [],
  )
  return [
    `${data.run}  ${name}`,
    `  ${metric.name} (${metric.direction}${metric.target === null ? '' : `, target ${figure(metric.target)}`}): ${standing(data)}`,
    `  experiments: ${counts.join(', ')}`,
    `  budget: ${spent(budget.experiments, 'experiment')}, ${spent(budget.hours, 'hour')}, ${spent(budget.failures, 'failure')}`,
    `  loop: ${data.driver ? `${data.driver.name} drives it (pid ${data.driver.pid})` : 'no driver'}${data.round === null ? '' : `, round ${data.round}`}${data.stop ? `; it would stop: ${data.stop}${data.stop_cause ? ` (${plain(data.stop_cause, 300)})` : ''}` : ''}`,
    ...doubts(data),
    ...specLines(data.spec),
  ]
}

function standing(data: StatusData): string {
  const { baseline, best } = data
  if (!best)
    return `no baseline yet; build the benchmark (assay path ${BASELINE}), then assay run ${BASELINE}`
  const first = `${figure(baseline.value)} at the baseline`
  return best.experiment === baseline.experiment
    ? `${first}, nothing better yet`
    : `${first}, ${figure(best.value)} at ${best.experiment}${gain(data)}`
}

function doubts({ epoch, outdated, flagged, notes }: StatusData): string[] {
  return [
    ...(epoch === 1 && outdated === 0
      ? []
      : [`  epoch ${epoch}: ${outdated} kept in earlier ones wait for assay confirm ID`]),
    ...(flagged.length === 0
      ? []
      : [`  flagged by an audit: ${flagged.join(', ')}; measure again: assay confirm ${flagged[0]}`]),
    ...(notes === 0 ? [] : [`  notes: ${notes}, see assay note`]),
  ]
}

function specLines(spec: EditedSpec | null): string[] {
  if (!spec) return []
  const what = {
    edited: `was edited since init (${[...spec.frozen, ...spec.knobs.map(({ path }) => path), ...spec.other].join(', ')}); that changes nothing by itself`,
    invalid: 'was edited since init and does not hold now; the run goes on with what it began with',
    missing: 'is gone; the run goes on with what it began with',
  }[spec.state]
  return [`  ${plain(spec.file, 200)} ${what}`, `    ${plain(spec.hint, 300)}`]
}

function gain({ metric, baseline, best }: StatusData): string {
  if (!best || best.value === null || baseline.value === null || baseline.value === 0) return ''
  const better = metric.direction === 'minimize' ? baseline.value - best.value : best.value - baseline.value
  return ` (${percent(better / Math.abs(baseline.value))})`
}

const spent = ({ used, limit }: Used, what: string): string =>
  limit === null ? counted(used, what) : `${figure(used)} of ${counted(limit, what)}`
