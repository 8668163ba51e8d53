/** What runs first may end its output without an end of line, and so hide what the benchmark says behind it. */
import { expect, test } from 'vitest'
import { type Files, makeProject, type SpecParts } from './project.ts'
import { show } from './reading-scene.ts'

/** The benchmark runs the candidate in a child, which shares its output, and answers itself. */
function scene(read: unknown, says: string, spec: SpecParts = {}) {
  return makeProject({
    spec: {
      measure: { command: 'sh bench/run.sh', read },
      metric: { name: 'n', direction: 'minimize' },
      ...spec,
    },
    files: { 'bench/run.sh': `sh src/main.sh || exit 1\n${says}\n`, ...prints('') },
  })
}
const prints = (text: string): Files => ({ 'src/main.sh': `printf '${text}'\n` })

const MANY = `printf '{\\n  "n": 100\\n}\\n'`

test.each([
  ['a METRIC line', 'auto', 'METRIC n=1\\nx', 'echo METRIC n=100', 'METRIC n=1'],
  ['a METRIC line', 'lines', 'METRIC n=1\\nx METRIC n=zz ', 'echo METRIC n=100', 'METRIC n=1'],
  [
    'a METRIC line by a separator',
    'auto',
    'METRIC n=1\\nx\\342\\200\\250',
    'echo METRIC n=100',
    'METRIC n=100',
  ],
  [
    'a METRIC line by a separator',
    'lines',
    'METRIC n=1\\nx\\342\\200\\251',
    'echo METRIC n=100',
    'METRIC n=100',
  ],
  ['a METRIC line by an escape', 'auto', 'METRIC n=1\\n\\033', 'echo METRIC n=100', 'METRIC n=100'],
  ['a METRIC line by a code', 'auto', 'METRIC n=1\\n\\033[', 'echo METRIC n=100', 'METRIC n=100'],
  ['JSON by a code', 'auto', '{"n": 1}\\n\\033[', `echo '{"n": 100}'`, 'n = 1 and n = 100'],
  ['a match by a code', { regex: 'took ([\\d.]+) ms' }, 'took 1 ms\\n\\033[', 'echo took 100 ms', '100'],
  ['a match by its letter', { regex: 'mean (\\d+)' }, 'mean 1\\n\\033[', 'echo mean 100', '100'],
  ['a match by a bell', { regex: 'took (\\d+)' }, 'took 1\\n\\033]', `printf 'took 100\\a\\n'`, '100'],
  ['a METRIC line by a bell', 'auto', 'METRIC n=1\\n\\033]', `printf 'METRIC n=100\\a\\n'`, 'METRIC n=100'],
  ['JSON by a bell', 'auto', '{"n": 1}\\n\\033]', `printf '{"n": 100}\\a\\n'`, 'n = 1 and n = 100'],
  ['a place in JSON by a bell', { json: 'n' }, '{"n": 1}\\n\\033]', `printf '{"n": 100}\\a\\n'`, 'n is 1'],
  ['a METRIC line', 'auto', 'METRIC n=1\\n{', 'echo METRIC n=100', 'METRIC n=1'],
  ['a METRIC line', 'auto', '{"n": 1}\\nx', 'echo METRIC n=100', 'a METRIC in the midst of a line 100'],
  ['JSON', 'auto', 'METRIC n=1\\nx', `echo '{"n": 100}'`, 'a METRIC line says n = 1, a JSON object 100'],
  ['JSON', 'json', '{"n": 1}\\nx', `echo '{"n": 100}'`, 'n = 1 and n = 100'],
  ['JSON', 'json', '{"n": 1}\\nx{', `echo '{"n": 100}'`, 'n = 1 and n = 100'],
  ['JSON on many lines', 'json', '{"n": 1}\\nx', `printf '{\\n"n": 100\\n}\\n'`, 'n = 1 and n = 100'],
  ['a place in JSON', { json: 'r.n' }, '{"r": {"n": 1}}\\nx', `echo '{"r": {"n": 100}}'`, 'r.n is 1'],
  [
    'a place in JSON',
    { json: 'r.n' },
    '{"r": {"n": 1}}\\n{"a": [\\n',
    `echo '{"r": {"n": 100}}'`,
    'not JSON',
  ],
  ['JSON on many lines by a text', 'auto', '{"n": 1}\\n{"a": "', MANY, 'the JSON line cannot be read'],
  ['JSON on many lines by a text', 'json', '{"n": 1}\\n{"a": "\\n', MANY, 'n = 1 and n = 100'],
  ['JSON on many lines by a list', 'json', '{"n": 1}\\n{"a": [', MANY, 'the JSON line cannot be read'],
  ['JSON on many lines by a CR', 'auto', '{"n": 1}\\n{"a": "\\r', MANY, 'n = 1 and n = 100'],
  ['JSON on many lines', { json: 'n' }, '{"n": 1}\\n{"a": "', MANY, 'standard output cannot be read'],
  ['a place in JSON', { json: 'r.n' }, '{"r": {"n": 1}}\\n{"a": "', `echo '{"r": {"n": 100}}'`, 'not JSON'],
  ['a list', { json: '/0/n' }, '{"0": {"n": 1}}\\n', `echo '[{"n": 100}]'`, 'standard output cannot be read'],
])('a candidate hides %s of the benchmark (%j: %s)', async (_, read, candidate, says, message) => {
  const project = scene(read, says)
  await project.data('init', '--no-canary')
  expect(await project.attempt(prints(candidate))).toMatchObject({
    status: 'failed',
    reason: 'metric_error',
    message: show(message),
  })
})

