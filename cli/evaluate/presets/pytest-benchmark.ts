import { isJsonObject } from '../json.ts'
import { figures, jsonIn, maximize, minimize, objectsIn, type Preset, stringOrNull } from './preset.ts'

const TIMES = ['mean', 'median', 'min', 'max', 'stddev', 'iqr', 'q1', 'q3', 'total']
const benchmarks = (text: string) => {
  const json = jsonIn(text)
  return isJsonObject(json) ? objectsIn(json.benchmarks).filter(({ stats }) => isJsonObject(stats)) : []
}
const unitOf = (name: string) =>
  TIMES.includes(name) ? 's' : name === 'ops' ? '/s' : /^(rounds|iterations)$/.test(name) ? null : undefined

/** Of its last line, and of its short summary. Its JSON also has a test whose assertion failed behind the benchmark. */
const FAILED =
  /\b[1-9]\d* (?:failed|errors?)(?:, \d+ [a-z ]+)* in [\d.]+s(?: \([\d:]+\))?(?: =+)?\s*$|^(?:FAILED|ERROR) \S+\.py(?:::|\s|$)/

export const pytestBenchmark: Preset<'pytest-benchmark'> = {
  name: 'pytest-benchmark',
  example: 'pytest --benchmark-only --benchmark-json={result}',
  places: ['result', 'stdout'],
  reads: 'the file of `--benchmark-json`',
  metrics: [...minimize('s', ...TIMES), ...maximize('/s', 'ops')],
  command: /--benchmark-(?:json|only|enable)\b|\bpytest-benchmark\b/,
  failed: FAILED,
  recognises: (text) =>
    benchmarks(text).some(({ stats }) => isJsonObject(stats) && stats.rounds !== undefined),
  instead: {
    recognises: (text) => /^Name \(time in \S+\)\s+Min\b/m.test(text),
    hint: 'the printed table is not read: add --benchmark-json={result}',
  },
  read: (text) => ({
    benchmarks: benchmarks(text).map(({ fullname, name, stats }) => ({
      name: stringOrNull(fullname) ?? stringOrNull(name),
      metrics: isJsonObject(stats) ? figures(stats, unitOf) : new Map(),
    })),
  }),
}
