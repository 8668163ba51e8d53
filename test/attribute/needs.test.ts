import { expect, test } from 'vitest'
import { type DiffUnit, unitsNamed } from '../../cli/attribute/units.ts'

const unit = (id: string, ...changed: string[]): DiffUnit => ({
  id,
  lines: changed.length,
  edits: [
    {
      path: `src/${id}.c`,
      kind: 'hunk',
      hunk: { before: 0, old: 0, lines: [], added: changed.length, removed: 0, changed, around: '' },
    },
  ],
})
const whole = (id: string, path: string): DiffUnit => ({
  id,
  lines: 1,
  edits: [{ path, kind: 'whole', entry: null }],
})

test('a part that uses what was left out is not found by the name that the compiler quotes', () => {
  const units = [
    unit('h1', 'int helper(int x) { return x; }'),
    unit('h2', 'y = helper(3);'),
    unit('h3', 'z = 4;'),
  ]
  expect(unitsNamed("main.c:3: error: 'helper' undeclared", units, ['h1'])).toEqual(['h2'])
})

test('a part is named for a word that no part left out holds, or for a word of every language', () => {
  const units = [unit('h1', 'return fast;'), unit('h2', 'return slow;'), unit('h3', 'return other;')]
  expect(unitsNamed("'slow' is not there", units, ['h1'])).toEqual([])
  expect(unitsNamed('error: return of undefined', units, ['h1'])).toEqual([])
})

test('words without quotes win over quoted ones', () => {
  const units = [unit('h1', 'helper table'), unit('h2', 'use table'), unit('h3', 'use helper')]
  expect(unitsNamed('the table lacks `helper`', units, ['h1'])).toEqual(['h3'])
  expect(unitsNamed('the table is not there', units, ['h1'])).toEqual(['h2'])
})

test('a new file is not found by its name, or a part that was left out is named itself', () => {
  const units = [whole('h1', 'src/fast_path.js'), unit('h2', "import './fast_path.js'"), unit('h3', 'other')]
  expect(unitsNamed("Cannot find module './fast_path.js'", units, ['h1'])).toEqual(['h2'])
  expect(unitsNamed("Cannot find module './fast_path.js'", units, ['h1', 'h2'])).toEqual([])
})
