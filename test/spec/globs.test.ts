import { expect, test } from 'vitest'
import { checkGlobs } from '../../cli/spec/globs.ts'
import { LEAST, problemsOf } from './source.ts'

const FILES = ['src/deep/a.ts', 'lib/b.ts', 'bench/run.js', 'README.md']
const check = (scope: string, files = FILES, prefix = '') =>
  checkGlobs({ text: LEAST.replace('{ mutable: [src/**] }', scope), file: 'assay.yaml' }, prefix, files)

test('a glob is told with other files than it matches, or the files that a candidate may change are wrong', () => {
  expect(check('{ mutable: [src/**, lib/*], immutable: [lib/b.ts, bench/**] }')).toEqual({
    ok: true,
    value: {
      mutable: [
        { glob: 'src/**', matched: ['src/deep/a.ts'] },
        { glob: 'lib/*', matched: ['lib/b.ts'] },
      ],
      immutable: [
        { glob: 'lib/b.ts', matched: ['lib/b.ts'] },
        { glob: 'bench/**', matched: ['bench/run.js'] },
      ],
      files: ['src/deep/a.ts'],
      warnings: [],
    },
  })
})

test.each([
  ['{ mutable: [scr/**] }', '4:20 `scr/**` matches no file → did you mean `src/**`?'],
  ['{ mutable: [src] }', '4:20 `src` matches no file → `src` is a folder: did you mean `src/**`?'],
  ['{ mutable: [src/] }', '4:20 `src/` matches no file → `src` is a folder: did you mean `src/**`?'],
  [
    '{ mutable: [src/*.ts] }',
    '4:20 `src/*.ts` matches no file → `src` exists, but no file in it matches: `**` also looks into its sub-folders',
  ],
  ['{ mutable: [lib/c.ts] }', '4:20 `lib/c.ts` matches no file → did you mean `lib/b.ts`?'],
  [
    '{ mutable: [zzzzzzzzzzzz/**] }',
    '4:20 `zzzzzzzzzzzz/**` matches no file → globs count from the folder of the spec',
  ],
])(
  'a glob that matches no file is accepted, or refused without its place or the nearest thing that exists: %s',
  (scope, problem) => {
    const checked = check(scope)
    expect(problemsOf(checked)).toEqual([problem])
    expect(!checked.ok && checked.problem.code).toBe('glob_matches_nothing')
  },
)

test('a scope in which everything is immutable is accepted', () => {
  const checked = check('{ mutable: [src/**], immutable: ["**/*.ts"] }')
  expect(problemsOf(checked)).toEqual([
    '4:40 every file that `mutable` matches is immutable, so no candidate could change anything → narrow `immutable`',
  ])
  expect(!checked.ok && checked.problem.code).toBe('nothing_mutable')
})

test('a glob that matches no file is refused beside one that matches, or gets no warning', () => {
  const checked = check('{ mutable: [src/**, scr/**], immutable: [bnch/**] }')
  expect(checked.ok && checked.value.warnings).toEqual([
    'scr/** under mutable matches no file yet: did you mean `src/**`?',
    'bnch/** under immutable matches no file yet: did you mean `bench/**`?',
  ])
})

test('only the first of several globs that match no file is told', () => {
  expect(problemsOf(check('{ mutable: [scr/**, lob/*] }'))).toEqual([
    '4:20 `scr/**` matches no file → did you mean `src/**`?',
    '4:28 `lob/*` matches no file → did you mean `lib/*`?',
  ])
})

test('globs, or the advice about them, do not count from the folder of the spec', () => {
  const checked = check('{ mutable: [src/**] }', ['src/x', 'p/src/y'], 'p')
  expect(checked.ok && checked.value.files).toEqual(['p/src/y'])
  expect(problemsOf(check('{ mutable: [scr/**] }', ['scr2/x', 'p/src/y'], 'p'))).toEqual([
    '4:20 `scr/**` matches no file → did you mean `src/**`?',
  ])
})
