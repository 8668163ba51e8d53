import { describe, expect, it } from 'vitest'
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
  it('is its timing of today, not that of its parent times the ratio', () => {
    // Today everything takes twice what it took when the parent had 50.
    const found = compared(stage(), pairs(90, 100))
    expect(found).toMatchObject({ outcome: 'improved', against: 'exp_0003' })
    expect(found.score).toBeCloseTo(45, 4)
    expect(found.improvement).toBeCloseTo(0.1, 5)
    expect(found.improvement_abs).toBeCloseTo(5, 4)
  })

  it('moves the wrong way when more is better', () => {
    const found = compared(stage({ direction: 'maximize' }), pairs(110, 100))
    expect(found).toMatchObject({ outcome: 'improved' })
    expect(found.score).toBeCloseTo(55, 4)
    expect(found.improvement_abs).toBeCloseTo(5, 4)
  })

  it.each([
    ['minimize', -2, -3],
    ['maximize', 2, 3],
  ] as const)('takes ratios where differences count: %s', (direction, by, score) => {
    const values = [0, 1, 2, 3, 4, 5, 6, 7].map((other) => ({ candidate: other - 3 + by, other: other - 3 }))
    const found = compared(
      stage({ direction, transform: 'linear', score: direction === 'minimize' ? -1 : 1, pool: [0.1, -0.1] }),
      values,
    )
    expect(found).toMatchObject({ outcome: 'improved', score, improvement: 2, improvement_abs: 2 })
  })

  it('of a linear metric is what it measured today, once the gain is large', () => {
    // The machine adds a thousand to everything today.
    const values = [0, 1, 2, 3, 4, 5, 6, 7].map((by) => ({ candidate: 1100 + by, other: 1000 + by }))
    const context = stage({ direction: 'maximize', transform: 'linear', score: 0, pool: [1, -1] })
    expect(compared(context, values)).toMatchObject({ outcome: 'improved', score: 100, improvement_abs: 100 })
  })

  it.each([4, 5, 6, 7, 10])('of exactly min_improvement, %i %, is refused', (percent) => {
    const context = stage({ score: 100, min_improvement: { relative: percent / 100 }, pool: [] })
    expect(compared(context, pairs(100 - percent, 100)).outcome).toBe('improved')
  })

  it('is unknown before there is a pair', () => {
    expect(comparePairs(stage(), [])).toEqual({ comparison: null, differences: [], score: null })
    expect(comparePairs(stage(), pairs(50, 100, 1))).toMatchObject({
      comparison: null,
      score: expect.any(Number),
    })
  })
})

describe('a ratio that does not exist', () => {
  it('makes a count that falls to 0 a number like 1e-16, or no gain at all', () => {
    const found = compared(stage({ score: 7 }), pairs(0, 7))
    expect(found).toMatchObject({ outcome: 'improved', score: 0, improvement: 1, improvement_abs: 7 })
    expect(found.differences[0]).toBe(40)
    expect(JSON.parse(JSON.stringify(found))).toEqual(found)
  })

  it('lets what grows from 0 pass for equal', () => {
    const worse = compared(stage({ score: 0 }), pairs(7, 0))
    expect(worse).toMatchObject({ outcome: 'not_better', improvement: null })
    expect(worse.score).toBeGreaterThan(6)
    const better = compared(stage({ score: 0, direction: 'maximize' }), pairs(7, 0))
    expect(better).toMatchObject({ outcome: 'improved', improvement: null })
    expect(better.score).toBeGreaterThan(6)
  })

  it('makes two zeros differ', () => {
    expect(compared(stage({ score: 0 }), pairs(0, 0))).toMatchObject({
      outcome: 'not_better',
      score: 0,
      improvement_abs: 0,
    })
  })

  it('decides by one spoilt pair among many good ones', () => {
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

  it('is improved by what was measured in a crowd', () => {
    const { outcome, inputs } = found(5)
    expect(outcome).toBe('inconclusive')
    expect(inputs).toMatchObject({ why: 'crowd', pairs: 8, crowded: 5 })
  })

  it('cannot be improved on a machine that others use now and then', () => {
    const { outcome, inputs } = found(4)
    expect(outcome).toBe('improved')
    expect(inputs).toMatchObject({ why: 'evidence', crowded: 4 })
  })

  it('hides behind a crowd what is not better', () => {
    expect(found(8, { needs_quiet: true }, 110)).toMatchObject({
      outcome: 'not_better',
      inputs: { crowded: 8 },
    })
  })

  it('is kept on a tie that a crowd may have caused', () => {
    const tied = { needs_quiet: true, seeks_tie: true, min_improvement: { relative: 0.05 } } as const
    expect(found(0, tied, 100).outcome).toBe('tie')
    expect(found(25, tied, 100)).toMatchObject({ outcome: 'inconclusive', inputs: { why: 'crowd' } })
    expect(found(25, { ...tied, needs_quiet: false }, 100).outcome).toBe('tie')
  })

  it('is any metric, or none is told of the crowd', () => {
    expect(found(8, {})).toMatchObject({ outcome: 'improved', inputs: { crowded: 8 } })
  })

  it('makes records without a crowd differ from those of before', () => {
    expect(found(0).inputs).not.toHaveProperty('crowded')
  })
})

describe('the least improvement', () => {
  it.each([
    ['minimize', 'log', { relative: 0.2 }, -Math.log(0.8)],
    ['maximize', 'log', { relative: 0.2 }, Math.log(1.2)],
    ['minimize', 'log', { absolute: 10 }, -Math.log(0.8)],
    ['maximize', 'log', { absolute: 10 }, Math.log(1.2)],
    ['minimize', 'linear', { relative: 0.2 }, 10],
    ['maximize', 'linear', { relative: 0.2 }, 10],
    ['minimize', 'linear', { absolute: 3 }, 3],
    ['minimize', 'log', { relative: 1 }, Number.POSITIVE_INFINITY],
    ['minimize', 'log', { absolute: 51 }, Number.POSITIVE_INFINITY],
  ] as const)('%s %s %j is not in the unit of the differences', (direction, transform, least, expected) => {
    expect(leastDifference({ direction, transform, score: 50 }, least)).toBeCloseTo(expected, 12)
  })

  it('is a part of a negative or of no value, taken with its sign', () => {
    const linear = { direction: 'minimize', transform: 'linear' } as const
    expect(leastDifference({ ...linear, score: -50 }, { relative: 0.2 })).toBe(10)
    expect(leastDifference({ ...linear, score: 0 }, { relative: 0.2 })).toBe(0)
    expect(leastDifference({ direction: 'maximize', transform: 'log', score: 0 }, { absolute: 3 })).toBe(0)
  })

  it.each([
    ['minimize', 'log', 94, 89],
    ['maximize', 'log', 106, 112],
    ['minimize', 'linear', 94, 89],
    ['maximize', 'linear', 106, 112],
  ] as const)(
    'keeps a clear gain of half of it, or refuses one that reaches it: %s %s',
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

  it('that nothing can reach cannot be recorded, or is reached', () => {
    const found = compared(stage({ min_improvement: { relative: 1 } }), pairs(1, 100))
    expect(found).toMatchObject({ outcome: 'not_better', inputs: { least_difference: null } })
  })
})

describe('the interval', () => {
  it.each(['minimize', 'maximize'] as const)(
    'is in logarithms, not in the unit of the metric: %s',
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

  it('is there before six pairs, when it has no end', () => {
    expect(compared(stage(), pairs(50, 100, 5)).interval).toBeNull()
  })
})
