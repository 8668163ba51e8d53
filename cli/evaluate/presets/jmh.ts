import { isJsonObject, NoNumber } from '../json.ts'
import {
  type Benchmark,
  type Figure,
  jsonIn,
  maximize,
  objectsIn,
  type Preset,
  stringOrNull,
} from './preset.ts'

function benchmarks(text: string): Benchmark[] {
  const all = objectsIn(jsonIn(text)).filter(({ primaryMetric }) => isJsonObject(primaryMetric))
  const modes = new Set(all.map(({ mode }) => mode))
  return all.map((one) => {
    const metrics = new Map<string, Figure>()
    const put = (name: string, from: unknown) => {
      if (!isJsonObject(from)) return
      const { score, scoreUnit } = from
      if (typeof score === 'number' || score instanceof NoNumber)
        metrics.set(name, { value: score, unit: stringOrNull(scoreUnit) })
      // It writes "NaN" as text.
      else if (typeof score === 'string') metrics.set(name, { value: new NoNumber(score), unit: null })
    }
    put('score', one.primaryMetric)
    if (isJsonObject(one.secondaryMetrics))
      for (const [name, from] of Object.entries(one.secondaryMetrics)) put(name.replace(/^·/, ''), from)
    const params = isJsonObject(one.params)
      ? Object.entries(one.params).map(([key, value]) => `${key}=${value}`)
      : []
    const mode = modes.size > 1 ? [String(one.mode)] : []
    const threads = typeof one.threads === 'number' && one.threads > 1 ? [`${one.threads} threads`] : []
    return {
      name: [stringOrNull(one.benchmark), ...mode, ...params].join(' '),
      metrics,
      mode: [`mode ${one.mode}`, ...threads].join(', '),
    }
  })
}

export const jmh: Preset<'jmh'> = {
  name: 'jmh',
  example: 'java -jar target/benchmarks.jar -rf json -rff {result}',
  places: ['result', 'stdout'],
  reads: 'the file of `-rf json -rff`',
  metrics: maximize('`scoreUnit`', 'score'),
  more: 'secondary metrics by their name (`gc.alloc.rate.norm`)',
  command: /\bjmh\b|benchmarks\.jar/,
  recognises: (text) => benchmarks(text).length > 0,
  instead: {
    recognises: (text) => /^Benchmark\s.*\bMode\s+Cnt\s+Score\b/m.test(text),
    hint: 'the printed table is not read: add -rf json -rff {result}',
  },
  read: (text) => ({ benchmarks: benchmarks(text) }),
}
