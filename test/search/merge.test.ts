import fc from 'fast-check'
import { expect, test } from 'vitest'
import {
  type MergeAnswer,
  type MergeDone,
  type MergePlan,
  type MergeTry,
  nextMerge,
} from '../../cli/search/merge.ts'

type Say = (step: MergeTry) => Omit<MergeAnswer, 'set'>

function play(plan: MergePlan, say: Say): { done: MergeDone; asked: string[] } {
  const answers: MergeAnswer[] = []
  for (;;) {
    const step = nextMerge(plan, answers)
    if (step.next === 'done') return { done: step, asked: answers.map(({ set }) => set.join('')) }
    answers.push({ set: step.set, ...say(step) })
  }
}

const KEPT = { outcome: 'kept' } as const
const REFUSED = { outcome: 'refused' } as const

test('puts wins that add up together in one attempt', () => {
  const { done, asked } = play({ ranked: ['a', 'b', 'c', 'd'] }, () => KEPT)
  expect(done).toEqual({ next: 'done', merged: ['a', 'b', 'c', 'd'], conflicts: [], attempts: 1 })
  expect(asked).toEqual(['abcd'])
})

test('continues by halves, each on top of what was kept', () => {
  const { done, asked } = play({ ranked: ['a', 'b', 'c', 'd', 'e'] }, ({ set }) =>
    set.includes('e') ? REFUSED : KEPT,
  )
  expect(asked).toEqual(['abcde', 'abc', 'abcd'])
  expect(done.merged).toEqual(['a', 'b', 'c', 'd'])
})

test('tries a refused one once more when more was kept since', () => {
  const refused = ['abcd', 'abc', 'abd']
  const known = {
    failed: [
      ['a', 'b'],
      ['a', 'c'],
    ],
    clashes: [],
  }
  const { done, asked } = play({ ranked: ['a', 'b', 'c', 'd'], known }, ({ set }) =>
    refused.includes(set.join('')) ? REFUSED : KEPT,
  )
  expect(asked).toEqual(['abcd', 'abc', 'ad', 'adb'])
  expect(done.merged).toEqual(['a', 'd', 'b'])
})

test('never tries two again that were refused together', () => {
  const { asked } = play({ ranked: ['a', 'b', 'c'] }, ({ set }) => (set.includes('b') ? REFUSED : KEPT))
  expect(asked).toEqual(['abc', 'ab', 'ac'])
})

test('leaves the lower of two that conflict as text out, and continues', () => {
  const { done, asked } = play({ ranked: ['a', 'b', 'c'] }, ({ set }) =>
    set.includes('b') && set.includes('c') ? { outcome: 'conflict', between: ['b', 'c'] } : KEPT,
  )
  expect(asked).toEqual(['abc', 'ab'])
  expect(done).toMatchObject({ merged: ['a', 'b'], conflicts: [['b', 'c']], attempts: 1 })
})

test('never tries a set that failed in an earlier session, in whatever order', () => {
  const known = { failed: [['c', 'b', 'a']], clashes: [] }
  expect(play({ ranked: ['a', 'b', 'c'], known }, () => KEPT).asked).toEqual(['ab'])
})

test('never tries a superset of two that are known to clash', () => {
  const known = { failed: [], clashes: [['c', 'b'] as const] }
  const { asked } = play({ ranked: ['a', 'b', 'c', 'd'], known }, () => KEPT)
  expect(asked).toEqual(['abd'])
})

test('measures no more than it may', () => {
  expect(play({ ranked: ['a', 'b', 'c', 'd'], attempts: 2 }, () => REFUSED).asked).toEqual(['abcd', 'abc'])
})

test('ends for any answers, asks no set twice, and keeps only what was kept', () => {
  const outcome = fc.constantFrom('kept', 'refused', 'conflict')
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 9 }), fc.infiniteStream(outcome), (n, says) => {
      const ranked = Array.from({ length: n }, (_, i) => `s${i}`)
      let last = ranked.slice(0, 1)
      const { done, asked } = play({ ranked }, ({ set }) => {
        const said = says.next().value as MergeAnswer['outcome']
        if (said === 'kept') last = set
        const [a = '', b = ''] = set.slice(-2)
        return said === 'conflict' ? { outcome: said, between: [a, b] } : { outcome: said }
      })
      expect(new Set(asked).size).toBe(asked.length)
      expect(done.merged).toEqual(last)
    }),
  )
})
