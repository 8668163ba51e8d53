import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { failuresIn } from '../../cli/measure/output.ts'
import { execute } from '../../cli/process.ts'
import { missingProgram } from '../rig/needs.ts'
import { isolatedEnv, makeTemp } from '../rig/temp.ts'

/** What a program prints about the files. */
async function printed(argv: [string, ...string[]], files: Record<string, string>): Promise<string> {
  const cwd = makeTemp('tests')
  for (const [name, text] of Object.entries(files)) writeFileSync(join(cwd, name), text)
  const { stdout } = await execute({ argv, cwd, env: isolatedEnv() })
  return String(stdout)
}

test('of TAP output, the passed tests are shown in place of the failure', async () => {
  const text = await printed([process.execPath, '--test', '--test-reporter=tap', 'a.test.mjs'], {
    'a.test.mjs': `import assert from 'node:assert'
import test from 'node:test'
for (let i = 0; i < 30; i++) test('passes ' + i, () => {})
test('parses the header', () => { assert.strictEqual(1 + 1, 3) })
test('is skipped', { skip: true }, () => {})
`,
  })
  const lines = failuresIn(text) ?? []
  expect(lines.join('\n')).toContain('not ok 31 - parses the header')
  expect(lines.join('\n')).toContain('expected: 3')
  expect(lines.join('\n')).toContain('actual: 2')
  expect(lines.join('\n')).not.toMatch(/passes|skipped|node:internal|duration_ms/)
  expect(lines.length).toBeLessThan(12)
})

test('of pytest output, the passed tests are shown in place of the failure', async ({ skip }) => {
  const missing = missingProgram('pytest', ['python3', '-m', 'pytest', '--version'])
  if (missing) return skip(missing)
  const text = await printed(['python3', '-m', 'pytest', '-p', 'no:cacheprovider', 'test_a.py'], {
    'test_a.py': 'def test_good(): pass\ndef test_bad():\n    x = [1, 2]\n    assert sum(x) == 4\n',
  })
  const lines = failuresIn(text) ?? []
  expect(lines).toContain('E       assert 3 == 4')
  expect(lines).toContain('FAILED test_a.py::test_bad - assert 3 == 4')
  expect(lines.join('\n')).not.toContain('test_good')
})

test.each<[string, string, string[]]>([
  [
    'go test',
    '=== RUN   TestA\n--- PASS: TestA (0.00s)\n=== RUN   TestB\n--- FAIL: TestB (0.00s)\n    b_test.go:9: got 3, want 4\nFAIL\nFAIL\texample.com/b\t0.004s\nok  \texample.com/c\t0.002s\n',
    ['--- FAIL: TestB (0.00s)', '    b_test.go:9: got 3, want 4', 'FAIL\texample.com/b\t0.004s'],
  ],
  [
    'cargo test',
    `running 2 tests\ntest a ... ok\ntest b ... FAILED\n\nfailures:\n\n---- b stdout ----\n\nthread 'b' panicked at src/lib.rs:9:5:\nassertion \`left == right\` failed\n  left: 3\n right: 4\nnote: run with \`RUST_BACKTRACE=1\`\n\nfailures:\n    b\n\ntest result: FAILED. 1 passed; 1 failed; 0 ignored\n`,
    [
      'test b ... FAILED',
      '---- b stdout ----',
      "thread 'b' panicked at src/lib.rs:9:5:",
      'assertion `left == right` failed',
      '  left: 3',
      ' right: 4',
      'test result: FAILED. 1 passed; 1 failed; 0 ignored',
    ],
  ],
  [
    'mocha',
    '\n  parser\n    ✔ ok 0\n    1) reads the header\n\n\n  1 passing (5ms)\n  1 failing\n\n  1) parser\n       reads the header:\n     Error: boom\n      at Context.<anonymous> (t.js:1:173)\n      at process.processImmediate (node:internal/timers:483:21)\n\n',
    ['    1) reads the header', '  1 failing', '  1) parser', '       reads the header:', '     Error: boom'],
  ],
  [
    'vitest',
    ' RUN  v4.1.12\n\n ✓ a.test.ts (2 tests) 3ms\n ❯ b.test.ts (1 test | 1 failed) 5ms\n   × sums 4ms\n\n FAIL  b.test.ts > sums\nAssertionError: expected 3 to be 4\n\n- Expected\n+ Received\n\n- 4\n+ 3\n\n ❯ b.test.ts:4:17\n\n Test Files  1 failed | 1 passed (2)\n',
    [
      ' FAIL  b.test.ts > sums',
      'AssertionError: expected 3 to be 4',
      '- Expected',
      '+ Received',
      '- 4',
      '+ 3',
      ' ❯ b.test.ts:4:17',
    ],
  ],
])('of %s, all that passed is shown and the failure is not', (_, text, expected) => {
  expect(failuresIn(text)).toEqual(expected)
})

test('equal lines of two failures are told once, or the lines of one runner hide those of a different one', () => {
  const yaml = '  ---\n  expected: 3\n  actual: 4\n  ...'
  const tap = `TAP version 13\nnot ok 1 - a\n${yaml}\nnot ok 2 - b\n${yaml}\n1..2\n`
  const told = ['  expected: 3', '  actual: 4']
  expect(failuresIn(tap)).toEqual(['not ok 1 - a', ...told, 'not ok 2 - b', ...told])
  const pytest = '=== FAILURES ===\nE   assert 3 == 4\nFAILED a.py::b - assert 3 == 4\n'
  expect(failuresIn(`not ok 1 - harmless\n${pytest}`)).toEqual([
    'E   assert 3 == 4',
    'FAILED a.py::b - assert 3 == 4',
  ])
  expect(failuresIn('FAIL something\ncc: error: no input files\n')).toBe(null)
})

test('the time for random text grows faster than its length', () => {
  for (const piece of [
    '\n',
    ' ',
    '_',
    '\t\n',
    'not ok 1\n',
    '1..2\nnot ok 1 - a\n',
    '=== FAILURES ===\nE  \n',
  ])
    failuresIn(piece.repeat(200_000))
})

test('output of an unknown runner, or one in which all tests passed, is shortened', () => {
  for (const text of ['', 'FAIL', 'error: no such file\n', 'ok 1 - a\nnot ok 2 - b # TODO\n', '1 passing\n'])
    expect(failuresIn(text)).toBe(null)
})
