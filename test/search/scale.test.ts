import fc from 'fast-check'
import { expect, it } from 'vitest'
import { scaleOf } from '../../cli/search/scale.ts'

const scale = (...scores: number[]) => scaleOf(Float64Array.from(scores))

it('takes the middle, or the mean of the middle two, and the median distance from it', () => {
  expect(scale(7)).toEqual({ median: 7, spread: 0 })
  expect(scale(9, 1, 2)).toEqual({ median: 2, spread: 1 })
  expect(scale(4, 1, 1000, 2)).toEqual({ median: 3, spread: 1.5 })
})

it('falls back on the mean distance when more than half are equal', () => {
  expect(scale(5, 5, 5, 9)).toEqual({ median: 5, spread: 1 })
})

it('agrees with sorting, and leaves the scores as they were', () => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: -9, max: 9 }), { minLength: 1, maxLength: 60 }), (list) => {
      const scores = Float64Array.from(list)
      const { median } = scaleOf(scores)
      const sorted = [...list].sort((a, b) => a - b)
      const half = sorted.length / 2
      const expected = ((sorted[Math.ceil(half) - 1] ?? 0) + (sorted[Math.floor(half)] ?? 0)) / 2
      expect(median).toBe(expected)
      expect([...scores]).toEqual(list)
    }),
  )
})