test.each([
  ['JSON', 'json', '{"n": 1}', `echo '{"n": 100}'`, 'n = 1 and n = 100'],
  ['JSON', 'auto', 'METRIC n=1', `echo '{"n": 100}'`, 'a METRIC line says n = 1, a JSON object 100'],
  ['JSON on many lines', 'json', '{"n": 1}', MANY, 'n = 1 and n = 100'],
  ['a place in JSON', { json: 'r.n' }, '{"r": {"n": 1}}', `echo '{"r": {"n": 100}}'`, 'r.n is 1'],
])(
  'a candidate that runs twice opens and closes an object around %s of the benchmark (%j: %s)',
  async (_, read, answer, says, message) => {
    const project = scene(read, `${says}\nsh src/main.sh again`)
    await project.data('init', '--no-canary')
    const around = `if [ "$1" = again ]; then echo '}'; else printf '${answer}\n{"x":\n'; fi\n`
    expect(await project.attempt({ 'src/main.sh': around })).toMatchObject({
      reason: 'metric_error',
      message: show(message),
    })
  },
)

test.each([
  ['a METRIC line', 'auto', 'METRIC n=100', 'METRIC n=1', 'it contradicts an earlier line: METRIC n=100'],
  ['a METRIC line', 'lines', 'METRIC n=100', 'x\\rMETRIC n=1', 'METRIC n=100'],
  ['JSON', 'auto', '{"n": 100}', '{"n": 1}', 'n = 100 and n = 1'],
  ['JSON', 'json', 'result: {"n": 100}', 'METRIC n=1\\r{"n": 1}', 'n = 100 and n = 1'],
  ['JSON', 'auto', '{"n": 100}', 'METRIC n=1', 'a METRIC line says n = 1, a JSON object 100'],
  ['a place in JSON', { json: 'n' }, '{"n": 100}', '{"n": 1}', 'standard output'],
])(
  'a candidate writes over %s of a benchmark that does not end its line (%j: %s, %s)',
  async (_, read, answer, candidate, message) => {
    const project = scene(read, `printf '${answer}'\nsh src/main.sh again`)
    await project.data('init', '--no-canary')
    const over = `[ "$1" != again ] || printf '\\r${candidate}\\n'\n`
    expect(await project.attempt({ 'src/main.sh': over })).toMatchObject({
      reason: 'metric_error',
      message: show(message),
    })
  },
)

