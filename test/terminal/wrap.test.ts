import { expect, test } from 'vitest'
import { wrap } from '../../cli/terminal/wrap.ts'

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
