import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { ScopeConfig } from '../../cli/spec/rules.ts'
import {
  breachesOfScope,
  matchGlobs,
  type PathChange,
  placesOfMutable,
  scopeOf,
} from '../../cli/spec/rules.ts'

const scope = (mutable: string[], immutable: string[] = [], limits = {}): ScopeConfig => ({
  mutable,
  immutable,
  limits: { files: null, lines: null, types: null, ...limits },
})
const change = (path: string, more: Partial<PathChange> = {}): PathChange => ({
  path,
  status: 'M',
  oldMode: '100644',
  newMode: '100644',
  added: 1,
  removed: 1,
  ...more,
})

describe('the area of a path', () => {
  test.each([
    ['src/a.ts', 'mutable'],
    ['src/.hidden/a', 'mutable'],
    ['src/bench/a.ts', 'immutable'],
    ['src', 'mutable'],
    ['srcs/a.ts', 'outside'],
    ['SRC/a.ts', 'outside'],
    ['README.md', 'outside'],
    ['assay.yaml', 'immutable'],
    ['.assay/runs/x', 'immutable'],
    ['src/.assay/x', 'immutable'],
    ['src/assay.yaml', 'mutable'],
  ])('the area of %s is not %s', (path, area) => {
    expect(scopeOf(scope(['src/**'], ['**/bench/**']), '')(path)).toBe(area)
  })

  test('the spec or the state of Assay is mutable where every path is, or another path is not', () => {
    const areaOf = scopeOf(scope(['**']), '')
    expect(['assay.yaml', '.assay/x', 'a', '.a/b'].map(areaOf)).toEqual([
      'immutable',
      'immutable',
      'mutable',
      'mutable',
    ])
    const named = scopeOf(scope(['**']), 'a', 'a/perf.yaml')
    expect(['a/perf.yaml', 'a/assay.yaml', 'a/b/perf.yaml'].map(named)).toEqual([
      'immutable',
      'immutable',
      'mutable',
    ])
  })

  test('a .gitattributes is mutable although no glob names it, or outside although one does', () => {
    const areas = (...mutable: string[]) =>
      ['.gitattributes', 'src/.gitattributes', 'src/my.gitattributes'].map(scopeOf(scope(mutable), ''))
    expect(areas('**')).toEqual(['outside', 'outside', 'mutable'])
    expect(areas('**', 'src/.gitattributes')).toEqual(['outside', 'mutable', 'mutable'])
    expect(areas('**', '**/.gitattributes')).toEqual(['mutable', 'mutable', 'mutable'])
  })

  test('a glob does not count from the folder of the spec, or a special character in the name of that folder acts as a glob', () => {
    const areaOf = scopeOf(scope(['src/**', './lib/*.ts']), 'packages/[core]')
    expect(
      [
        'packages/[core]/src/a.ts',
        'packages/[core]/lib/a.ts',
        'packages/[core]/assay.yaml',
        'src/a.ts',
        'packages/c/src/a.ts',
        'packages/[core]2src/a.ts',
      ].map(areaOf),
    ).toEqual(['mutable', 'mutable', 'immutable', 'outside', 'outside', 'outside'])
  })

  test('a glob with brackets does not match the path that is written like it, or no longer acts as a glob', () => {
    const areaOf = scopeOf(scope(['app/[id].ts']), '')
    expect(['app/[id].ts', 'app/i.ts', 'app/x.ts'].map(areaOf)).toEqual(['mutable', 'mutable', 'outside'])
  })
})

