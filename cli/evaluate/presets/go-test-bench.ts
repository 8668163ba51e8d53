import { NoNumber, numberOr } from '../json.ts'
import {
  type Benchmark,
  brokenLine,
  type Figure,
  linesOf,
  maximize,
  minimize,
  type Preset,
  repeated,
} from './preset.ts'

/** `BenchmarkParse-8   1000000   1234 ns/op   456 B/op   7 allocs/op`: each unit is the name of a metric. */
function benchmarks(text: string): { runs: Benchmark[]; broken: string | null } {
  const runs: Run[] = []
  let of = ''
  let broken: string | null = null
  for (const line of linesOf(text)) {
    of = /^pkg: (\S+)\s*$/.exec(line)?.[1] ?? of
    const [name = '', iterations = '', ...pairs] = line.trim().split(/\s+/)
    if (!/^Benchmark\S/.test(name) || !/^\d+$/.test(iterations) || pairs.length === 0 || pairs.length % 2) {
      if (ANSWERS.test(line)) broken ??= line
      continue
    }
    const metrics = new Map<string, Figure>()
    for (let at = 0; at < pairs.length; at += 2) {
      const [digits = '', unit = ''] = pairs.slice(at, at + 2)
      if (/^[+-]?(?:NaN|Inf)$/.test(digits)) metrics.set(unit, { value: new NoNumber(digits), unit })
      else if (Number.isFinite(Number(digits))) metrics.set(unit, { value: numberOr(digits), unit })
      else broken ??= line
    }
    runs.push({ name, metrics, of })
  }
  return { runs: repeated(byFullName(runs)), broken }
}

interface Run extends Benchmark {
  name: string
  /** The package. */
  of: string
}

/** Two packages may have a benchmark of one name, which are not runs of one. */
function byFullName(runs: readonly Run[]): Benchmark[] {
  const packages = new Map<string, Set<string>>()
  for (const { name, of } of runs) packages.set(name, (packages.get(name) ?? new Set()).add(of))
  return runs.map(({ name, of, metrics }) => ({
    name: (packages.get(name)?.size ?? 0) > 1 ? `${of}.${name}` : name,
    metrics,
  }))
}

/** Of a benchmark, a test or a package. */
const FAILED = /--- FAIL: \S|^FAIL$|FAIL\t\S+(?:\t[\d.]+s| \[.*\])$/

/** It prints the name of a benchmark, runs it, and prints the rest of the line. */
const ANSWERS = /\d[ \t]+[\d.eE+]+[ \t]+ns\/op\b/

export const goTestBench: Preset<'go-test-bench'> = {
  name: 'go-test-bench',
  example: "go test -run '^$' -bench . -benchmem",
  places: ['stdout'],
  reads:
    'its lines on stdout; with `-count` the median, and each benchmark must have as many lines as at the baseline',
  metrics: [
    ...minimize('ns/op', 'ns/op'),
    ...minimize('B/op', 'B/op'),
    ...minimize('allocs/op', 'allocs/op'),
    ...maximize('MB/s', 'MB/s'),
  ],
  more: 'metrics of `b.ReportMetric` by their unit',
  command: /\bgo test\b.*\s-(?:test\.)?bench\b/,
  recognises: (text) => benchmarks(text).runs.length > 0,
  read(text) {
    const { runs, broken } = benchmarks(text)
    return broken === null ? { benchmarks: runs } : brokenLine('go test', broken)
  },
  failed: FAILED,
}