test('an object that a benchmark prints on many lines, with a list of others, is taken for two answers', async () => {
  const rounds = `printf 'METRIC n=100\n{\n  "rounds": [\n    {"n": 98},\n    {"n": 99}\n  ]\n}\n'`
  const project = scene('auto', rounds)
  expect(await project.data('init', '--no-canary')).toMatchObject({ baseline: { value: 100 } })
})

test.each([
  ['auto', '{"score": 1}', 'the result file says n = 1, a JSON object 100'],
  [{ json: 'n' }, '{"n": 1}', 'n is 1 in the result file and 100 in standard output'],
])(
  'a candidate writes the result file, and hides the JSON of the benchmark (%j)',
  async (read, result, message) => {
    const project = scene(read, `echo '{"n": 100}'`)
    await project.data('init', '--no-canary')
    const writes = `echo '${result}' > "$ASSAY_RESULT"; printf x\n`
    expect(await project.attempt({ 'src/main.sh': writes })).toMatchObject({
      reason: 'metric_error',
      message: show(message),
    })
  },
)

/** A pipe hides how the tool ended: what fails early is quick. */
test.each([
  ['gnu-time', 'user', '/usr/bin/time -v sh src/main.sh 2>&1', 'exit 3', 'exited with non-zero status 3'],
  ['gnu-time', 'user', '/usr/bin/time sh src/main.sh 2>&1', 'kill -9 $$', 'terminated by signal 9'],
  [
    'go-test-bench',
    'ns/op',
    'sh src/main.sh',
    "echo '--- FAIL: BenchmarkA'; echo 'BenchmarkA 9 1 ns/op'; echo FAIL; exit 1",
    '--- FAIL: BenchmarkA',
  ],
  [
    'catch2',
    'mean',
    'sh src/main.sh',
    `echo '<BenchmarkResults name="a"> <mean value="1"/> </BenchmarkResults> <OverallResults successes="1" failures="1"/>'; exit 1`,
    'OverallResults',
  ],
])(
  'a run of %s (%s) that failed counts, since tee hides its exit code',
  async (read, name, command, fails, message) => {
    const works: Record<string, string> = {
      'gnu-time': 'true',
      'go-test-bench': "echo 'BenchmarkA 9 900 ns/op'; echo PASS",
      catch2: `echo '<BenchmarkResults name="a"> <mean value="900"/> </BenchmarkResults> <OverallResults successes="2" failures="0"/>'`,
    }
    const project = makeProject({
      spec: {
        measure: { command: `${command} | tee "$TMPDIR/log"`, read },
        metric: { name, direction: 'minimize' },
        noise: { mode: 'auto', calibrate: 2 },
      },
      files: { 'src/main.sh': `${works[read]}\n` },
    })
    await project.data('init', '--no-canary')
    expect(await project.attempt({ 'src/main.sh': `${fails}\n` })).toMatchObject({
      status: 'failed',
      reason: 'metric_error',
      message: show(message),
    })
  },
)

