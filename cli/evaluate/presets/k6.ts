import { isJsonObject, NoNumber } from '../json.ts'
import { type Figure, jsonIn, maximize, minimize, type Preset, stringOrNull } from './preset.ts'

const summary = (text: string) => {
  const json = jsonIn(text)
  const metrics = isJsonObject(json) ? json.metrics : null
  return isJsonObject(metrics) && (isJsonObject(metrics.iterations) || isJsonObject(metrics.http_reqs))
    ? metrics
    : null
}
/** Those of k6 itself; the export of the summary does not say which trends are times. */
const TIMED =
  /_(?:duration|blocked|connecting|looking_up|tls_handshaking|sending|waiting|receiving)(?:\{.*\})?$/

/** `http_req_duration` · `p(95)` → `http_req_duration.p95` */
function figures(metrics: Record<string, unknown>): Map<string, Figure> {
  const found = new Map<string, Figure>()
  for (const [metric, of] of Object.entries(metrics)) {
    if (!isJsonObject(of)) continue
    const values = isJsonObject(of.values) ? of.values : of
    const time = stringOrNull(of.contains) === 'time' || (of.contains === undefined && TIMED.test(metric))
    for (const [name, value] of Object.entries(values)) {
      if (typeof value !== 'number' && !(value instanceof NoNumber)) continue
      const counted = values.count !== undefined && name === 'rate'
      const unit = counted ? '/s' : time ? 'ms' : null
      found.set(`${metric}.${name.replace(/^p\(([\d.]+)\)$/, 'p$1')}`, { value, unit })
    }
  }
  return found
}

/**
 * A server that refuses requests answers them sooner. Of a threshold, the export of the summary says whether it was
 * crossed, `handleSummary` whether it holds.
 */
function failureIn(metrics: Record<string, unknown>): string | null {
  const of = (name: string) => {
    const metric = metrics[name]
    return isJsonObject(metric) ? (isJsonObject(metric.values) ? metric.values : metric) : {}
  }
  const count = (value: unknown) => (typeof value === 'number' ? value : 0)
  // Of requests, `passes` counts those for which "it failed" is true.
  const requests = of('http_req_failed')
  const failed = count(requests.passes)
  if (failed > 0 || count(requests.rate ?? requests.value) > 0)
    return `${failed > 0 ? `${failed} requests` : 'requests'} failed (http_req_failed): let the script expect what it gets (http.setResponseCallback)`
  const checks = of('checks')
  const broken = count(checks.fails)
  if (broken > 0) return `${broken} checks failed: let the script check what holds`
  for (const [name, metric] of Object.entries(metrics))
    for (const [rule, held] of Object.entries(
      isJsonObject(metric) && isJsonObject(metric.thresholds) ? metric.thresholds : {},
    ))
      if (isJsonObject(held) ? held.ok === false : held === true)
        return `the threshold ${rule} of ${name} does not hold`
  return null
}

export const k6: Preset<'k6'> = {
  name: 'k6',
  example: 'k6 run --summary-export={result} script.js',
  places: ['result', 'stdout'],
  reads: 'the file of `--summary-export`, or the data of `handleSummary`',
  metrics: [
    ...minimize('ms', 'http_req_duration.p95', 'http_req_duration.avg', 'http_req_duration.med'),
    ...minimize('ms', 'iteration_duration.avg'),
    ...maximize('/s', 'http_reqs.rate', 'iterations.rate'),
  ],
  more: 'any other as `metric.statistic`',
  command: /\bk6 run\b/,
  recognises: (text) => summary(text) !== null,
  instead: {
    recognises: (text) =>
      /^metric_name,timestamp,metric_value/m.test(text) || /http_req_duration\.{3,}/.test(text),
    hint: 'only the summary as JSON is read: add --summary-export={result}',
  },
  read(text) {
    const metrics = summary(text) ?? {}
    const failure = failureIn(metrics)
    return failure === null
      ? { benchmarks: [{ name: null, metrics: figures(metrics) }] }
      : { reason: `${failure}, or read one number by read: { json: … }, which looks at none of this` }
  },
}
