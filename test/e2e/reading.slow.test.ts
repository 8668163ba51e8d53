import { join } from 'node:path'
import { expect, test } from 'vitest'
import { type Files, hook, makeProject, ms } from './project.ts'
import { prints, reading, show } from './reading-scene.ts'

test('a converted value is recomputed differently, or a missing or unknown unit counts as the earlier one', async () => {
  const project = makeProject({ spec: reading({ regex: 'took ([\\d.]+)' }), files: prints('took 998.2 ms') })
  await project.data('init')
  const faster = await project.attempt(prints('took 650000 µs'))
  expect(faster).toMatchObject({ status: 'kept', value: 650 })
  expect(await project.data('show', faster.experiment, '--recompute')).toMatchObject({ same: true })
  for (const [line, change] of [
    ['took 1.5', 'from ms to none'],
    ['took 1.5 parsecs', 'from ms to none'],
    ['took 1.5%', 'from ms to %'],
    ['took 1.5 M', 'from ms to M'],
  ] as const)
    expect(await project.attempt(prints(line))).toMatchObject({
      reason: 'metric_error',
      value: null,
      message: show(`the unit of lat changed ${change}; the line was: ${line}`),
    })
})

test('a METRIC line in a different unit of the same kind is refused, or read without conversion', async () => {
  const project = makeProject({ files: ms('900 ms') })
  await project.data('init')
  expect(await project.attempt(ms('1.1 s'))).toMatchObject({ reason: 'not_better', value: 1100 })
  expect(await project.attempt(ms('0.8 s'))).toMatchObject({ status: 'kept', value: 800 })
  expect(await project.attempt(ms('5 MB'))).toMatchObject({
    reason: 'metric_error',
    message: show('the unit of ms changed from ms to MB; the line was: METRIC ms=5 MB'),
  })
})

test('the samples of a baseline are in two units, and their values are taken for noise', async () => {
  /** The first sample says 998 ms, each later one `later`. */
  const twoUnits = (later: string, noise = {}) => {
    const project = makeProject({
      spec: { ...reading({ regex: 'took ([\\d.]+)' }), ...noise },
      files: { 'src/seconds': '1.002\n', 'src/metrics.txt': '' },
    })
    const first = join(project.control, 'first')
    project.repo.commit(
      'two units',
      hook(`[ -e '${first}' ] && echo took ${later} || { touch '${first}'; echo took 998 ms; }`),
    )
    return project
  }
  const project = twoUnits('"$(cat src/seconds)" s', { noise: { mode: 'paired', calibrate: 2 } })
  expect(await project.data('init')).toMatchObject({ baseline: { value: 1000, unit: 'ms' } })
  expect(await twoUnits('998 MB').problem('init')).toMatchObject({
    code: 'baseline_failed',
    message: show('the unit of lat changed from ms to MB'),
  })
})

