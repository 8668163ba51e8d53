import { cut, padEnd, padStart, plain, widthOf } from '../text.ts'
import { type Cell, cell, clip, type Line } from './lines.ts'

export interface Column {
  title: string
  align?: 'left' | 'right'
  /** Gives way first when the table is too wide; without any, the last column does. */
  flexible?: boolean
}

const GAP = 2
const LEAST = 8

/**
 * Aligned columns under bold titles, each line at most `width` columns; wide characters count as two. All text goes
 * through `plain`. Missing cells are empty.
 */
export function table(columns: readonly Column[], rows: readonly (readonly Cell[])[], width: number): Line[] {
  const body = rows.map((row) =>
    columns.map((_, at) => {
      const { text, role } = row[at] ?? cell('')
      return { text: plain(text, width), role }
    }),
  )
  const natural = columns.map(({ title }, at) =>
    body.reduce((most, row) => Math.max(most, widthOf(row[at]?.text ?? '')), widthOf(title)),
  )
  const widths = fitted(columns, natural, width)
  const line = (cells: readonly Cell[]): Line =>
    clip(
      cells.flatMap(({ text, role }, at) => {
        const room = widths[at] ?? 0
        const shown = cut(text, room)
        const last = at === columns.length - 1
        const right = columns[at]?.align === 'right'
        const padded = right ? padStart(shown, room) : last ? shown : padEnd(shown, room)
        return at === 0 ? [cell(padded, role)] : [cell(' '.repeat(GAP)), cell(padded, role)]
      }),
      width,
    )
  return [line(columns.map(({ title }) => cell(title, 'title'))), ...body.map(line)]
}

/** Flexible columns shrink, the widest first, but stay legible. */
function fitted(columns: readonly Column[], natural: readonly number[], width: number): number[] {
  const widths = [...natural]
  const flexible = columns.flatMap(({ flexible }, at) => (flexible ? [at] : []))
  const giving = flexible.length > 0 ? flexible : [columns.length - 1]
  let over = widths.reduce((sum, each) => sum + each, 0) + GAP * (columns.length - 1) - width
  while (over > 0) {
    const widest = giving.reduce(
      (most, at) => ((widths[at] ?? 0) > (widths[most] ?? 0) ? at : most),
      giving[0] ?? 0,
    )
    const now = widths[widest] ?? 0
    if (now <= LEAST) break
    widths[widest] = now - 1
    over--
  }
  return widths
}
