import fc from 'fast-check'
import { expect, test } from 'vitest'
import { cell, lineWidth } from '../../cli/terminal/lines.ts'
import { table } from '../../cli/terminal/table.ts'
import { hostile, OBEYED, text } from './render.ts'

const columns = [
  { title: 'id' },
  { title: 'value', align: 'right' as const },
  { title: 'why', flexible: true },
]

test('columns are not aligned, or not those with wide characters', () => {
  const rows = [
    [cell('exp_1'), cell('10'), cell('short')],
    [cell('漢字漢'), cell('1000.5'), cell('b')],
    [cell('x')],
  ]
  expect(text(table(columns, rows, 60))).toBe(
    ['id       value  why', 'exp_1       10  short', '漢字漢  1000.5  b', 'x'].join('\n'),
  )
})

test('the flexible column is not shortened, or another one is', () => {
  const rows = [[cell('exp_0001'), cell('10'), cell('a very long reason that does not fit')]]
  expect(text(table(columns, rows, 30))).toBe(
    ['id        value  why', 'exp_0001     10  a very long…'].join('\n'),
  )
})

test('a table is wider than its room, loses a row, or holds text that the terminal obeys', () => {
  fc.assert(
    fc.property(
      fc.array(fc.array(hostile, { maxLength: 4 }), { maxLength: 8 }),
      fc.integer({ min: 0, max: 90 }),
      (rows, width) => {
        const lines = table(
          columns,
          rows.map((row) => row.map((text) => cell(text))),
          width,
        )
        expect(lines).toHaveLength(rows.length + 1)
        for (const line of lines) expect(lineWidth(line)).toBeLessThanOrEqual(width)
        expect(
          lines
            .flat()
            .map((each) => each.text)
            .join(''),
        ).not.toMatch(OBEYED)
      },
    ),
  )
})
