/** The items of a judged metric: read from their file, split into three disjoint sets, and drawn for each batch. Pure. */
import { fail, ok, type Problem, type Result } from '../result.ts'
import { rngOf } from '../search/random.ts'

/** One thing that the benchmark answers. */
export interface Item {
  /** Names the file of its answer. */
  id: string
  /** What is to be answered, as the judge reads it; empty = the judge sees the answers alone. */
  input: string
  /** The kind of item, by which `judge.strata` counts; null = none. */
  stratum: string | null
}

/** Which items a stage of pairs may use. No item is in two sets. */
export type ItemSetName = 'judge' | 'confirm' | 'holdout'

export interface ItemSets extends Record<ItemSetName, Item[]> {
  /** Items whose answers one pair judges. */
  batch: number
}

export interface ItemsConfig {
  /** null = by the number of items. */
  batch: number | null
  seed: number
  /** The share of the items that only a new best is tried on. */
  holdout: number
  /** How many items of each stratum take part; empty = all items. */
  strata: { stratum: string; count: number }[]
}

const BATCH = 8
const LARGE_BATCH = 16
/** With so many items, each of the two sets of comparisons has four large batches. */
const ITEMS_FOR_LARGE = 2 * 4 * LARGE_BATCH

const ID = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/

const refuse = (message: string, hint: string): { ok: false; problem: Problem } =>
  fail({ kind: 'usage', code: 'judge_items', message, hint })

/** Of JSON lines: `{"id": "m1", "input": "…", "stratum": "billing"}`. Fails with the first line that does not hold. */
export function parseItems(text: string, file: string): Result<Item[]> {
  const items: Item[] = []
  const seen = new Map<string, number>()
  for (const [index, line] of text.split('\n').entries()) {
    if (line.trim() === '') continue
    const at = `line ${index + 1} of ${file}`
    const item = itemOf(line)
    if (typeof item === 'string')
      return refuse(`${at} ${item}`, 'write one JSON object a line: {"id": "m1", "input": "the text"}')
    // Some file systems do not tell A from a.
    const same = seen.get(item.id.toLowerCase())
    if (same !== undefined)
      return refuse(`${at} has the id ${item.id}, and so has line ${same}`, 'give each item an id of its own')
    seen.set(item.id.toLowerCase(), index + 1)
    items.push(item)
  }
  return items.length > 0 ? ok(items) : refuse(`${file} has no items`, 'write one JSON object a line')
}

function itemOf(line: string): Item | string {
  let read: unknown
  try {
    read = JSON.parse(line)
  } catch {
    return 'is no JSON'
  }
  if (typeof read !== 'object' || read === null || Array.isArray(read)) return 'is no JSON object'
  const { id, input = '', stratum = null, ...rest } = read as Record<string, unknown>
  const [other] = Object.keys(rest)
  if (other !== undefined) return `has the key ${other}; an item has id, input and stratum`
  if (typeof id !== 'string' || !ID.test(id))
    return 'has no id of 1 to 64 letters, digits and . _ - that begins with a letter or digit'
  if (typeof input !== 'string') return `has an input that is no text (${id})`
  if (stratum !== null && typeof stratum !== 'string') return `has a stratum that is no text (${id})`
  return { id, input, stratum }
}

/** Fails when a stratum asks for more items than there are, or when one comparison could not fill a batch. */
export function itemSets(items: readonly Item[], config: ItemsConfig): Result<ItemSets> {
  const chosen = chosenItems(items, config)
  if (!chosen.ok) return chosen
  const count = chosen.value.length
  const batch = config.batch ?? (count >= ITEMS_FOR_LARGE ? LARGE_BATCH : BATCH)
  if (count < 2 * batch)
    return refuse(
      `there are ${count} items, and a comparison and its confirmation need a batch of ${batch} each, none of them twice`,
      `add items: ${2 * batch} at least, ${8 * batch} for good answers; or lower judge.batch`,
    )
  const held = Math.min(Math.floor(count * config.holdout), count - 2 * batch)
  const judge = Math.ceil((count - held) / 2)
  const order = shuffled(chosen.value, rngOf(config.seed, 'judge', 'sets'))
  return ok({
    batch,
    judge: order.slice(0, judge),
    confirm: order.slice(judge, count - held),
    holdout: order.slice(count - held),
  })
}

function chosenItems(items: readonly Item[], { strata, seed }: ItemsConfig): Result<Item[]> {
  if (strata.length === 0) return ok([...items])
  const chosen: Item[] = []
  for (const { stratum, count } of strata) {
    const all = items.filter((item) => item.stratum === stratum)
    if (all.length < count)
      return refuse(
        `judge.strata asks for ${count} items of the stratum ${stratum}, and there are ${all.length}`,
        'ask for fewer, or add items',
      )
    chosen.push(...shuffled(all, rngOf(seed, 'judge', 'stratum', stratum)).slice(0, count))
  }
  return ok(chosen)
}

export function shuffled<T>(all: readonly T[], random: () => number): T[] {
  const order = [...all]
  for (let last = order.length - 1; last > 0; last--) {
    const other = Math.floor(random() * (last + 1))
    const [a, b] = [order[last], order[other]]
    if (a !== undefined && b !== undefined) [order[last], order[other]] = [b, a]
  }
  return order
}

/** What earlier batches of a stage came to. */
export interface BatchSoFar {
  asked: readonly string[]
  /** Of `asked`, how many had different answers. */
  changed: number
}

/** At most so many items are asked for each one that is judged: answers cost something as well. */
const MOST_ASKED = 4

/**
 * The items of the next batch of a stage: more than a batch when earlier ones had many equal answers. A set that is used up is
 * gone through again, in a new order. `seed`: of the attempt's random choices.
 */
export function nextItems(
  { batch, ...sets }: ItemSets,
  name: ItemSetName,
  seed: string | number,
  before: readonly BatchSoFar[],
): Item[] {
  const set = sets[name]
  const asked = before.reduce((sum, one) => sum + one.asked.length, 0)
  const changed = before.reduce((sum, one) => sum + one.changed, 0)
  // One more of each, so that a first batch without a change does not ask for everything.
  const wanted = asked === 0 ? batch : Math.ceil((batch * (asked + 1)) / (changed + 1))
  const count = Math.min(set.length, Math.max(batch, Math.min(wanted, MOST_ASKED * batch)))
  const items = new Map<string, Item>()
  for (let at = asked; items.size < count; at++) {
    const round = Math.floor(at / set.length)
    const item = shuffled(set, rngOf(seed, 'judge', name, round))[at % set.length]
    if (item) items.set(item.id, item)
  }
  return [...items.values()]
}

/** Which pass over the set a batch belongs to, from 0: an item that comes again is judged again. */
export const drawOf = (sets: ItemSets, name: ItemSetName, before: readonly BatchSoFar[]): number =>
  Math.floor(before.reduce((sum, one) => sum + one.asked.length, 0) / sets[name].length)