test.each<[string, string, string, string]>([
  ['mean ([\\d.]+)', 'mean 12.3 ± 0.1 ms', 'mean 1.3 ± 0.1 s', 'changed from ms to s'],
  ['mean ([\\d.]+)', 'mean 12.3 (ms)', 'mean 1.3 (s)', 'changed from ms to s'],
  ['mean.*= ([\\d.]+)', 'mean_ms = 12.3', 'mean_s = 1.3', 'changed from ms to s'],
  ['"mean": ([\\d.]+)', '{"mean": 12.3, "unit": "ms"}', '{"mean": 1.3, "unit": "s"}', 'changed from ms to s'],
  ['mean (\\d+)', 'mean 999', 'mean 1 020', 'stops inside of 1 020'],
  ['mean (\\d+)', 'mean 999', 'mean 1 220', 'changed from none to a number behind'],
  ['total (\\d+),', 'total 998, mean 3', 'total 1,002, mean 3', 'changed from none to a number behind'],
  ['avg=([\\d.]+)', 'clat (usec): min=56, avg=998', 'clat (msec): min=1, avg=1.1', 'from usec to msec'],
  ['node ([\\d.]+)', 'Mean [ms]\nnode 998.2', 'Mean [s]\nnode 1.1', 'from ms to s'],
  ['node ([\\d.]+)', 'Mean [ms] Max\nnode 998.2 999', 'Mean [s] Max\nnode 1.1 2', 'from ms, a number'],
  ['mean ([\\d.]+)', 'mean 999.5', 'mean 1.1 × 10^3', 'stops inside of 1.1 × 10^3'],
  ['mean ([\\d.]+)', 'mean 59.5', 'mean 2:01.5', 'stops inside of 2:01.5'],
  ['mean (\\d+)', 'mean 59 s', 'mean 2 m 40 s', 'stops inside of 2 m 40 s'],
  ['mean ([\\d.]+)', 'mean 990 (widgets)', 'mean 1.1 (kwidgets)', 'changed from widgets to kwidgets'],
  ['n ([\\d.]+)', 'n   rate [tok]\n----\nn 990', 'n   rate [ktok]\n----\nn 1.1', 'from tok to ktok'],
  ['n +(\\d+)', 'x  Time [ms]  Mem [MB]\nn 998 1', 'x  Time [s]  Mem [MB]\nn 2 1', 'from ms MB'],
  ['n +([\\d.]+)', 'x  mean_ms\nn 998', 'x  mean_s\nn 1.1', 'from ms to s'],
  ['n ([\\d.]+)', 'n 998\nAll times are in ms.', 'n 1.1\nAll times are in s.', 'from ms to s'],
  ['took PT(?:\\d+M)?([\\d.]+)S', 'took PT59.5S', 'took PT1M0.5S', 'inside of PT1M0.5S'],
  ['(?:\\d+h)?(?:\\d+m)?([\\d.]+)s', 'took 59s', 'took 1h0m3s', 'inside of 1h0m3s'],
  ['n ([\\d.]+)', 'n 9', 'n 8,9', 'where the comma separates two fields, write it in the pattern'],
  ['n (\\d+)', 'n 998', 'n 1\u200b050', 'the pattern stops inside of'],
  ['n (\\d+)', 'n 998', 'n 9\b1050', 'the pattern stops inside of'],
  ['by ([\\d.]+)%', 'by 7.3% slower', 'by 5.3% faster', 'from slower to faster: print a number'],
  ['Total time: (\\d+)', 'Total time: 59 s', 'Total time: 01:02 min', 'inside of 01:02'],
  ['mean ([\\d.]+)', 'mean 1020K', 'mean 1.0M', 'powers of 1000 or of 1024'],
  ['mean ([\\d.]+)', 'mean 950', 'mean 1.050', 'a point may be a decimal one (1.050) or separate thousands'],
  ['real\\s+\\d+m([\\d.]+)s', 'real 0m9.5s', 'real 1m2.345s', 'write measure: { read: gnu-time }'],
  ['score (\\d+)', 'score 42 FAIL', 'score 40 PASS', 'let the pattern spell it: (?:FAIL|PASS)'],
  ['gain-?(\\d+)', 'gain5', 'gain-7', 'changed from none to -: if it is a sign'],
  [
    'size (\\d+)',
    'size 900 KB',
    'size 1 MB 20 KB',
    'stops inside of 1 MB 20 KB: let the benchmark print one',
  ],
  [
    'mean (\\d+)',
    'mean 59',
    'mean 2:01',
    'stops inside of 2:01: let the benchmark print the time in one unit',
  ],
  [
    'loss\\D*([\\d.]+)',
    'loss 7.1',
    'loss (5.1)',
    'from none to ( in front: let the benchmark print the number',
  ],
  ['mean\\D*(\\d+)', 'mean 5', 'mean >4', 'changed from none to > in front'],
  ['mean\\D*(\\d+)', 'mean 5', 'mean <=4', 'changed from none to <= in front'],
  ['mean\\D*(\\d+)', 'mean 5', 'mean ~ 4', 'changed from none to ~ in front'],
  ['mean\\D*(\\d+)', 'mean 5', 'mean approx. 4', 'changed from none to approx. in front'],
  ['mean (\\d+)', 'mean 5', 'mean 4+', 'changed from none to + behind'],
  ['mean (\\d+)', 'mean 5', 'mean 4-9', 'changed from none to a number behind'],
  ['mean (\\d+)', 'mean 5', 'mean 1/4', 'changed from none to a number behind'],
  ['loss\\D*([\\d.]+)', 'loss (5.1)', 'loss 4.1', 'from ( in front to none: let the benchmark print'],
  ['mean\\D*(\\d+)', 'mean >5', 'mean 4', 'changed from > in front to none'],
  ['mean\\D*(\\d+)', 'mean <=5', 'mean 4', 'changed from <= in front to none'],
  ['mean\\D*(\\d+)', 'mean ~5', 'mean 4', 'changed from ~ in front to none'],
  ['mean\\D*(\\d+)', 'mean approx. 5', 'mean 4', 'changed from approx. in front to none'],
  ['mean\\D*(\\d+)', 'mean <5', 'mean >4', 'changed from < in front to > in front'],
  ['mean (\\d+)', 'mean 5+', 'mean 4', 'changed from + behind to none'],
  ['mean (\\d+)', 'mean 5-9', 'mean 4', 'changed from a number behind to none'],
  ['mean (\\d+)', 'mean 5', 'mean 4 - 9', 'changed from none to a number behind'],
  [
    'failed (\\d+)',
    'failed 10/100',
    'failed 9/10',
    'changed from "of 100" to "of 10": let the benchmark print',
  ],
])('%s on %s, and then on %s, which is more, is read as less', async (regex, first, then, message) => {
  const project = makeProject({ spec: reading({ regex }), files: prints(first) })
  await project.data('init', '--no-canary')
  expect(await project.attempt(prints(then))).toMatchObject({
    reason: 'metric_error',
    message: show(message),
  })
})