/** A tool says the beginning, runs the candidate, and says the rest; the candidate says lines of the tool and breaks its own. */
const toolLines = (...lines: string[]) => `printf '%s\\n' ${lines.map((line) => `'${line}'`).join(' ')}`
test.each([
  [
    'go-test-bench',
    'ns/op',
    [`printf 'BenchmarkParse-8 \\t'`, toolLines('     1000\t   900 ns/op')],
    '\\nBenchmarkParse-8 1000 1 ns/op\\n',
  ],
  [
    'go-test-bench',
    'ns/op',
    ['', toolLines('BenchmarkParse-8 1000 900 ns/op')],
    'BenchmarkParse-8 1000 1 ns/op\\nx',
  ],
  [
    'criterion',
    'typical',
    [`printf 'test parse ... '`, toolLines('bench:         900 ns/iter (+/- 21)')],
    '\\ntest parse ... bench: 1 ns/iter (+/- 0)\\n',
  ],
  [
    'criterion',
    'typical',
    ['', toolLines('{"reason":"benchmark-complete","id":"parse","typical":{"estimate":900,"unit":"ns"}}')],
    '{"reason":"benchmark-complete","id":"parse","typical":{"estimate":1,"unit":"ns"}}\\nx',
  ],
  [
    'hyperfine',
    'mean',
    [
      toolLines('Benchmark 1: parse'),
      toolLines('  Time (mean ± σ):     900 ms ±   3.0 ms    [User: 1.2 ms, System: 0.0 ms]'),
    ],
    '  Time (mean ± σ):     1 ms ±   3.0 ms    [User: 1.2 ms, System: 0.0 ms]\\nx',
  ],
  [
    'catch2',
    'mean',
    [
      `${toolLines('benchmark name                       samples       iterations    est run time')}; ${toolLines('parse    100    1    90 ms')}`,
      toolLines('      900 us    890 us    910 us', '      3 us    2 us    4 us'),
    ],
    '      1 us    1 us    1 us\\n      3 us    2 us    4 us\\nx',
  ],
  [
    'catch2',
    'mean',
    [
      toolLines('<BenchmarkResults name="parse" samples="100">'),
      toolLines('<mean value="900" lowerBound="890"/>', '</BenchmarkResults>'),
    ],
    '<mean value="1" lowerBound="1"/>\\n',
  ],
  [
    'gnu-time',
    'elapsed',
    ['', `${toolLines('0.90user 0.10system 0:01.00elapsed 99%CPU (0avgtext+0avgdata 900maxresident)k')} >&2`],
    '0.01user 0.01system 0:00.02elapsed 99%%CPU (0avgtext+0avgdata 900maxresident)k\\nx',
  ],
  [
    'gnu-time',
    'elapsed',
    ['', `${toolLines('real 0.50', 'user 0.00', 'sys 0.00')} >&2`],
    'real 0.01\\nuser 0.00\\nsys 0.00\\nx ',
  ],
  // The other format of the same tool, which it does not print beside this one.
  [
    'criterion',
    'typical',
    ['', toolLines('parse                   time:   [900.00 ns 1000.0 ns 1100.0 ns]')],
    '{"reason":"benchmark-complete","id":"parse","typical":{"estimate":1,"unit":"ns"}}\\n',
  ],
  [
    'catch2',
    'mean',
    [
      `${toolLines('benchmark name                       samples       iterations    est run time')}; ${toolLines('parse    100    1    90 ms')}`,
      toolLines('      900 us    890 us    910 us', '      3 us    2 us    4 us'),
    ],
    '<BenchmarkResults name="parse" samples="1"><mean value="1"/></BenchmarkResults>\\n',
  ],
  [
    'catch2',
    'mean',
    [
      toolLines('<BenchmarkResults name="parse" samples="100">'),
      toolLines('<mean value="900" lowerBound="890"/>', '</BenchmarkResults>'),
    ],
    '<BenchmarkResults name="parse" x="1"></BenchmarkResults><BenchmarkResults name="parse" x="1"><mean value="1"/></BenchmarkResults>\\n',
  ],
])(
  'a candidate says a line of %s (%s), and breaks that of the tool',
  async (preset, metric, [begins, ends], says) => {
    const project = makeProject({
      spec: {
        measure: { command: 'sh bench/run.sh', read: preset },
        metric: { name: metric, direction: 'minimize' },
      },
      files: {
        'bench/run.sh': `${begins || 'true'}\nsh src/main.sh || exit 1\n${ends}\n`,
        'src/main.sh': 'true\n',
      },
    })
    await project.data('init', '--no-canary')
    const stream = preset === 'gnu-time' ? ' >&2' : ''
    expect(await project.attempt({ 'src/main.sh': `printf '${says}'${stream}\n` })).toMatchObject({
      status: 'failed',
      reason: 'metric_error',
      message: show('looks like an answer of'),
    })
  },
)

