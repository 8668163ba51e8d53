import { describe, expect, test } from 'vitest'
import { type ProtectedConfig, regressions } from '../../cli/evaluate/protected.ts'
import { rngOf } from '../../cli/search/random.ts'

type Rng = () => number
const normal = (rng: Rng): number => Math.sqrt(-2 * Math.log(1 - rng())) * Math.cos(2 * Math.PI * rng())

const rule = (more: Partial<ProtectedConfig> = {}): ProtectedConfig => ({
  metric: 'mb',
  direction: 'minimize',
  max_regression: { absolute: 0 },
  ...more,
})
const of = (...values: number[]) => values.map((mb) => ({ metrics: { mb } }))
const refused = (config: ProtectedConfig, mine: number[], theirs: number[]) =>
  regressions([config], of(...mine), of(...theirs)).length > 0

describe('values that do not vary', () => {
  test.each([
    ['minimize', { absolute: 0 }, 10, 10, false],
    ['minimize', { absolute: 0 }, 10.001, 10, true],
    ['minimize', { absolute: 0 }, 9, 10, false],
    ['maximize', { absolute: 0 }, 9.999, 10, true],
    ['maximize', { absolute: 0 }, 11, 10, false],
    ['minimize', { absolute: 2 }, 12, 10, false],
    ['minimize', { absolute: 2 }, 12.1, 10, true],
    ['minimize', { relative: 0.07 }, 107, 100, false],
    ['minimize', { relative: 0.07 }, 107.01, 100, true],
    ['maximize', { relative: 0.07 }, 93, 100, false],
    ['maximize', { relative: 0.1 }, -11, -10, false],
    ['minimize', { relative: 0.1 }, 1, 0, true],
    ['minimize', { absolute: 0 }, 0, 0, false],
  ] as const)(
    '%s, a loss of %j allowed: the answer to whether %d after %d is refused is not %s',
    (direction, max_regression, mine, theirs, expected) => {
      expect(refused(rule({ direction, max_regression }), [mine], [theirs])).toBe(expected)
      expect(refused(rule({ direction, max_regression }), [mine, mine, mine], [theirs])).toBe(expected)
    },
  )
})

describe('what is told of a protected metric', () => {
  test('a protected metric passes that is missing, is no number, or has nothing to be compared with', () => {
    const theirs = of(10, 10)
    expect(regressions([rule()], [{ metrics: { mb: 10 } }, { metrics: {} }], theirs)).toEqual([
      { metric: 'mb', message: 'mb is missing, or no number' },
    ])
    expect(regressions([rule()], [{ metrics: { mb: true } }], theirs)).toHaveLength(1)
    expect(regressions([rule()], of(10), [{ metrics: {} }])).toEqual([
      { metric: 'mb', message: 'mb cannot be protected: what it is compared with does not report it' },
    ])
  })

  test('a regression is told without its numbers, or only the first of several is told', () => {
    const both = [{ metrics: { mb: 12, ok: 1 } }]
    expect(
      regressions(
        [
          rule({ max_regression: { relative: 0.1 } }),
          rule({ metric: 'ok', direction: 'maximize', max_regression: { absolute: 1 } }),
        ],
        both,
        [{ metrics: { mb: 10, ok: 3 } }],
      ),
    ).toEqual([
      { metric: 'mb', message: 'mb went from 10 to 12, and a loss of 10 % is allowed' },
      { metric: 'ok', message: 'ok went from 3 to 1, and a loss of 1 is allowed' },
    ])
  })
})

/** Of `times` candidates, the part that is refused; both sides are drawn anew in every pair. */
function refusedOf(
  times: number,
  pairs: number,
  config: ProtectedConfig,
  draw: (rng: Rng) => number,
  worse = 1,
): number {
  const rng = rngOf('protected', 1)
  let found = 0
  for (let n = 0; n < times; n++) {
    const theirs = Array.from({ length: pairs }, () => draw(rng))
    const mine = Array.from({ length: pairs }, () => draw(rng) * worse)
    if (refused(config, mine, theirs)) found += 1
  }
  return found / times
}

/**
 * The largest part of the 2ⁿ ways in which a candidate and its equal could have shared the values of n pairs that is
 * refused, of `times` draws. Exact: no draw is luckier than another.
 */
function refusedOfSwaps(
  times: number,
  pairs: number,
  config: ProtectedConfig,
  draw: (rng: Rng) => number,
  worse = 1,
): number {
  const rng = rngOf('swaps', 1)
  let most = 0
  for (let n = 0; n < times; n++) {
    const values = Array.from({ length: pairs }, () => [draw(rng), draw(rng)] as const)
    let found = 0
    for (let swaps = 0; swaps < 2 ** pairs; swaps++) {
      const swapped = (pair: number) => ((swaps >> pair) & 1) === 1
      const mine = values.map(([one, two], pair) => worse * (swapped(pair) ? two : one))
      const theirs = values.map(([one, two], pair) => (swapped(pair) ? one : two))
      if (refused(config, mine, theirs)) found += 1
    }
    most = Math.max(most, found / 2 ** pairs)
  }
  return most
}

const NORMAL = (rng: Rng): number => 100 + 5 * normal(rng)
const NOISE: [string, (rng: Rng) => number][] = [
  ['normal', NORMAL],
  ['log-normal', (rng) => 100 * Math.exp(0.3 * normal(rng))],
  ['two modes', (rng) => (rng() < 0.3 ? 140 : 100)],
  ['rare outliers', (rng) => (rng() < 0.05 ? 900 : 100 + normal(rng))],
  ['around zero', (rng) => 5 * normal(rng)],
]

describe('values that vary', () => {
  test.each(NOISE)(
    'a candidate that is equal is refused in more than 5 of 100 ways to run its pairs: %s',
    (_, draw) => {
      for (const [pairs, times] of [
        [5, 40],
        [8, 10],
        [10, 4],
      ] as const)
        expect(refusedOfSwaps(times, pairs, rule(), draw)).toBeLessThanOrEqual(0.05)
    },
  )

  test('a candidate that loses just what is allowed is refused in more than 5 of 100 ways to run its pairs, or one that loses half of it in more than 1', () => {
    const allowed = rule({ max_regression: { relative: 0.1 } })
    expect(refusedOfSwaps(4, 10, allowed, NORMAL, 1.1)).toBeLessThanOrEqual(0.05)
    expect(refusedOfSwaps(4, 10, allowed, NORMAL, 1.05)).toBeLessThanOrEqual(0.01)
  })

  test('a clear loss passes in 5 or more of 100 draws, or one that is hard to see in 25 or more', () => {
    expect(refusedOf(1000, 10, rule(), NORMAL, 1.1)).toBeGreaterThan(0.95)
    expect(refusedOf(1000, 12, rule(), NORMAL, 1.06)).toBeGreaterThan(0.75)
    expect(refusedOf(1000, 10, rule({ max_regression: { relative: 0.05 } }), NORMAL, 1.2)).toBeGreaterThan(
      0.95,
    )
  })

  test('where only one side varies, an equal candidate is refused, or one that takes twice as much passes', () => {
    expect(refused(rule(), [10, 10, 10, 10, 10, 10], [9, 11, 9, 11, 9, 11])).toBe(false)
    expect(refused(rule(), [20, 20, 20, 20, 20, 20], [9, 11, 9, 11, 9, 11])).toBe(true)
  })
})
