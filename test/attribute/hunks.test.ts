import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterAll, expect, test } from 'vitest'
import { hunksOf, withHunks } from '../../cli/attribute/hunks.ts'

const dir = mkdtempSync(join(tmpdir(), 'assay-hunks-'))
afterAll(() => rmSync(dir, { recursive: true }))

function patchOf(before: string, after: string): string {
  const [a, b] = [join(dir, 'a'), join(dir, 'b')]
  writeFileSync(a, before, 'latin1')
  writeFileSync(b, after, 'latin1')
  try {
    return execFileSync('git', ['diff', '--no-index', '--text', '--no-color', a, b], { encoding: 'latin1' })
  } catch (error) {
    return (error as { stdout: string }).stdout
  }
}

const numbered = (n: number): string[] => Array.from({ length: n }, (_, i) => `line ${i + 1}\n`)

test('leaves out one hunk of two, whichever it is', () => {
  const before = numbered(30)
  const after = before.with(2, 'three\n').with(25, 'twenty-six\n')
  const hunks = hunksOf(patchOf(before.join(''), after.join('')))
  expect(hunks).toHaveLength(2)
  expect(hunks.map(({ added, removed }) => [added, removed])).toEqual([
    [1, 1],
    [1, 1],
  ])
  expect(withHunks(before.join(''), hunks.slice(0, 1))).toBe(before.with(2, 'three\n').join(''))
  expect(withHunks(before.join(''), hunks.slice(1))).toBe(before.with(25, 'twenty-six\n').join(''))
})

test('takes a line of the file that looks like the head of a hunk for what it is', () => {
  const before = '@@ -1,2 +1,2 @@\n--- a\n\\ No newline\n'
  const after = '@@ -1,2 +1,3 @@\n+++ b\n\\ No newline at all\n'
  expect(withHunks(before, hunksOf(patchOf(before, after)))).toBe(after)
})

test('keeps any bytes and any ends of files through a patch of git', () => {
  const line = fc.constantFrom('a', 'b', 'c', '', '\r', '\xff\x80', '-x', '+y', ' z', '@@ -1 +1 @@')
  const text = fc
    .tuple(fc.array(line, { maxLength: 12 }), fc.boolean())
    .map(([lines, ends]) => lines.join('\n') + (ends && lines.length > 0 ? '\n' : ''))
  fc.assert(
    fc.property(text, text, (before, after) => {
      const hunks = hunksOf(patchOf(before, after))
      expect(withHunks(before, hunks)).toBe(after)
      expect(withHunks(before, [])).toBe(before)
    }),
    { numRuns: 60 },
  )
})
