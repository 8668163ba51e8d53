import { describe, expect, test } from 'vitest'
import { type PresetQuestion, readPreset } from '../../../cli/evaluate/presets/read-preset.ts'
import { PRESET_NAMES, PRESETS, type Texts } from '../../../cli/evaluate/presets/registry.ts'
import { hintsOn } from '../../../cli/evaluate/read-files.ts'
import { readPointer } from '../../../cli/evaluate/read-pointer.ts'
import { OUTPUTS } from './outputs.ts'

const NOTHING: Texts = { result: null, stdout: null, stderr: null }

function read(
  preset: PresetQuestion['preset'],
  metric: string,
  texts: Partial<Texts>,
  more: Partial<PresetQuestion> = {},
) {
  const asked = { preset, metric: { name: metric }, aggregate: 'mean' as const, checkout: '/check/out' }
  return readPreset({ ...asked, texts: { ...NOTHING, ...texts }, ...more })
}
const messageOf = (reading: ReturnType<typeof read>) =>
  reading.ok ? `read as ${reading.answer.value}` : reading.fault.message

test.each(OUTPUTS.map((output) => [`${output.preset}: ${output.what}`, output] as const))(
  '%s is not read, or as something else',
  (_, { preset, place, metric, text, value, unit, tasks }) => {
    for (const written of [text, text.replaceAll('\n', '\r\n')]) {
      const reading = read(preset, metric, { [place]: written })
      expect(reading).toMatchObject({ ok: true })
      if (!reading.ok) return
      expect(reading.answer.value).toBeCloseTo(value, 9)
      expect(reading.answer.units[metric] ?? null).toBe(unit)
      const scores = reading.answer.tasks && Object.entries(reading.answer.tasks)
      expect(scores?.map(([task, { score }]) => [task, score]) ?? null).toEqual(
        tasks && Object.entries(tasks),
      )
    }
  },
)

test.each(OUTPUTS.map((output) => [`${output.preset}: ${output.what}`, output] as const))(
  '%s is taken for the output of another tool',
  (_, { preset, text }) => {
    expect(PRESETS.filter(({ recognises }) => recognises(text)).map(({ name }) => name)).toEqual([preset])
  },
)

test('a preset has no recorded output of its tool', () => {
  expect([...new Set(OUTPUTS.map(({ preset }) => preset))]).toEqual(PRESET_NAMES)
})

test.each(PRESETS.map((preset) => [preset.name, preset] as const))(
  '%s is not recognised by the command of its own example',
  (name, { example, command }) => {
    if (name === 'mitata' || name === 'google-benchmark' || name === 'catch2') return
    expect(command.test(example)).toBe(true)
    expect(command.test('node bench/run.mjs')).toBe(false)
  },
)

