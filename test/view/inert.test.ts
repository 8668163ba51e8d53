import fc from 'fast-check'
import { expect, test } from 'vitest'
import { inCode, inMarkdown, inMessage } from '../../cli/view/pull-request.ts'

/** What forges act on, by their documentation. */
const ACTS = [
  /(?:^|[^A-Za-z0-9])@[A-Za-z0-9_]/,
  /#[0-9]/,
  /#[A-Z]+-[0-9]/i,
  /\b[A-Z]+-[0-9]+.*#[a-z]/i,
  /![0-9]/,
  /\bGH-[0-9]/i,
  /https?:\/\//i,
  /\bwww\.[a-z]/i,
  /\b(?:close|closes|closed|fix|fixes|fixed|fixing|resolve|resolves|implements):? +(?:issue )?[A-Z]+-[0-9]/i,
]
const SKIPS = [/\[(?:skip[ _-]ci|ci[ _-]skip|no[ _-]ci|skip actions|actions skip)\]/i, /\*\*\*NO_CI\*\*\*/i]

const pieces = [
  ...[
    '@',
    'octocat',
    '@octocat',
    '@org/team',
    '#',
    '12',
    '#12',
    '#include',
    '#PROJ-12',
    'org/repo#3',
    'GH-7',
    'gh-7',
    '!5',
    'PROJ-12',
  ],
  ...['fixes', 'Closes:', 'resolved', 'issue', 'implements', ' ', ' ', '\n', '\t', ':', '/close', '/'],
  ...[
    'https://',
    'http',
    's://',
    'github.com/o/r/issues/9',
    'www.',
    '[skip ci]',
    '[',
    'ci-skip',
    'no ci',
    ']',
  ],
  ...['***', 'NO_CI', '`', '``', '\\', '*', '_', '~~~', '&', '#64;', '&#64;', '&lt;', '<!--', '<b>', '|'],
  ...['- ', '# ', '> ', '1. ', '===', 'é', '\ufe0f', '\u200b', '\u0301', '.', '(', ')', ','],
]
const said = fc
  .array(
    fc.oneof({ weight: 9, arbitrary: fc.constantFrom(...pieces) }, { weight: 1, arbitrary: fc.string() }),
    {
      maxLength: 30,
    },
  )
  .map((some) => some.join(''))

/** What is no code, as a reader sees it; `null` when code is left open, or something is no text. */
function shown(markdown: string): string | null {
  let text = ''
  for (let at = 0; at < markdown.length; at++) {
    const char = markdown[at] ?? ''
    if (char === '\\' && /[!-/:-@[-`{-~]/.test(markdown[at + 1] ?? '')) {
      at++
      text += markdown[at]
    } else if (char === '`') {
      const end = markdown.indexOf('`', at + 1)
      if (end === -1 || end === at + 1) return null
      text += '\u0000'
      at = end
    } else if (char === '&') {
      const entity = /^&(amp|lt);/.exec(markdown.slice(at))
      if (!entity) return null
      text += entity[1] === 'amp' ? '&' : '<'
      at += entity[0].length - 1
    } else if (/[<*~[\]|\n]/.test(char)) return null
    else if (char === '_' && !/[A-Za-z0-9]_[A-Za-z0-9]/.test(markdown.slice(at - 1, at + 2))) return null
    else text += char
  }
  return text
}

test('a word of an agent mails a person, closes an issue or is markup in the text of a pull request', () => {
  fc.assert(
    fc.property(said, fc.integer({ min: 10, max: 200 }), (text, max) => {
      const markdown = inMarkdown(text, max)
      const seen = shown(markdown)
      expect(seen).not.toBeNull()
      for (const act of ACTS) expect(seen).not.toMatch(act)
      expect(markdown).not.toMatch(/^(?:[#>+=/-]|\d+[.)])/)
    }),
    { numRuns: 2000 },
  )
})

test('a command that contains backticks ends its code block, or changes in it', () => {
  fc.assert(
    fc.property(said, (text) => {
      const code = inCode(text, Number.POSITIVE_INFINITY)
      if (text.trim() === '') return void expect(code).toBe('')
      const [, fence = '', inner = ''] = /^(`+)(.*)\1$/.exec(code) ?? []
      // Markdown takes one space from either end, and ends code at a run of the same length only.
      expect(inner.match(/`+/g) ?? []).not.toContain(fence)
      expect(inner).not.toMatch(/^`|`$|\n/)
      if (/^[\x20-\x7e]*$/.test(text)) expect(inner.trim()).toBe(text.trim())
    }),
    { numRuns: 2000 },
  )
})

test('a word of an agent mails a person, closes an issue or keeps the tests from running in a commit message', () => {
  fc.assert(
    fc.property(said, fc.integer({ min: 10, max: 200 }), (text, max) => {
      const message = inMessage(text, max)
      for (const act of [...ACTS, ...SKIPS]) expect(message).not.toMatch(act)
      expect(message).not.toContain('\n')
    }),
    { numRuns: 2000 },
  )
})

test('an ordinary sentence is no longer readable, or a word that acts loses what it says', () => {
  const sentence = 'Cache it (UTF-8 only), 50 % faster: a <= b, react@18, mail a@b.org, C#, wall_ms, x != y.'
  expect(inMessage(sentence)).toBe(sentence)
  expect(inMarkdown(sentence, 200)).toBe(sentence.replace('<', '&lt;'))
  expect(inMessage('an #include, #fff')).toBe('an #include, #fff')
  expect(inMessage('PROJ-12 #close, #PROJ-9 done')).toBe('PROJ-12 # close, # PROJ-9 done')
  const acting = 'As @octocat said (fixes org/repo#3, see https://example.org/issues/3), use @lru_cache'
  expect(inMessage(acting)).toBe(
    'As @ octocat said (fixes org/repo# 3, see https: //example.org/issues/3), use @ lru_cache',
  )
  expect(inMarkdown(acting, 200)).toBe(
    'As `@octocat` said (fixes `org/repo#3`, see `https://example.org/issues/3`), use `@lru_cache`',
  )
  expect(inMessage('[skip ci] closes PROJ-12 and GH-4')).toBe('[ skip ci] closes PROJ- 12 and GH- 4')
  const closing =
    'close closes closed closing fix fixes fixed fixing resolve resolves resolved resolving implement implements implemented implementing'
  for (const word of closing.split(' ')) expect(inMessage(`${word} PROJ-12`)).toBe(`${word} PROJ- 12`)
})
