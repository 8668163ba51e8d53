/**
 * Reads a benchmark's answer. Every value is read or loudly refused with the raw line and the reason: a number that
 * was guessed would be judged. Zero and negatives are values; what is not known is a fault, never 0.
 */
import type { Sample, SampleFault, TaskScore } from '../ledger/events.ts'
import { readJsonObject } from './json.ts'
import type { ParsedLines } from './lines.ts'
import { readValue } from './number.ts'
import { type ResultObject, readFlatObject, readResultObject } from './result-object.ts'
import type { Aggregate } from './stats.ts'
import { disagrees, valueOfTasks } from './task-scores.ts'

export type { Aggregate } from './stats.ts'

/** Where the answer is looked for. `auto` = result file, then METRIC lines, then the last JSON line. */
export type Read = 'auto' | 'result-file' | 'lines' | 'json' | { regex: string }

export interface Answer {
  /** The primary metric; `metrics` has it too. */
  value: number
  metrics: Record<string, number | boolean>
  units: Record<string, string>
  tasks: Record<string, TaskScore> | null
  artifacts: Record<string, string> | null
}
export type ReadAnswer = { ok: true; answer: Answer } | { ok: false; fault: SampleFault }

export interface Evidence {
  read: Read
  metric: { name: string }
  /** Makes the value from the tasks' scores when the primary metric itself is missing. */
  aggregate: Aggregate
  /** Text of the result file, null when there is none. */
  resultFile: string | null
  /** Of stdout. */
  lines: ParsedLines
  /** Metrics that Assay itself records: the answer when the primary metric is one and nothing else names it. */
  recorded?: Record<string, number>
  /** Names of metrics that were printed where they do not count (stderr). */
  elsewhere?: string[]
}

/** One source: null = it has nothing to say. */
type Source = (Omit<Answer, 'value'> & { value: number | boolean | undefined }) | SampleFault | null

export function readAnswer(evidence: Evidence): ReadAnswer {
  const { read, metric, aggregate: how } = evidence
  const sources =
    typeof read === 'object'
      ? [fromMatches]
      : {
          auto: [fromFile, fromLines, fromJson],
          'result-file': [fromFile],
          lines: [fromLines],
          json: [fromJson],
        }[read]
  /** Of all sources until now; what an earlier one said stands. */
  let seen: Omit<Answer, 'value'> = { metrics: {}, units: {}, tasks: null, artifacts: null }
  for (const source of sources) {
    const found = source(evidence)
    if (found === null) continue
    if ('reason' in found) return { ok: false, fault: found }
    const twice = source === fromFile && read === 'auto' ? saidTwice(found.metrics, evidence.lines) : null
    if (twice) return twice
    seen = {
      metrics: { ...found.metrics, ...seen.metrics },
      units: { ...found.units, ...seen.units },
      tasks: seen.tasks ?? found.tasks,
      artifacts: seen.artifacts ?? found.artifacts,
    }
    if (found.value === undefined) continue
    if (typeof found.value === 'boolean')
      return refuse(`${metric.name} is ${found.value}: the metric that is optimised must be a number`)
    const disagreement = seen.tasks && disagrees(metric.name, found.value, seen.tasks, how)
    return disagreement ? refuse(disagreement) : { ok: true, answer: { ...seen, value: found.value } }
  }
  const value = seen.tasks
    ? valueOfTasks(metric.name, seen.tasks, how)
    : own(evidence.recorded ?? {}, metric.name)
  if (value === undefined) return missing(evidence, Object.keys(seen.metrics))
  if (typeof value === 'string') return refuse(value)
  return { ok: true, answer: { ...seen, metrics: { ...seen.metrics, [metric.name]: value }, value } }
}

/** A child of the benchmark can write the file as well; so what both say must be one thing. */
function saidTwice(metrics: Answer['metrics'], { metrics: lines }: ParsedLines): ReadAnswer | null {
  for (const [name, value] of Object.entries(metrics)) {
    const line = lines.get(name)
    if (line === undefined || line.value === value) continue
    return refuse(
      `the result file says ${name} = ${value}, a METRIC line ${line.value}: say it once, or set measure.read`,
      line.raw,
    )
  }
  return null
}

function fromFile({ resultFile, metric }: Evidence): Source {
  if (resultFile === null) return null
  const json = readJsonObject(resultFile)
  if (!json.ok) return fault(`the result file cannot be read: ${json.reason}`, resultFile.slice(0, 300))
  const read = readResultObject(json.object, metric.name)
  if (!read.ok) return fault(`the result file cannot be read: ${read.reason}`, resultFile.slice(0, 300))
  return fromObject(read.result, metric.name)
}

