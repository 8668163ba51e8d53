/**
 * Text of agents and users for pages and commits that a forge reads. There a word can act: `@name` writes to a person,
 * `fixes #12` closes an issue, a URL of one does too, and `[skip ci]` keeps the tests from running. Whoever merges would
 * do all that without having said it. Pure.
 */
import { cut, plain, verbatim } from '../text.ts'

/** GitHub's and GitLab's words, before an issue of a tracker that has letters: PROJ-12. */
const CLOSES = String.raw`\b(?:clos|fix|resolv|implement|complet)(?:e?s|e|ed|ing)?\s*:?\s+(?:issues?\s+)?`
/** The sign that makes a word act: without it, or with a space behind it, the word is a word. */
const SIGN = [
  String.raw`(?<![A-Za-z0-9])@(?=\w)`,
  // YouTrack's have letters, and Jira obeys any word behind a key: PROJ-12 #close. Else it is #include.
  String.raw`#(?=\d|[A-Z]\w*-\d)`,
  String.raw`#(?=\w)(?<=\b[A-Z]\w*-\d.*)`,
  String.raw`!(?=\d)`,
  String.raw`(?<=\bGH)-(?=\d)`,
  // Looked for last: most words have no such sign in them.
  String.raw`-(?=\d)(?<=${CLOSES}[A-Z][A-Z0-9_]*-)`,
  'https?:(?=//)',
  String.raw`\bwww\.(?=\w)`,
].join('|')
const SKIPS_CI = String.raw`\[(?=[^\]]*\b(?:skip|no[ _-]ci)\b)|(?<![A-Za-z0-9])NO(?=_CI\b)`

const SIGNS = new RegExp(`${SIGN}|${SKIPS_CI}`, 'gi')
/** The whole word around a sign, without the punctuation behind it. */
const WORD = new RegExp(String.raw`[\w./@#:+-]*?(?:${SIGN})(?:[\w./@#:?=&%+~!-]*[\w/])?`, 'gi')

/**
 * One line of a commit message, which has no markup to quote with: a space behind the sign, `@ name`, `fixes # 12`. It
 * can be seen and taken back, as an invisible character could not.
 */
export const inMessage = (text: string, max = Number.POSITIVE_INFINITY): string =>
  cut(plain(text).replace(SIGNS, '$& '), max)

/** One line of Markdown that shows the text as it is: a word that would act is code, all other markup is escaped. */
export function inMarkdown(text: string, max: number): string {
  const line = plain(text, max)
  let made = ''
  let from = 0
  for (const { 0: word, index } of line.matchAll(WORD)) {
    made += `${escaped(line.slice(from, index))}\`${word}\``
    from = index + word.length
  }
  return (made + escaped(line.slice(from))).replace(BLOCK, '\\$&')
}

/** One line of Markdown for what a person copies: a command or a path, in code that nothing in it ends; `↵` is an end of line. */
export function inCode(text: string, max: number): string {
  const line = cut(verbatim(text.trim().replaceAll('\n', ' ↵ ')), max)
  if (line === '') return ''
  const runs = [...line.matchAll(/`+/g)].map(([run]) => run.length)
  const fence = '`'.repeat(Math.max(0, ...runs) + 1)
  const space = /^`|`$/.test(line) ? ' ' : ''
  return `${fence}${space}${line}${space}${fence}`
}

/** An underscore within a word, as in `wall_ms`, is no markup. */
const escaped = (text: string): string =>
  text
    .replace(/[\\`*~[\]|]|(?<![A-Za-z0-9])_|_(?![A-Za-z0-9])/g, '\\$&')
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')

/** What would begin a heading, a list, a quotation or a command of the forge (`/close`) at the start of a line. */
const BLOCK = /^[#>+=/-]|(?<=^\d{1,9})[.)]/
