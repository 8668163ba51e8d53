import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type Item, itemSets, nextItems, parseItems } from '../../cli/judge/items.ts'

const config = { batch: 8, seed: 1, holdout: 0.2, strata: [] }
const many = (count: number, stratum: string | null = null): Item[] =>
  Array.from({ length: count }, (_, at) => ({ id: `${stratum ?? 'm'}${at}`, input: '', stratum }))

function setsOf(count: number, more: Partial<Parameters<typeof itemSets>[1]> = {}) {
  const sets = itemSets(many(count), { ...config, ...more })
  if (!sets.ok) throw new Error(sets.problem.message)
  return sets.value
}

test('an item of a line is lost, or an empty line is one', () => {
  expect(parseItems('{"id":"a","input":"x"}\n\n{"id":"b","stratum":"s"}\n', 'items.jsonl')).toEqual({
    ok: true,
    value: [
      { id: 'a', input: 'x', stratum: null },
      { id: 'b', input: '', stratum: 's' },
    ],
  })
})

test.each([
  ['', 'i has no items'],
  ['{', 'line 1 of i is no JSON'],
  ['[1]', 'line 1 of i is no JSON object'],
  ['{"id":"../x"}', 'line 1 of i has no id of 1 to 64 letters'],
  ['{"id":1}', 'line 1 of i has no id of 1 to 64 letters'],
  ['{"id":"a","text":"x"}', 'line 1 of i has the key text; an item has id, input and stratum'],
  ['{"id":"a","input":1}', 'line 1 of i has an input that is no text (a)'],
  ['{"id":"A"}\n{"id":"a"}', 'line 2 of i has the id a, and so has line 1'],
])('a bad file %j is read', (text, message) => {
  const read = parseItems(text, 'i')
  expect(read.ok ? null : read.problem.message).toContain(message)
})

describe('the three sets', () => {
  test('share an item, lose one, lack a batch, or differ for one seed', () => {
    fc.assert(
      fc.property(fc.integer({ min: 16, max: 300 }), fc.integer({ min: 0, max: 9 }), (count, seed) => {
        const { judge, confirm, holdout } = setsOf(count, { seed })
        const ids = [...judge, ...confirm, ...holdout].map(({ id }) => id)
        expect(new Set(ids).size).toBe(count)
        expect(ids).toHaveLength(count)
        expect(Math.min(judge.length, confirm.length)).toBeGreaterThanOrEqual(8)
        expect(setsOf(count, { seed }).judge).toEqual(judge)
      }),
      { numRuns: 100, seed: 4 },
    )
  })

  test('hold out items that the others need for a batch', () => {
    expect([16, 18, 100].map((count) => setsOf(count).holdout.length)).toEqual([0, 2, 20])
  })

  test('make pairs of other than 8 items, or than 16 from 128 items on', () => {
    expect([127, 128].map((count) => setsOf(count, { batch: null }).batch)).toEqual([8, 16])
  })

  test('leave a confirmation without a batch of its own', () => {
    const sets = itemSets(many(15), config)
    expect(sets.ok ? null : sets.problem.message).toBe(
      'there are 15 items, and a comparison and its confirmation need a batch of 8 each, none of them twice',
    )
  })

  test('have fewer items of a stratum than it is asked for', () => {
    const items = [...many(20, 'bug'), ...many(20, 'bill')]
    const some = itemSets(items, {
      ...config,
      strata: [
        { stratum: 'bug', count: 12 },
        { stratum: 'bill', count: 6 },
      ],
    })
    const all = some.ok ? [...some.value.judge, ...some.value.confirm, ...some.value.holdout] : []
    expect(all.filter(({ stratum }) => stratum === 'bug')).toHaveLength(12)
    expect(all).toHaveLength(18)
    const none = itemSets(items, { ...config, strata: [{ stratum: 'bug', count: 21 }] })
    expect(none.ok ? null : none.problem.message).toBe(
      'judge.strata asks for 21 items of the stratum bug, and there are 20',
    )
  })
})

describe('the items of the next pair', () => {
  test('come twice before all were asked, or in the same order again', () => {
    const sets = setsOf(40)
    const asked: string[][] = []
    for (let pair = 0; pair < 4; pair++) {
      const before = asked.map((ids) => ({ asked: ids, changed: ids.length }))
      asked.push(nextItems(sets, 'judge', 's', before).map(({ id }) => id))
    }
    expect(new Set(asked.slice(0, 2).flat()).size).toBe(16)
    expect(new Set(asked.slice(2).flat())).toEqual(new Set(asked.slice(0, 2).flat()))
    expect(asked.slice(2)).not.toEqual(asked.slice(0, 2))
  })

  test('fill no batch when few answers change, or are all that there are', () => {
    const sets = setsOf(400)
    const count = (changed: number) =>
      nextItems(sets, 'judge', 's', [{ asked: Array.from({ length: 8 }, String), changed }]).length
    expect([8, 4, 1, 0].map(count)).toEqual([8, 15, 32, 32])
  })
})
