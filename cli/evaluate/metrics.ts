/**
 * Reads a benchmark's answer. Every value is read or loudly refused with the raw line and the reason: a number that
 * was guessed would be judged. Zero and negatives are values; what is not known is a fault, never 0.
 */
import type { SampleFault, TaskScore } from '../ledger/events.ts'
import type { Printed, ReadAnswer, SourceAnswer } from './benchmark-answer.ts'
import { FILE, isLogged, JSON_OBJECTS, LINES, MATCHES, metricFault, type Named } from './sources.ts'
import { type Aggregate, aggregate } from './stats.ts'

// ---------------------------------------------------------------- what the scores of tasks say about the primary metric

type Tasks = Record<string, TaskScore>

/** A sum in another order, in another program, differs by about this fraction of its largest part. */
const ROUNDING = 1e-9
/** `1` is no rounding of 0.6, though 0.4 is less than half of its last digit. */
const MOST = 0.02

/** The primary metric that a benchmark left to be made of its tasks; a sentence when there is none. */
function valueOfTasks(name: string, tasks: Tasks, how: Aggregate): number | string {
  const scores = scoresOf(tasks)
  if (scores.length === 0) return `"tasks" is empty and ${name} is missing`
  const value = aggregate(scores, how)
  return Number.isFinite(value) ? value : `the ${how} of the tasks' scores is too large for a number`
}

/**
 * Why a printed value cannot stand beside its tasks, as a sentence; null when it is their aggregate as far as it was
 * written out (`0.33` for a third). Scores that do not make up the value would rank parents by something else.
 */
export function disagrees(name: string, value: number, tasks: Tasks, how: Aggregate): string | null {
  const made = valueOfTasks(name, tasks, how)
  if (typeof made === 'string') return made
  const scale = Math.max(...[value, made].map(Math.abs), largest(scoresOf(tasks)))
  const written = Math.min(halfLastDigit(value), MOST * Math.abs(made))
  if (Math.abs(value - made) <= Math.max(written, ROUNDING * scale)) return null
  return `${name} is ${value}, but the ${how} of the scores of its ${Object.keys(tasks).length} tasks is ${Number(made.toPrecision(6))}: correct one of them, or set tasks.aggregate`
}

const scoresOf = (tasks: Tasks): number[] => Object.values(tasks).map(({ score }) => score)

// Not by spreading: a call has a limit of arguments.
const largest = (values: readonly number[]): number =>
  values.reduce((most, value) => Math.max(most, Math.abs(value)), 0)

/** Half of one unit of the last digit with which the number is written: 0.005 for 0.33. */
function halfLastDigit(value: number): number {
  const [digits = '', exponent = '0'] = value.toExponential().split('e')
  return 0.5 * 10 ** (Number(exponent) - (digits.split('.')[1]?.length ?? 0))
}

export function readAnswer(evidence: Printed): ReadAnswer {
  const { read, metric, aggregate: how } = evidence
  const sources =
    typeof read === 'object'
      ? [MATCHES]
      : {
          auto: [FILE, LINES, JSON_OBJECTS],
          'result-file': [FILE],
          lines: [LINES],
          json: [JSON_OBJECTS],
        }[read]
  /** Of all sources until now, and which of them said it. */
  let seen: SourceAnswer = {
    value: undefined,
    metrics: {},
    units: {},
    tasks: null,
    artifacts: null,
    raws: {},
  }
  const saidBy = new Map<string, string>()
  for (const source of sources) {
    const found = source.read(evidence)
    if (found === null) continue
    if ('reason' in found) {
      // Beside the metric itself, a log may have a text under its name.
      if (source === JSON_OBJECTS && seen.value !== undefined && isLogged(evidence)) continue
      return { ok: false, fault: found, ...(source === FILE && { missing: true as const }) }
    }
    const twice = contradiction(seen, found, { saidBy, source })
    if (twice) return { ok: false, fault: twice }
    for (const name of Object.keys(found.metrics)) if (!saidBy.has(name)) saidBy.set(name, source.name)
    seen = {
      value: seen.value ?? found.value,
      metrics: { ...found.metrics, ...seen.metrics },
      units: { ...found.units, ...seen.units },
      tasks: seen.tasks ?? found.tasks,
      artifacts: seen.artifacts ?? found.artifacts,
      raws: { ...found.raws, ...seen.raws },
      ...(found.beside !== undefined && { beside: found.beside }),
      ...(!seen.around && found.around !== undefined && { around: found.around }),
      ...(found.notation !== undefined && { notation: found.notation }),
      ...(found.spelled !== undefined && { spelled: found.spelled }),
    }
  }
  const reading = concluded(evidence, seen, how, metric.name)
  const hidden = evidence.lines.hidden.get(metric.name)
  const isSaid = seen.value !== undefined || seen.tasks !== null
  if (read === 'auto' && hidden && isSaid && reading.ok && hidden.value !== reading.answer.value)
    return refuse(
      `${saidBy.get(metric.name) ?? 'a task'} says ${metric.name} = ${reading.answer.value}, and a METRIC in the midst of a line ${hidden.value}: end each line of output`,
      hidden.raw,
    )
  return reading
}

