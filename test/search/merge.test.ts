import fc from 'fast-check'
import { expect, test } from 'vitest'
import { clashing, type Mergeable, nextMerge } from '../../cli/search/merge.ts'

type Outcome = 'kept' | 'refused' | { conflict: string[] }

/** Merges single letters until nothing is left to try, the best first. A kept set takes the place of its members. */
function play(
  letters: string,
  say: (set: string) => Outcome,
  tried: string[][] = [],
  clashes: string[][] = [],
) {
  const of = (id: string): Mergeable => ({ id, parts: [...id], contains: new Set([...id, id]) })
  let ranked = [...letters].map(of)
  const asked: string[] = []
  for (;;) {
    const next = nextMerge({ ranked, tried, clashes })
    if (next === null) return { asked, best: ranked[0]?.id ?? '' }
    const set = next.join('')
    if (asked.includes(set)) throw new Error(`${set} is asked for twice`)
    asked.push(set)
    const said = say(set)
    if (typeof said === 'object') {
      clashes = [...clashes, said.conflict]
      continue
    }
    tried = [...tried, [...set]]
    if (said === 'kept') ranked = [of(set), ...ranked.filter(({ id }) => !next.includes(id))]
    else if (set.length === 2) clashes = [...clashes, [...set]]
  }
}

test('wins that add up are put together one by one instead of all at once', () => {
  expect(play('abcd', () => 'kept')).toEqual({ asked: ['abcd'], best: 'abcd' })
})

test('after a set was refused, its halves are not tried on top of what was kept', () => {
  const { asked, best } = play('abcde', (set) => (set.includes('e') ? 'refused' : 'kept'))
  expect(asked).toEqual(['abcde', 'abc', 'abcd'])
  expect(best).toBe('abcd')
})

test('one that was refused alone is not tried once more when more was kept since', () => {
  const refused = ['abcd', 'abc']
  const { asked, best } = play('abcd', (set) => (refused.includes(set) ? 'refused' : 'kept'), [
    ['a', 'b'],
    ['a', 'c'],
  ])
  expect(asked).toEqual(['abcd', 'abc', 'ad', 'adb'])
  expect(best).toBe('adb')
})

test('two that were refused together are tried again', () => {
  const { asked } = play('abc', (set) => (set.includes('b') ? 'refused' : 'kept'))
  expect(asked).toEqual(['abc', 'ab', 'ac'])
})

test('of two that conflict as text, not the lower one is left out, or the rest is not merged', () => {
  const { asked, best } = play('abc', (set) =>
    set.includes('b') && set.includes('c') ? { conflict: ['b', 'c'] } : 'kept',
  )
  expect(asked).toEqual(['abc', 'ab'])
  expect(best).toBe('ab')
})

test('a set that failed before is tried again in a different order', () => {
  expect(play('abc', () => 'kept', [['c', 'b', 'a']]).asked).toEqual(['ab'])
})

test('a superset of two that clash is tried', () => {
  expect(play('abcd', () => 'kept', [], [['c', 'b']]).asked).toEqual(['abd'])
})

test('an experiment that is built on one of two that clash is merged with the other', () => {
  const child: Mergeable = { id: 'x', parts: ['x'], contains: new Set(['x', 'a']) }
  const other: Mergeable = { id: 'b', parts: ['b'], contains: new Set(['b']) }
  expect(nextMerge({ ranked: [child, other], tried: [], clashes: [['a', 'b']] })).toBeNull()
})

test('a conflict that the best has solved keeps others out', () => {
  const both: Mergeable = { id: 'x', parts: ['x'], contains: new Set(['x', 'a', 'b']) }
  const other: Mergeable = { id: 'c', parts: ['c'], contains: new Set(['c']) }
  expect(nextMerge({ ranked: [both, other], tried: [], clashes: [['a', 'b']] })).toEqual(['x', 'c'])
})

test('what an agent combined of two that clash is merged with nothing else', () => {
  const best: Mergeable = { id: 'd', parts: ['d'], contains: new Set(['d']) }
  const both: Mergeable = { id: 'x', parts: ['x'], contains: new Set(['x', 'a', 'b']) }
  expect(nextMerge({ ranked: [best, both], tried: [], clashes: [['a', 'b']] })).toEqual(['d', 'x'])
})

test('a merge that conflicts with what is built on all of its parts is asked for without end', () => {
  const merged: Mergeable = { id: 'm', parts: ['a', 'd'], contains: new Set(['m', 'a', 'd']) }
  const built: Mergeable = { id: 'x', parts: ['x'], contains: new Set(['x', 'a', 'b', 'd']) }
  const ranked = [built, merged] as const
  expect(nextMerge({ ranked, tried: [], clashes: [] })).toEqual(['x', 'm'])
  for (const [before, last] of [ranked, [merged, built] as const])
    expect(nextMerge({ ranked, tried: [], clashes: [clashing([before], last)] })).toBeNull()
})

test('the search does not end, or tries a set twice, whatever the answers', () => {
  const outcome = fc.constantFrom('kept', 'refused', 'conflict')
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 9 }), fc.infiniteStream(outcome), (n, says) => {
      let last = 'abcdefghi'.slice(0, Math.min(n, 1))
      const { asked, best } = play('abcdefghi'.slice(0, n), (set) => {
        const said = says.next().value
        if (said === 'kept') last = set
        return said === 'conflict' ? { conflict: [...set].slice(-2) } : said === 'kept' ? 'kept' : 'refused'
      })
      const sets = asked.map((set) => [...set].sort().join(''))
      expect(new Set(sets).size).toBe(sets.length)
      expect(best).toBe(last)
    }),
  )
})
