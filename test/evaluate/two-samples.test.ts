/** What a pattern finds in the output of the baseline, and then in that of a candidate: the right value, or none. */
import { expect, test } from 'vitest'
import { inUnitsOf, type Reference } from '../../cli/evaluate/comparable.ts'
import { lineParser } from '../../cli/evaluate/lines.ts'
import { readAnswer } from '../../cli/evaluate/metrics.ts'

function sample(regex: string, output: string, reference: Reference | null) {
  const parser = lineParser({ metric: 'n', regex: new RegExp(regex) })
  parser.push(output)
  const metric = { name: 'n' }
  const lines = parser.end()
  const reading = readAnswer({ read: { regex }, metric, aggregate: 'mean', resultFile: null, lines })
  if (!reading.ok) return reading.fault
  return inUnitsOf(reference, reading.answer, 'n')
}

/** The value of the second output in the unit of the first one, or why it has none. */
function read(regex: string, first: string, second: string): number | string {
  const baseline = sample(regex, first, null)
  if ('reason' in baseline) return `baseline: ${baseline.message}`
  const candidate = sample(regex, second, baseline)
  return 'reason' in candidate ? candidate.message : candidate.value
}

test.each<[string, string, string, string]>([
  ['took ([\\d.]+)', 'took 12.3 (MFLOPS)', 'took 1.3 (GFLOPS)', 'from MFLOPS to GFLOPS'],
  ['took ([\\d.]+)', 'took 12.3 [widgets]', 'took 1.3 [kwidgets]', 'from widgets to kwidgets'],
  ['took ([\\d.]+)', 'took 12.3 (#/sec)', 'took 1.3 (#/min)', 'from #/sec to #/min'],
  ['\\w+: ([\\d.]+)', 'size_kb: 12', 'size_mb: 0.1', 'from kb to mb'],
  ['"\\w+": ([\\d.]+)', '"durationMs": 12', '"durationS": 0.1', 'from durationMs to durationS'],
  [': ([\\d.]+)', 'n (tok): 12', 'n (ktok): 0.1', 'from tok to ktok'],
  ['avg=([\\d.]+)', 'n (wid): min=5, avg=12', 'n (kwid): min=1, avg=2', 'from wid to kwid'],
  ['took ([\\d.]+)', 'took 12.3 ± 0.1 wid', 'took 1.3 ± 0.1 kwid', 'from wid to kwid'],
  ['took ([\\d.]+)', 'took 12.3 (0.1) wid', 'took 1.3 (0.1) kwid', 'from wid to kwid'],
  ['a +\\| ([\\d.]+)', '| a | 12 | wid |', '| a | 1 | kwid |', 'from wid to kwid'],
  ['a ([\\d.]+)', 'n   rate [wid]\n-- ---\na 12', 'n   rate [kwid]\n-- ---\na 1', 'from wid to kwid'],
  [
    'a \\| ([\\d.]+)',
    '| n | t/s |\n|---|---|\n| a | 12 |',
    '| n | kt/s |\n|---|---|\n| a | 1 |',
    't/s to kt/s',
  ],
  ['measured : ([\\d.]+)', 'MFLOPS measured : 1234', 'GFLOPS measured : 1.1', 'from MFLOPS to GFLOPS'],
  ['second: ([\\d.]+)', 'n per second: 90 [#/sec]', 'n per second: 99 [#/min]', '#/sec to second #/min'],
  ['"v": ([\\d.]+)', '{\n"v": 990,\n"unit": "ms"\n}', '{\n"v": 1.1,\n"unit": "s"\n}', 'from ms to s'],
  ['n ([\\d.]+)', 'time_unit: ms\nn 990', 'time_unit: s\nn 1.1', 'from ms to s'],
  ['n ([\\d.]+)', 'All times in ms\nn 990', 'All times in s\nn 1.1', 'from ms to s'],
  ['n ([\\d.]+)', 'All times are in milliseconds.\nn 990', 'All times are in seconds.\nn 1.1', 'to seconds'],
  ['n ([\\d.]+)', 'n 990\n(times in ms)', 'n 1.1\n(times in s)', 'from ms to s'],
  ['n ([\\d.]+)', 'n 990\nTime unit = ms', 'n 1.1\nTime unit = s', 'from ms to s'],
  ['n +(\\d+)', 'x  Time [ms]  Mem [MB]\nn 990 1', 'x  Time [s]  Mem [MB]\nn 2 1', 'from ms MB'],
  ['n +(\\d+)', 'x  mean ms  max ms\nn 990', 'x  mean s  max s\nn 2', 'from ms ms to s s'],
  ['n +(\\d+)', 'x mean_ms p95_ms\nn 990', 'x mean_s p95_s\nn 2', 'from ms ms to s s'],
  ['n +(\\d+)', 'x   mean\n    ms\nn 990', 'x   mean\n    s\nn 2', 'from ms to s'],
  ['^n,(\\d+)', 'x,mean_ms,mem\nn,990,1', 'x,mean_s,mem\nn,2,1', 'from ms, a number'],
  [
    'n \\| (\\d+)',
    '| x | mean ms |\n|--|--|\n| n | 990 |',
    '| x | mean s |\n|--|--|\n| n | 2 |',
    'from ms to s',
  ],
  ['([\\d.]+)x', '1.05x faster', '1.50x slower', 'from faster to slower'],
  ['([\\d.]+)%', '5.3% faster', '7.3% slower', 'from faster to slower'],
  ['([\\d.]+)%', 'up 5.3%', 'down 7.3%', 'from up to down'],
  ['([\\d.]+) times', 'is 1.3 times faster', 'is 1.9 times slower', 'from faster to slower'],
  ['([\\d.]+)%', '▲ 5.3%', '▼ 7.3%', 'from ▲ to ▼'],
  ['n,([\\d.]+)', 'n,990,wid', 'n,1.1,kwid', 'from wid to kwid'],
  ['([\\d.]+)', '990 total MB', '1.1 total GB', 'from MB to GB'],
  ['([\\d.]+)', '990 of memory in MB', '1.1 of memory in GB', 'from MB to GB'],
  ['([\\d.]+)$', 'widgets 120', 'kwidgets 2', 'from widgets to kwidgets'],
  ['([\\d.]+)', '$120', '€110', 'from $ to €'],
  ['"n": ([\\d.]+)', '{"n": 12, "unit": "tok/s"}', '{"n": 1, "unit": "ktok/s"}', 'from tok/s to ktok/s'],
  [
    'rate ([\\d.]+)',
    'rate 90 widgets per second',
    'rate 99 widgets per minute',
    'from widgets/second to widgets/m',
  ],
])('%s on %j, and then on %j: another word where a unit stands passes', (regex, first, second, message) => {
  expect(read(regex, first, second)).toContain(message)
})

