/** The marks of experiments: a shape for each, drawn the same in lists and charts; the word stands beside it or is read out. */
import type { Mark, PageRow } from '../cli/view/page-model.ts'

interface Shape {
  /** Path in a box of 12 by 12. */
  d: string
  filled: boolean
  /** Filled, over the outline. */
  inner?: string
  tone: 'accent' | 'ink' | 'soft'
  word: string
}

const circle = (r: number, x = 6): string =>
  `M${x - r} 6a${r} ${r} 0 1 0 ${2 * r} 0a${r} ${r} 0 1 0 ${-2 * r} 0z`

export const SHAPES: Readonly<Record<Mark, Shape>> = {
  kept: { d: circle(4), filled: true, tone: 'accent', word: 'kept' },
  confirmed: {
    d: `${circle(2.6)}${circle(5.2)}M6 0`,
    filled: false,
    inner: circle(2.6),
    tone: 'accent',
    word: 'confirmed',
  },
  flagged: { d: 'M6 1L11 10.5H1zM6 4.5V7.5M6 8.8V9.2', filled: false, tone: 'accent', word: 'in doubt' },
  inconclusive: {
    d: 'M1 7C2.5 3.5 4.5 3.5 6 6S9.5 8.5 11 5',
    filled: false,
    tone: 'soft',
    word: 'inconclusive',
  },
  rejected: { d: circle(3.4), filled: false, tone: 'soft', word: 'rejected' },
  failed: { d: 'M2.5 2.5L9.5 9.5M9.5 2.5L2.5 9.5', filled: false, tone: 'ink', word: 'failed' },
  running: {
    d: 'M6 1.5a4.5 4.5 0 0 1 0 9zM6 1.5a4.5 4.5 0 0 0 0 9',
    filled: true,
    tone: 'ink',
    word: 'running',
  },
  open: { d: 'M2.5 2.5H9.5V9.5H2.5z', filled: false, tone: 'soft', word: 'open' },
  pruned: { d: 'M6 1L11 6L6 11L1 6z', filled: false, tone: 'soft', word: 'pruned' },
  revoked: { d: `${circle(4.6)}M2.8 9.2L9.2 2.8`, filled: false, tone: 'ink', word: 'revoked' },
  discarded: { d: 'M2 6H10', filled: false, tone: 'soft', word: 'discarded' },
  merged: {
    d: 'M0.5 1.5L6 6L0.5 10.5',
    filled: false,
    inner: circle(3.2, 8),
    tone: 'accent',
    word: 'merged',
  },
}

export function MarkIcon({ mark, size = 12 }: { mark: Mark; size?: number }) {
  const { d, filled, inner, tone } = SHAPES[mark]
  return (
    <svg class={`mark ${tone}`} width={size} height={size} viewBox="0 0 12 12" aria-hidden="true">
      <path d={d} class={filled ? 'filled' : ''} />
      {inner === undefined ? null : <path d={inner} class="filled" />}
    </svg>
  )
}

/** Beside the mark of a pinned experiment: what it is does not change. */
export const PinIcon = () => (
  <svg class="mark accent" width="12" height="12" viewBox="0 0 12 12" aria-hidden="true">
    <path d="M4 1H8M4.5 1V5L3 7H9L7.5 5V1M6 7V11.5" />
  </svg>
)

/** `rejected (not_better)`, as `assay show` says it. */
export function wordOf({ mark, status, reason, failure_class }: PageRow): string {
  const why = status === 'failed' ? (failure_class ?? reason) : reason === 'improved' ? null : reason
  const word = SHAPES[mark].word
  return why === null || why === word ? word : `${word} (${why})`
}

export function Status({ row }: { row: PageRow }) {
  return (
    <span class="status">
      <MarkIcon mark={row.mark} />
      {wordOf(row)}
    </span>
  )
}

const drawn = new Map<Mark, { outline: Path2D; filling: Path2D | null }>()

/** On a canvas, centred. */
export function drawMark(
  to: CanvasRenderingContext2D,
  mark: Mark,
  x: number,
  y: number,
  colours: Colours,
): void {
  const { d, filled, inner, tone } = SHAPES[mark]
  let paths = drawn.get(mark)
  if (!paths) {
    paths = { outline: new Path2D(d), filling: inner === undefined ? null : new Path2D(inner) }
    drawn.set(mark, paths)
  }
  // Called once for each of 10,000 points.
  const path = paths.outline
  const filling = paths.filling
  to.setTransform(colours.scale, 0, 0, colours.scale, (x - 5) * colours.scale, (y - 5) * colours.scale)
  to.scale(10 / 12, 10 / 12)
  if (filled) {
    to.fillStyle = colours[tone]
    to.fill(path)
  }
  if (filling) {
    to.fillStyle = colours[tone]
    to.fill(filling)
  }
  to.strokeStyle = colours[tone]
  to.lineWidth = 1.5
  to.stroke(path)
}

export interface Colours {
  accent: string
  ink: string
  soft: string
  /** Device pixels of one of the page. */
  scale: number
}