test.each([
  ['a request', { http_req_failed: { passes: 40, fails: 60, value: 0.4 } }, '40 requests failed'],
  [
    'a request, by handleSummary',
    { http_req_failed: { type: 'rate', values: { rate: 0.4, passes: 40, fails: 60 } } },
    '40 requests failed',
  ],
  ['a check', { checks: { passes: 99, fails: 1, value: 0.99 } }, '1 checks failed'],
  [
    'a threshold',
    { http_req_duration: { avg: 1, thresholds: { 'p(95)<1': true } } },
    'the threshold p(95)<1 of http_req_duration does not hold',
  ],
  [
    'a threshold, by handleSummary',
    { http_req_duration: { values: { avg: 1 }, thresholds: { 'p(95)<1': { ok: false } } } },
    'does not hold',
  ],
])('a server is quicker because it refuses work, and k6 says so: %s', async (_, metrics, message) => {
  const summary = (more: object, avg: number) => ({
    'src/out.json': JSON.stringify({
      metrics: {
        iterations: { count: 100, rate: 50 },
        http_req_duration: { avg },
        http_req_failed: { passes: 0, fails: 100, value: 0 },
        ...more,
      },
    }),
  })
  const project = makeProject({
    spec: {
      measure: { command: 'sh bench/run.sh', read: 'k6' },
      metric: { name: 'http_req_duration.avg', direction: 'minimize' },
    },
    files: { 'bench/run.sh': 'cat src/out.json > "$ASSAY_RESULT"\n', ...summary({}, 10) },
  })
  await project.data('init', '--no-canary')
  expect(await project.attempt(summary(metrics, 1))).toMatchObject({
    reason: 'metric_error',
    message: show(message),
  })
})

test('a candidate hides the METRIC line of the benchmark behind a line longer than is read, or nothing reports it', async () => {
  const project = scene('auto', 'echo METRIC n=100')
  await project.data('init', '--no-canary')
  const long = "head -c 70000 /dev/zero | tr '\\0' x\n"
  expect(await project.attempt({ 'src/main.sh': `echo METRIC n=1\n${long}` })).toMatchObject({
    reason: 'metric_error',
    message: show('METRIC n=1'),
  })
  expect(await project.attempt({ 'src/main.sh': long })).toMatchObject({
    reason: 'metric_error',
    message: show('its line is longer than 64 KiB'),
  })
})

test('JSON log lines without the metric make a benchmark unreadable, or one with a different value is ignored', async () => {
  const printing = (read: string, lines: string[]) =>
    scene(read, `printf '%s\\n' ${lines.map((line) => `'${line}'`).join(' ')}`)
  const harmless = [
    'epoch 1 {"m": 300}',
    'INFO METRIC n=100',
    'epoch 2 {',
    'METRIC n=100',
    'saved {"m": 3}',
    'as {x}',
  ]
  expect(await printing('auto', harmless).data('init', '--no-canary')).toMatchObject({
    baseline: { value: 100 },
  })
  // Whose line ends without its end, nobody can tell.
  const log = ['epoch 1 {"n": 300}', 'METRIC n=100']
  expect(await printing('auto', log).problem('init', '--no-canary')).toMatchObject({
    code: 'baseline_failed',
    message: show('a METRIC line says n = 100, a JSON object 300'),
  })
  expect(await printing('lines', log).data('init', '--no-canary')).toMatchObject({ baseline: { value: 100 } })
  expect(
    await printing('auto', ['INFO METRIC n=200', 'METRIC n=100']).problem('init', '--no-canary'),
  ).toMatchObject({
    message: show('it contradicts a METRIC in the midst of an earlier line: METRIC n=200'),
  })
})

test.each(['printf x', "printf '\\\\033]0;'", 'printf \'{"a":"\''])(
  'a candidate that is run twice hides the answer behind %s, and prints its own',
  async (hides) => {
    const project = scene(
      'auto',
      'sh src/main.sh one; echo "METRIC n=$(wc -c < src/main.sh)"; sh src/main.sh two; echo done',
    )
    await project.data('init', '--no-canary')
    const cheat = `if [ $1 = one ]; then ${hides}; else echo METRIC n=1; fi\n`
    expect(await project.attempt({ 'src/main.sh': cheat })).toMatchObject({ reason: 'metric_error' })
  },
)