test.each<[string, string, string]>([
  ['p95 (\\d+) ms', 'p95 1200 ms', 'p95 998 ms'],
  ['(\\d+) hits', '12:30:05 1450 hits', '12:30:45 145 hits'],
  ['total (\\d+)', 'total 85 1200', 'total 80 990'],
  ['^\\d+,(\\d+)', '1,1023', '1,998'],
  ['complexity: \\w \\(([\\d.]+)', 'complexity: B (7.5)', 'complexity: A (4.9)'],
  ['issued (\\d+)', 'issued 2 queries', 'issued 1 query'],
  ['real\\s+0m([\\d.]+)s', 'real 0m12.3s', 'real 0m9.9s'],
  ['score (\\d+) (?:PASS|FAIL)', 'score 42 FAIL', 'score 40 PASS'],
  ['^ *([\\d,]+) +cycles', '     1,034,567      cycles', '     934,567      cycles'],
  ['n (\\d{1,3}(?:,\\d{3})*)', 'n 1,050', 'n 950'],
  ['mean ([\\d.]+)', 'mean 1.10 MB', 'mean 999.00 KB'],
  ['mean <?(\\d+)', 'mean <5', 'mean <4'],
  ['in (\\d+)', 'failed in 5/10', 'failed in 4/10'],
  ['in (\\d+)/\\d+', 'failed in 5/10', 'failed in 4/12'],
  ['mean (\\d+)', 'mean 5 - 3 runs', 'mean 4 - 2 runs'],
  ['heap (\\d+)', 'heap 5 MB in 20 KB blocks', 'heap 4 MB in 20 KB blocks'],
])('%s on %s, and then on %s, which is honest, is refused', async (regex, first, then) => {
  const project = makeProject({ spec: reading({ regex }), files: prints(first) })
  await project.data('init', '--no-canary')
  expect(await project.attempt(prints(then))).toMatchObject({ status: 'kept', reason: 'improved' })
})

