import type { Said } from '../next.ts'
import type { Problem } from '../result.ts'

/** Something wrong at a place of the text. */
export interface Issue {
  /** In UTF-16 code units, as `String.prototype.slice` counts. */
  from: number
  /** Where the caret ends; it always marks at least one character, and never continues to the next line. */
  to: number
  message: string
  hint: Said
}

/** A text of the user's, and what it is called in messages. */
export interface SourceText {
  text: string
  file: string
}

const MOST = 50
const WIDEST = 100

/** One problem that carries all: in document order, each once. */
export function problemOf(source: SourceText, issues: readonly Issue[], code = 'spec_invalid'): Problem {
  const seen = new Set<string>()
  const ordered = [...issues]
    .sort((a, b) => a.from - b.from)
    .filter((issue) => {
      const key = `${issue.from} ${issue.message}`
      return !seen.has(key) && seen.add(key)
    })
  const problems = ordered.slice(0, MOST).map((issue): Problem => {
    const { message, hint } = issue
    return { kind: 'usage', code, message, hint, at: placeInText(source, issue.from, issue.to) }
  })
  if (ordered.length > MOST) {
    const message = `${ordered.length - MOST} more problems are not shown`
    problems.push({ kind: 'usage', code, message, hint: 'correct these first', at: source.file })
  }
  const [first, ...more] = problems
  if (first === undefined) throw new Error('no issue to tell about')
  return more.length === 0 ? first : { ...first, more }
}

/**
 * `file:line:column`, the line as the user wrote it, and a caret under the culprit. Lines and columns count from
 * 1. A long line is cut to a window around the culprit.
 */
export function placeInText({ text, file }: SourceText, from: number, to: number): string {
  const start = Math.min(from, text.length)
  const before = text.slice(0, start)
  const head = Math.max(before.lastIndexOf('\n'), before.lastIndexOf('\r')) + 1
  const line = before.split(/\r\n|\n|\r/).length
  const column = start - head
  const whole = /^[^\n\r]*/.exec(text.slice(head))?.[0] ?? ''
  const length = Math.max(1, Math.min(to, head + whole.length) - start)

  const skipped = whole.length > WIDEST ? Math.max(0, Math.min(column - 40, whole.length - WIDEST)) : 0
  const shown = whole.slice(skipped, skipped + WIDEST)
  const lead = skipped > 0 ? '…' : ''
  const tail = skipped + WIDEST < whole.length ? '…' : ''
  // A tab in the line is a tab above the caret too, so that both are equally wide in any terminal.
  const pad = ' '.repeat(lead.length) + whole.slice(skipped, column).replace(/[^\t]/g, ' ')
  const caret = '^'.repeat(Math.max(1, Math.min(length, WIDEST - (column - skipped))))
  return `${file}:${line}:${column + 1}\n  ${lead}${visible(shown)}${tail}\n  ${pad}${caret}`
}

/** Control characters would move the cursor of a terminal. */
const visible = (line: string): string => line.replace(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g, '\ufffd')
