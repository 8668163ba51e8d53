import { STATUSES, type Status } from '../ledger/events.ts'

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
