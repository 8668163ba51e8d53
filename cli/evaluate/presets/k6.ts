import { NoNumber } from '../json.ts'
import { type Figure, isObject, jsonIn, maximize, minimize, type Preset, textOf } from './preset.ts'

const summary = (text: string) => {
  const json = jsonIn(text)
  const metrics = isObject(json) ? json.metrics : null
  return isObject(metrics) && (isObject(metrics.iterations) || isObject(metrics.http_reqs)) ? metrics : null
}
/** Those of k6 itself; the export of the summary does not say which trends are times. */
const TIMED =
  /_(?:duration|blocked|connecting|looking_up|tls_handshaking|sending|waiting|receiving)(?:\{.*\})?$/

/** `http_req_duration` · `p(95)` → `http_req_duration.p95` */
function figures(metrics: Record<string, unknown>): Map<string, Figure> {
  const found = new Map<string, Figure>()
  for (const [metric, of] of Object.entries(metrics)) {
    if (!isObject(of)) continue
    const values = isObject(of.values) ? of.values : of
    const time = textOf(of.contains) === 'time' || (of.contains === undefined && TIMED.test(metric))
    for (const [name, value] of Object.entries(values)) {
      if (typeof value !== 'number' && !(value instanceof NoNumber)) continue
      const counted = values.count !== undefined && name === 'rate'
      const unit = counted ? '/s' : time ? 'ms' : null
      found.set(`${metric}.${name.replace(/^p\(([\d.]+)\)$/, 'p$1')}`, { value, unit })
    }
  }
  return found
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
  read: (text) => ({ benchmarks: [{ name: null, metrics: figures(summary(text) ?? {}) }] }),
}