describe('what a tool says', () => {
  const hyperfine = (...results: object[]) => ({ result: JSON.stringify({ results }) })

  test('a metric that it does not have is not named with those that it has', () => {
    expect(messageOf(read('hyperfine', 'latency', hyperfine({ command: 'x', mean: 1, min: 0.5 })))).toBe(
      'hyperfine has no "latency" for x; it has mean, min: let metric.name be one of them',
    )
    expect(messageOf(read('hyperfine', 'median', { stdout: 'hello' }))).toMatch(
      /no output of hyperfine was found in the result file, or in standard output; .*--export-json \{result\}/,
    )
  })

  test('NaN of a different counter matters, or that of the metric does not', () => {
    const output = OUTPUTS.find(({ preset }) => preset === 'google-benchmark')?.text ?? ''
    expect(messageOf(read('google-benchmark', 'bad', { result: output }))).toBe(
      'bad of BM_fast/8 is NaN, which is no number',
    )
    const small = { result: '{"results": [{"command": "x", "mean": 1e-400, "min": 2}]}' }
    expect(messageOf(read('hyperfine', 'mean', small))).toBe('mean of x is 1e-400, which is no number')
    expect(messageOf(read('hyperfine', 'min', small))).toBe('read as 2')
  })

  test('of one benchmark that is reported twice, one value is believed', () => {
    const twice = hyperfine({ command: 'x', mean: 1 }, { command: 'x', mean: 2 })
    expect(messageOf(read('hyperfine', 'mean', twice))).toBe('hyperfine reports mean of x twice: 1 s and 2 s')
    const equal = hyperfine({ command: 'x', mean: 1 }, { command: 'x', mean: 1 })
    expect(messageOf(read('hyperfine', 'mean', equal))).toBe('read as 1')
    const real = (seconds: string) => `real ${seconds}\nuser 0.00\nsys 0.00\n`
    expect(messageOf(read('gnu-time', 'elapsed', { stderr: real('0.10') + real('0.20') }))).toBe(
      'gnu-time reports elapsed twice: 0.1 s and 0.2 s',
    )
  })

  test('of a file and of the text that is printed beside it, one is believed', () => {
    const text = 'Benchmark 1: x\n  Time (mean ± σ):   1.002 s ±  0.1 s    [User: 1.0 ms, System: 0.0 ms]\n'
    const file = (mean: number) => hyperfine({ command: 'x', mean })
    expect(messageOf(read('hyperfine', 'mean', { ...file(1.00234), stdout: text }))).toBe('read as 1.00234')
    expect(messageOf(read('hyperfine', 'mean', { ...file(0.5), stdout: text }))).toBe(
      'hyperfine says mean = 0.5 in the result file and 1.002 in standard output',
    )
  })

  test('a printed summary that lacks the metric makes the result file unreadable, or is read in its place', () => {
    const text = 'Benchmark 1: x\n  Time (mean ± σ):   1.3 ms ±  0.1 ms    [User: 1.0 ms, System: 0.0 ms]\n'
    const file = (mean: number) => hyperfine({ command: 'x', mean, median: 0.0012 })
    expect(messageOf(read('hyperfine', 'median', { ...file(0.001342), stdout: text }))).toBe('read as 0.0012')
    expect(messageOf(read('hyperfine', 'median', { ...file(0.5), stdout: text }))).toBe(
      'hyperfine says mean of x twice: 0.5 s and 0.0013 s in the result file and in standard output',
    )
    expect(messageOf(read('hyperfine', 'median', { stdout: text }))).toContain(
      'hyperfine has no "median" for x',
    )
  })

  test('the rounded summary of a short program contradicts the JSON beside it', () => {
    const text = 'Benchmark 1: x\n  Time (mean ± σ):   1.3 ms ±  0.1 ms    [User: 1.0 ms, System: 0.0 ms]\n'
    const json = hyperfine({ command: 'x', mean: 0.001342 })
    expect(messageOf(read('hyperfine', 'mean', { stdout: `${text}${Object.values(json)[0]}\n` }))).toBe(
      'read as 0.001342',
    )
  })

  test('a figure beside the metric is believed, though two places give different ones', () => {
    const report = (kilobytes: number) =>
      `0.10user 0.00system 0:00.50elapsed 20%CPU (0avgtext+0avgdata ${kilobytes}maxresident)k\n`
    const texts = { stderr: report(100), result: report(90000) }
    expect(messageOf(read('gnu-time', 'elapsed', texts))).toBe(
      'gnu-time says max_rss twice: 100 KiB and 90000 KiB in standard error and in the result file',
    )
    expect(messageOf(read('gnu-time', 'elapsed', { stderr: report(100) + report(90000) }))).toBe(
      'gnu-time reports max_rss twice: 100 KiB and 90000 KiB',
    )
    const text = 'Benchmark 1: x\n  Time (mean ± σ):   1.002 s ±  0.1 s    [User: 1.0 ms, System: 0.0 ms]\n'
    const file = hyperfine({ command: 'x', mean: 1.00234, stddev: 0.0812, user: 0.00104, system: 0.00003 })
    expect(messageOf(read('hyperfine', 'mean', { ...file, stdout: text }))).toBe('read as 1.00234')
  })

  test.each([
    [
      'hyperfine',
      'mean',
      'Benchmark 1: x\n  Time (mean ± σ):   1.0 s ±  0.1 s    [User: 1.0 ms, System: 0.0 ms]\n',
      { stderr: ' \n  Warning: Ignoring non-zero exit code.\n' },
    ],
    [
      'pytest-benchmark',
      'mean',
      '{"benchmarks": [{"fullname": "test_x", "stats": {"mean": 1, "rounds": 5}}]}',
      { stderr: 'FAILED test_it.py::test_x - assert 1 == 2\n' },
      { stderr: '1 failed, 1 passed in 3.42s\n' },
      { stderr: '=================== 1 error in 61.20s (0:01:01) ===================\n' },
    ],
    [
      'criterion',
      'typical',
      'x                       time:   [1.0 ns 1.0 ns 1.0 ns]\n',
      { stderr: "thread 'main' panicked\nerror: bench failed, to rerun pass `--bench x`\n" },
    ],
    [
      'criterion',
      'typical',
      'test x ... bench:  1 ns/iter (+/- 0)\n',
      { stderr: 'test result: FAILED. 0 passed\n' },
    ],
  ] as const)(
    '%s says beside its numbers that what it ran failed, and they are believed',
    (preset, metric, stdout, ...failures: { stderr: string }[]) => {
      const fine = { stderr: '1 xfailed, 2 passed, 0 failed in 1.20s\ntest result: ok. 0 passed; 0 failed\n' }
      expect(messageOf(read(preset, metric, { stdout, ...fine }))).toBe('read as 1')
      for (const failure of failures)
        expect(messageOf(read(preset, metric, { stdout, ...failure }))).toMatch(
          `${preset} says that what it ran failed: `,
        )
    },
  )

  test('the path of the checkout is part of a task’s name, which then differs from sample to sample', () => {
    const two = hyperfine({ command: '/check/out/run a', mean: 1 }, { command: '/check/out/run b', mean: 3 })
    expect(read('hyperfine', 'mean', two)).toMatchObject({
      answer: { value: 2, tasks: { './run a': { score: 1 }, './run b': { score: 3 } } },
    })
    expect(messageOf(read('hyperfine', 'mean', two, { aggregate: 'max' }))).toBe('read as 3')
  })

  test('a benchmark that failed has a number', () => {
    const result =
      '{"context": {}, "benchmarks": [{"name": "BM_x", "error_occurred": true, "error_message": "no file"}]}'
    expect(messageOf(read('google-benchmark', 'real_time', { result }))).toBe(
      'google-benchmark: the benchmark BM_x failed: no file',
    )
    const page =
      '{"categories": {}, "audits": {}, "runtimeError": {"code": "NO_FCP"}, "lighthouseVersion": "12"}'
    expect(messageOf(read('lighthouse', 'performance', { result: page }))).toBe(
      'lighthouse: the page was not measured: NO_FCP',
    )
  })

  test('what google-benchmark fits to the times of several arguments counts as a benchmark without runs', () => {
    const run = (n: number) =>
      `{"name": "x/${n}", "run_name": "x/${n}", "run_type": "iteration", "iterations": 9, "real_time": ${n}, "time_unit": "ns"}`
    const fitted = `{"name": "x_BigO", "run_name": "x", "run_type": "aggregate", "aggregate_name": "BigO", "real_coefficient": 0.2, "time_unit": "ns"}`
    const result = `{"context": {}, "benchmarks": [${run(8)}, ${run(16)}, ${fitted}]}`
    expect(read('google-benchmark', 'real_time', { result })).toMatchObject({
      answer: { value: 12, tasks: { 'x/8': { score: 8 }, 'x/16': { score: 16 } } },
    })
  })

  test('benchmarks of one name in two packages are runs of one, so that the median hides one of them', () => {
    const go = (...times: number[]) =>
      times.map((time, at) => `pkg: e.com/p${at}\nBenchmarkX-8 100 ${time} ns/op\nPASS\n`).join('')
    expect(read('go-test-bench', 'ns/op', { stdout: go(100, 200, 900) })).toMatchObject({
      answer: {
        value: 400,
        tasks: { 'e.com/p0.BenchmarkX-8': { score: 100 }, 'e.com/p2.BenchmarkX-8': { score: 900 } },
      },
    })
    expect(read('go-test-bench', 'ns/op', { stdout: go(100) })).toMatchObject({
      answer: { tasks: { 'BenchmarkX-8': { score: 100 } } },
    })
  })

  test('a benchmark that reports aggregates only is left out, or one without a median ends the CLI', () => {
    const run = (name: string, time: number, aggregate?: string) => ({
      name: aggregate ? `${name}_${aggregate}` : name,
      run_name: name,
      run_type: aggregate ? 'aggregate' : 'iteration',
      ...(aggregate && { aggregate_name: aggregate }),
      real_time: time,
      time_unit: 'ns',
    })
    const benchmark = (...benchmarks: object[]) => ({ result: JSON.stringify({ context: {}, benchmarks }) })
    const mixed = benchmark(run('a', 10), run('a', 99, 'mean'), run('b', 30, 'median'), run('b', 99, 'mean'))
    expect(read('google-benchmark', 'real_time', mixed)).toMatchObject({
      answer: { value: 20, tasks: { a: { score: 10 }, b: { score: 30 } } },
    })
    expect(messageOf(read('google-benchmark', 'real_time', benchmark(run('a', 10, 'mean'))))).toBe(
      'google-benchmark: the benchmark a has neither runs nor a median',
    )
  })

  test('JSON of a tool has a key twice, and the last one counts', () => {
    const result = '{"results": [{"command": "a", "mean": 9, "mean": 1}]}'
    expect(messageOf(read('hyperfine', 'mean', { result }))).toBe(
      'the JSON of hyperfine has the key "mean" twice',
    )
  })

  test('Assay’s own clocks do not answer beside a tool', () => {
    const recorded = { wall_ms: 12 }
    expect(messageOf(read('gnu-time', 'wall_ms', { stderr: 'x' }, { recorded }))).toBe('read as 12')
  })
})