test.each<[string, string, string, number]>([
  ['took ([\\d.]+)', 'took 12.3 (widgets)', 'took 11 (widgets)', 11],
  ['in ([\\d.]+)s', '= 2 passed in 59.3s =====', '= 2 passed in 62.3s (0:01:02) =====', 62.3],
  ['(\\d+) \\w+ +\\d+ ', '-rw- 1 u g 120 Nov 29 14:02 app', '-rw- 1 u g 110 Dec 1 14:02 app', 110],
  ['took ([\\d.]+)', 'took 2 (queries)', 'took 1 (query)', 1],
  ['score (\\d+) (?:PASS|FAIL)', 'score 42 FAIL', 'score 40 PASS', 40],
  ['score (\\d+)(?: PASS)?', 'score 42', 'score 40 PASS', 40],
  ['(?:quicksort|mergesort) ([\\d.]+)', 'best quicksort 12', 'best mergesort 11', 11],
  ['score (\\d+) \\((?:worse|better)\\)', 'score 42 (worse)', 'score 40 (better)', 40],
  ['rate ([\\d.]+)', 'rate 1.1 M tokens/s', 'rate 990 k tokens/s', 0.99],
  ['rate ([\\d.]+)', 'rate 100 requests per second', 'rate 6060 requests per minute', 101],
  ['rate ([\\d.]+)', 'rate 990 MFLOPS', 'rate 1.1 GFLOPS', 1100],
  ['rate ([\\d.]+)', 'rate 990 Mbits/sec', 'rate 1.1 Gbits/sec', 1100],
  ['complexity: \\w \\(([\\d.]+)', 'complexity: B (7.5)', 'complexity: A (4.9)', 4.9],
  ['([\\d.]+)x (?:faster|slower)', '1.05x faster', '1.50x slower', 1.5],
  ['([\\d.]+)%', '0%', '7% slower', 7],
  ['took (\\d+)', 'took 990 ms (lower is better)', 'took 980 ms (lower is better)', 980],
  ['n +(\\d+)', 'x  Time [ms]  Mem [MB]\nn 990 1', 'x  Time [ms]  Mem [MB]\nn 980 1', 980],
  ['n (\\d+) ms', 'built in seconds\nn 990 ms', 'built in minutes\nn 980 ms', 980],
  ['done: ([\\d.]+)', '[INFO] start\n1: done: 12', '[WARN] start\n1: done: 11', 11],
])('%s on %j, and then on %j is refused', (regex, first, second, value) => {
  expect(read(regex, first, second)).toBe(value)
})

