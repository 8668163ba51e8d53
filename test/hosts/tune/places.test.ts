import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { numberSpan, parseParameters, placeParameters } from '../../../cli/hosts/tune/places.ts'
import type { TuneParameter } from '../../../cli/hosts/tune/space.ts'

const RANGE = { min: 0, max: 100, scale: 'linear' } as const
const at = (file: string, place: { pointer: string } | { pattern: string }): TuneParameter => ({
  file,
  ...place,
  ...RANGE,
})
const from = (files: Record<string, string>) => (file: string) => files[file] ?? null

describe('an edit changes the numbers and no other byte', () => {
  test('JSON with odd formatting, by pointer', () => {
    const text = '\ufeff{\r\n\t"a" : {"b/c":[ 1 ,2.50,\t3e1 ],"~":"\\"}" },\r\n\t"k": -0 }'.slice(1)
    const parameters = [
      at('x.json', { pointer: '/a/b~1c/1' }),
      at('x.json', { pointer: '/k' }),
      at('x.json', { pointer: '/a/b~1c/2' }),
    ]
    expect(parseParameters(from({ 'x.json': text }), parameters)).toEqual({ ok: true, value: [2.5, -0, 30] })
    const placed = placeParameters(from({ 'x.json': text }), parameters, [7, 0.125, 30])
    expect(placed.ok && placed.value.get('x.json')).toBe(
      '{\r\n\t"a" : {"b/c":[ 1 ,7,\t3e1 ],"~":"\\"}" },\r\n\t"k": 0.125 }',
    )
  })

  test('source text, by pattern, with a value that keeps its spelling', () => {
    const text = 'const A = 1.50 // é\nconst B = 0x10\nconst C=2'
    const parameters = [
      at('a.js', { pattern: '^const A = ([\\d.]+)' }),
      at('a.js', { pattern: '^const C=(\\d+)$' }),
      at('a.js', { pattern: 'B = (0x10)' }),
    ]
    const placed = placeParameters(from({ 'a.js': text }), parameters, [1.5, 42, 17])
    expect(placed.ok && placed.value.get('a.js')).toBe('const A = 1.50 // é\nconst B = 17\nconst C=42')
  })

  test('nothing changes: no file is written', () => {
    const placed = placeParameters(from({ 'a.json': '[1]' }), [at('a.json', { pointer: '/0' })], [1])
    expect(placed.ok && placed.value.size).toBe(0)
  })
})

test.each<[string, TuneParameter, string]>([
  ['the file is missing', at('none.js', { pattern: '(1)' }), 'parameter_not_found'],
  ['the pattern matches twice', at('a.js', { pattern: 'x = (\\d)' }), 'parameter_not_found'],
  ['the pattern matches nothing', at('a.js', { pattern: 'y = (\\d)' }), 'parameter_not_found'],
  ['the pattern has no group', at('a.js', { pattern: 'z = 3' }), 'parameter_not_found'],
  ['the pattern is broken', at('a.js', { pattern: '(' }), 'parameter_not_found'],
  ['the pointer leads nowhere', at('a.json', { pointer: '/a/9' }), 'parameter_not_found'],
  ['the pointer meets text', at('a.json', { pointer: '/t' }), 'parameter_not_a_number'],
  ['the group holds a word', at('a.js', { pattern: '(z) =' }), 'parameter_not_a_number'],
  ['the group is empty', at('a.js', { pattern: 'z =( ?)' }), 'parameter_not_a_number'],
])('%s: a problem that names the file', (_, parameter, code) => {
  const files = from({ 'a.js': 'x = 1\nx = 2\nz = 3', 'a.json': '{"a":[1,2],"t":"5"}' })
  const read = parseParameters(files, [parameter])
  expect(!read.ok && read.problem.code).toBe(code)
  expect(!read.ok && read.problem.at).toBe(parameter.file)
})

test('two parameters at one number are refused instead of written over each other', () => {
  const twice = [at('a.json', { pointer: '/0' }), at('a.json', { pattern: '(\\d+)' })]
  const placed = placeParameters(from({ 'a.json': '[12]' }), twice, [1, 2])
  expect(!placed.ok && placed.problem.code).toBe('parameters_overlap')
})

test('the pointer finds what JSON.parse finds, in any JSON', () => {
  const json = fc.jsonValue({ maxDepth: 4 })
  fc.assert(
    fc.property(json, fc.constantFrom(undefined, 1, '\t'), (value, indent) => {
      const text = JSON.stringify(value, null, indent)
      for (const [pointer, leaf] of leaves(JSON.parse(text), '')) {
        const span = numberSpan(text, pointer)
        expect(span && JSON.parse(text.slice(...span))).toEqual(leaf)
      }
    }),
    { seed: 11 },
  )
})

test('any text is survived, JSON or not', () => {
  fc.assert(
    fc.property(fc.string(), fc.string(), (text, key) => {
      const span = numberSpan(text, `/${key}`)
      expect(span === null || (span[0] >= 0 && span[1] <= text.length + 1)).toBe(true)
    }),
    { seed: 12, numRuns: 500 },
  )
})

function leaves(value: unknown, pointer: string): [string, unknown][] {
  if (typeof value !== 'object' || value === null) return [[pointer, value]]
  return Object.entries(value).flatMap(([key, inner]) =>
    leaves(inner, `${pointer}/${key.replaceAll('~', '~0').replaceAll('/', '~1')}`),
  )
}