test.each([
  ['quotes that are never closed', '{"'.padEnd(100_000, '\\"')],
  ['brackets', '{'.repeat(100_000)],
  ['spaces', ' '.repeat(100_000)],
  ['digits', `Benchmark ${'1 22 '.repeat(20_000)}`],
  ['tags', '<BenchmarkResults name="'.repeat(20_000)],
  ['lines of a table', `benchmark name samples iterations est\n${'1 2 3 4 x\n'.repeat(8_000)}`],
])('the time to read %s grows with the square of their number', (_, text) => {
  for (const { recognises, instead } of PRESETS) {
    expect(recognises(text)).toBe(false)
    expect(instead?.recognises(text) ?? false).toBe(false)
  }
})

describe('what is found in the place of a metric', () => {
  const hints = (texts: Partial<Texts>, read: Parameters<typeof hintsOn>[1] = 'auto', metric = 'n') =>
    hintsOn({ ...NOTHING, ...texts }, read, metric)

  test.each(OUTPUTS.map((output) => [output.preset, output] as const))(
    '%s is not proposed for its own output',
    (preset, { place, text, metric }) => {
      const found = hints({ [place]: text }, 'auto', metric)
      expect(found).toMatchObject({ preset })
      expect(found.clauses[0]).toContain(`write measure: { read: ${preset} }`)
    },
  )

  test.each([
    [
      'hyperfine',
      'command,mean,stddev,median,user,system,min,max\nx,1,0,1,1,1,1,1\n',
      '--export-json {result}',
    ],
    ['pytest-benchmark', 'Name (time in ns)          Min       Max\n', '--benchmark-json={result}'],
    ['google-benchmark', 'Benchmark          Time       CPU   Iterations\n', '--benchmark_out={result}'],
    ['vitest-bench', '   name    hz   min   max   mean   p75\n', '--outputJson {result}'],
    ['mitata', 'benchmark       avg (min … max) p75 / p99\n', "run({ format: 'json' })"],
    ['jmh', 'Benchmark  (size)  Mode  Cnt  Score  Error  Units\n', '-rf json -rff {result}'],
    ['k6', 'metric_name,timestamp,metric_value\nhttp_reqs,1,1\n', '--summary-export={result}'],
  ])('a table of %s is refused without a message of its JSON', (preset, stdout, hint) => {
    const found = hints({ stdout })
    expect(found).toMatchObject({ preset })
    expect(found.clauses[0]).toContain(hint)
  })

  test('numbers in JSON, by their pointers and not too many', () => {
    const stdout = `log\n${JSON.stringify({ a: { 'b/c': 1 }, list: Array.from({ length: 20 }, (_, i) => i) }, null, 1)}`
    const [found] = hints({ stdout }).clauses
    expect(found).toContain('JSON in standard output has /a/b~1c = 1, /list/0 = 0')
    expect(found).toContain('/list/6 = 6, …: name one with measure: { read: { json: "/a/b~1c" } }')
    expect(found).not.toContain('/list/7')
  })

  test('a table as CSV', () => {
    expect(hints({ stdout: 'name,value\na,1\nb,2\n' }).clauses[0]).toContain('it looks like a table (CSV)')
    expect(hints({ stdout: 'hello, world\nbye\n' }).clauses).toEqual([])
  })
})