test('a refusal for a word does not say what to do', () => {
  expect(read('score (\\d+)', 'score 42 FAIL', 'score 40 PASS')).toBe(
    'the word behind the number of n changed from FAIL to PASS: if that is no unit, let the pattern spell it: (?:FAIL|PASS)',
  )
  expect(read('n (\\d+)', 'n 42 (best)', 'n 40')).toContain('let the pattern spell it: (?:best)?')
  // A prefix makes a unit of a word, whatever the pattern spells.
  for (const regex of ['n (\\d+)', 'n (\\d+) (?:kfoo|Mfoo)'])
    expect(read(regex, 'n 42 kfoo', 'n 40 Mfoo')).toContain('let the benchmark print one unit')
})

test.each<[string, string, number | string]>([
  ['1.1 MB', '999 KB', 0.999],
  ['500 B', '1.4 KiB', 1433.6],
  ['1.5 KB', '1.4 KiB', 1.4336],
  ['1500 kB', '1.4 MB', 1400],
  ['1500 kb', '1.4 Mb', 1400],
  ['12.3k', '9876', 9.876],
  ['1.00 MB', '1020 KB', 'powers of 1000 or of 1024'],
  ['1020K', '1.0M', 'powers of 1000 or of 1024'],
  ['2.5M', '1020K', 'powers of 1000 or of 1024'],
  ['1.5 KB', '1.48 KiB', 'powers of 1000 or of 1024'],
  ['1.00 MB/s', '1020 KB/s', 'powers of 1000 or of 1024'],
  ['1.5 kb', '1.4 KB', 'changed from kb to KB'],
  ['12 kb', '12 kbit', 'changed from kb to kbit'],
])('%s, and then %s: a multiple of bytes is converted by the wrong power', (first, second, expected) => {
  const found = read('n ([\\d.]+)', `n ${first}`, `n ${second}`)
  if (typeof expected === 'number') expect(found).toBe(expected)
  else expect(found).toContain(expected)
})

const COMMA = 'its comma may be a decimal sign'
const POINT = 'a point may be a decimal one'
test.each<[string, string, string, number | string]>([
  ['n ([\\d,]+)', 'n 950', 'n 1,050', 1050],
  ['n ([\\d,]+)', 'n 1,034,567', 'n 934,567', 934_567],
  ['n ([\\d.,]+)', 'n 1,034.5', 'n 1,002', 1002],
  ['n ([\\d.,]+)', 'n 999.5', 'n 1,002', 1002],
  ['n ([\\d,]+) ns', 'n 950 ns', 'n 1,050 ns', 1050],
  ['n (\\d{1,3}(?:,\\d{3})*)', 'n 1,050', 'n 950', 950],
  ['n (\\d{1,3}(?:,\\d{3})*)', 'n 12', 'n 1,050', 1050],
  ['n ([\\d.,]+)', 'n 12.5', 'n 12,5', 'it has a comma'],
  [
    'n ([\\d.,]+)',
    'n 12,5',
    'n 12.5',
    'baseline: what the pattern found was not read, because it has a comma',
  ],
  ['n ([\\d.,]+)', 'n 1,050', 'n 950', `baseline: n was not read, because ${COMMA} (1.050)`],
  ['n ([\\d.,]+)', 'n 12', 'n 1,500', COMMA],
  ['n ([\\d.,]+)', 'n 1.5', 'n 1,500', COMMA],
  ['n ([\\d.,]+)', 'n 934.567', 'n 1,002', COMMA],
  ['n ([\\d.,]+)', 'n 950 ms', 'n 1,050 s', COMMA],
  ['n ([\\d.]+)', 'n 950', 'n 1.050', `${POINT} (1.050) or separate thousands (1050)`],
  ['n ([\\d.]+)', 'n 1.034', 'n 950', `${POINT} (1.034) or separate thousands (1034)`],
  ['n ([\\d.]+)', 'n 5', 'n 4.125', 4.125],
  ['n ([\\d.]+)', 'n 950.5', 'n 1.050', 1.05],
])(
  '%s on %s, and then on %s: one separator is guessed, or refused although it is known',
  (regex, first, second, expected) => {
    const found = read(regex, first, second)
    if (typeof expected === 'number') expect(found).toBe(expected)
    else expect(found).toContain(expected)
  },
)

