import { describe, expect, test } from 'vitest'
import {
  comparePairs,
  leastDifference,
  type PairOfValues,
  type StageContext,
} from '../../cli/evaluate/compare-pairs.ts'

const stage = (more: Partial<StageContext> = {}): StageContext => ({
  rule: 'judge',
  direction: 'minimize',
  transform: 'log',
  against: 'exp_0003',
  score: 50,
  min_improvement: { absolute: 0 },
  pairs: { min: 2, max: 25 },
  seeks_tie: false,
  tries: 0,
  pool: [0.01, -0.02, 0.015, -0.01],
  ...more,
})

/** `times` pairs; the machine is slower or faster in each, both sides alike. */
const pairs = (candidate: number, other: number, times = 8): PairOfValues[] =>
  Array.from({ length: times }, (_, i) => {
    const machine = 1 + 0.1 * Math.sin(i)
    return { candidate: candidate * machine, other: other * machine }
  })

const compared = (context: StageContext, values: PairOfValues[]) => {
  const { comparison, score, differences } = comparePairs(context, values)
  if (!comparison || score === null) throw new Error('another pair is wanted')
  return { ...comparison, score, differences }
}

describe('the score of a candidate', () => {
  test('the score of a candidate is its timing of today, not the score of its parent times the ratio', () => {
    // Today everything takes twice what it took when the parent had 50.
    const found = compared(stage(), pairs(90, 100))
    expect(found).toMatchObject({ outcome: 'improved', against: 'exp_0003' })
    expect(found.score).toBeCloseTo(45, 4)
    expect(found.improvement).toBeCloseTo(0.1, 5)
    expect(found.improvement_abs).toBeCloseTo(5, 4)
  })

  test('the score of a candidate moves the wrong way when more is better', () => {
    const found = compared(stage({ direction: 'maximize' }), pairs(110, 100))
    expect(found).toMatchObject({ outcome: 'improved' })
    expect(found.score).toBeCloseTo(55, 4)
    expect(found.improvement_abs).toBeCloseTo(5, 4)
  })

  test.each([
    ['minimize', -2, -3],
    ['maximize', 2, 3],
  ] as const)(
    'the score of a linear metric follows from ratios, not from differences: %s',
    (direction, by, score) => {
      const values = [0, 1, 2, 3, 4, 5, 6, 7].map((other) => ({
        candidate: other - 3 + by,
        other: other - 3,
      }))
      const found = compared(
        stage({
          direction,
          transform: 'linear',
          score: direction === 'minimize' ? -1 : 1,
          pool: [0.1, -0.1],
        }),
        values,
      )
      expect(found).toMatchObject({ outcome: 'improved', score, improvement: 2, improvement_abs: 2 })
    },
  )

  test('the score of a linear metric is what was measured today, once the gain is large', () => {
    // The machine adds a thousand to everything today.
    const values = [0, 1, 2, 3, 4, 5, 6, 7].map((by) => ({ candidate: 1100 + by, other: 1000 + by }))
    const context = stage({ direction: 'maximize', transform: 'linear', score: 0, pool: [1, -1] })
    expect(compared(context, values)).toMatchObject({ outcome: 'improved', score: 100, improvement_abs: 100 })
  })

  test.each([4, 5, 6, 7, 10])('a gain of exactly min_improvement, %i %, is refused', (percent) => {
    const context = stage({ score: 100, min_improvement: { relative: percent / 100 }, pool: [] })
    expect(compared(context, pairs(100 - percent, 100)).outcome).toBe('improved')
  })

  test('a candidate has a score before its first pair or none after it, or is compared before there are enough pairs', () => {
    expect(comparePairs(stage(), [])).toEqual({ comparison: null, differences: [], score: null })
    expect(comparePairs(stage(), pairs(50, 100, 1))).toMatchObject({
      comparison: null,
      score: expect.any(Number),
    })
  })
})

describe('a ratio that does not exist', () => {
  test('a count that falls to 0 gets a score like 1e-16, is no gain, or cannot be recorded', () => {
    const found = compared(stage({ score: 7 }), pairs(0, 7))
    expect(found).toMatchObject({ outcome: 'improved', score: 0, improvement: 1, improvement_abs: 7 })
    expect(found.differences[0]).toBe(40)
    expect(JSON.parse(JSON.stringify(found))).toEqual(found)
  })

  test('a value that grows from 0 counts as equal', () => {
    const worse = compared(stage({ score: 0 }), pairs(7, 0))
    expect(worse).toMatchObject({ outcome: 'not_better', improvement: null })
    expect(worse.score).toBeGreaterThan(6)
    const better = compared(stage({ score: 0, direction: 'maximize' }), pairs(7, 0))
    expect(better).toMatchObject({ outcome: 'improved', improvement: null })
    expect(better.score).toBeGreaterThan(6)
  })

  test('two values of 0 count as different', () => {
    expect(compared(stage({ score: 0 }), pairs(0, 0))).toMatchObject({
      outcome: 'not_better',
      score: 0,
      improvement_abs: 0,
    })
  })

  test('one spoilt pair among many good ones decides the score', () => {
    const values = [...pairs(50, 51, 7), { candidate: 0, other: 51 }]
    expect(comparePairs(stage(), values).score).toBeGreaterThan(45)
  })
})

