/** Groups all messages, prints what is degenerate about the groups, and writes the description of each wanted message's group. */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { cluster } from '../src/cluster.mjs'
import { describe } from '../src/label.mjs'

const messages = readFileSync(new URL('../items.jsonl', import.meta.url), 'utf8')
  .trim()
  .split('\n')
  .map((line) => JSON.parse(line))
  // What a message is about is for the draw of the items only.
  .map(({ id, input }) => ({ id, input }))
const groups = [...cluster(messages).values()]
const placed = new Map(groups.flatMap((group) => group.map(({ id }) => [id, group])))
if (placed.size !== messages.length) throw new Error('a message is in no group, or in two')
const wanted = process.env.ASSAY_ITEMS
  ? readFileSync(process.env.ASSAY_ITEMS, 'utf8').trim().split('\n')
  : messages.slice(0, 3).map(({ id }) => id)
for (const id of wanted) {
  const text = describe(placed.get(id))
  if (process.env.ASSAY_ITEMS_DIR) writeFileSync(join(process.env.ASSAY_ITEMS_DIR, `${id}.txt`), text)
  else console.log(`${id}\n${text}`)
}
const sizes = groups.map((group) => group.length)
console.log(`METRIC groups=${groups.length}`)
console.log(`METRIC largest_share=${Math.max(...sizes) / messages.length}`)
console.log(`METRIC single_share=${sizes.filter((size) => size === 1).length / messages.length}`)