test.each<[string, string]>([
  ['-(\\d+)', 'gain: -5'],
  ['"-(\\d+)', 'gain "-5"'],
  ['>-(\\d+)', '<td>-5</td>'],
  ['-(\\d+)', 'gain≈-5'],
  ['\\$(\\d+)', 'gain -$5'],
  ['\\$-(\\d+)', 'gain $-5'],
  ['= - (\\d+)', 'gain = - 5'],
  ['‑(\\d+)', 'gain ‑5'],
  ['-\\.(\\d+)', 'gain -.5'],
])('%s on %s loses the sign', (regex, line) => {
  expect(read(regex, line, line)).toMatch(
    /^baseline: the pattern stops inside of -\.?5: let its group hold the whole, with its sign/,
  )
})

test('a sign that may be a hyphen changes between samples unnoticed, or lists and names with hyphens are refused', () => {
  expect(read('gain-?(\\d+)', 'gain5', 'gain-6')).toContain(
    'if it is a sign, let the group of the pattern hold it',
  )
  expect(read('- (\\d+) ms', '- 12 ms', '- 11 ms')).toBe(11)
  expect(read('Parse-(\\d+)', 'Parse-12', 'Parse-11')).toBe(11)
  expect(read('\\+/-(\\d+)', '5 +/-12', '5 +/-11')).toBe(11)
})

const ESC = '\u001b'
test.each<[string, string, string, string]>([
  ['mean (\\d+)', 'mean 1', '[', 'mean 100'],
  ['mean (\\d+)', 'mean 1', '[1;', 'mean 100'],
  ['Elapsed (\\d+)', 'Elapsed 1', '[1', 'Elapsed 100'],
  ['hits (\\d+)', 'hits 1', '[?1', 'hits 100'],
  ['Avg: (\\d+)', 'Avg: 1', '(', 'Avg: 100'],
  ['(\\d+)ms', '1ms', '[', '100ms'],
  ['took (\\d+)', 'took 1', ']', 'took 100\u0007'],
  ['took (\\d+)', 'took 1', ']0;', 'took 100 \u0007 ms'],
  ['took (\\d+)', 'took 1', ']8;;', `took 100${ESC}\\`],
])('%s: a candidate says %s, and leaves the code %s open, which takes in %j', (regex, says, code, answer) => {
  expect(read(regex, answer, answer)).toBe(100)
  expect(read(regex, answer, `${says}\n${ESC}${code}${answer}`)).toContain('two different values')
})

test.each<[string, string, number]>([
  ['(\\d+) ms', `${ESC}[1m90 ms${ESC}[0m`, 90],
  ['(\\d+)', `${ESC}[1m90${ESC}[0m`, 90],
  ['took (\\d+)', `${ESC}]0;title 6\u0007took 90`, 90],
  ['took (\\d+)', `${ESC}]8;;http://x/7${ESC}\\took 90${ESC}]8;;${ESC}\\`, 90],
  ['took (\\d+)', `${ESC}7${ESC}[1;32mtook${ESC}[0m 90`, 90],
])('%s on %j, with codes that are whole, is refused', (regex, line, value) => {
  expect(read(regex, line, line)).toBe(value)
})
