/**
 * Text from agents, benchmarks and users is data. A terminal would obey the control sequences in it, so every
 * renderer passes it through `plain` first.
 */

const MOST_MARKS = 2
/** C0, DEL, C1, and what reorders or hides text: bidi controls, zero-width and invisible characters, lone surrogates. */
export const UNSAFE =
  /[\u0000-\u001f\u007f-\u009f\u00ad\u061c\u115f\u1160\u17b4\u17b5\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164\ufeff\uffa0\ufff0-\ufffb\u{e0000}-\u{e0fff}]|\p{Cs}|\p{Cn}/u
const MARK = /\p{M}/u
const SELECTOR = /[\ufe00-\ufe0f\u{e0100}-\u{e01ef}]/u

/**
 * One printable line of at most `max` columns: white space becomes single spaces, control and invisible characters
 * become visible escapes such as `\x1b` or `\u{202e}`, and what does not fit is cut with `…`.
 */
export function plain(text: string, max = Number.POSITIVE_INFINITY): string {
  // Every character takes a column or is one of few marks on one, so the rest cannot matter.
  const head = Number.isFinite(max) ? text.slice(0, Math.max(0, max) * 16 + 64) : text
  const pieces: string[] = []
  let marks = 0
  for (const char of head.replace(/[\s\u0085]+/gu, ' ').trim()) {
    if (SELECTOR.test(char)) continue
    marks = MARK.test(char) ? marks + 1 : 0
    if (marks > MOST_MARKS || (marks > 0 && pieces.length === 0)) continue
    pieces.push(UNSAFE.test(char) ? escaped(char) : char)
  }
  const line = pieces.join('')
  return head.length < text.length ? cut(`${line} …`, max) : cut(line, max)
}

/** One line of code: as `plain`, but spaces and tabs mean something and stay. */
export const verbatim = (line: string): string =>
  [...line].map((char) => (char !== '\t' && UNSAFE.test(char) ? escaped(char) : char)).join('')

/** As a shell takes it: paths and the names of branches may hold more than a shell leaves alone. */
export const shellWord = (word: string): string =>
  /^[\w./:=@%+-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`

/** The columns that a terminal gives to one printable line. */
export function widthOf(text: string): number {
  if (/^[\u0020-\u007e]*$/u.test(text)) return text.length
  let width = 0
  for (const char of text) width += columnsOf(char)
  return width
}

/** At most `max` columns; `…` tells that something is missing. `text` must be printable. */
export function cut(text: string, max: number): string {
  if (max <= 0) return ''
  if (widthOf(text) <= max) return text
  let line = ''
  let width = 0
  for (const char of text) {
    width += columnsOf(char)
    if (width > max - 1) break
    line += char
  }
  return `${line.trimEnd()}…`
}

export const padEnd = (text: string, width: number): string =>
  text + ' '.repeat(Math.max(0, width - widthOf(text)))
export const padStart = (text: string, width: number): string =>
  ' '.repeat(Math.max(0, width - widthOf(text))) + text

/** A sentence in lines of at most `columns`, broken at spaces; what follows is indented two more. A longer word stays whole. */
export function wrap(line: string, columns: number): string[] {
  const indent = `${/^ */.exec(line)?.[0] ?? ''}  `
  const lines: string[] = []
  let open = ''
  for (const word of line.split(/(?<=\S) /)) {
    const joined = open === '' ? word : `${open} ${word}`
    if (open === '' || widthOf(joined) <= columns) open = joined
    else {
      lines.push(open)
      open = `${indent}${word}`
    }
  }
  return [...lines, open]
}

function escaped(char: string): string {
  const code = char.codePointAt(0) ?? 0
  return code < 0x100 ? `\\x${code.toString(16).padStart(2, '0')}` : `\\u{${code.toString(16)}}`
}

/** Blocks that East Asian Width (UAX #11) calls wide or full-width. */
const WIDE: readonly (readonly [number, number])[] = [
  [0x1100, 0x115f],
  [0x2e80, 0x303e],
  [0x3041, 0x4dbf],
  [0x4e00, 0xa4cf],
  [0xa960, 0xa97c],
  [0xac00, 0xd7a3],
  [0xf900, 0xfaff],
  [0xfe10, 0xfe19],
  [0xfe30, 0xfe6f],
  [0xff01, 0xff60],
  [0xffe0, 0xffe6],
  [0x16fe0, 0x18dff],
  [0x1aff0, 0x1b2ff],
  [0x1f300, 0x1f64f],
  [0x1f680, 0x1f6ff],
  [0x1f900, 0x1faff],
  [0x20000, 0x3fffd],
]

function columnsOf(char: string): number {
  const code = char.codePointAt(0) ?? 0
  if (code < 0x300) return 1
  if (MARK.test(char)) return 0
  if (WIDE.some(([from, to]) => code >= from && code <= to)) return 2
  return /\p{Emoji_Presentation}/u.test(char) ? 2 : 1
}

/** Shared words ÷ all words (Jaccard) from which two texts are taken for the same assignment. */
const SAME = 0.9

/** Whether two texts say the same in other order or with other small words; numbers count as words. Pure. */
export const alike = (a: string, b: string): boolean => sameWords(wordsOf(a), wordsOf(b))

/** The same for texts that are compared with many others. */
export function sameWords(left: ReadonlySet<string>, right: ReadonlySet<string>): boolean {
  if (left.size === 0 && right.size === 0) return true
  let shared = 0
  for (const word of left) if (right.has(word)) shared++
  return shared / (left.size + right.size - shared) >= SAME
}

export function wordsOf(text: string): ReadonlySet<string> {
  return new Set(text.toLowerCase().match(/[\p{L}\p{N}_.]+/gu) ?? [])
}

/** The strings of a list that comes from an agent or a user; nothing else in it counts, and what is no list has none. */
export const textsOf = (value: unknown): string[] =>
  Array.isArray(value) ? value.filter((one): one is string => typeof one === 'string') : []
