import { isJsonObject } from '../json.ts'
import {
  figures,
  jsonIn,
  maximize,
  minimize,
  objectsIn,
  type Preset,
  type PresetReading,
  repeated,
  stringOrNull,
} from './preset.ts'

const benchmarks = (text: string) => {
  const json = jsonIn(text)
  if (!isJsonObject(json) || !isJsonObject(json.context)) return []
  return objectsIn(json.benchmarks).filter(
    ({ name, time_unit, error_occurred, skipped }) =>
      typeof name === 'string' &&
      (typeof time_unit === 'string' || error_occurred === true || skipped === true),
  )
}

/** Of `Complexity()`: what was fitted to the times of all arguments. */
const FITTED = /^(?:BigO|RMS)$/

/** Of a result beside its numbers. */
const COUNTS =
  /^(?:family_index|per_family_instance_index|repetitions|repetition_index|threads|aggregate_unit)$/

function unitOf(name: string, timeUnit: unknown): string | null | undefined {
  if (COUNTS.test(name)) return undefined
  if (name === 'real_time' || name === 'cpu_time') return stringOrNull(timeUnit) ?? 'ns'
  return name === 'items_per_second' ? '/s' : name === 'bytes_per_second' ? 'B/s' : null
}

/** Releases before 1.5 have no `run_type`: aggregates show by the ends of their names, beside one another. */
function withKinds(all: ReturnType<typeof benchmarks>): ReturnType<typeof benchmarks> {
  const names = new Set(all.map(({ name }) => name))
  return all.map((one) => {
    const [, run, kind] = /^(.+)_(mean|median|stddev|cv)$/.exec(stringOrNull(one.name) ?? '') ?? []
    const isAggregate = ['mean', 'median', 'stddev'].every((other) => names.has(`${run}_${other}`))
    if (one.run_type !== undefined || run === undefined || !isAggregate) return one
    return { ...one, run_type: 'aggregate', run_name: run, aggregate_name: kind }
  })
}

function read(text: string): PresetReading {
  const all = withKinds(benchmarks(text))
  const broken = all.find(({ error_occurred, skipped }) => error_occurred === true || skipped === true)
  // One that was skipped has times of 0.
  if (broken)
    return {
      reason: `the benchmark ${stringOrNull(broken.name)} ${broken.skipped === true ? 'was skipped' : 'failed'}: ${stringOrNull(broken.error_message) ?? stringOrNull(broken.skip_message) ?? 'no reason is given'}`,
    }
  const idle = all.find(({ iterations, run_type }) => iterations === 0 && run_type !== 'aggregate')
  if (idle)
    return { reason: `the benchmark ${stringOrNull(idle.name)} has no iterations: it failed or was skipped` }
  const timed = all.filter(({ aggregate_name }) => !FITTED.test(stringOrNull(aggregate_name) ?? ''))
  const nameOf = (one: (typeof all)[number]) => stringOrNull(one.run_name) ?? stringOrNull(one.name)
  const single = timed.filter(({ run_type }) => run_type !== 'aggregate')
  // Of one that reports aggregates only (by its own option, or all by --benchmark_report_aggregates_only) nothing else is there.
  const names = new Set(single.map(nameOf))
  const rest = timed.filter((one) => !names.has(nameOf(one)))
  const medians = rest.filter(({ aggregate_name }) => aggregate_name === 'median')
  const withMedian = new Set(medians.map(nameOf))
  const lacking = rest.find((one) => !withMedian.has(nameOf(one)))
  if (lacking) return { reason: `the benchmark ${nameOf(lacking)} has neither runs nor a median` }
  const used = [...single, ...medians]
  return {
    benchmarks: repeated(
      used.map((one) => ({
        name: nameOf(one),
        metrics: figures(one, (name) => unitOf(name, one.time_unit)),
      })),
    ),
  }
}

export const googleBenchmark: Preset<'google-benchmark'> = {
  name: 'google-benchmark',
  example: 'build/bench --benchmark_out={result} --benchmark_out_format=json',
  places: ['result', 'stdout'],
  reads:
    'the file of `--benchmark_out`, or stdout with `--benchmark_format=json`; of repetitions the median, and there must be as many as at the baseline',
  metrics: [
    ...minimize('`time_unit`', 'real_time', 'cpu_time'),
    ...maximize('/s', 'items_per_second'),
    ...maximize('B/s', 'bytes_per_second'),
  ],
  more: 'counters by their name',
  command: /--benchmark_(?:out|format|filter|min_time|repetitions)\b/,
  recognises: (text) => benchmarks(text).length > 0,
  instead: {
    recognises: (text) =>
      /^Benchmark\s+Time\s+CPU\s+Iterations/m.test(text) ||
      /^name,iterations,real_time,cpu_time,time_unit/m.test(text),
    hint: 'the printed table is not read: add --benchmark_out={result} --benchmark_out_format=json',
  },
  read,
}
