import { isJsonObject, NoNumber } from '../json.ts'
import {
  type Figure,
  jsonIn,
  maximize,
  minimize,
  type Preset,
  type PresetReading,
  stringOrNull,
} from './preset.ts'

const report = (text: string) => {
  const json = jsonIn(text)
  return isJsonObject(json) && isJsonObject(json.categories) && isJsonObject(json.audits) ? json : null
}
const UNITS: Record<string, string> = { millisecond: 'ms', second: 's', byte: 'B', percent: '%' }

function read(text: string): PresetReading {
  const found = report(text)
  const error = isJsonObject(found?.runtimeError) ? stringOrNull(found.runtimeError.code) : null
  if (error !== null && error !== 'NO_ERROR') return { reason: `the page was not measured: ${error}` }
  const metrics = new Map<string, Figure>()
  const put = (name: string, value: unknown, unit: string | null) => {
    if (typeof value === 'number' || value instanceof NoNumber) metrics.set(name, { value, unit })
  }
  for (const [name, audit] of Object.entries(isJsonObject(found?.audits) ? found.audits : {}))
    if (isJsonObject(audit))
      put(name, audit.numericValue, UNITS[stringOrNull(audit.numericUnit) ?? ''] ?? null)
  for (const [name, category] of Object.entries(isJsonObject(found?.categories) ? found.categories : {}))
    if (isJsonObject(category)) put(name, category.score, null)
  return { benchmarks: [{ name: null, metrics }] }
}

export const lighthouse: Preset<'lighthouse'> = {
  name: 'lighthouse',
  example: 'lighthouse http://localhost:8080 --output=json --output-path={result} --quiet',
  places: ['result', 'stdout'],
  reads: 'the report of `--output=json`: scores of categories (0 to 1) and numbers of audits',
  metrics: [
    ...maximize(null, 'performance', 'accessibility', 'best-practices', 'seo'),
    ...minimize(
      'ms',
      'largest-contentful-paint',
      'first-contentful-paint',
      'speed-index',
      'total-blocking-time',
    ),
    ...minimize(null, 'cumulative-layout-shift'),
    ...minimize('B', 'total-byte-weight'),
  ],
  more: 'other audits by their id',
  command: /\blighthouse\b/,
  recognises: (text) => report(text) !== null,
  read,
}
