import { expect, test } from 'vitest'
import type { Hunk } from '../../cli/attribute/hunks.ts'
import { composed, type FileChange, leastPromisingFirst, unitsOf } from '../../cli/attribute/units.ts'

const entry = (oid: string, mode = '100644') => ({ mode, oid })
const hunk = (before: number, ...changed: string[]): Hunk => ({
  before,
  old: 0,
  lines: changed.map((line) => `${line}\n`),
  added: changed.length,
  removed: 0,
  changed,
  around: '',
})
const edited = (path: string, ...hunks: Hunk[]): FileChange => ({
  path,
  before: entry('1'),
  after: entry('2'),
  hunks,
})
const added = (path: string): FileChange => ({ path, before: null, after: entry('3'), hunks: null })
const deleted = (path: string): FileChange => ({ path, before: entry('4'), after: null, hunks: null })

test('makes a unit of each hunk, of each whole file and of a changed mode', () => {
  const chmod: FileChange = { path: 'run.sh', before: entry('1'), after: entry('1', '100755'), hunks: [] }
  const units = unitsOf([edited('a.c', hunk(0, 'x'), hunk(9, 'y', 'z')), added('b.c'), chmod])
  expect(units.map(({ id, lines }) => [id, lines])).toEqual([
    ['h1', 1],
    ['h2', 2],
    ['h3', 1],
    ['h4', 1],
  ])
})

test('never leaves out one end of a rename without the other', () => {
  const units = unitsOf([deleted('old.c'), edited('x.c', hunk(0, 'x')), added('new.c')], [['old.c', 'new.c']])
  expect(units.map(({ edits }) => edits.map(({ path }) => path))).toEqual([['old.c', 'new.c'], ['x.c']])
})

test('never puts a folder where a file still stands', () => {
  const units = unitsOf([deleted('lib'), added('lib/deep/a.c'), added('library.c')])
  expect(units.map(({ edits }) => edits.map(({ path }) => path))).toEqual([
    ['lib', 'lib/deep/a.c'],
    ['library.c'],
  ])
})

test('tries comments, tests and configuration first, and last what the author speaks of', () => {
  const units = unitsOf([
    edited('src/a.c', hunk(0, 'cache = new_cache();')),
    edited('src/b.c', hunk(0, 'n += 1;')),
    edited('test/a.test.ts', hunk(0, 'x')),
    edited('build.toml', hunk(0, 'x = 1')),
    edited('src/c.c', hunk(0, '// why', '')),
    edited('src/d.c', hunk(0, '#include <x.h>', 'b')),
  ])
  const paths = leastPromisingFirst(units, 'Keep results in a new_cache').map(({ edits }) => edits[0]?.path)
  expect(paths).toEqual(['src/c.c', 'test/a.test.ts', 'build.toml', 'src/b.c', 'src/d.c', 'src/a.c'])
})

test('composes only what was chosen, and a mode together with hunks of its file', () => {
  const change: FileChange = {
    path: 'a.sh',
    before: entry('1'),
    after: entry('2', '100755'),
    hunks: [hunk(0, 'x'), hunk(9, 'y')],
  }
  const changes = [change, added('b'), deleted('c')]
  const units = unitsOf(changes)
  const chosen = units.filter(({ id }) => ['h2', 'h3', 'h5'].includes(id))
  expect([...composed(changes, chosen)]).toEqual([
    ['a.sh', { mode: '100755', base: entry('1'), hunks: [hunk(9, 'y')] }],
    ['c', { entry: null }],
  ])
})
