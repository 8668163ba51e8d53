import { describe, expect, test } from 'vitest'
import { beside, fieldsOf } from '../../cli/evaluate/beside.ts'
import { inUnitsOf } from '../../cli/evaluate/comparable.ts'
import { lineParser } from '../../cli/evaluate/lines.ts'
import { readAnswer } from '../../cli/evaluate/metrics.ts'
import { readValue } from '../../cli/evaluate/number.ts'
import { convert } from '../../cli/evaluate/units.ts'

describe('a value in a different unit', () => {
  test.each<[number, string | null, string | null, number | null]>([
    [1.0021, 's', 'ms', 1002.1],
    [1.0043, 'ms', 'µs', 1004.3],
    [998.21, 'us', 'μs', 998.21],
    [0.1, 'ms', 'ns', 100_000],
    [90, 's', 'min', 1.5],
    [1, 'min', 's', 60],
    [1.5, 'h', 'min', 90],
    [3, 'sec', 'seconds', 3],
    [1.5, 'MB', 'kB', 1500],
    [1, 'KiB', 'B', 1024],
    [512, 'KiB', 'MiB', 0.5],
    [1, 'MiB', 'kB', 1048.576],
    [1.2, 'GB/s', 'MB/s', 1200],
    [120, 'MB/min', 'MB/s', 2],
    [1.5, 'µs/op', 'ns/op', 1500],
    [1.1, 'M', 'k', 1100],
    [1.1, 'k', null, 1100],
    [1.1, 'kops/s', 'ops/s', 1100],
    [3, 'M/s', '/s', 3_000_000],
    [2, 'GHz', 'MHz', 2000],
    [5, '‰', '%', 0.5],
    [5, 'widgets', 'widgets', 5],
    [5, 'ms', 'MB', null],
    [5, 'ms', null, null],
    [5, null, 's', null],
    [5, '%', null, null],
    [5, 'ns/op', 'ns', null],
    [5, 'ns/op', 'ns/iter', null],
    [5, 'widgets', 'gadgets', null],
    [5, 'x', 'ms', null],
    [5, 'B', 'bit', null],
  ])('%s %s in %s', (value, from, to, expected) => {
    expect(convert(value, from, to)).toBe(expected)
  })
})