function concluded(evidence: Printed, seen: SourceAnswer, how: Aggregate, name: string): ReadAnswer {
  if (typeof seen.value === 'boolean')
    return refuse(`${name} is ${seen.value}: the metric that is optimised must be a number`)
  if (seen.value !== undefined) {
    const disagreement = seen.tasks && disagrees(name, seen.value, seen.tasks, how)
    return disagreement ? refuse(disagreement) : { ok: true, answer: { ...seen, value: seen.value } }
  }
  const value = seen.tasks
    ? valueOfTasks(name, seen.tasks, how)
    : Object.hasOwn(evidence.recorded ?? {}, name)
      ? evidence.recorded?.[name]
      : undefined
  if (value === undefined) return missing(evidence, Object.keys(seen.metrics))
  if (typeof value === 'string') return refuse(value)
  return { ok: true, answer: { ...seen, metrics: { ...seen.metrics, [name]: value }, value } }
}

/** A child of the benchmark can write to each of the sources as well; so what several say must be one thing. */
function contradiction(
  seen: SourceAnswer,
  found: SourceAnswer,
  { saidBy, source }: { saidBy: Map<string, string>; source: Named },
): SampleFault | null {
  for (const [name, value] of Object.entries(found.metrics)) {
    if (!Object.hasOwn(seen.metrics, name) || seen.metrics[name] === value) continue
    return metricFault(
      `${saidBy.get(name)} says ${name} = ${seen.metrics[name]}, ${source.name} ${value}: say it once, or set measure.read`,
      found.raws[name] ?? seen.raws[name],
    )
  }
  return null
}

function missing({ read, metric, lines, elsewhere = [], hints = [] }: Printed, seen: string[]): ReadAnswer {
  const names = seen.length > 0 ? seen : [...lines.metrics.keys()]
  const [near] = lines.near
  const pattern = typeof read === 'object'
  const message = [
    pattern
      ? `no line of ${read.from ?? 'stdout'} matched ${JSON.stringify(read.regex)}`
      : `the metric ${JSON.stringify(metric.name)} is missing`,
    ...(pattern && names.length === 0
      ? []
      : [
          names.length > 0
            ? `what was found: ${names.slice(0, 20).join(', ')}`
            : hints.length === 0
              ? 'no metric was found at all'
              : 'no metric was found where it should be',
        ]),
    ...(!pattern && elsewhere.includes(metric.name)
      ? ['it was printed to stderr, but only stdout counts']
      : []),
    ...hints,
    ...(near === undefined ? [] : [`a line looked like a metric, but ${near.reason}`]),
  ].join('; ')
  const found: ReturnType<typeof refuse> & { missing?: true } = refuse(message, near?.raw)
  found.missing = true
  // Under a pattern the name of the metric is free: another name explains nothing.
  if (pattern) return found
  if (names.length > 0) found.fault.found = names.slice(0, 20)
  if (elsewhere.includes(metric.name)) found.fault.on_stderr = true
  return found
}

const refuse = (message: string, raw?: string): { ok: false; fault: SampleFault } => ({
  ok: false,
  fault: metricFault(message, raw),
})
