import { monochrome, type Paint } from './colour.ts'
import { type Line, lineWidth } from './lines.ts'

/** As much of a terminal as the painter needs; `process.stderr` fits. */
export interface Terminal {
  write(text: string): unknown
  columns?: number | undefined
  rows?: number | undefined
  on?(event: 'resize', listener: () => void): unknown
  off?(event: 'resize', listener: () => void): unknown
}

/** Builds the lines for the room there is. */
export type Frame = (width: number, height: number) => Line[]

const HIDE_CURSOR = '\x1b[?25l'
const SHOW_CURSOR = '\x1b[?25h'
const CLEAR_REST_OF_LINE = '\x1b[K'
const CLEAR_BELOW = '\x1b[J'
/** Synchronised update: terminals that know it show the frame at once, others ignore it. */
const BEGIN = '\x1b[?2026h'
const END = '\x1b[?2026l'

/**
 * Repaints a block of lines in place, one write a frame, without clearing first (no flicker). The cursor is hidden
 * from the first frame until `close`, which leaves the last frame standing and must be called, also on errors and
 * signals; a second call does nothing. A resize repaints the last frame.
 */
export class LivePainter {
  readonly #terminal: Terminal
  readonly #paint: Paint
  /** Widths of the lines on the screen: after a resize they say how many rows the terminal made of them. */
  #shown: number[] = []
  #frame: Frame | null = null
  #last = ''
  #state: 'new' | 'live' | 'closed' = 'new'

  constructor(terminal: Terminal, paint: Paint = monochrome) {
    this.#terminal = terminal
    this.#paint = paint
  }

  draw(frame: Frame): void {
    if (this.#state === 'closed') return
    if (this.#state === 'new') {
      this.#state = 'live'
      this.#terminal.write(HIDE_CURSOR)
      this.#terminal.on?.('resize', this.#resized)
    }
    this.#frame = frame
    const lines = this.#lines(frame)
    const text = this.#text(lines)
    if (text === this.#last) return
    this.#terminal.write(`${BEGIN}${this.#top()}${text}${CLEAR_BELOW}${END}`)
    this.#remember(lines, text)
  }

  /** A line that stays, above the frame. */
  say(line: Line): void {
    if (this.#state === 'closed' || this.#frame === null) {
      this.#terminal.write(`${this.#paint(line)}\n`)
      return
    }
    const lines = this.#lines(this.#frame)
    const text = this.#text(lines)
    this.#terminal.write(
      `${BEGIN}${this.#top()}${this.#paint(line)}${CLEAR_REST_OF_LINE}\n${text}${CLEAR_BELOW}${END}`,
    )
    this.#remember(lines, text)
  }

  close(): void {
    if (this.#state === 'live') {
      this.#terminal.off?.('resize', this.#resized)
      this.#terminal.write(SHOW_CURSOR)
    }
    this.#state = 'closed'
  }

  readonly #resized = (): void => {
    if (this.#frame === null) return
    this.#last = ''
    this.draw(this.#frame)
  }

  #lines(frame: Frame): Line[] {
    const width = this.#columns()
    // The last row stays free: a newline there would scroll the frame away.
    const height = Math.max(1, (this.#terminal.rows ?? 24) - 1)
    return frame(width, height).slice(0, height)
  }

  #columns(): number {
    return Math.max(1, this.#terminal.columns ?? 80)
  }

  #text(lines: readonly Line[]): string {
    return lines.map((line) => `${this.#paint(line)}${CLEAR_REST_OF_LINE}\n`).join('')
  }

  /** Back to the first row of the frame. */
  #top(): string {
    const columns = this.#columns()
    const rows = this.#shown.reduce((sum, width) => sum + Math.max(1, Math.ceil(width / columns)), 0)
    return rows === 0 ? '\r' : `\r\x1b[${rows}A`
  }

  #remember(lines: readonly Line[], text: string): void {
    this.#shown = lines.map(lineWidth)
    this.#last = text
  }
}
