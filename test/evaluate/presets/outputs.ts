/** Output of the tools, as they wrote it or as their documents show it, cut short. */
import type { PresetName } from '../../../cli/evaluate/presets/registry.ts'

export interface Output {
  preset: PresetName
  what: string
  place: 'result' | 'stdout' | 'stderr'
  metric: string
  text: string
  /** Of the aggregate `mean`. */
  value: number
  unit: string | null
  tasks: Record<string, number> | null
}

const json = (value: unknown) => JSON.stringify(value, null, 2)
const lines = (...all: string[]) => `${all.join('\n')}\n`

const googleBenchmark = (...benchmarks: string[]) =>
  `{ "context": { "num_cpus": 2 }, "benchmarks": [ ${benchmarks.join(',')} ] }`
const fast = (more: string) =>
  `{ "name": "BM_fast/8", "run_name": "BM_fast/8", "run_type": "iteration", "iterations": 31574783, ${more}, "cpu_time": 4.7e-01, "time_unit": "ns", "bad": NaN, "items_per_second": 2.1e+09 }`
const slow =
  '{ "name": "BM_slow", "run_name": "BM_slow", "run_type": "iteration", "real_time": 9.5e-02, "cpu_time": 4.3e-02, "time_unit": "ms" }'
const aggregated =
  '{ "name": "BM_fast/8_cv", "run_name": "BM_fast/8", "run_type": "aggregate", "aggregate_name": "cv", "real_time": 3.1e-02, "cpu_time": 6.6e-02, "time_unit": "ns" }'

const hyperfineText = lines(
  'Benchmark 1: sleep 0.01',
  '  Time (mean ± σ):      12.4 ms ±   3.0 ms    [User: 1.2 ms, System: 0.0 ms]',
  '  Range (min … max):     9.6 ms …  15.5 ms    3 runs',
  ' ',
  'Benchmark 2: sleep 1',
  '  Time (mean ± σ):      1.002 s ±  0.001 s    [User: 0.9 ms, System: 0.4 ms]',
  '  Range (min … max):    1.001 s …  1.004 s    3 runs',
)
const hyperfineJson = json({
  results: [
    {
      command: 'sleep 0.01',
      mean: 0.012385,
      stddev: 0.002957,
      median: 0.01213,
      min: 0.0096,
      times: [0.0096],
    },
    { command: 'sleep 1', mean: 1.002, stddev: null, median: 1.0021, min: 1.001, times: [1.001] },
  ],
})

const verboseTime = lines(
  '\tCommand being timed: "sleep 0.1"',
  '\tUser time (seconds): 0.02',
  '\tSystem time (seconds): 0.01',
  '\tPercent of CPU this job got: 0%',
  '\tElapsed (wall clock) time (h:mm:ss or m:ss): 1:02.10',
  '\tAverage resident set size (kbytes): 0',
  '\tMaximum resident set size (kbytes): 1564',
  '\tMajor (requiring I/O) page faults: 3',
  '\tMinor (reclaiming a frame) page faults: 97',
  '\tVoluntary context switches: 2',
  '\tExit status: 0',
)