test('a pattern for the start of a line also matches the end of a line', async () => {
  const project = scene({ regex: '^time: (\\d+)' }, "printf 'time: 100\\ntotal time: 300\\n'")
  expect(await project.data('init', '--no-canary')).toMatchObject({ baseline: { value: 100 } })
})

test('a candidate that writes a line of `time` to the same stream is as quick or small as it says', async () => {
  const posix = "printf 'real 5.00\\nuser 4.00\\nsys 0.10\\n' >&2"
  const project = scene('gnu-time', posix, { metric: { name: 'user', direction: 'minimize' } })
  expect(await project.data('init', '--no-canary')).toMatchObject({ baseline: { value: 4 } })
  expect(await project.attempt({ 'src/main.sh': 'echo user 0.01 >&2\n' })).toMatchObject({
    reason: 'metric_error',
    message: show('its output says user twice: 0.01 and 4'),
  })
  const report = [
    'User time (seconds): 0.01',
    'Elapsed (wall clock) time (h:mm:ss or m:ss): 0:00.50',
    'Maximum resident set size (kbytes): 90000',
  ]
  const verbose = `printf '\\t%s\\n' ${report.map((line) => `'${line}'`).join(' ')} >&2`
  const memory = scene('gnu-time', verbose, { metric: { name: 'max_rss', direction: 'minimize' } })
  await memory.data('init', '--no-canary')
  const small = { 'src/main.sh': "echo 'Maximum resident set size (kbytes): 5' >&2\n" }
  expect(await memory.attempt(small)).toMatchObject({
    reason: 'metric_error',
    message: show('max_rss twice'),
  })
})

test('output of a tool that is not about the metric counts as a broken answer', async () => {
  const tools: [string, string, string, string][] = [
    [
      'go-test-bench',
      'ns/op',
      toolLines('BenchmarkParse-8 \t1000 \t900 ns/op \tNaN bad/op', 'ok  pkg 1.2s'),
      '',
    ],
    [
      'criterion',
      'typical',
      toolLines(
        'parse                   time:   [1.0 ns 900 ns 901 ns]',
        '                 change:',
        '                        time:   [-2.1% -1.0% +0.2%] (p = 0.10 > 0.05)',
      ),
      '',
    ],
    [
      'gnu-time',
      'elapsed',
      toolLines(
        '\tCommand being timed: "echo User time (seconds): 5"',
        '\tUser time (seconds): 0.01',
        '\tElapsed (wall clock) time (h:mm:ss or m:ss): 15:00.00',
      ),
      ' >&2',
    ],
  ]
  for (const [preset, metric, says, stream] of tools)
    expect(
      await scene(preset, says + stream, { metric: { name: metric, direction: 'minimize' } }).data(
        'init',
        '--no-canary',
      ),
    ).toMatchObject({ baseline: { value: 900 } })
})

test('a program that fails at once is quicker because hyperfine -i continues, or a different program is measured', async () => {
  const result = (mean: number, code: number, command = 'parse') => ({
    'src/out.json': JSON.stringify({ results: [{ command, mean, exit_codes: [0, code] }] }),
  })
  const project = makeProject({
    spec: {
      measure: { command: 'sh bench/run.sh', read: 'hyperfine' },
      metric: { name: 'mean', direction: 'minimize' },
    },
    files: { 'bench/run.sh': 'cat src/out.json > "$ASSAY_RESULT"\n', ...result(1, 0) },
  })
  await project.data('init')
  expect(await project.attempt(result(0.5, 0))).toMatchObject({ status: 'kept' })
  expect(await project.attempt(result(0.1, 1))).toMatchObject({
    reason: 'metric_error',
    message: show('a run of "parse" failed'),
  })
  expect(await project.attempt(result(0.1, 0, 'true'))).toMatchObject({
    reason: 'metric_error',
    message: show('its tasks are not those of the baseline'),
  })
})

