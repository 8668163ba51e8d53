import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Printed } from '../../cli/evaluate/benchmark-answer.ts'
import { lineParser } from '../../cli/evaluate/lines.ts'
import { readAnswer } from '../../cli/evaluate/metrics.ts'

function parse(output: string, { metric = 't', regex }: { metric?: string; regex?: RegExp } = {}) {
  const parser = lineParser({ metric, ...(regex && { regex }) })
  parser.push(output)
  return parser.end()
}

function read(output: string, more: Partial<Printed> & { name?: string } = {}) {
  const how = more.read ?? 'auto'
  const name = more.name ?? 't'
  const regex = typeof how === 'object' ? new RegExp(how.regex) : undefined
  const lines = parse(output, { metric: name, ...(regex && { regex }) })
  return readAnswer({ read: how, metric: { name }, aggregate: 'mean', resultFile: null, lines, ...more })
}

function value(output: string, more: Partial<Printed> & { name?: string } = {}): number | string {
  const reading = read(output, more)
  return reading.ok ? reading.answer.value : `${reading.fault.reason}: ${reading.fault.message}`
}

describe('METRIC lines that are read', () => {
  test.each<[string, string, number]>([
    ['a plain decimal', 'METRIC t=1.5', 1.5],
    ['zero', 'METRIC t=0', 0],
    ['a negative', 'METRIC t=-3', -3],
    ['negative zero as zero', 'METRIC t=-0', 0],
    ['an exponent', 'METRIC t=1e-3', 0.001],
    ['a plus sign', 'METRIC t=+1.5', 1.5],
    ['no digit before the point', 'METRIC t=.5', 0.5],
    ['no digit after the point', 'METRIC t=5.', 5],
    ['CRLF', 'METRIC t=1.5\r\n', 1.5],
    ['CR CR LF', 'METRIC t=1.5\r\r\n', 1.5],
    ['no newline at the end', 'log\nMETRIC t=1.5', 1.5],
    ['a unit', 'METRIC t=1.5s', 1.5],
    ['a unit after a space', 'METRIC t=1.5 ms', 1.5],
    ['a percentage', 'METRIC t=95%', 95],
    ['a rate', 'METRIC t=3 MB/s', 3],
    ['zero bits, which is not a binary number', 'METRIC t=0b', 0],
    ['spaces around the equals sign', 'METRIC t = 1.5', 1.5],
    ['indentation', '  \tMETRIC t=1.5', 1.5],
    ['a tag before it', '[bench] METRIC t=1.5', 1.5],
    ['two tags before it', '[12:00:01] [bench] METRIC t=1.5', 1.5],
    ['colours around the line', '\u001b[32mMETRIC t=1.5\u001b[0m', 1.5],
    ['colours around the value', 'METRIC t=\u001b[1;31m1.5\u001b[m', 1.5],
    ['a terminal title before it', '\u001b]0;title\u0007METRIC t=1.5', 1.5],
    ['the text after the last CR of a progress bar', '10%\r99%\rMETRIC t=1.5\n', 1.5],
    ['behind a bar that rewrites itself', '\r50 % t=1\r100 % t=2\rMETRIC t=2\n', 2],
    ['equal duplicates', 'METRIC t=1.5\nMETRIC t=1.50', 1.5],
  ])('%s', (_, output, expected) => {
    expect(value(output)).toBe(expected)
  })

  test.each(['p95-ms', 'größe', '時間', 'a/b.c_d', '1st', 'toString', '__proto__'])('the name %s', (name) => {
    expect(value(`METRIC ${name}=7`, { name })).toBe(7)
  })

  test('units are recorded, and other metrics may be booleans', () => {
    expect(read('METRIC t=1.5 ms\nMETRIC ok=true\nMETRIC rate=95%\nMETRIC n=3')).toEqual({
      ok: true,
      answer: {
        value: 1.5,
        metrics: { t: 1.5, ok: true, rate: 95, n: 3 },
        units: { t: 'ms', rate: '%' },
        tasks: null,
        artifacts: null,
        raws: { t: 'METRIC t=1.5 ms', ok: 'METRIC ok=true', rate: 'METRIC rate=95%', n: 'METRIC n=3' },
      },
    })
  })
})