describe('what stands around a group', () => {
  test.each<[string, string, string, string | null]>([
    ['mean: ', '998.2', ' ms ± 3', 'ms'],
    ['took ', '12', 'ms', 'ms'],
    ['took ', '12', '%', '%'],
    ['bench: ', '999', ' ns/iter (+/- 21)', 'ns/iter'],
    ['rate ', '1.2', 'k', 'k'],
    ['rate ', '1.2', 'M/s', 'M/s'],
    ['| x | ', '12', '      ms |', 'ms'],
    ['| x | ', '12', '      names |', null],
    ['found ', '42', ' widgets', 'widgets'],
    ['n=', '1', ' m=2', null],
    ['n=', '1', ' s: 2', null],
    ['', '42', '', null],
    ['took ', '42 ms', ' or so', null],
    ['', '42', ' (best)', null],
  ])('%s(%s)%s', (before, group, behind, word) => {
    expect(beside(before, group, behind)).toMatchObject({ word, cut: null })
  })

  test.each<[string, string, string, string]>([
    ['bench: ', '1', ',002 ns', '1,002'],
    ['bench: ', '1,002', ',003 ns', '1,002,003'],
    ['bench: 1,', '002', ' ns', '1,002'],
    ['took ', '12', '.9 ms', '12.9'],
    ['took ', '12', ',15', '12,15'],
    ['took ', '1', '\u200b000', '1\u200b0'],
    ['took ', '1', '\uff0c000', '1\uff0c0'],
    ['took ', '9', '\u0665', '9\u0665'],
    ['took ', '9', '\u066b8', '9\u066b8'],
    ['took ', '9', '\b1050', '9\b'],
    ['took 9\b', '1050', '', '9\b1050'],
    ['took ', '9.0', 'e−4', '9.0e−4'],
    ['took 1h0m', '3', 's', '1h0m3s'],
    ['took 1m:', '03', 's', '1m:03s'],
    ['took 1 min. ', '3', ' sec', '1 min. 3sec'],
    ['took ', '1', 'ms 20us', '1ms 20us'],
    ['took PT1M', '0.5', 'S', 'PT1M0.5S'],
    ['took PT', '1', 'M0.5S', 'PT1M0.5S'],
    ['time: ', '02', ':01 min', '02:01'],
    ['time: 02:', '01', ' min', '02:01'],
    ['took 12.', '9', ' ms', '12.9'],
    ['took ', '1', '2 ms', '12'],
    ['took 1', '2', ' ms', '12'],
    ['took ', '1.5', 'e-3', '1.5e-3'],
    ['took ', '1', 'E+05', '1E+05'],
    ['took ', '1', "'234", "1'234"],
    ['took ', '1', '_000', '1_000'],
    ['took ', '1', '\u202f000', '1\u202f000'],
    ['took .', '5', ' s', '.5'],
    ['took 0x', '1', 'f', '0x1'],
    ['t=-', '5', '', '-5'],
    ['t = −', '5', '', '-5'],
    ['took ', '42 m', 's', '42 ms'],
  ])('%s(%s)%s cuts a number', (before, group, behind, cut) => {
    expect(beside(before, group, behind).cut).toBe(cut)
  })

  test.each<[string, string, string]>([
    ['p95-', '12', ' ms'],
    ['2026-05-', '12', ''],
    ['took ', '12', ', then 15'],
    ['name,', '12', ',150'],
    ['row: ', '12', ',15,18'],
    ['took PT', '59.5', 'S'],
    ['took PT0M', '9', 'S'],
    ['run 5 s: ', '20', ' ms'],
    ['12.5,', '12', ',150'],
    ['took ', '12', '. Done'],
    ['0,', '123', ' x'],
    ['v', '12', ' x'],
  ])('%s(%s)%s cuts none', (before, group, behind) => {
    expect(beside(before, group, behind).cut).toBe(null)
  })

  test('a comma that the pattern itself has separates fields', () => {
    expect(beside('', '12', ',150', fieldsOf('^(\\d+),')).cut).toBe(null)
    expect(beside('1,', '998', '', fieldsOf('^\\d+,(\\d+)')).cut).toBe(null)
    expect(beside('1,', '998', '', fieldsOf('(\\d+)$')).cut).toBe('1,998')
    expect(fieldsOf('(?:a|b)[()]\\((?<value>\\d+),\\d')).toEqual({
      before: false,
      behind: true,
      slash: false,
    })
    expect(fieldsOf('(\\d+),?').behind).toBe(false)
    expect(beside('', '9', '/10', fieldsOf('(\\d+)/\\d+')).numbers).toBe('a number behind')
    expect(beside('', '9', ' / 10', fieldsOf('(\\d+)\\s?\\/')).numbers).toBe('a number behind')
    expect(fieldsOf('(\\d+)[,\\d]*').behind).toBe(false)
    expect(fieldsOf('a,(\\d+) b')).toEqual({ before: true, behind: false, slash: false })
  })

  test.each<[string, string, string, string]>([
    ['took ', '999', ' 000 ms', '999 000'],
    ['took ', '1', ' 034 567', '1 034 567'],
    ['took 999 ', '000', ' ms', '999 000'],
    ['took ', '2', ',00,000 ms', '2,00,000'],
    ['took 2,00,', '000', ' ms', '2,00,000'],
    ['took ', '1.0', ' × 10^3 ms', '1.0 × 10^3'],
    ['took ', '1.0', ' x 10^-3', '1.0 x 10^-3'],
    ['took ', '2', '*10⁶', '2*10⁶'],
    ['took 1.0 × ', '10', '^3', '1.0 × 10'],
    ['took 1.0 × 10^', '3', ' ms', '1.0 × 10^3'],
    ['took ', '2', ':59.5', '2:59.5'],
    ['took ', '1', ':02:03', '1:02:03'],
    ['took ', '02', ':01', '02:01'],
    ['took 02:', '01', '', '02:01'],
    ['size ', '1', ' MB 20 KB', '1 MB 20 KB'],
    ['size 1 MB and ', '20', ' KB', '1 MB and 20KB'],
    ['took 2:', '59.5', '', '2:59.5'],
    ['took 1:02:', '03', '', '1:02:03'],
    ['took 1:', '02', ':03', '1:02'],
    ['E = ', '0.95', 'D+01', '0.95D+01'],
    ['n (', '9.98', '+/-0.01)e+02', '9.98+/-0.01)e+'],
    ['n ', '9.5', '*10**2', '9.5*10**2'],
    ['n ', '1', '·002', '1·002'],
    ['took ', '2', 'm 40s', '2m 40s'],
    ['took ', '1', 'h2m', '1h2m'],
    ['took ', '1', ' min, 5.5 s', '1 min, 5.5 s'],
    ['took 2m ', '40', 's', '2m 40s'],
    ['took 1 minute and ', '40', ' seconds', '1 minute and 40seconds'],
    ['took 2 m ', '40s', '', '2 m 40s'],
  ])('%s(%s)%s is read in part: thousands, a power, a clock, two units', (before, group, behind, cut) => {
    expect(beside(before, group, behind).cut).toBe(cut)
  })

  test.each<[string, string, string]>([
    ['at 12:30:01 ', '12', ' ms'],
    ['at 12:30:45 ', '145', ' hits'],
    ['main.js:12: ', '15', ' ms'],
    ['p50:', '12', ' p99:15'],
    ['p95 ', '998', ' ms'],
    ['run 3: ', '120', ' ms'],
    ['run 5 ', '998', ''],
    ['in 1200 ', '300', ' ms'],
    ['total ', '80', ' 990'],
    ['took ', '12', ' 15 18'],
    ['took ', '0.5', ' 100'],
    ['mean 12 ms ', '15', ' ms'],
    ['took 3 x ', '12', ' ms'],
    ['in 5 s at ', '40', ' ms'],
    ['ratio ', '12', '/15'],
    ['score ', '12', ':75'],
    ['real 0m', '12.3', 's'],
  ])('%s(%s)%s is a whole number', (before, group, behind) => {
    expect(beside(before, group, behind).cut).toBe(null)
  })

  test.each<[string, string, string, string | null]>([
    ['mean ', '1', ' 020', null],
    ['mean ', '1', ' 220', 'a number behind'],
    ['mean ', '999', '', null],
    ['p95 ', '998', ' ms', 'a number in front'],
    ['p95 ', '1200', ' ms', 'a number in front'],
    ['total   ', '85', '   1200', 'a number behind'],
    ['total ', '998', ', mean 3', null],
    ['total ', '1', ', 5', 'a number behind'],
    ['ratio ', '12', '/15', 'a number behind, of 15'],
    ['took <', '4', '', '< in front'],
    ['took ~ ', '4', '', '~ in front'],
    ['took ', '4', '+', '+ behind'],
    ['cost (', '7.1', ')', '( in front'],
    ['took ', '4', ' ± 2', null],
    ['took ', '4', ' - 2', 'a number behind'],
    ['took 2 - ', '4', '', 'a number in front'],
    ['took ', '4', ' to 9 ms', 'a number behind'],
    ['> n: ', '4', '', null],
  ])('%s(%s)%s: what may be one number or two is not told', (before, group, behind, around) => {
    expect(beside(before, group, behind).numbers).toBe(around)
  })

  test.each<[string, string, string, string | null]>([
    ['mean ', '12.3', ' ± 0.1 ms', 'ms'],
    ['mean ', '12.3', ' +/- 0.1 (s)', 's'],
    ['mean ', '12.3', ' [ms]', 'ms'],
    ['mean ', '12.3', ' (µs)', 'µs'],
    ['mean ', '12.3', '-ms', 'ms'],
    ['mean (ms): ', '12.3', '', 'ms'],
    ['mean [s] | ', '12.3', '', 's'],
    ['mean_ms=', '12.3', '', 'ms'],
    ['"durationMs":', '12.3', '', null],
    ['ms ', '12.3', '', 'ms'],
    ['{"value": ', '12.3', ', "unit": "ms"}, {"value": 2, "unit": "s"}', 'ms'],
    ['{"unit": "s", "value": ', '12.3', '}', 's'],
    ['parsed ', '12', ' records in 3 ms', null],
    ['took ', '12.3', ' ms (s)', null],
    ['took ', '12', ' of 15', null],
    ['took ', '998.2', '(5) µs', 'µs'],
    ['took ', '998.2', ' [990 1002] µs', 'µs'],
    ['took ', '998.2', ' ±(99.9%) 0.1 ms/op', 'ms/op'],
    ['| ', '998.2', ' | ms |', 'ms'],
    ['clat (usec): min=56, avg=', '99.1', ', max=7', 'usec'],
    ['times in ms: min 10 avg ', '998', '', 'ms'],
    ['complexity: B (', '7.5', ')', null],
    ['complexity ', '12', ' (B)', null],
    ['avg ', '120', ' min 100', null],
  ])('%s(%s)%s has its unit near', (before, group, behind, around) => {
    expect(beside(before, group, behind).near).toBe(around)
  })
})