test('a benchmark that skips itself takes 0 ns, the best that a time can be', async () => {
  const result = (more: object) => ({
    'src/out.json': JSON.stringify({
      context: {},
      benchmarks: [
        { name: 'parse', run_type: 'iteration', real_time: 90, cpu_time: 9, time_unit: 'ns', ...more },
      ],
    }),
  })
  const project = makeProject({
    spec: {
      measure: { command: 'sh bench/run.sh', read: 'google-benchmark' },
      metric: { name: 'real_time', direction: 'minimize' },
    },
    files: { 'bench/run.sh': 'cat src/out.json > "$ASSAY_RESULT"\n', ...result({}) },
  })
  await project.data('init')
  expect(
    await project.attempt(result({ real_time: 0, skipped: true, skip_message: 'no AVX' })),
  ).toMatchObject({
    reason: 'metric_error',
    message: show('the benchmark parse was skipped: no AVX'),
  })
})

const jmhResult = (mode: string, more: object = {}) =>
  JSON.stringify([
    { benchmark: 'Parse.run', mode, threads: 1, primaryMetric: { score: 100, scoreUnit: 'ms/op' }, ...more },
  ])
const vitestResult = (samples: number, median: number) =>
  JSON.stringify({
    files: [{ groups: [{ fullName: 'a', benchmarks: [{ name: 'b', sampleCount: samples, median }] }] }],
  })
const googleResult = (...runs: [name: string, time: number, iterations?: number][]) =>
  JSON.stringify({
    context: {},
    benchmarks: runs.map(([name, time, iterations = 9]) => ({
      name,
      iterations,
      real_time: time,
      cpu_time: time,
      time_unit: 'ns',
    })),
  })

const faster = { primaryMetric: { score: 50, scoreUnit: 'ms/op' } }
test.each([
  [
    'jmh',
    'score',
    jmhResult('avgt'),
    jmhResult('ss', faster),
    'from mode avgt to mode ss: let the benchmark run in',
  ],
  [
    'jmh',
    'score',
    jmhResult('avgt'),
    jmhResult('avgt', { ...faster, threads: 4 }),
    'to 4 threads, mode avgt',
  ],
  [
    { json: '/0/primaryMetric/score' },
    'score',
    jmhResult('avgt'),
    jmhResult('ss', faster),
    'from ms/op, mode avgt to ms/op, mode ss: let the benchmark run in one mode',
  ],
  [
    { json: '/0/primaryMetric/score' },
    'score',
    jmhResult('avgt'),
    jmhResult('avgt', { ...faster, threads: 4 }),
    'mode avgt, 4 threads',
  ],
  [
    'vitest-bench',
    'median',
    vitestResult(9, 5),
    vitestResult(0, 0),
    'a > b has no samples: it failed or was skipped',
  ],
  ['google-benchmark', 'real_time', googleResult(['p', 9]), googleResult(['p', 0, 0]), 'p has no iterations'],
])(
  '%s measures something else, or nothing, and its number is better',
  async (read, name, first, then, message) => {
    const project = makeProject({
      spec: { measure: { command: 'cat src/out.json', read }, metric: { name, direction: 'minimize' } },
      files: { 'src/out.json': first },
    })
    await project.data('init', '--no-canary')
    expect(await project.attempt({ 'src/out.json': then })).toMatchObject({
      reason: 'metric_error',
      message: show(message),
    })
  },
)

test('less deviation is a gain in time, where google-benchmark names aggregates by the ends of their names only', async () => {
  const repeated = (time: number, deviation: number) =>
    googleResult(['p', time], ['p', time], ['p_mean', time], ['p_median', time], ['p_stddev', deviation])
  const project = makeProject({
    spec: {
      measure: { command: 'cat src/out.json', read: 'google-benchmark' },
      metric: { name: 'real_time', direction: 'minimize' },
    },
    files: { 'src/out.json': repeated(100, 8) },
  })
  expect(await project.data('init', '--no-canary')).toMatchObject({ baseline: { value: 100 } })
  expect(await project.attempt({ 'src/out.json': repeated(100, 1) })).toMatchObject({ reason: 'tie' })
  expect(await project.attempt({ 'src/out.json': repeated(90, 8) })).toMatchObject({
    status: 'kept',
    value: 90,
  })
})

