/** A candidate prints first, on the same output: what it prints must not take the place of the benchmark's answer behind it. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { incomparable } from '../../cli/evaluate/comparable.ts'
import { lineParser, withoutCodes } from '../../cli/evaluate/lines.ts'
import { readAnswer } from '../../cli/evaluate/metrics.ts'
import { readPreset } from '../../cli/evaluate/presets/read-preset.ts'
import { presetOf } from '../../cli/evaluate/presets/registry.ts'
import { OUTPUTS, type Output } from './presets/outputs.ts'

/** null when the output is refused. */
function read(output: string): number | null {
  const parser = lineParser({ metric: 'n' })
  parser.push(output)
  const lines = parser.end()
  const metric = { name: 'n' }
  const reading = readAnswer({ read: 'auto', metric, aggregate: 'mean', resultFile: null, lines })
  return reading.ok ? reading.answer.value : null
}

const tasks = { a: { score: 100 } }
const ANSWERS = [
  'METRIC n=100',
  ...[{ n: 100, tasks, s: '{"}[' }, { s: '}', n: 100 }, { tasks }].flatMap((answer) => [
    JSON.stringify(answer),
    JSON.stringify(answer, null, 2),
  ]),
]
const FIRST = ['{"n": 1}\n', 'METRIC n=1\n', '{\n"n": 1\n}\n', '{"tasks": {"a": {"score": 1}}}\n']
const SIGNS = ['{', '}', '[', ']', '"', '\\', ':', ',', '\n', '\r', ' ', 'x', '1', 'true']
const CODES = ['\u001b', '\u001b[', '\u001b[3', '\u001b]', '\u001b]0;', '\u0007']
const PARTS = ['{"a": "', '{"a": [', '{"n": 1', '"n": 1,', '{\n', '{"x": {', '":', 'METRIC n']

test('an unfinished text of a candidate hides the answer, and its own answer counts', () => {
  fc.assert(
    fc.property(
      fc.constantFrom(...FIRST),
      fc.array(fc.constantFrom(...SIGNS, ...CODES, ...PARTS), { maxLength: 12 }),
      fc.constantFrom(...ANSWERS),
      fc.constantFrom('\n', '', '\u0007\n', '\u001b\\\n'),
      (first, unfinished, answer, end) => {
        expect([100, null]).toContain(read(first + unfinished.join('') + answer + end))
      },
    ),
    { numRuns: 2000 },
  )
})

test('a long text of a candidate hides the answer, and its own answer counts', () => {
  const answer = { n: 100, tasks: { a: { score: 100 } }, more: 'y'.repeat(5000) }
  const long = 'x'.repeat(70_000)
  // As many lines as an object may have, so that it ends in the midst of the answer.
  const lines = `{\n${'1,\n'.repeat(350_000)}`.slice(0, 1024 * 1024 - 3)
  for (const unfinished of [long, `{"a": "${long}`, `{"a": "${'x'.repeat(1024 * 1024)}`, `${lines}\n`])
    for (const text of [JSON.stringify(answer), JSON.stringify(answer, null, 2)])
      expect([100, null]).toContain(read(`{"n": 1}\n${unfinished}${text}\n`))
})

/** The output of a tool with ones for all digits, but in the names of its benchmarks. */
function better({ text, tasks }: Output): string {
  const names = Object.keys(tasks ?? {}).map((name) => name.replace(/[.*+?^${}()|[\]\\/]/g, '\\$&'))
  return text.replace(new RegExp([...names, '\\d'].join('|'), 'g'), (found) =>
    found.length === 1 && /\d/.test(found) ? '1' : found,
  )
}

/** What is printed, or can be. */
const PRINTED = OUTPUTS.map((output) => ({
  ...output,
  place: output.place === 'result' ? ('stdout' as const) : output.place,
})).filter(({ preset, place }) => presetOf(preset).places.includes(place))

test.each(PRINTED.map((output) => [`${output.preset}: ${output.what}`, output] as const))(
  '%s: an unfinished text of a candidate hides what the tool prints, and its own answer counts',
  (_, output) => {
    const { preset, place, metric: name, text, value } = output
    const answerOf = (written: string) => {
      const texts = { result: null, stdout: null, stderr: null, [place]: withoutCodes(written) }
      const metric = { name }
      const reading = readPreset({ preset, metric, aggregate: 'mean', texts, checkout: '/check/out' })
      return reading.ok ? reading.answer : null
    }
    const baseline = answerOf(text)
    const first = better(output)
    fc.assert(
      fc.property(
        fc.array(fc.constantFrom(...SIGNS, ...CODES, 'Benchmark', '   ', '\t'), { maxLength: 8 }),
        fc.constantFrom('\n', ''),
        fc.constantFrom('', '\u0007\n', '\n\u0007\n', '\n\u001b]8;;\u0007\n'),
        (unfinished, end, behind) => {
          const answer = answerOf(`${first}${end}${unfinished.join('')}${text}${behind}`)
          if (answer && incomparable(baseline, answer) === null) expect(answer.value).toBeCloseTo(value, 9)
        },
      ),
      { numRuns: 300 },
    )
  },
)