test.each<[string, string, string]>([
  [
    '{"tasks": {"a": {"score": 900, "unit": "ms"}}}',
    '{"tasks": {"a": {"score": 1.1, "unit": "s"}}}',
    'ms to s',
  ],
  [
    '{"unit": "ms", "tasks": {"a": {"score": 900}}}',
    '{"unit": "s", "tasks": {"a": {"score": 1}}}',
    'ms to s',
  ],
  ['{"lat": 900, "latencyUnit": "ms"}', '{"lat": 1.1, "latencyUnit": "s"}', 'ms to s'],
  ['{"lat": 900, "units": ["ms"]}', '{"lat": 1.1, "units": ["s"]}', 'ms to s'],
  ['{"lat": 900, "unit": "ms"}', '{"lat": 1.1}', 'from ms to none: let the benchmark print one unit'],
  ['{"lat": 900}', '{"lat": 1.1, "unit": "s"}', 'from none to s: let the benchmark print one unit'],
  ['{"lat": 900, "unit": "ms"}', 'METRIC lat=1.1', 'from ms to none'],
  ['{"lat": 900, "metrics": {"lat": 900}}', '{"lat": 1, "metrics": {"lat": 900}}', 'say it once'],
])(
  'JSON of which one place contradicts the other, or whose unit changed, is read: %s, and then %s',
  async (first, then, message) => {
    const project = makeProject({ spec: reading('auto'), files: prints(first) })
    await project.data('init', '--no-canary')
    expect(await project.attempt(prints(then))).toMatchObject({
      reason: 'metric_error',
      message: show(message),
    })
  },
)

test.each([
  ['Elapsed.*: \\d+:([\\d.]+)', 'Elapsed (m:ss): 0:59.50', '0:59.50'],
  ['took \\d+:(\\d+)', 'took 02:11', '02:11'],
  ['took (\\d+)', 'took 02:11', '02:11'],
  ['size (\\d+)', 'size 1 MB 20 KB', '1 MB 20 KB'],
  ['size (\\d+ \\S+)', 'size 1 MB 20 KB', '1MB 20 KB'],
])(
  'a pattern takes a part of a time or a size for the whole, from the baseline on: %s',
  async (regex, line, whole) => {
    const project = makeProject({ spec: reading({ regex }), files: prints(line) })
    expect(await project.problem('init', '--no-canary')).toMatchObject({
      message: show(`stops inside of ${whole}: let the benchmark print`),
    })
  },
)

test.each([
  ['(5.1)', 'it is not a number'],
  ['<4', 'it is not a number'],
  ['1 MB 20 KB', 'there is text after the number'],
  ['02:01', 'it is a time in several parts: write it in one unit'],
])('a METRIC line with %s is read as one plain number', async (text, message) => {
  const project = makeProject({ spec: reading('auto'), files: prints('METRIC lat=7') })
  await project.data('init', '--no-canary')
  expect(await project.attempt(prints(`METRIC lat=${text}`))).toMatchObject({
    reason: 'metric_error',
    message: show(message),
  })
})

test.each([
  ['"unit": "ms"', '"unit": "s"', 'ms to s'],
  ['"unit": "ms"', '"n": 1', 'ms to none'],
  ['"n": 1', '"unit": "s"', 'none to s'],
  ['"units": ["ms"]', '"units": ["s"]', 'ms to s'],
])(
  'a unit beside the number at a pointer changes, and the number is compared all the same: %s, %s',
  async (was, is, change) => {
    const project = makeProject({
      spec: reading({ json: '/result/mean' }),
      files: prints(`{"result": {"mean": 12.3, ${was}}}`),
    })
    await project.data('init', '--no-canary')
    expect(await project.attempt(prints(`{"result": {"mean": 1.3, ${is}}}`))).toMatchObject({
      reason: 'metric_error',
      message: show(`what stands beside the number of lat changed from ${change}`),
    })
  },
)

