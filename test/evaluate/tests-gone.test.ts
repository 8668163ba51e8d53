import { expect, test } from 'vitest'
import {
  type Changed,
  looksLikeTest,
  testsDoubt,
  testsGone,
  testsRemark,
} from '../../cli/evaluate/tests-gone.ts'

/** `what path` of each. */
const gone = (...changes: [path: string, before: string | null, after: string | null][]) =>
  testsGone(changes.map(([path, before, after]): Changed => ({ path, before, after }))).map(
    ({ what, path }) => `${what} ${path}`,
  )

const JS = `import test from 'node:test'\ntest('adds', () => {\n  assert.equal(add(1, 2), 3)\n  assert.equal(add(0, 0), 0)\n})\n`

test.each([
  ['src/main.test.mjs', true],
  ['src/__tests__/main.js', true],
  ['pkg/parser_test.go', true],
  ['tests/test_parser.py', true],
  ['src/test/java/org/demo/ParserTest.java', true],
  ['spec/parser_spec.rb', true],
  ['app/Tests/ParserTest.php', true],
  ['cli/spec/read.ts', false],
  ['src/latest.js', false],
  ['src/contest.py', false],
  ['src/attestation/main.rs', false],
])('%s is wrongly classified: whether it is a test is %s', (path, answer) => {
  expect(looksLikeTest(path)).toBe(answer)
})

test('a deleted test is not reported, or a moved one is', () => {
  expect(gone(['src/a.test.js', JS, null])).toEqual(['deleted src/a.test.js'])
  expect(gone(['src/a.test.js', JS, null], ['test/b.test.js', null, JS])).toEqual([])
  expect(gone(['src/a.test.js', JS, null], ['test/b.test.js', null, '// nothing\n'])).toEqual([
    'deleted src/a.test.js',
  ])
  expect(gone(['src/a.test.js', JS, null], ['src/a.txt', null, JS])).toEqual(['deleted src/a.test.js'])
  expect(gone(['src/a.js', JS, null])).toEqual([])
})

test('a test file without tests passes for one with tests', () => {
  expect(gone(['src/a.test.js', JS, ''])).toEqual(['emptied src/a.test.js'])
  expect(gone(['src/a.test.js', JS, JS.replace(/^/gm, '// ')])).toEqual(['emptied src/a.test.js'])
  expect(gone(['src/a.test.js', JS, 'const a = 1\n'])).toEqual(['emptied src/a.test.js'])
})

test.each([
  ['a.test.js', JS, JS.replace('test(', 'test.skip(')],
  ['a.test.js', JS, JS.replace('test(', 'xit(')],
  ['a.test.js', JS, `${JS}it.only('nothing', () => {})\n`],
  ['a.test.js', JS, JS.replace("'adds', ", "'adds', { skip: true }, ")],
  ['test_a.py', 'def test_a():\n  assert 1\n', '@pytest.mark.skip\ndef test_a():\n  assert 1\n'],
  ['test_a.py', 'def test_a():\n  assert 1\n', 'def test_a():\n  pytest.skip("later")\n  assert 1\n'],
  ['a_test.go', 'func TestA(t *testing.T) {\n}\n', 'func TestA(t *testing.T) {\n\tt.Skip()\n}\n'],
  [
    'a_test.go',
    'package a\nfunc TestA(t *T) {\n}\n',
    '//go:build ignore\n\npackage a\nfunc TestA(t *T) {\n}\n',
  ],
  ['tests/a.rs', '#[test]\nfn a() {}\n', '#[test]\n#[ignore]\nfn a() {}\n'],
  [
    'src/a.rs',
    'fn b() {}\n#[cfg(test)]\n#[test]\nfn a() {}\n',
    'fn b() {}\n#[cfg(test)]\n#[test]\n#[ignore]\nfn a() {}\n',
  ],
  ['ATest.java', '@Test\nvoid a() {}\n', '@Disabled\n@Test\nvoid a() {}\n'],
  ['a_spec.rb', "it 'adds' do\nend\n", "it 'adds' do\n  skip\nend\n"],
  ['a.test.js', JS, `if (false) {\n${JS}}\n`],
  ['test_a.py', 'def test_a():\n  assert 1\n', 'if False:\n  def test_a():\n    assert 1\n'],
])('a test that is skipped in %s is not told', (path, before, after) => {
  expect(gone([path, before, after])).toEqual([`skipped ${path}`])
})

