import { expect, test } from 'vitest'
import { tuned } from './binpack.ts'

test.each([1, 2, 3, 4, 5, 6, 7, 8, 9, 10])(
  'tune cuts the held-out excess by 33 % or more, seed %i',
  async (seed) => {
    expect(await tuned(seed)).toBeGreaterThan(33)
  },
)