test('a number in groups of three is not read, or a pattern that cuts one is found only at a candidate', async () => {
  const bench = (text: string) => prints(`test tests::parse ... bench:         ${text} ns/iter (+/- 21)`)
  const whole = makeProject({ spec: reading({ regex: 'bench:\\s+([\\d,.]+)' }), files: bench('999') })
  await whole.data('init')
  expect(await whole.attempt(bench('1,002.5'))).toMatchObject({ reason: 'not_better', value: 1002.5 })
  expect(await whole.attempt(bench('1,234,567'))).toMatchObject({ reason: 'not_better', value: 1_234_567 })
  const decimals = makeProject({ spec: reading({ regex: 'took (\\d+)' }), files: prints('took 12.9 ms') })
  expect(await decimals.problem('init')).toMatchObject({
    code: 'baseline_failed',
    message: show('the pattern stops inside of 12.9'),
  })
})

test('two sources, two JSON objects or two matches that differ: one of them is believed', async () => {
  const n = (read: unknown) => reading(read, 'n')
  const answer = prints('{"n": 100}')
  const auto = makeProject({ spec: n('auto'), files: answer })
  await auto.data('init')
  const tries: [Files, string][] = [
    [hook('echo \'{"score": 1}\' > "$ASSAY_RESULT"'), 'the result file says n = 1, a JSON object 100'],
    [hook('echo \'{"n": 1}\''), 'two JSON objects say n = 1 and n = 100'],
    [prints('{"n": 100}\n{\n  "n": 1\n}'), 'two JSON objects say n = 100 and n = 1'],
  ]
  for (const [files, words] of tries)
    expect(await auto.attempt(files)).toMatchObject({ reason: 'metric_error', message: show(words) })
  const noisy = await auto.attempt(prints('{"level": "info"}\n{"n": 90}\n{"level": "bye"}'))
  expect(noisy).toMatchObject({ status: 'kept', value: 90 })

  const json = makeProject({ spec: n('json'), files: answer })
  await json.data('init')
  expect(await json.attempt(prints('{"n": 100}\n{"n": 1}'))).toMatchObject({
    reason: 'metric_error',
    message: show('n = 100 and n = 1'),
  })
  const pattern = makeProject({ spec: n({ regex: 'n=(\\d+)' }), files: prints('n=100 n=100') })
  await pattern.data('init')
  expect(await pattern.attempt(prints('n=1 n=100'))).toMatchObject({
    reason: 'metric_error',
    message: show('two different values, 1 and 100'),
  })
})

test('what time of bash prints above a minute is read by no preset, and nothing names it', async () => {
  const times = (real: string) => prints(`\nreal\t${real}\nuser\t0m0.003s\nsys\t0m0.004s`)
  const preset = makeProject({ spec: reading('gnu-time', 'elapsed'), files: times('1m2.345s') })
  expect(await preset.data('init', '--no-canary')).toMatchObject({ baseline: { value: 62.345, unit: 's' } })
  expect(await preset.attempt(times('0m59.999s'))).toMatchObject({ status: 'kept', value: 59.999 })
  const pattern = makeProject({
    spec: reading({ regex: 'real\\s+0m([\\d.]+)s' }),
    files: times('0m12.300s'),
  })
  await pattern.data('init', '--no-canary')
  expect(await pattern.attempt(times('1m2.345s'))).toMatchObject({
    reason: 'metric_error',
    message: show('write measure: { read: gnu-time }'),
  })
})