export const OUTPUTS: readonly Output[] = [
  {
    preset: 'hyperfine',
    what: 'the file of --export-json',
    place: 'result',
    metric: 'median',
    text: hyperfineJson,
    value: 0.507115,
    unit: 's',
    tasks: { 'sleep 0.01': 0.01213, 'sleep 1': 1.0021 },
  },
  {
    preset: 'hyperfine',
    what: 'its summary, with ms and s',
    place: 'stdout',
    metric: 'mean',
    text: hyperfineText,
    value: 0.5072,
    unit: 's',
    tasks: { 'sleep 0.01': 0.0124, 'sleep 1': 1.002 },
  },
  {
    preset: 'pytest-benchmark',
    what: 'the file of --benchmark-json',
    place: 'result',
    metric: 'ops',
    text: json({
      machine_info: {},
      benchmarks: [
        { name: 'test_sum', fullname: 'test_b.py::test_sum', stats: { mean: 0.5, ops: 2, rounds: 5 } },
        { name: 'test_sort', fullname: 'test_b.py::test_sort', stats: { mean: 0.25, ops: 4, rounds: 5 } },
      ],
    }),
    value: 3,
    unit: '/s',
    tasks: { 'test_b.py::test_sum': 2, 'test_b.py::test_sort': 4 },
  },
  {
    preset: 'google-benchmark',
    what: 'two units, a counter that is NaN, and aggregates of repetitions',
    place: 'result',
    metric: 'real_time',
    text: googleBenchmark(fast('"real_time": 8.2e-01'), fast('"real_time": 8.6e-01'), aggregated, slow),
    value: 47500.42,
    unit: 'ns',
    tasks: { 'BM_fast/8': 0.84, BM_slow: 95_000 },
  },
  {
    preset: 'criterion',
    what: 'its text, with a long name on a line of its own',
    place: 'stdout',
    metric: 'typical',
    text: lines(
      'parse/small             time:   [997.10 ns 998.21 ns 999.30 ns]',
      '                        change: [-0.4967% -0.1045% +0.2884%] (p = 0.61 > 0.05)',
      'a rather long name of a group/of a benchmark',
      '                        time:   [1.0010 ms 1.0043 ms 1.0080 ms]',
      '                        thrpt:  [9.9 MiB/s 10.0 MiB/s 10.1 MiB/s]',
    ),
    value: 502_649.105,
    unit: 'ns',
    tasks: { 'parse/small': 998.21, 'a rather long name of a group/of a benchmark': 1_004_300 },
  },
  {
    preset: 'criterion',
    what: 'lines of libtest, with thousands separators',
    place: 'stdout',
    metric: 'typical',
    text: lines('running 1 test', 'test tests::parse ... bench:       1,002 ns/iter (+/- 21)'),
    value: 1002,
    unit: 'ns',
    tasks: { 'tests::parse': 1002 },
  },
  {
    preset: 'criterion',
    what: 'estimates.json',
    place: 'result',
    metric: 'median',
    text: json({
      mean: { confidence_interval: {}, point_estimate: 1250.5, standard_error: 1 },
      median: { point_estimate: 1249.5 },
      std_dev: { point_estimate: 3 },
      slope: null,
    }),
    value: 1249.5,
    unit: 'ns',
    tasks: null,
  },
  {
    preset: 'criterion',
    what: 'messages of cargo-criterion',
    place: 'stdout',
    metric: 'mean',
    text: lines(
      JSON.stringify({
        reason: 'benchmark-complete',
        id: 'parse/small',
        typical: { estimate: 10, unit: 'ns' },
        mean: { estimate: 11, unit: 'ns' },
      }),
      JSON.stringify({ reason: 'group-complete', group_name: 'parse' }),
    ),
    value: 11,
    unit: 'ns',
    tasks: { 'parse/small': 11 },
  },
  {
    preset: 'go-test-bench',
    what: 'its lines, of two runs each',
    place: 'stdout',
    metric: 'ns/op',
    text: lines(
      'goos: linux',
      'BenchmarkAdd-2   \t      10\t      7260 ns/op\t  106496 B/op\t       1 allocs/op',
      'BenchmarkAdd-2   \t      10\t      7262 ns/op\t  106496 B/op\t       1 allocs/op',
      'BenchmarkSub-2   \t      10\t       314.5 ns/op\t  31.84 MB/s\t         3.500 widgets/op',
      'PASS',
    ),
    value: 3787.75,
    unit: 'ns/op',
    tasks: { 'BenchmarkAdd-2': 7261, 'BenchmarkSub-2': 314.5 },
  },
  {
    preset: 'vitest-bench',
    what: 'the file of --outputJson',
    place: 'result',
    metric: 'hz',
    text: json({
      files: [
        {
          filepath: '/x/a.bench.js',
          groups: [
            {
              fullName: 'a.bench.js > math',
              benchmarks: [
                { id: '1', name: 'add', hz: 4000, mean: 0.25, samples: [] },
                { id: '2', name: 'sort', hz: 2000, mean: 0.5, samples: [] },
              ],
            },
          ],
        },
      ],
    }),
    value: 3000,
    unit: '/s',
    tasks: { 'a.bench.js > math > add': 4000, 'a.bench.js > math > sort': 2000 },
  },
  {
    preset: 'mitata',
    what: 'its JSON, with arguments',
    place: 'stdout',
    metric: 'avg',
    text: JSON.stringify({
      layout: [],
      benchmarks: [
        { alias: 'add', runs: [{ name: 'add', args: {}, stats: { kind: 'fn', avg: 0.5, min: 0.25 } }] },
        {
          alias: 'sort',
          runs: [
            { name: 'sort', args: { n: 1 }, stats: { avg: 2, min: 1 } },
            { name: 'sort', args: { n: 9 }, stats: { avg: 3.5, min: 1 } },
          ],
        },
      ],
    }),
    value: 2,
    unit: 'ns',
    tasks: { add: 0.5, 'sort {"n":1}': 2, 'sort {"n":9}': 3.5 },
  },
  {
    preset: 'jmh',
    what: 'the file of -rff, with "NaN" as an error',
    place: 'result',
    metric: 'score',
    text: json([
      {
        benchmark: 'org.Bench.parse',
        mode: 'avgt',
        params: { size: '10' },
        primaryMetric: { score: 12.5, scoreError: 'NaN', scoreUnit: 'us/op' },
        secondaryMetrics: { '·gc.alloc.rate.norm': { score: 48, scoreUnit: 'B/op' } },
      },
      {
        benchmark: 'org.Bench.parse',
        mode: 'avgt',
        params: { size: '20' },
        primaryMetric: { score: 0.0255, scoreError: 1, scoreUnit: 'ms/op' },
        secondaryMetrics: {},
      },
    ]),
    value: 19,
    unit: 'us/op',
    tasks: { 'org.Bench.parse size=10': 12.5, 'org.Bench.parse size=20': 25.5 },
  },
  {
    preset: 'k6',
    what: 'the file of --summary-export',
    place: 'result',
    metric: 'http_req_duration.p95',
    text: json({
      metrics: {
        http_req_duration: { avg: 12.5, min: 1, med: 11, max: 90, 'p(90)': 20, 'p(95)': 25.5 },
        http_reqs: { count: 100, rate: 50 },
        iterations: { count: 100, rate: 50 },
        checks: { passes: 0, fails: 0, value: null },
      },
      root_group: {},
    }),
    value: 25.5,
    unit: 'ms',
    tasks: null,
  },
  {
    preset: 'k6',
    what: 'the data of handleSummary',
    place: 'result',
    metric: 'http_reqs.rate',
    text: json({
      metrics: {
        http_reqs: { type: 'counter', contains: 'default', values: { count: 100, rate: 50 } },
        iterations: { type: 'counter', contains: 'default', values: { count: 100, rate: 50 } },
        my_trend: { type: 'trend', contains: 'time', values: { avg: 3, 'p(99.9)': 9 } },
      },
    }),
    value: 50,
    unit: '/s',
    tasks: null,
  },
  {
    preset: 'lighthouse',
    what: 'a score of a category',
    place: 'stdout',
    metric: 'performance',
    text: json({
      lighthouseVersion: '12.0.0',
      categories: { performance: { score: 0.93 }, seo: { score: null } },
      audits: { 'largest-contentful-paint': { numericValue: 1234.5, numericUnit: 'millisecond' } },
    }),
    value: 0.93,
    unit: null,
    tasks: null,
  },
  {
    preset: 'lighthouse',
    what: 'a number of an audit',
    place: 'result',
    metric: 'largest-contentful-paint',
    text: json({
      categories: { performance: { score: null } },
      audits: {
        'largest-contentful-paint': { score: 0.9, numericValue: 1234.5, numericUnit: 'millisecond' },
      },
    }),
    value: 1234.5,
    unit: 'ms',
    tasks: null,
  },
  {
    preset: 'gnu-time',
    what: '-v, minutes',
    place: 'stderr',
    metric: 'elapsed',
    text: verboseTime,
    value: 62.1,
    unit: 's',
    tasks: null,
  },
  {
    preset: 'gnu-time',
    what: '-v, memory',
    place: 'stderr',
    metric: 'max_rss',
    text: verboseTime,
    value: 1564,
    unit: 'KiB',
    tasks: null,
  },
  {
    preset: 'gnu-time',
    what: 'the usual format',
    place: 'stderr',
    metric: 'max_rss',
    text: lines(
      'a line of the program',
      '0.00user 0.01system 0:00.10elapsed 10%CPU (0avgtext+0avgdata 1644maxresident)k',
      '0inputs+0outputs (0major+98minor)pagefaults 0swaps',
    ),
    value: 1644,
    unit: 'KiB',
    tasks: null,
  },
  {
    preset: 'gnu-time',
    what: '-p',
    place: 'stderr',
    metric: 'user',
    text: lines('real 0.10', 'user 0.02', 'sys 0.00'),
    value: 0.02,
    unit: 's',
    tasks: null,
  },
  {
    preset: 'gnu-time',
    what: 'time of bash, minutes',
    place: 'stderr',
    metric: 'elapsed',
    text: lines('', 'real\t1m2.345s', 'user\t0m0.003s', 'sys\t0m0.004s'),
    value: 62.345,
    unit: 's',
    tasks: null,
  },
  {
    preset: 'gnu-time',
    what: 'time of bash in German',
    place: 'stderr',
    metric: 'user',
    text: lines('', 'real\t1m2,345s', 'user\t0m59,999s', 'sys\t0m0,004s'),
    value: 59.999,
    unit: 's',
    tasks: null,
  },
  {
    preset: 'catch2',
    what: 'its table, with a name over two lines',
    place: 'stdout',
    metric: 'mean',
    text: lines(
      'benchmark name                       samples       iterations    estimated',
      '                                     mean          low mean      high mean',
      '                                     std dev       low std dev   high std dev',
      '-------------------------------------------------------------------------------',
      'fib & 12                                         5            54      453.6 us ',
      '                                        1.12437 us    1.11717 us    1.14226 us ',
      '                                        12.6051 ns    1.59807 ns    16.8833 ns ',
      '                                                                               ',
      'a rather long name of a benchmark                                              ',
      'that goes on for more than one line              5             2     450.22 us ',
      '                                        27.6926 us    26.8639 us    28.1239 us ',
      '                                        704.748 ns    265.863 ns    1.02193 us ',
      '',
    ),
    value: 14_408.485,
    unit: 'ns',
    tasks: {
      'fib & 12': 1124.37,
      'a rather long name of a benchmark that goes on for more than one line': 27_692.6,
    },
  },
  {
    preset: 'catch2',
    what: 'its XML',
    place: 'result',
    metric: 'std_dev',
    text: lines(
      '<?xml version="1.0" encoding="UTF-8"?>',
      '<BenchmarkResults name="fib &amp; 12" samples="5" clockResolution="108.412">',
      '  <!--All values in nano seconds-->',
      '  <mean value="1118.76" lowerBound="1042.83" upperBound="1312.41" ci="0.95"/>',
      '  <standardDeviation value="131.268" lowerBound="8.99358" upperBound="185.912" ci="0.95"/>',
      '</BenchmarkResults>',
    ),
    value: 131.268,
    unit: 'ns',
    tasks: { 'fib & 12': 131.268 },
  },
]