describe('a number in groups', () => {
  const value = (text: string) => {
    const read = readValue(text, { grouped: true })
    return read.ok ? read.value : read.reason
  }
  test.each<[string, number]>([
    ['1,500.25', 1500.25],
    ['1,234,567', 1_234_567],
    ['12,345,678.9', 12_345_678.9],
    ["1'234", 1234],
    ['1\u202f234', 1234],
    ['1_000_000', 1_000_000],
    ['-1,002,003', -1_002_003],
    ['999', 999],
    ['1,002.5 ns', 1002.5],
  ])('%s', (text, expected) => {
    expect(value(text)).toBe(expected)
  })
  test.each([
    '1,002',
    '-1,500',
    '1,002 ns',
    '1,5',
    '1,00',
    '0,123',
    '1,002,5',
    "1,002'003",
    '1,0022',
    '12,34,567',
    ',002',
    '1234,567',
  ])('%s is refused', (text) => {
    expect(value(text)).toMatch(/comma|not a number|not a unit/)
  })
  test('a comma in a METRIC line counts as a separator of groups', () => {
    expect(readValue('1,002')).toMatchObject({ ok: false })
  })
})

test.each(['1e-400', '-1e-400', '0.0000001e-330'])('%s is read as 0, the best that a time can be', (text) => {
  expect(readValue(text)).toMatchObject({ ok: false, reason: expect.stringContaining('too small') })
})
test.each(['0', '0.000', '-0', '0e-400', '1e-300'])('%s is refused for being small', (text) => {
  expect(readValue(text)).toMatchObject({ ok: true })
})

