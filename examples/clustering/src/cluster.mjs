import { wordsOf } from './words.mjs'

/** Puts each message into the group of its most frequent word among all messages. Answers the groups by that word. */
export function cluster(messages) {
  const counts = new Map()
  for (const { input } of messages)
    for (const word of new Set(wordsOf(input))) counts.set(word, (counts.get(word) ?? 0) + 1)
  const groups = new Map()
  for (const message of messages) {
    const words = wordsOf(message.input)
    const key = words.reduce((best, word) =>
      (counts.get(word) ?? 0) > (counts.get(best) ?? 0) ? word : best,
    )
    groups.set(key, [...(groups.get(key) ?? []), message])
  }
  return groups
}
