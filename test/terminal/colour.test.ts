import { expect, test } from 'vitest'
import { painter } from '../../cli/terminal/colour.ts'
import { asText, cell, clip, merged } from '../../cli/terminal/lines.ts'
import { wantsColour } from '../../cli/terminal/output.ts'

test('a pipe gets colours or a terminal none, or NO_COLOR, FORCE_COLOR or TERM is not obeyed', () => {
  const tty = () => true
  const pipe = () => false
  expect(wantsColour(tty, {})).toBe(true)
  expect(wantsColour(pipe, {})).toBe(false)
  expect(wantsColour(tty, { NO_COLOR: '1' })).toBe(false)
  expect(wantsColour(tty, { NO_COLOR: '' })).toBe(true)
  expect(wantsColour(tty, { TERM: 'dumb' })).toBe(false)
  expect(wantsColour(pipe, { FORCE_COLOR: '1' })).toBe(true)
  expect(wantsColour(tty, { FORCE_COLOR: '0' })).toBe(false)
  expect(wantsColour(tty, { FORCE_COLOR: '1', NO_COLOR: '1' })).toBe(false)
})

test('a role does not become its escape sequence, or becomes one without colour', async () => {
  const line = [cell('ok', 'good'), cell(' '), cell('x', 'failed')]
  expect((await painter(true))(line)).toBe('\x1b[32mok\x1b[39m \x1b[31mx\x1b[39m')
  expect((await painter(false))(line)).toBe('ok x')
})

test('a line of several cells is cut at the wrong column or without a mark, or cells of one role stay apart', () => {
  const line = [cell('abc', 'good'), cell('def'), cell('ghi')]
  expect([9, 8, 6, 4, 3, 1, 0].map((width) => asText(clip(line, width)))).toEqual([
    'abcdefghi',
    'abcdefg…',
    'abcde…',
    'abc…',
    'ab…',
    '…',
    '',
  ])
  expect(merged([cell('a'), cell('b'), cell('', 'good'), cell('c', 'good')])).toEqual([
    cell('ab'),
    cell('c', 'good'),
  ])
})