test.each(['9007199254740993', '-9007199254740993', '09007199254740993.0', '12345678901234567891'])(
  '%s is read as the number beside it',
  (text) => {
    expect(readValue(text)).toMatchObject({ ok: false, reason: expect.stringContaining('more digits') })
  },
)
test.each(['9007199254740992', '1152921504606846976', '9223372036854776000', '9007199254740993e3', '0.1'])(
  '%s is refused, though no digit that was printed is lost, or it has an exponent',
  (text) => {
    expect(readValue(text)).toMatchObject({ ok: true })
  },
)

describe('a sample in the units of the baseline', () => {
  const answer = (value: number, unit: string | null, beside?: string | null) => ({
    value,
    metrics: { t: value, ok: true },
    units: unit === null ? {} : { t: unit },
    tasks: { a: { score: value } },
    artifacts: null,
    raws: { t: `took ${value}` },
    ...(beside !== undefined && { beside }),
  })
  const reference = (unit: string | null, beside?: string | null) => {
    const { metrics, units } = answer(1, unit)
    return { metrics, units, ...(beside !== undefined && { beside }) }
  }

  test('its value, its tasks and what was printed', () => {
    expect(inUnitsOf(reference('ms'), answer(1.0021, 's'), 't')).toEqual({
      value: 1002.1,
      metrics: { t: 1002.1, ok: true },
      units: { t: 'ms' },
      tasks: { a: { score: 1002.1 } },
      artifacts: null,
      converted: { t: { value: 1.0021, unit: 's' } },
    })
    expect(inUnitsOf(null, answer(5, 's'), 't')).toMatchObject({ value: 5, units: { t: 's' } })
  })

  test('a different kind of unit is refused with the line', () => {
    expect(inUnitsOf(reference('ms'), answer(5, 'MB'), 't')).toEqual({
      reason: 'metric_error',
      message: 'the unit of t changed from ms to MB',
      raw: 'took 5',
    })
  })

  test('a word that is no unit may get its plural, and nothing else', () => {
    const changed = (was: string | null, is: string | null) =>
      inUnitsOf(reference(null, was), answer(5, null, is), 't')
    for (const [one, many] of [
      ['test', 'tests'],
      ['query', 'queries'],
      ['miss', 'misses'],
      ['branch', 'branches'],
      ['process', 'processes'],
    ] as const)
      expect(changed(many, one)).toMatchObject({ value: 5 })
    expect(changed('widgets', 'gadgets')).toMatchObject({
      message:
        'the word behind the number of t changed from widgets to gadgets: if that is no unit, let the pattern spell it: (?:widgets|gadgets)',
    })
    expect(changed('widgets', null)).toMatchObject({ message: expect.stringContaining('to none') })
  })

  test('a unit near the number changes unnoticed', () => {
    const near = (around?: string | null) => (around === undefined ? {} : { around })
    const changed = (was: string | null | undefined, is: string | null | undefined) =>
      inUnitsOf({ ...reference(null, null), ...near(was) }, { ...answer(5, null, null), ...near(is) }, 't')
    expect(changed('ms', 's')).toEqual({
      reason: 'metric_error',
      message:
        'what stands beside the number of t changed from ms to s: let the benchmark print one unit, or print it directly behind the number',
      raw: 'took 5',
    })
    expect(changed(null, 's')).toMatchObject({ message: expect.stringContaining('from none to s') })
    expect(changed('ms', 'ms')).toMatchObject({ value: 5 })
    // A baseline of an earlier version.
    expect(changed(undefined, 's')).toMatchObject({ value: 5 })
  })

  test('a baseline of an earlier version, which did not look behind the group, stops its run', () => {
    const old = inUnitsOf(reference(null), answer(5, 'ms', 'ms'), 't')
    expect(old).toMatchObject({ value: 5, units: {} })
    expect(inUnitsOf(reference(null, null), answer(5, 'ms', 'ms'), 't')).toMatchObject({
      message: 'the unit of t changed from none to ms',
    })
  })
})

