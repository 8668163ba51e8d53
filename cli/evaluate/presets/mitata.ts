import { isJsonObject } from '../json.ts'
import {
  figures,
  jsonIn,
  minimize,
  objectsIn,
  type Preset,
  type PresetReading,
  stringOrNull,
} from './preset.ts'

const TIMES = ['avg', 'min', 'max', 'p25', 'p50', 'p75', 'p99', 'p999']
const unitOf = (name: string) => (TIMES.includes(name) ? 'ns' : undefined)

/** Each benchmark has its runs, one for each of its arguments; of older releases it is its own one run. */
const runsOf = (text: string) => {
  const json = jsonIn(text)
  if (!isJsonObject(json)) return []
  return objectsIn(json.benchmarks)
    .flatMap((one) => (Array.isArray(one.runs) ? objectsIn(one.runs) : [one]))
    .filter(({ stats, error }) => (isJsonObject(stats) && stats.avg !== undefined) || error !== undefined)
}

function read(text: string): PresetReading {
  const runs = runsOf(text)
  const broken = runs.find(
    ({ error, stats }) => error !== undefined && error !== null && !isJsonObject(stats),
  )
  if (broken)
    return { reason: `the benchmark ${stringOrNull(broken.name)} failed: ${JSON.stringify(broken.error)}` }
  return {
    benchmarks: runs.map(({ name, stats, args }) => ({
      name: `${stringOrNull(name)}${isJsonObject(args) && Object.keys(args).length > 0 ? ` ${JSON.stringify(args)}` : ''}`,
      metrics: isJsonObject(stats) ? figures(stats, unitOf) : new Map(),
    })),
  }
}

export const mitata: Preset<'mitata'> = {
  name: 'mitata',
  example: 'node bench.mjs',
  places: ['result', 'stdout'],
  reads: "the JSON of `run({ format: 'json' })` on stdout",
  metrics: minimize('ns', ...TIMES),
  command: /\bmitata\b/,
  recognises: (text) => runsOf(text).length > 0,
  instead: {
    recognises: (text) => /^benchmark\s+avg \(min … max\) p75 \/ p99/m.test(text),
    hint: "the printed table is not read: call run({ format: 'json' })",
  },
  read,
}
