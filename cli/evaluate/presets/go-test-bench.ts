import { type Benchmark, type Figure, linesOf, maximize, minimize, type Preset, repeated } from './preset.ts'

/** `BenchmarkParse-8   1000000   1234 ns/op   456 B/op   7 allocs/op`: each unit is the name of a metric. */
function benchmarks(text: string): Benchmark[] {
  const runs: Benchmark[] = []
  for (const line of linesOf(text)) {
    const [name = '', iterations = '', ...pairs] = line.trim().split(/\s+/)
    if (!/^Benchmark\S/.test(name) || !/^\d+$/.test(iterations) || pairs.length === 0 || pairs.length % 2)
      continue
    const metrics = new Map<string, Figure>()
    for (let at = 0; at < pairs.length; at += 2) {
      const [value, unit = ''] = [Number(pairs[at]), pairs[at + 1]]
      if (Number.isFinite(value)) metrics.set(unit, { value, unit })
    }
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