describe('METRIC lines that are refused, with the line and the reason', () => {
  test.each<[string, RegExp]>([
    ['NaN', /not a finite number/],
    ['nan', /not a finite number/],
    ['Infinity', /not a finite number/],
    ['-inf', /not a finite number/],
    ['1e999', /too large/],
    ['1,5', /comma/],
    ['1,234', /comma/],
    ['1_000', /underscore/],
    ['0x10', /hexadecimal/],
    ['0xff', /hexadecimal/],
    ['0b11', /not a unit/],
    ['1.5 (best)', /not a unit/],
    ['1.5.2', /not a unit/],
    ['1.5e', /not a unit/],
    ['1e-', /not a unit/],
    ['1 000', /second number/],
    ['1 b=2', /not a unit/],
    ['−1.5', /minus/],
    ['"1.5"', /quoted/],
    ['', /no value/],
    ['None', /not a number/],
    ['５', /not a number/],
    ['true', /must be a number/],
  ])('%s', (written, reason) => {
    const reading = read(`fine\nMETRIC t=${written}\n`)
    if (reading.ok) throw new Error(`read as ${reading.answer.value}`)
    expect(reading.fault.reason).toBe('metric_error')
    expect(reading.fault.message).toMatch(reason)
    if (written !== 'true') expect(reading.fault.raw).toBe(`METRIC t=${written}`.trim())
  })

  test('two conflicting values, whatever the order', () => {
    expect(value('METRIC t=1\nMETRIC t=2')).toMatch(/contradicts an earlier line: METRIC t=1$/)
    expect(value('METRIC t=1 s\nMETRIC t=1 ms')).toMatch(/contradicts/)
  })

  test('a bad value of a different metric too, but the primary one is named first', () => {
    expect(value('METRIC t=1\nMETRIC mem=NaN')).toMatch(/finite/)
    const reading = read('METRIC mem=NaN\nMETRIC t=1,5')
    expect(reading).toMatchObject({ ok: false, fault: { raw: 'METRIC t=1,5' } })
  })

  test('a name that is none', () => {
    expect(value('METRIC p95 latency=4\nMETRIC t=1')).toMatch(/letters, digits/)
    expect(value('METRIC =4\nMETRIC t=1')).toMatch(/letters, digits/)
  })

  test('a missing metric lists what was printed', () => {
    expect(value('METRIC a=1\nMETRIC b=2')).toBe(
      'metric_error: the metric "t" is missing; what was found: a, b',
    )
    expect(value('nothing')).toMatch(/no metric was found at all/)
    expect(value('nothing', { elsewhere: ['t'] })).toMatch(/stderr, but only stdout/)
    expect(read('METRIC t: 1.5')).toMatchObject({
      fault: {
        raw: 'METRIC t: 1.5',
        message: expect.stringMatching(/looked like a metric, but has no "name/),
      },
    })
    for (const raw of ['metric t=1.5', '[bench] Metrics: t = 1.5'])
      expect(read(raw)).toMatchObject({
        fault: { raw, message: expect.stringMatching(/another word than METRIC/) },
      })
  })

  test('prose is no metric, and lower case neither', () => {
    expect(value('METRICS t=5\nmetric t=4\nMETRIC t=1')).toBe(1)
    expect(value('prints METRIC t=<n>, or METRIC t=1\nMETRIC t=1')).toBe(1)
  })

  test('text without an end of line hides what the benchmark says behind it, and a later line is believed', () => {
    const contradicts = expect.stringContaining('in the midst of an earlier line: METRIC t=100')
    expect(value('xMETRIC t=100\nMETRIC t=1')).toEqual(contradicts)
    expect(value('xMETRIC m=100\nMETRIC t=5\nMETRIC m=1')).toContain('METRIC m=100')
    expect(value('x{"t": 100}\n{"t": 1}')).toContain('two JSON objects say t')
    expect(value('x{"t": 100}\nMETRIC t=1')).toContain('a METRIC line says t = 1, a JSON object 100')
    expect(value('log {"a": 1}\nx{"t": 1}\n{"t": 1}')).toBe(1)
  })
})

test.each([
  ['took 2:59.5', 'the time in one unit'],
  ['took 2m 40s', 'one number and one unit'],
  ['took 2 500 000', 'without spaces'],
  ['took 12.9 ms', 'let its group hold the whole'],
])('a pattern stops inside of a number, and the advice leads to the next refusal: %s', (line, advice) => {
  expect(value(line, { read: { regex: 'took (\\d+)' } })).toContain(advice)
})

test.each([
  ['2,00,000', 'thousands without a separator (200000)'],
  ['2:59.5', 'write it in one unit'],
  ['2 500 000', 'write one number without spaces'],
])('a whole number that is not read is refused without advice: %s', (written, advice) => {
  expect(value(`took ${written}`, { read: { regex: 'took (.*)' } })).toContain(advice)
})

test('a line of JSON that is refused is shown as a brace', () => {
  const many = JSON.stringify({ t: 'soon' }, null, 2)
  expect(read(many)).toMatchObject({ ok: false, fault: { raw: '{ "t": "soon" }' } })
  const cut = read('', { resultFile: '{\n' })
  expect(cut.ok || cut.fault).toMatchObject({
    message: expect.stringContaining('the result file cannot be read'),
  })
  expect(cut.ok || cut.fault.raw).toBeUndefined()
})

describe('the stream', () => {
  const OUTPUT =
    'x\r\n[a] METRIC t=1.5 ms\r\n10%\r50%\r\u001b[1mMETRIC u=2\u001b[0m\n\r\r\n{"t": 4}\nMETRIC größe=3\nMETRIC bad=1,5\nMETRIC w=9'

  test('any chunking gives the same answer', () => {
    const whole = parse(OUTPUT)
    expect([...whole.metrics.keys()]).toEqual(['t', 'u', 'größe', 'w'])
    const singly = lineParser({ metric: 't' })
    for (const char of OUTPUT) singly.push(char)
    expect(singly.end()).toEqual(whole)
    fc.assert(
      fc.property(fc.array(fc.nat(OUTPUT.length), { maxLength: 40 }), (cuts) => {
        const parser = lineParser({ metric: 't' })
        const at = [0, ...cuts.sort((a, b) => a - b), OUTPUT.length]
        for (const [index, from] of at.slice(0, -1).entries()) parser.push(OUTPUT.slice(from, at[index + 1]))
        expect(parser.end()).toEqual(whole)
      }),
    )
  })

  test('10 MB without a newline are dropped, not kept, and the next line counts', () => {
    const parser = lineParser({ metric: 't' })
    parser.push('METRIC t=5')
    for (let i = 0; i < 150; i++) parser.push('0'.repeat(70_000))
    parser.push('METRIC t=7')
    parser.push('\nMETRIC t=7\n')
    const lines = parser.end()
    expect([...lines.metrics]).toEqual([['t', { value: 7, unit: null, raw: 'METRIC t=7' }]])
    expect(lines.refused).toEqual([])
  })

  test('a long progress bar does not hide the line at its end', () => {
    const parser = lineParser({ metric: 't' })
    for (let i = 0; i < 20_000; i++) parser.push(`${i} of 20000\r`)
    parser.push('METRIC t=7\n')
    expect(parser.end().metrics.get('t')?.value).toBe(7)
  })

  test('a flood of names is refused, not kept', () => {
    const lines = parse(Array.from({ length: 10_050 }, (_, i) => `METRIC m${i}=1`).join('\n'))
    expect([lines.metrics.size, lines.refused.length]).toEqual([10_000, 20])
  })

  test('no text makes the parser throw', () => {
    const alphabet = fc.constantFrom(
      'METRIC ',
      't',
      '=',
      '1',
      '.',
      '\r',
      '\n',
      '{',
      '"t":',
      '}',
      '\u001b[',
      'm',
      ' ',
      'é',
    )
    fc.assert(
      fc.property(fc.array(alphabet, { maxLength: 60 }), (parts) => {
        const answer = value(parts.join(''))
        expect(typeof answer === 'string' || Number.isFinite(answer)).toBe(true)
      }),
    )
  })
})

describe('the result file', () => {
  const file = (resultFile: string, more: Partial<Printed> = {}) => read('', { resultFile, ...more })
  const why = (resultFile: string) => value('', { resultFile })

  test('all of its parts', () => {
    const text = `{"metrics": {"t": 12.3, "ok": true}, "tasks": {"case-1": {"score": 12.3, "status": "passed", "reason": "r", "log": "l"}},
      "artifacts": {"model": "out/m.bin"}, "comment": "ignored"}`
    expect(file(text)).toEqual({
      ok: true,
      answer: {
        around: null,
        value: 12.3,
        metrics: { t: 12.3, ok: true },
        units: {},
        tasks: { 'case-1': { score: 12.3, status: 'passed', reason: 'r' } },
        artifacts: { model: 'out/m.bin' },
        raws: {},
      },
    })
  })

  test('a score is the primary metric, zero included', () => {
    expect(file('{"score": 0}')).toMatchObject({ answer: { value: 0, metrics: { t: 0 } } })
    expect(why('{"score": 1, "metrics": {"t": 2}}')).toMatch(/"score" is 1 but metrics has t = 2/)
  })

  test('beside lines or a JSON line that say something else, one of them is believed', () => {
    const file = { resultFile: '{"score": 1}' }
    expect(value('METRIC u=2\n{"t": 1}', file)).toBe(1)
    expect(value('METRIC u=2\n{"t": 3}', file)).toMatch(/the result file says t = 1, a JSON object 3/)
    expect(value('METRIC t=1\n{"t": 3}', file)).toMatch(/the result file says t = 1, a JSON object 3/)
    expect(value('METRIC t=2\n{"t": 3}')).toMatch(/a METRIC line says t = 2, a JSON object 3/)
    expect(value('{"t": 3}\nMETRIC t=2')).toMatch(/a METRIC line says t = 2, a JSON object 3/)
    expect(value('METRIC mb=1\n{"t": 3, "mb": 50}')).toMatch(/a METRIC line says mb = 1, a JSON object 50/)
    expect(value('METRIC t=2\n{"t": 2}')).toBe(2)
    expect(value('METRIC t=2\n{"t": "10:00", "level": "info"}\n{"t": {"n": 1}}')).toBe(2)
    expect(value('METRIC t=2\n{"t": 3}', { read: 'json' })).toBe(3)
    expect(value('METRIC t=2', { resultFile: '{"score": 1}', read: 'lines' })).toBe(2)
    expect(value('METRIC t=2', { read: 'result-file' })).toMatch(/missing/)
  })

  test('that contradicts a METRIC line is believed: a child can write it, and its parent cannot take it back', () => {
    expect(value('METRIC t=2', { resultFile: '{"score": 1}' })).toMatch(
      /the result file says t = 1, a METRIC line 2/,
    )
    expect(value('METRIC t=2\nMETRIC mb=50', { resultFile: '{"metrics": {"mb": 1}}' })).toMatch(
      /mb = 1, a METRIC line 50/,
    )
    expect(value('METRIC t=2', { resultFile: '{"score": 1}', read: 'result-file' })).toBe(1)
  })

  test('that declares only artifacts leaves the value to the lines', () => {
    expect(read('METRIC t=2', { resultFile: '{"artifacts": {"m": "p"}}' })).toMatchObject({
      answer: { value: 2, artifacts: { m: 'p' } },
    })
  })

  test.each([
    ['mean', 2],
    ['sum', 6],
    ['min', 0],
    ['max', 5],
  ] as const)('without the primary metric its value is the %s of the tasks', (aggregate, expected) => {
    const tasks = '{"tasks": {"a": {"score": 0}, "b": {"score": 5}, "c": {"score": 1}}}'
    expect(file(tasks, { aggregate })).toMatchObject({
      answer: { value: expected, metrics: { t: expected } },
    })
  })

  test.each<[string, RegExp]>([
    ['', /empty/],
    ['  \n', /empty/],
    ['{"score": 1', /not JSON/],
    ['12.3', /not a JSON object/],
    ['[1]', /not a JSON object/],
    ['null', /not a JSON object/],
    ['{"score": NaN}', /NaN or Infinity/],
    ['{"metrics": {"t": -Infinity}}', /NaN or Infinity/],
    ['{"score": 1e999}', /too large/],
    ['{"score": "12.3"}', /"12.3", not a number/],
    ['{"score": null}', /null, not a number/],
    ['{"metrics": {"t": null}}', /t is null/],
    ['{"metrics": {"t": [1]}}', /not a number/],
    ['{"metrics": [1]}', /"metrics" is not an object/],
    ['{"metrics": {"t": true}}', /must be a number/],
    ['{"metrics": {"t": 1, "t": 2}}', /key "t" twice/],
    ['{"metrics": {"t": 1}, "m\\u0065trics": {"t": 2}}', /key "metrics" twice/],
    ['{"tasks": {}}', /"tasks" is empty/],
    ['{"tasks": {"a": 0.5}}', /task a is not an object/],
    ['{"tasks": {"a": {"score": "1"}}}', /score of task a/],
    ['{"tasks": {"a": {}}}', /score of task a/],
    ['{"tasks": {"a": {"score": 1e308}, "b": {"score": 1e308}}}', /too large/],
    ['{"artifacts": {"m": 5}, "score": 1}', /artifact m is not a path/],
    ['{"ms": 12}', /"t" is missing/],
  ])('%s is refused', (text, reason) => {
    const reading = file(text)
    if (reading.ok) throw new Error(`read as ${reading.answer.value}`)
    expect(reading.fault.message).toMatch(reason)
  })

  test('a key may come again in a different object, and look like one inside a string', () => {
    expect(
      why('{"score": 1, "note": "\\"score\\": 2, {", "tasks": {"a": {"score": 1}, "b": {"score": 1}}}'),
    ).toBe(1)
  })

  test('a metric named like a property of every object (constructor) is found in an empty answer', () => {
    expect(value('', { resultFile: '{"metrics": {}}', name: 'constructor' })).toMatch(/missing/)
  })
})

describe('JSON lines, patterns and recorded metrics', () => {
  test('objects without the metric count, or of two with other values one is believed', () => {
    const output = '{"t": 2}\n{"level": "info"}\n{"t": 2, "ok": true, "label": "x"}\n{"other": 5}\nbye'
    expect(read(output)).toMatchObject({ answer: { value: 2, metrics: { t: 2, ok: true } } })
    for (const how of ['auto', 'json'] as const) {
      expect(value('{"t": 1}\nlog\n{"t": 2}', { read: how })).toMatch(/two JSON objects say t = 1 and t = 2/)
      expect(value('{"t": 2}\n{"metrics": {"t": 1}}', { read: how })).toMatch(/t = 2 and t = 1/)
    }
    // The value is the same, but of the other metric nobody knows which.
    const other = read('{"t": 2, "mb": 5}\n{"t": 2.0, "mb": 1, "ok": true}\n{"t": 2e0, "mb": 5}')
    expect(other).toMatchObject({ answer: { value: 2, metrics: { t: 2 } } })
    expect(value('{"metrics": {"t": 4}}')).toBe(4)
    expect(value('{"tasks": {"a": {"score": 4}, "b": {"score": 6}}}')).toBe(5)
  })

  test('a last object that cannot be read is refused, not replaced by an earlier one', () => {
    expect(value('{"t": 1}\n{"t": NaN}')).toMatch(/NaN/)
    expect(value('{"t": 1}\n{"t": 2')).toMatch(/not JSON/)
    expect(value('{"t": "2"}')).toMatch(/not a number/)
  })

  test('tasks beside a flat value are lost, or not compared with it', () => {
    const tasks = { a: { score: 4 }, b: { score: 6 } }
    expect(read(JSON.stringify({ t: 5, tasks }))).toMatchObject({ answer: { value: 5, tasks } })
    expect(value(JSON.stringify({ t: 4, tasks }))).toMatch(/t is 4, but the mean .* of its 2 tasks is 5/)
    expect(value('{"t": 5, "tasks": 12}')).toBe(5)
  })

  test('the tasks of the file are not compared with the value of a line, or a metric of either is lost', () => {
    const resultFile = '{"metrics": {"mb": 3}, "tasks": {"a": {"score": 4}, "b": {"score": 6}}}'
    expect(read('METRIC t=5\nMETRIC mb=3\nMETRIC n=1', { resultFile })).toMatchObject({
      answer: { value: 5, metrics: { t: 5, mb: 3, n: 1 }, tasks: { a: { score: 4 } } },
    })
    expect(value('METRIC t=6', { resultFile })).toMatch(/t is 6, but the mean .* is 5/)
    expect(value('', { resultFile })).toBe(5)
  })

  test('the scores of very many tasks fit on one line', () => {
    const tasks = Object.fromEntries(Array.from({ length: 9000 }, (_, i) => [`case-${i}`, { score: 1 }]))
    expect(value(JSON.stringify({ tasks }))).toBe(1)
  })

  test('a pattern reads its group, strictly, and must find one value', () => {
    const how = { read: { regex: 'took (.+)$' } } as const
    expect(read('took 42ms', how)).toMatchObject({ answer: { value: 42, units: { t: 'ms' } } })
    expect(value('took 42\ntook 42', how)).toBe(42)
    expect(value('took 42\ntook 43\ntook 44', how)).toMatch(/two different values, 42 and 43/)
    expect(value('took NaN', how)).toMatch(/finite/)
    expect(value('METRIC t=1', how)).toMatch(/no line of stdout matched/)
    expect(value('a=5', { read: { regex: 'a=(?<value>.)' } })).toBe(5)
  })

  test('a metric that Assay records answers when nothing else does', () => {
    const recorded = { wall_ms: 12.5 }
    expect(value('done', { name: 'wall_ms', recorded })).toBe(12.5)
    expect(value('METRIC wall_ms=3', { name: 'wall_ms', recorded })).toBe(3)
    expect(value('METRIC wall_ms=x', { name: 'wall_ms', recorded })).toMatch(/not a number/)
  })
})
