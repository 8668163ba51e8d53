import { describe, expect, test } from 'vitest'
import { KNOB_PATHS, knobNamed, knobsOf } from '../../cli/spec/knobs.ts'
import { warningsOf } from '../../cli/spec/warnings.ts'
import { closest, editDistance } from '../../cli/spec/words.ts'
import { readSetting } from '../../cli/spec/written.ts'
import { LEAST, specOf } from './source.ts'

const OTHER = `${LEAST}search: { policy: argmax, k: 11, max_attempts: 12 }
loop: { width: 13, depth: 14, stall: 15, revise: 16, ideate: { stall: 17, keeps: 18 }, scan: { batch: 19, max: 20 } }
budget: { experiments: 21, hours: 22, failures: 23, tokens: 24, usd: 25, unknown: allow }
`
const OTHER_KNOBS = {
  max_attempts: 12,
  policy: 'argmax',
  k: 11,
  width: 13,
  depth: 14,
  stall: 15,
  revise: 16,
  ideate_stall: 17,
  ideate_keeps: 18,
  scan_batch: 19,
  scan_max: 20,
  experiments: 21,
  hours: 22,
  failures: 23,
  tokens: 24,
  usd: 25,
  unknown: 'allow',
}

describe('a knob', () => {
  test('a knob is taken from another place in the spec than its own', () => {
    expect(knobsOf(specOf(OTHER))).toEqual(OTHER_KNOBS)
  })

  test.each(Object.entries(OTHER_KNOBS))(
    'the knob %s is not read from the text %s, or is not found by its name or by its place',
    (name, value) => {
      const path = KNOB_PATHS[name as keyof typeof KNOB_PATHS]
      expect([knobNamed(name), knobNamed(path)]).toEqual([name, name])
      expect(readSetting(path, String(value), [])).toEqual({ ok: true, value })
    },
  )

  test('a cap cannot be taken away, or a knob that is no cap can', () => {
    expect(readSetting('budget.hours', 'none', [])).toEqual({ ok: true, value: null })
    expect(readSetting('loop.width', 'none', []).ok).toBe(false)
  })

  test.each([
    ['width', '65', 'knob_invalid', 'write a whole number from 1 to 64'],
    ['width', 'wide', 'knob_invalid', 'write a whole number'],
    ['policy', 'argmex', 'knob_invalid', 'did you mean `argmax`?'],
    ['width', '', 'knob_invalid', 'write a whole number, or remove the line'],
    ['width', '[', 'knob_invalid', undefined],
    ['width', '['.repeat(10_000), 'knob_invalid', 'no key needs that'],
    ['widht', '2', 'knob_unknown', 'did you mean `width`?'],
    ['loop.widht', '2', 'knob_unknown', 'did you mean `loop.width`?'],
    ['measure.command', 'x', 'key_frozen', undefined],
  ])('%s = %s is accepted, or refused without the fix', (name, text, code, hint) => {
    const knob = knobNamed(name)
    const read = readSetting(knob ? KNOB_PATHS[knob] : name, text, Object.keys(KNOB_PATHS))
    expect(read).toMatchObject({ ok: false, problem: { code } })
    if (hint !== undefined) expect(!read.ok && read.problem.hint).toContain(hint)
  })
})

describe('what a valid spec leaves open', () => {
  test('a warning about a valid spec is missing, or is told twice', () => {
    const spec = specOf(
      LEAST.replace('[src/**] }', '[src/**], immutable: [src/**] }').replace('bench.js', 'b, slots: 2'),
    )
    expect(warningsOf(spec)).toEqual([
      'src/** is both mutable and immutable: immutable wins, so no candidate may change it',
      'no gate and no constraint is declared: a candidate that breaks the code but scores well is kept',
      'no budget is set: the loop ends by itself only at the target or when it stalls',
      '2 measurements may run at once: timings disturb each other',
    ])
  })

  test('a spec that declares a gate and a budget gets a warning', () => {
    expect(warningsOf(specOf(`${LEAST}gates: [{ name: a, command: b }]\nbudget: { hours: 1 }\n`))).toEqual([])
  })
})

test('a secret in the spec is passed over, repeated in the warning, or a plain variable is warned of', () => {
  const value = ['Xk7Qm2Zr9Lw4', 'Tb6Vn8Ys3Hd5'].join('')
  const set = `{ API_TOKEN: ${value}, MODE: fast, TOKENIZERS_PARALLELISM: 'false' }`
  const spec = specOf(
    `${LEAST}gates: [{ name: a, command: b }]\nbudget: { hours: 1 }\n`.replace(
      'bench.js',
      `bench.js, environment: { set: ${set} }`,
    ),
  )
  const warnings = warningsOf(spec)
  expect(warnings).toEqual([
    'measure.environment.set.API_TOKEN looks like a secret, and the spec is committed and copied into each run: write it to a file that git ignores and name that in measure.environment.file, with keys: [API_TOKEN]',
  ])
})

describe('the word that was meant', () => {
  test.each([
    ['', 'abc', 3],
    ['abc', 'abc', 0],
    ['minimise', 'minimize', 1],
    ['widht', 'width', 1],
    ['kitten', 'sitting', 3],
  ])('the number of edits from "%s" to "%s" is not %i', (a, b, distance) => {
    expect(editDistance(a, b)).toBe(distance)
  })

  test('another word than the nearest is proposed, or one although all are far', () => {
    expect(closest('MINIMISE', ['maximize', 'minimize'])).toBe('minimize')
    expect(closest('dollars', ['hours', 'experiments'])).toBe(null)
  })

  test.each([
    ['stauts', 'status'],
    ['Frontier', 'frontier'],
    ['rn', 'run'],
    ['xyzzy', null],
    ['', null],
  ])('the word that "%s" was meant to be is not %s', (given, meant) => {
    expect(closest(given, ['status', 'frontier', 'run'])).toBe(meant)
  })
})
