import { isJsonObject } from '../json.ts'
import {
  type Benchmark,
  figures,
  jsonIn,
  maximize,
  minimize,
  objectsIn,
  type Preset,
  type PresetReading,
  stringOrNull,
} from './preset.ts'

const TIMES = [
  'mean',
  'median',
  'min',
  'max',
  'p75',
  'p99',
  'p995',
  'p999',
  'sd',
  'sem',
  'moe',
  'period',
  'totalTime',
]
const unitOf = (name: string) =>
  TIMES.includes(name) ? 'ms' : name === 'hz' ? '/s' : name === 'rme' ? '%' : undefined

function benchmarks(text: string): (Benchmark & { samples: unknown })[] {
  const json = jsonIn(text)
  if (!isJsonObject(json)) return []
  return objectsIn(json.files)
    .flatMap(({ groups }) => objectsIn(groups))
    .flatMap((group) =>
      objectsIn(group.benchmarks).map((one) => ({
        name: [stringOrNull(group.fullName), stringOrNull(one.name)]
          .filter((part) => part !== null)
          .join(' > '),
        metrics: figures(one, unitOf),
        samples: one.sampleCount,
      })),
    )
}

/** One that throws, or that was skipped, has no samples, and times of 0. */
function read(text: string): PresetReading {
  const all = benchmarks(text)
  const empty = all.find(({ samples }) => samples === 0)
  if (empty) return { reason: `the benchmark ${empty.name} has no samples: it failed or was skipped` }
  return { benchmarks: all.map(({ name, metrics }) => ({ name, metrics })) }
}

export const vitestBench: Preset<'vitest-bench'> = {
  name: 'vitest-bench',
  example: 'npx vitest bench --run --outputJson {result}',
  places: ['result', 'stdout'],
  reads: 'the file of `--outputJson`',
  metrics: [...minimize('ms', ...TIMES), ...maximize('/s', 'hz'), ...minimize('%', 'rme')],
  command: /\bvitest\b.*\bbench\b/,
  recognises: (text) => benchmarks(text).length > 0,
  instead: {
    recognises: (text) => /\bname\s+hz\s+min\s+max\s+mean\s+p75\b/.test(text),
    hint: 'the printed table is not read: add --outputJson {result}',
  },
  read,
}
