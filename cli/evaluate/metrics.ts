/**
 * Reads a benchmark's answer. Every value is read or loudly refused with the raw line and the reason: a number that
 * was guessed would be judged. Zero and negatives are values; what is not known is a fault, never 0.
 */
import type { SampleFault } from '../ledger/events.ts'
import type { Evidence, Found, ReadAnswer } from './answer.ts'
import { FILE, fault, isLogged, JSON_OBJECTS, LINES, MATCHES, type Named } from './sources.ts'
import type { Aggregate } from './stats.ts'
import { disagrees, valueOfTasks } from './task-scores.ts'

export function readAnswer(evidence: Evidence): ReadAnswer {
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
  let seen: Found = { value: undefined, metrics: {}, units: {}, tasks: null, artifacts: null, raws: {} }
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
    }
  }
  const { hidden } = evidence.lines
  if (read === 'auto' && hidden && seen.value !== undefined && hidden.value !== seen.value)
    return refuse(
      `${saidBy.get(metric.name) ?? 'a task'} says ${metric.name} = ${seen.value}, and a METRIC in the midst of a line ${hidden.value}: end each line of output`,
      hidden.raw,
    )
  return concluded(evidence, seen, how, metric.name)
}

function concluded(evidence: Evidence, seen: Found, how: Aggregate, name: string): ReadAnswer {
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
  seen: Found,
  found: Found,
  { saidBy, source }: { saidBy: Map<string, string>; source: Named },
): SampleFault | null {
  for (const [name, value] of Object.entries(found.metrics)) {
    if (!Object.hasOwn(seen.metrics, name) || seen.metrics[name] === value) continue
    return fault(
      `${saidBy.get(name)} says ${name} = ${seen.metrics[name]}, ${source.name} ${value}: say it once, or set measure.read`,
      found.raws[name] ?? seen.raws[name],
    )
  }
  return null
}

function missing({ read, metric, lines, elsewhere = [], hints = [] }: Evidence, seen: string[]): ReadAnswer {
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
  fault: fault(message, raw),
})