test('JSON over many lines is not read, or text that begins like it hides what comes after', () => {
  const read = (text: string) => {
    const parser = lineParser({ metric: 't' })
    for (const char of text) parser.push(char)
    const lines = parser.end()
    const answer = readAnswer({
      read: 'auto',
      metric: { name: 't' },
      aggregate: 'mean',
      resultFile: null,
      lines,
    })
    return answer.ok ? answer.answer.value : answer.fault.message
  }
  expect(read('log\n{\n  "t": 5,\n  "list": [\n    1\n  ]\n}\nbye')).toBe(5)
  expect(read('{"metrics": {\n"t": 5 }\n}\n')).toBe(5)
  expect(read('{ starting\nMETRIC t=5\n')).toBe(5)
  expect(read('{\nMETRIC t=5\n')).toBe(5)
  expect(read('{\n"a": 1\nlog\n{"t": 5}')).toBe(5)
  expect(read('{\n"t": 4,\nlog\n{"t": 5}')).toMatch(/the JSON line cannot be read/)
  expect(read('{\n"t": 4')).toMatch(/the JSON line cannot be read/)
  expect(read('{"t": 1e-400}')).toMatch(/1e-400, which is too small/)
  expect(read('{\n "text": "}",\n "t": 5\n}')).toBe(5)
})
