import { wordsOf } from './words.mjs'

/** What a support agent reads about the group of a message: a label, a summary and an example. */
export function describe(group) {
  const counts = new Map()
  for (const { input } of group)
    for (const word of new Set(wordsOf(input))) counts.set(word, (counts.get(word) ?? 0) + 1)
  const top = [...counts]
    .sort(([a, m], [b, n]) => n - m || (a < b ? -1 : 1))
    .slice(0, 4)
    .map(([word]) => word)
  return `Label: ${top.join(', ')}.\nSummary: ${group.length} messages are about ${top.slice(0, 2).join(' and ')}.\nExample: ${group[0].input}\n`
}
