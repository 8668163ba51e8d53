import {
  type Benchmark,
  figures,
  isObject,
  jsonIn,
  maximize,
  minimize,
  objectsIn,
  type Preset,
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

function benchmarks(text: string): Benchmark[] {
  const json = jsonIn(text)
  if (!isObject(json)) return []
  return objectsIn(json.files)
    .flatMap(({ groups }) => objectsIn(groups))
    .flatMap((group) =>
      objectsIn(group.benchmarks).map((one) => ({
        name: [stringOrNull(group.fullName), stringOrNull(one.name)]
          .filter((part) => part !== null)
          .join(' > '),
        metrics: figures(one, unitOf),
      })),
    )
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
  read: (text) => ({ benchmarks: benchmarks(text) }),
}