describe('the judgement of a candidate', () => {
  const rules = scope(['src/**'], ['src/fixed/**'])
  const judge = (changes: PathChange[], config = rules) =>
    breachesOfScope(changes, config, scopeOf(config, ''))

  test('a path out of scope is not named with its reason, or a path in scope is named', () => {
    expect(
      judge([
        change('src/ok.ts'),
        change('README.md'),
        change('src/fixed/a.ts', { status: 'D', newMode: '000000' }),
        change('src/link', { status: 'A', oldMode: '000000', newMode: '120000' }),
        change('src/file-to-link', { status: 'T', newMode: '120000' }),
        change('src/module', { status: 'A', oldMode: '000000', newMode: '160000' }),
        change('src/gone-module', { status: 'D', oldMode: '160000', newMode: '000000' }),
        change('other/mode.sh', { newMode: '100755', added: 0, removed: 0 }),
      ]),
    ).toEqual({
      out_of_scope: [
        { path: 'README.md', why: 'outside of mutable' },
        { path: 'src/fixed/a.ts', why: 'immutable' },
        { path: 'src/link', why: 'a symbolic link' },
        { path: 'src/file-to-link', why: 'a symbolic link' },
        { path: 'src/module', why: 'a submodule' },
        { path: 'src/gone-module', why: 'a submodule' },
        { path: 'other/mode.sh', why: 'outside of mutable' },
      ],
      over_limit: [],
    })
  })

  test('a removed link, a change of mode or a new file is refused although it is in scope', () => {
    const changes = [
      change('src/a', { status: 'D', oldMode: '120000', newMode: '000000' }),
      change('src/b.sh', { newMode: '100755', added: 0, removed: 0 }),
      change('src/new.ts', { status: 'A', oldMode: '000000' }),
    ]
    expect(judge(changes)).toEqual({ out_of_scope: [], over_limit: [] })
  })

  test('a limit refuses what just reaches it, lets more through, or counts the lines of a binary file', () => {
    const limited = scope(['src/**'], [], { files: 2, lines: 4, types: ['.ts'] })
    const two = [change('src/a.ts'), change('src/b.ts')]
    expect(judge(two, limited).over_limit).toEqual([])
    expect(judge([...two, change('src/c.bin', { added: null, removed: null })], limited).over_limit).toEqual([
      { limit: 'files', value: 3, max: 2 },
      { limit: 'types', value: 'src/c.bin', max: ['.ts'] },
    ])
    expect(judge([change('src/a.ts', { added: 5, removed: 0 })], limited).over_limit).toEqual([
      { limit: 'lines', value: 5, max: 4 },
    ])
  })
})

test('the match of globs loses the order of the globs or of the paths, or answers with paths that do not count from the root', () => {
  const paths = ['p/src/a.ts', 'p/src/.b', 'p/c.ts', 'q/src/a.ts']
  expect(matchGlobs(['src/*', '*.ts', 'nope/**'], 'p', paths)).toEqual([
    { glob: 'src/*', matched: ['p/src/a.ts', 'p/src/.b'] },
    { glob: '*.ts', matched: ['p/c.ts'] },
    { glob: 'nope/**', matched: [] },
  ])
})

describe('where all that is mutable lies', () => {
  const scopes = (globs: string[], prefix = '') => placesOfMutable(scope(globs), prefix)

  test('more is looked at than the globs can name, or less', () => {
    expect(scopes(['src/**', './lib/a.js', 'app/[id]/page.ts', 'x/{a,b}/*'])).toEqual([
      'src',
      'lib/a.js',
      'app',
      'x',
    ])
    expect(scopes(['src/**', '*.js'])).toEqual([])
    expect(scopes(['!src/**'])).toEqual([])
    expect(scopes(['**/a.js', 'src/**'], 'packages/one')).toEqual(['packages/one', 'packages/one/src'])
    expect(scopes(['a/../b/*'])).toEqual(['a'])
  })

  test('a path that a glob makes mutable lies outside of these places', () => {
    const name = fc.constantFrom(
      'src',
      'a b',
      '[id]',
      '(g)',
      '*',
      '**',
      '{src,b}',
      '!b',
      'é',
      '.x',
      '?',
      '+(b)',
      'b',
    )
    const glob = fc.array(name, { minLength: 1, maxLength: 3 }).map((parts) => parts.join('/'))
    const path = fc.array(fc.constantFrom('src', 'a b', '[id]', '(g)', 'é', '.x', 'b', '!b'), {
      minLength: 1,
      maxLength: 4,
    })
    fc.assert(
      fc.property(fc.array(glob, { minLength: 1, maxLength: 3 }), path, (globs, parts) => {
        const one = parts.join('/')
        fc.pre(scopeOf(scope(globs), '')(one) === 'mutable')
        const places = scopes(globs)
        expect(places.length === 0 || places.some((place) => `${one}/`.startsWith(`${place}/`))).toBe(true)
      }),
      { numRuns: 300 },
    )
  })
})
