import fc from 'fast-check'
import { expect, test } from 'vitest'
import { cut, plain, widthOf, wrap } from '../cli/text.ts'
import { hostile, OBEYED } from './terminal/render.ts'

test.each([
  ['clear screen', '\x1b[2Jhello', '\\x1b[2Jhello'],
  ['window title', '\x1b]0;owned\x07', '\\x1b]0;owned\\x07'],
  ['hyperlink', '\x1b]8;;http://x\x1b\\click', '\\x1b]8;;http://x\\x1b\\click'],
  ['8-bit control', '\x9b31mred', '\\x9b31mred'],
  ['carriage return that overwrites', 'exp_1 rejected\rexp_1 kept', 'exp_1 rejected exp_1 kept'],
  ['lines and tabs', ' a\n\n\tb\u2028c\u0085d ', 'a b c d'],
  ['backspace', 'abc\b\b\bxyz', 'abc\\x08\\x08\\x08xyz'],
  ['bidi override', 'user\u202etxt.exe', 'user\\u{202e}txt.exe'],
  ['zero width', 'ex\u200bp', 'ex\\u{200b}p'],
  ['tag characters', 'a\u{e0041}b', 'a\\u{e0041}b'],
  ['lone surrogate', 'a\ud800b', 'a\\u{d800}b'],
  ['marks without end', `e${'\u0301'.repeat(50)}x`, 'e\u0301\u0301x'],
  ['ordinary words', 'größer, 漢字 and 🚀', 'größer, 漢字 and 🚀'],
])(
  'a text is printed so that a terminal obeys it, or is changed where it need not be: %s',
  (_, given, expected) => {
    expect(plain(given)).toBe(expected)
  },
)

test('a text is cut to characters and not to columns, or the cut is not marked', () => {
  expect(plain('abcdef', 6)).toBe('abcdef')
  expect(plain('abcdefg', 6)).toBe('abcde…')
  expect(plain('漢字漢字', 5)).toBe('漢字…')
  expect(plain('漢字漢字', 4)).toBe('漢…')
  expect(plain('word word', 6)).toBe('word…')
  expect(plain('abc', 1)).toBe('…')
  expect(plain('abc', 0)).toBe('')
})

test('a cut is not marked when what follows is far away', () => {
  expect(plain(`ab${' '.repeat(5_000)}c`, 10)).toBe('ab …')
})

test('a text of a hundred megabytes takes a minute, or is cut wrongly', () => {
  expect(plain('x'.repeat(100_000_000), 10)).toBe('xxxxxxxxx…')
})

test('the width of a wide, a narrow or a combining character is wrong', () => {
  expect(['a', 'é', 'e\u0301', '漢', 'ｱ', 'Ａ', '한', '🚀', '●', '─', '…'].map(widthOf)).toEqual([
    1, 1, 1, 2, 1, 2, 2, 2, 1, 1, 1,
  ])
})

test('text reaches the terminal that it obeys, or is wider than its room', () => {
  fc.assert(
    fc.property(hostile, hostile, fc.integer({ min: 0, max: 60 }), (a, b, max) => {
      const line = plain(a + b, max)
      expect(line).not.toMatch(OBEYED)
      expect(widthOf(line)).toBeLessThanOrEqual(max)
      expect(widthOf(cut(plain(a + b), max))).toBeLessThanOrEqual(max)
    }),
    { numRuns: 500 },
  )
})

test('a long line is broken inside of a word, is wider than the terminal, or loses something', () => {
  expect(wrap('Note: the benchmark does not use ASSAY_SEED', 20)).toEqual([
    'Note: the benchmark',
    '  does not use',
    '  ASSAY_SEED',
  ])
  expect(wrap('  (an indented one)', 12)).toEqual(['  (an', '    indented', '    one)'])
  expect(wrap('short', 20)).toEqual(['short'])
  expect(wrap('', 20)).toEqual([''])
  expect(wrap('at /a/very/long/path/without/spaces here', 12)).toEqual([
    'at',
    '  /a/very/long/path/without/spaces',
    '  here',
  ])
})
