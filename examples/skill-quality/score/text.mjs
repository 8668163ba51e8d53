// A guide as the rules see it: its sections, sentences and words.

/** Text without the front matter; code blocks apart. */
export function readGuide(text) {
  const body = text.replace(/^---\n[\s\S]*?\n---\n/, '')
  const blocks = [...body.matchAll(/^```[^\n]*\n([\s\S]*?)^```$/gm)].map(([, block]) => block)
  const prose = body.replace(/^```[^\n]*\n[\s\S]*?^```$/gm, '')
  const sections = [...prose.matchAll(/^## (.+)$/gm)].map(([, title]) => title.trim())
  return { blocks, sections, sentences: sentencesOf(prose), words: wordsOf(prose) }
}

/** Headings are no sentences; an entry of a list is at least one. */
export const sentencesOf = (prose) =>
  prose
    .split('\n')
    .filter((line) => !line.startsWith('#'))
    .map((line) => line.replace(/^\s*(?:[-*]|\d+\.)\s+/, '\u0000'))
    .join(' ')
    .split(/\u0000|(?<=[.!?:])\s+/)
    .map((sentence) => sentence.trim())
    .filter((sentence) => wordsOf(sentence).length > 1)

export const wordsOf = (text) => text.toLowerCase().match(/[\p{L}\p{N}][\p{L}\p{N}'’-]*/gu) ?? []

/** Runs of `n` words. */
export const runsOf = (words, n) => words.slice(n - 1).map((_, at) => words.slice(at, at + n).join(' '))
