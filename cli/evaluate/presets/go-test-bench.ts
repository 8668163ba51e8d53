import { type Benchmark, type Figure, maximize, minimize, type Preset, repeated } from './preset.ts'

const LINE = /^(Benchmark\S+)\s+\d+\s+((?:[\d.eE+-]+\s+\S+\s*)+)$/
const PAIR = /([\d.eE+-]+)\s+(\S+)/g

/** `BenchmarkParse-8   1000000   1234 ns/op   456 B/op   7 allocs/op`: each unit is the name of a metric. */
function benchmarks(text: string): Benchmark[] {
  const runs: Benchmark[] = []
  for (const line of text.split(/\r?\n/)) {
    const [, name, rest] = LINE.exec(line.trimEnd()) ?? []
    if (!name || !rest) continue
    const metrics = new Map<string, Figure>()
    for (const [, value, unit = ''] of rest.matchAll(PAIR))
      if (Number.isFinite(Number(value))) metrics.set(unit, { value: Number(value), unit })
    runs.push({ name, metrics })
  }
  return repeated(runs)
}

export const goTestBench: Preset<'go-test-bench'> = {
  name: 'go-test-bench',
  example: "go test -run '^$' -bench . -benchmem",
  places: ['stdout'],
  reads: 'its lines on stdout; with `-count` the median',
  metrics: [
    ...minimize('ns/op', 'ns/op'),
    ...minimize('B/op', 'B/op'),
    ...minimize('allocs/op', 'allocs/op'),
    ...maximize('MB/s', 'MB/s'),
  ],
  more: 'metrics of `b.ReportMetric` by their unit',
  command: /\bgo test\b.*\s-(?:test\.)?bench\b/,
  recognises: (text) => benchmarks(text).length > 0,
  read: (text) => ({ benchmarks: benchmarks(text) }),
}