test('1e-400 is taken for 0, a negative time passes without a message, or a gain is Infinity %', async () => {
  const project = makeProject()
  await project.data('init')
  expect(await project.attempt(ms('1e-400'))).toMatchObject({
    reason: 'metric_error',
    message: show('too small for a number'),
  })
  const negative = await project.attempt({ 'src/metrics.txt': 'METRIC ms=-5\nMETRIC __proto__=1\n' })
  expect(negative).toMatchObject({ status: 'kept', message: show('; a time or a size below 0 cannot be') })
  expect(await project.data('show', negative.experiment, '--recompute')).toMatchObject({ same: true })
  const shown = await project.cli(['show', negative.experiment])
  expect(shown.stdout).toMatch(/"metrics":\{[^}]*"__proto__":1/)
  const huge = await project.attempt(ms('-1.5e308'), negative.experiment)
  expect(huge).toMatchObject({ status: 'kept', improvement_abs: 1.5e308 })
  expect(huge.message).toContain('(its percentage is too large for a number, minimize)')
  const lost = await project.attempt(ms('1.5e308'), huge.experiment)
  expect(lost).toMatchObject({ status: 'rejected', improvement: null, improvement_abs: null })
  expect(lost.message).toContain('worse by more than a number can hold')
  for (const { message } of [huge, lost]) expect(message).not.toContain('Infinity')
  expect((await project.cli(['show', lost.experiment])).stdout).not.toContain('Infinity')
})

test('1,500 is read as 1500 or 1.5 without a message', async () => {
  const seconds = makeProject({ spec: reading({ regex: 'took ([\\d.,]+)' }), files: prints('took 1.6 s') })
  await seconds.data('init')
  expect(await seconds.attempt(prints('took 1,500 s'))).toMatchObject({
    reason: 'metric_error',
    message: show('its comma may be a decimal sign (1.500) or separate thousands (1500)'),
  })
})

test('output in UTF-16 is reported as no output', async () => {
  const utf16 = (text: string) => Buffer.from(text, 'utf16le').toString('base64')
  const mark = Buffer.from([0xff, 0xfe]).toString('base64')
  const decode = (text: string) => `echo ${text} | base64 -d`
  const stdout = makeProject({ spec: reading('auto', 'n'), files: prints('METRIC n=100') })
  await stdout.data('init')
  const said = 'is written in UTF-16, which is not read: let the program write UTF-8'
  for (const text of [decode(utf16('METRIC n=1\n')), `${decode(mark)}; ${decode(utf16('METRIC n=1\n'))}`])
    expect(await stdout.attempt({ ...prints(''), ...hook(text) })).toMatchObject({
      reason: 'metric_error',
      message: show(`standard output ${said}`),
    })
  expect(
    await stdout.attempt({
      ...prints(''),
      ...hook(`${decode(utf16('{"score": 1}\n'))} > "$ASSAY_RESULT"`),
    }),
  ).toMatchObject({ reason: 'metric_error', message: show(`the result file ${said}`) })
})

test('integers beyond the precision of a double are read as a neighbour, or one that is not needed is refused', async () => {
  const n = (read: unknown) =>
    makeProject({ spec: reading(read, 'n'), files: prints('{"n": 9007199254740994}') })
  const lost = 'has more digits than a number can hold (9007199254740993 would be read as 9007199254740992)'
  for (const read of ['auto', 'json', { json: '/n' }, { regex: '"n": (\\d+)' }]) {
    const project = n(read)
    await project.data('init', '--no-canary')
    expect(await project.attempt(prints('{"n": 9007199254740993}'))).toMatchObject({
      reason: 'metric_error',
      message: show(lost),
    })
  }
  const lines = n('auto')
  await lines.data('init', '--no-canary')
  for (const text of ['METRIC n=9007199254740993', 'METRIC n=1\n{"n": 9007199254740993}'])
    expect(await lines.attempt(prints(text))).toMatchObject({ reason: 'metric_error', message: show(lost) })
  expect(await lines.attempt(prints('{"n": 5, "id": 12345678901234567891}'))).toMatchObject({
    status: 'kept',
    value: 5,
  })
})