test('12,5 s is read as 12, or a field of a table is refused', async () => {
  const seconds = scene({ regex: 'Zeit: (\\d+)' }, 'echo Zeit: 12,5 s')
  expect(await seconds.problem('init', '--no-canary')).toMatchObject({
    message: show('stops inside of 12,5'),
  })
  for (const row of ['parse,12,5', 'parse 12,5,3'])
    expect(
      await scene({ regex: 'parse[ ,](\\d+)' }, `echo ${row}`).data('init', '--no-canary'),
    ).toMatchObject({ baseline: { value: 12 } })
})

test.each([
  ['bytes', undefined],
  ['n', 'KiB'],
  ['n', 'ns/op'],
])('a negative size or time becomes the best without a warning: %s in %s', async (name, unit) => {
  const project = scene('lines', 'cat src/n', { metric: { name, unit, direction: 'minimize' } })
  project.repo.commit('n', { 'src/n': `METRIC ${name}=1000\n` })
  await project.data('init')
  expect(await project.attempt({ 'src/n': `METRIC ${name}=-2147483648\n` })).toMatchObject({
    message: show('a time or a size below 0 cannot be'),
  })
})

test.each([
  ['maximize', 'ms', 'METRIC ms=100', 'ms is a time'],
  ['maximize', 'score', 'METRIC score=100 ns/op', 'score (ns/op) is a time'],
  ['minimize', 'score', 'METRIC score=100 ops/s', 'score (ops/s) is a rate'],
])('a direction that is probably wrong is not reported: %s %s', async (direction, name, line, told) => {
  const project = scene('lines', 'cat src/n', { metric: { name, direction } })
  project.repo.commit('n', { 'src/n': `${line}\n` })
  const init = await project.data<{ warnings: string[] }>('init')
  expect(init.warnings).toContainEqual(show(told))
})

test('a candidate prints a line of go test itself, and the median of both is its value', async () => {
  const runs = (...times: number[]) => toolLines(...times.map((ns) => `BenchmarkParse-8 1000 ${ns} ns/op`))
  const metric = { name: 'ns/op', direction: 'minimize' }
  for (const [times, said] of [
    [[900], 'BenchmarkParse-8 twice, and that of the baseline once'],
    [[900, 910, 890], 'BenchmarkParse-8 4 times, and that of the baseline 3 times'],
  ] as const) {
    const project = scene('go-test-bench', runs(...times), { metric })
    expect(await project.data('init', '--no-canary')).toMatchObject({ baseline: { value: 900 } })
    expect(await project.attempt({ 'src/main.sh': runs(1) })).toMatchObject({
      status: 'failed',
      reason: 'metric_error',
      message: show(said),
    })
  }
})

test('a candidate has a run fewer than the baseline, and the median of the rest is its value', async () => {
  const run = (ns: number) => `BenchmarkParse-8 1000 ${ns} ns/op`
  const project = scene('go-test-bench', toolLines(run(900)), {
    metric: { name: 'ns/op', direction: 'minimize' },
  })
  project.repo.commit('two runs', { 'src/main.sh': `${toolLines(run(990))}\n` })
  expect(await project.data('init', '--no-canary')).toMatchObject({ baseline: { value: 945 } })
  expect(await project.attempt({ 'src/main.sh': 'true\n' })).toMatchObject({
    status: 'failed',
    reason: 'metric_error',
    message: show('its output has BenchmarkParse-8 once, and that of the baseline twice'),
  })
})

test('a terminal code that a candidate does not end hides the lines of criterion up to a bell character', async () => {
  const line = (ns: number) => `parse                   time:   [${ns}.00 ns ${ns}.00 ns ${ns}.00 ns]`
  const project = scene('criterion', `${toolLines(line(900))}; printf '\\a\\n'`, {
    metric: { name: 'typical', direction: 'minimize' },
  })
  await project.data('init', '--no-canary')
  const says = `${toolLines(line(100))}; printf '\\033]0;'\n`
  expect(await project.attempt({ 'src/main.sh': says })).toMatchObject({ reason: 'metric_error' })
})
