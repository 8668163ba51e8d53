import { STATUSES, type Status } from '../ledger/events.ts'
import { cut, widthOf } from '../text.ts'

/** What a piece of text is, not what it looks like: `colour.ts` decides that. */
export type TextRole =
  | 'plain'
  | 'dim'
  | 'title'
  | 'good'
  | 'bad'
  | 'warn'
  | 'best'
  | 'axis'
  | 'target'
  | Status

/** Printable text on one line; untrusted text has gone through `plain`. */
export interface Cell {
  text: string
  role: TextRole
}

/** One line of a report. */
export type Line = readonly Cell[]

export const cell = (text: string, role: TextRole = 'plain'): Cell => ({ text, role })

export const BLANK: Line = []

/** The text alone, for pipes and files. */
export const asText = (line: Line): string =>
  line
    .map(({ text }) => text)
    .join('')
    .trimEnd()

export const lineWidth = (line: Line): number => line.reduce((sum, { text }) => sum + widthOf(text), 0)

/** The line cut to `max` columns; `…` tells that something is missing. */
export function clip(line: Line, max: number): Line {
  if (lineWidth(line) <= max) return line
  const cells: Cell[] = []
  let left = max
  for (const { text, role } of line) {
    const width = widthOf(text)
    // A cell that fills the line exactly must give way to the mark as well: more follows.
    if (width < left) cells.push({ text, role })
    else {
      cells.push({ text: cut(`${text}  `, left), role })
      break
    }
    left -= width
  }
  return cells
}

/** Neighbours of one role become one cell. */
export function merged(line: Line): Line {
  const cells: Cell[] = []
  for (const { text, role } of line) {
    const last = cells.at(-1)
    if (last?.role === role) last.text += text
    else if (text !== '') cells.push({ text, role })
  }
  return cells
}

// ---------------------------------------------------------------- marks

/** The marks of charts and trees; all are one column wide. */
export const GLYPHS = {
  status: {
    open: '◦',
    running: '◐',
    kept: '●',
    rejected: '○',
    failed: '×',
    discarded: '◌',
    pruned: '◇',
    revoked: '⊘',
  } satisfies Record<Status, string>,
  above: '▲',
  below: '▼',
  across: '─',
  up: '│',
  /** Corners of the best-so-far line: it comes from the left and goes up or down. */
  turnUp: '╯',
  turnDown: '╮',
  dash: '╌',
  baseline: '┈',
  axis: '│',
  tick: '┤',
  corner: '└',
  floor: '─',
  floorTick: '┬',
  arrow: '→',
  bar: '█',
  barRest: '░',
  fork: '├─ ',
  last: '└─ ',
  trunk: '│  ',
}

/** What is drawn over what: of two marks on one spot the one that matters more stays. */
export const WEIGHT: Readonly<Record<Status, number>> = {
  kept: 7,
  running: 6,
  revoked: 5,
  pruned: 4,
  failed: 3,
  rejected: 2,
  discarded: 1,
  open: 0,
}

/** Statuses in the order in which people read them. */
export const READING_ORDER: readonly Status[] = [...STATUSES].sort((a, b) => reading(a) - reading(b))

function reading(status: Status): number {
  return ['kept', 'rejected', 'failed', 'discarded', 'pruned', 'revoked', 'running', 'open'].indexOf(status)
}