describe('a number of any JSON', () => {
  const at = (path: string, ...texts: string[]) => {
    const reading = readPointer({
      path,
      metric: { name: 't' },
      places: [{ name: 'standard output', texts }],
    })
    return reading.ok ? reading.answer.value : reading.fault.message
  }
  const text = '{"results": [{"mean": 1.5, "bad": NaN, "text": "x", "a.b": 2, "c/d": 3}]}'

  test.each<[string, number]>([
    ['/results/0/mean', 1.5],
    ['results[0].mean', 1.5],
    ['results[0]["a.b"]', 2],
    ['/results/0/a.b', 2],
    ['/results/0/c~1d', 3],
  ])('%s', (path, expected) => {
    expect(at(path, text)).toBe(expected)
  })

  test.each([
    ['/results/0/bad', 'is NaN, not a number'],
    ['/results/0/text', 'is "x", not a number'],
    ['/results', 'not a number'],
    ['/results/1/mean', 'there is nothing at'],
    ['/results/00/mean', 'there is nothing at'],
    ['/results/length', 'there is nothing at'],
    ['/constructor', 'there is nothing at'],
  ])('%s is read', (path, message) => {
    expect(at(path, text)).toContain(message)
  })

  test('of two objects with different values one is believed, or an object without the metric matters', () => {
    expect(at('/t', '{"t": 1}', '{"u": 5}', 'no JSON', '{"t": 1}')).toBe(1)
    expect(at('/t', '{"t": 1}', '{"t": 2}')).toContain('/t is 1 in standard output and 2 in standard output')
  })
})