test.each([
  ['a.test.js', JS, JS.replace('test(', '/* test(').concat('*/')],
  ['a.test.js', JS, JS.replace('test(', "const name = 'a'; /*\n test(").concat(' */')],
  ['test_a.py', 'def test_a():\n    assert x\n', '"""\ndef test_a():\n    assert x\n"""\n'],
  ['test_a.py', 'def test_a():\n    assert x\n', "x = '''\ndef test_a():\n    assert x\n'''\n"],
  ['a_test.rb', "it 'adds' do\nend\n", "=begin\nit 'adds' do\nend\n=end\n"],
])('%s: tests that stand in a comment or a text now are not reported: %s', (path, before, after) => {
  expect(gone([path, before, after])).toContain(`emptied ${path}`)
})

test.each([
  ['a.test.js', `glob('src/*')\n${JS}glob('*/b')\n`],
  ['a.test.js', `/** Says what. */\n${JS}/* and more */\n`],
  ['a.test.js', `const at = "http://a/*"\n${JS}// ends */\n`],
])('%s: text that looks like the begin of a comment hides a test: %s', (path, after) => {
  expect(gone([path, JS, after])).toEqual([`edited ${path}`])
})

test('an inserted early return or exit of a test is not reported', () => {
  expect(gone(['a.test.js', JS, `process.exit(0)\n${JS}`])).toEqual(['ended a.test.js'])
  expect(gone(['test_a.py', 'def test_a(): pass\n', 'import os\nos._exit(0)\ndef test_a(): pass\n'])).toEqual(
    ['ended test_a.py'],
  )
  expect(gone(['src/main.js', 'run()\n', 'process.exit(0)\nrun()\n'])).toEqual(['exits src/main.js'])
  expect(gone(['src/main.js', 'run()\n', 'process.exit(code)\nrun()\n'])).toEqual([])
})

test('tests or assertions that were taken out are not reported, or those that moved are', () => {
  const two = `${JS}test('more', () => {})\n`
  expect(gone(['a.test.js', two, JS])).toEqual(['fewer_tests a.test.js'])
  expect(gone(['a.test.js', two, JS], ['b.test.js', JS, two])).toEqual([
    'edited a.test.js',
    'edited b.test.js',
  ])
  const less = JS.replace('  assert.equal(add(0, 0), 0)\n', '')
  expect(gone(['a.test.js', JS, less])).toEqual(['fewer_assertions a.test.js'])
  // Assertions of a program are its own affair.
  expect(gone(['src/a.rs', 'fn a() { assert!(x); }\n', 'fn a() {}\n'])).toEqual([])
})

test('a test or a configuration of tests that was changed is not reported, a new test is', () => {
  expect(gone(['a.test.js', JS, JS.replace('3', '4')])).toEqual(['edited a.test.js'])
  expect(gone(['vitest.config.ts', null, 'export default {}\n'])).toEqual(['edited vitest.config.ts'])
  expect(gone(['b.test.js', null, JS])).toEqual([])
  expect(gone(['src/a.js', 'iter.skip(1)\n', 'iter.skip(1).skip(2)\n'])).toEqual([])
})

test('an edited test puts a keep in doubt, or a deleted one does not', () => {
  const edited = testsGone([{ path: 'a.test.js', before: JS, after: JS.replace('3', '4') }])
  expect(testsDoubt(edited, 'exp_0001')).toBeNull()
  expect(testsRemark(edited)).toBe('; it edits a.test.js: look whether its tests still test what they did')
  const deleted = testsGone([{ path: 'a.test.js', before: JS, after: null }])
  expect(testsDoubt(deleted, 'exp_0001')).toBe(
    'it deletes a.test.js, so its gates may prove less: look at assay diff exp_0001, and when that is right, assay restore exp_0001 clears it',
  )
  expect(testsRemark([])).toBe('')
})