function fromJson({ lines, metric }: Evidence): Source {
  if (lines.lastJson === null) return null
  const raw = lines.lastJson.slice(0, 300)
  const json = readJsonObject(lines.lastJson)
  if (!json.ok) return fault(`the JSON line cannot be read: ${json.reason}`, raw)
  const shaped = Object.hasOwn(json.object, 'metrics') || Object.hasOwn(json.object, 'tasks')
  const flat = Object.hasOwn(json.object, metric.name)
  const read =
    shaped && !flat ? readResultObject(json.object, metric.name) : readFlatObject(json.object, metric.name)
  if (!read.ok) return fault(`the JSON line cannot be read: ${read.reason}`, raw)
  return fromObject(read.result, metric.name)
}

function fromObject({ metrics, tasks, artifacts }: ResultObject, name: string): Source {
  return { value: metrics.get(name), metrics: Object.fromEntries(metrics), units: {}, tasks, artifacts }
}

function fromLines({ lines, metric }: Evidence): Source {
  const bad = lines.refused.find((line) => line.name === metric.name) ?? lines.refused[0]
  if (bad !== undefined) return fault(`a METRIC line was not read, because ${bad.reason}`, bad.raw)
  if (lines.metrics.size === 0) return null
  const all = [...lines.metrics]
  return {
    value: lines.metrics.get(metric.name)?.value,
    metrics: Object.fromEntries(all.map(([name, { value }]) => [name, value])),
    units: Object.fromEntries(all.flatMap(([name, { unit }]) => (unit === null ? [] : [[name, unit]]))),
    tasks: null,
    artifacts: null,
  }
}

function fromMatches({ lines, metric }: Evidence): Source {
  const [first, second] = lines.matches
  if (first === undefined) return null
  if (second !== undefined)
    return fault(
      `the pattern found two different values, ${first.text} and ${second.text}: make it match one line only`,
      second.raw,
    )
  const read = readValue(first.text)
  if (!read.ok) return fault(`what the pattern found was not read, because ${read.reason}`, first.raw)
  const units = read.unit === null ? {} : { [metric.name]: read.unit }
  return { value: read.value, metrics: { [metric.name]: read.value }, units, tasks: null, artifacts: null }
}

function missing({ read, metric, lines, elsewhere = [] }: Evidence, seen: string[]): ReadAnswer {
  const names = seen.length > 0 ? seen : [...lines.metrics.keys()]
  const [near] = lines.near
  const message = [
    typeof read === 'object'
      ? `no line of stdout matched ${JSON.stringify(read.regex)}`
      : `the metric ${JSON.stringify(metric.name)} is missing`,
    names.length > 0 ? `what was found: ${names.slice(0, 20).join(', ')}` : 'no metric was found at all',
    ...(elsewhere.includes(metric.name) ? ['it was printed to stderr, but only stdout counts'] : []),
    ...(near === undefined ? [] : [`a line looked like a metric, but ${near.reason}`]),
  ].join('; ')
  const fault = refuse(message, near?.raw)
  if (names.length > 0) fault.fault.found = names.slice(0, 20)
  if (elsewhere.includes(metric.name)) fault.fault.on_stderr = true
  return fault
}

const fault = (message: string, raw?: string): SampleFault => ({
  reason: 'metric_error',
  message,
  ...(raw !== undefined && { raw }),
})
const refuse = (message: string, raw?: string): { ok: false; fault: SampleFault } => ({
  ok: false,
  fault: fault(message, raw),
})
const own = <T>(record: Record<string, T>, name: string): T | undefined =>
  Object.hasOwn(record, name) ? record[name] : undefined

/**
 * Why two samples cannot be compared: a metric that both have is in another unit (or lost it). null when all agree.
 * 900 ms and 1.1 s are one step apart in print and a thousand in value.
 */
export function unitChange(
  before: Pick<Sample, 'metrics' | 'units'>,
  after: Pick<Sample, 'metrics' | 'units'>,
): string | null {
  for (const name of Object.keys(before.metrics)) {
    if (!Object.hasOwn(after.metrics, name)) continue
    const [was, is] = [own(before.units, name), own(after.units, name)]
    if (was !== is) return `the unit of ${name} changed from ${was ?? 'none'} to ${is ?? 'none'}`
  }
  return null
}