describe('a metric that needs a quiet machine', () => {
  const found = (crowded: number, more: Partial<StageContext> = { needs_quiet: true }, cost = 90) =>
    compared(
      stage(more),
      pairs(cost, 100).map((pair, at) => ({ ...pair, crowded: at < crowded })),
    )

  test('a metric that needs a quiet machine is improved by pairs of which most were measured in a crowd', () => {
    const { outcome, inputs } = found(5)
    expect(outcome).toBe('inconclusive')
    expect(inputs).toMatchObject({ why: 'crowd', pairs: 8, crowded: 5 })
  })

  test('a metric that needs a quiet machine cannot be improved when half of its pairs were measured in a crowd', () => {
    const { outcome, inputs } = found(4)
    expect(outcome).toBe('improved')
    expect(inputs).toMatchObject({ why: 'evidence', crowded: 4 })
  })

  test('a candidate that is not better is inconclusive because of a crowd', () => {
    expect(found(8, { needs_quiet: true }, 110)).toMatchObject({
      outcome: 'not_better',
      inputs: { crowded: 8 },
    })
  })

  test('a tie that a crowd may have caused counts, or one that a crowd cannot have caused does not', () => {
    const tied = { needs_quiet: true, seeks_tie: true, min_improvement: { relative: 0.05 } } as const
    expect(found(0, tied, 100).outcome).toBe('tie')
    expect(found(25, tied, 100)).toMatchObject({ outcome: 'inconclusive', inputs: { why: 'crowd' } })
    expect(found(25, { ...tied, needs_quiet: false }, 100).outcome).toBe('tie')
  })

  test('a metric that needs no quiet machine is held back by a crowd, or its record does not tell of the crowd', () => {
    expect(found(8, {})).toMatchObject({ outcome: 'improved', inputs: { crowded: 8 } })
  })

  test('a record of pairs without a crowd counts crowded pairs, and so differs from the records of before', () => {
    expect(found(0).inputs).not.toHaveProperty('crowded')
  })
})

describe('the least improvement', () => {
  test.each([
    ['minimize', 'log', { relative: 0.2 }, -Math.log(0.8)],
    ['maximize', 'log', { relative: 0.2 }, Math.log(1.2)],
    ['minimize', 'log', { absolute: 10 }, -Math.log(0.8)],
    ['maximize', 'log', { absolute: 10 }, Math.log(1.2)],
    ['minimize', 'linear', { relative: 0.2 }, 10],
    ['maximize', 'linear', { relative: 0.2 }, 10],
    ['minimize', 'linear', { absolute: 3 }, 3],
    ['minimize', 'log', { relative: 1 }, Number.POSITIVE_INFINITY],
    ['minimize', 'log', { absolute: 51 }, Number.POSITIVE_INFINITY],
  ] as const)(
    'the least improvement is not in the unit of the differences: %s %s %j',
    (direction, transform, least, expected) => {
      expect(leastDifference({ direction, transform, score: 50 }, least)).toBeCloseTo(expected, 12)
    },
  )

  test('the least improvement relative to a negative score is negative, or that of a score of 0 is not 0', () => {
    const linear = { direction: 'minimize', transform: 'linear' } as const
    expect(leastDifference({ ...linear, score: -50 }, { relative: 0.2 })).toBe(10)
    expect(leastDifference({ ...linear, score: 0 }, { relative: 0.2 })).toBe(0)
    expect(leastDifference({ direction: 'maximize', transform: 'log', score: 0 }, { absolute: 3 })).toBe(0)
  })

  test.each([
    ['minimize', 'log', 94, 89],
    ['maximize', 'log', 106, 112],
    ['minimize', 'linear', 94, 89],
    ['maximize', 'linear', 106, 112],
  ] as const)(
    'a clear gain of less than the least improvement is kept, or one of more is refused: %s %s',
    (direction, transform, small, large) => {
      const context = stage({
        direction,
        transform,
        score: 100,
        min_improvement: { relative: 0.1 },
        pool: transform === 'log' ? [0.01, -0.01] : [1, -1],
      })
      expect(compared(context, pairs(small, 100))).toMatchObject({
        outcome: 'not_better',
        inputs: { why: 'too_small' },
      })
      expect(compared(context, pairs(large, 100))).toMatchObject({ outcome: 'improved' })
    },
  )

  test('a least improvement that no candidate can reach is reached, or cannot be recorded', () => {
    const found = compared(stage({ min_improvement: { relative: 1 } }), pairs(1, 100))
    expect(found).toMatchObject({ outcome: 'not_better', inputs: { least_difference: null } })
  })
})

describe('the interval', () => {
  test.each(['minimize', 'maximize'] as const)(
    'the interval is in logarithms and not in the unit of the metric, or does not hold the gain: %s',
    (direction) => {
      const values = pairs(direction === 'minimize' ? 90 : 110, 100, 12).map(({ candidate, other }, i) => ({
        candidate: candidate * (1 + 0.01 * Math.cos(i)),
        other,
      }))
      const { interval, improvement_abs: gain } = compared(
        stage({ direction, score: 1000, pairs: { min: 12, max: 25 } }),
        values,
      )
      const [low, high] = interval ?? [Number.NaN, Number.NaN]
      expect(low).toBeGreaterThan(70)
      expect(low).toBeLessThan(gain)
      expect(high).toBeGreaterThan(gain)
      expect(high).toBeLessThan(130)
    },
  )

  test('an interval is told before there are six pairs, when it has no end', () => {
    expect(compared(stage(), pairs(50, 100, 5)).interval).toBeNull()
  })
})
