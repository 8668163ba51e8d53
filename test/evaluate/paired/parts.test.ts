import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  calibrationResiduals,
  intervalOf,
  pairDifference,
  ScaleWindow,
  stageResiduals,
} from '../../../cli/evaluate/paired.ts'
import { scaleByHalving, worths } from './oracle.ts'

const UP = Number.POSITIVE_INFINITY
const steps = fc.integer({ min: -10_000, max: 10_000 }).map((value) => value / 1000)
const direction = fc.constantFrom('minimize', 'maximize')
const transform = fc.constantFrom('log', 'linear')
const value = fc.oneof(
  fc.double({ noNaN: true, noDefaultInfinity: true }),
  fc.constantFrom(0, -0, 1, -1, 5e-324),
)

describe('pairDifference', () => {
  test.each([
    ['minimize', 'linear', 90, 100, 10],
    ['maximize', 'linear', 90, 100, -10],
    ['minimize', 'log', 1, Math.E, 1],
    ['maximize', 'log', Math.E, 1, 1],
    ['minimize', 'log', 0, 3, UP],
    ['minimize', 'log', 3, 0, -UP],
    ['maximize', 'log', -1, 0, -UP],
    ['maximize', 'log', 2, -1, UP],
    ['minimize', 'log', 0, 0, 0],
    ['minimize', 'linear', 7, 7, 0],
    // Their logarithms are equal.
    ['minimize', 'log', 1.7976931348621712e308, 1.7976931348621714e308, 0],
  ] as const)(
    '%s %s of %d against %d differs from the documented value',
    (way, how, candidate, parent, d) => {
      expect(pairDifference(way, how, candidate, parent)).toBe(d)
    },
  )

  test('is not the negative when the sides are swapped, or has the wrong sign', () => {
    fc.assert(
      fc.property(direction, transform, value, value, (way, how, a, b) => {
        const d = pairDifference(way, how, a, b)
        expect(d + pairDifference(way, how, b, a) === 0 || Math.abs(d) === UP).toBe(true)
        expect(pairDifference(way, how, b, a)).toBe(d === 0 ? 0 : -d)
        const better = way === 'minimize' ? b - a : a - b
        expect(d * Math.sign(better)).toBeGreaterThanOrEqual(0)
      }),
    )
  })
})

describe('residuals', () => {
  test('they contain the effect, or an infinite value', () => {
    expect(stageResiduals([3, 5, 4])).toEqual([2 * Math.SQRT1_2, -Math.SQRT1_2])
    expect(stageResiduals([3, UP, UP, 4, 5])).toEqual([Math.SQRT1_2])
    expect(stageResiduals([3])).toEqual([])
    expect(calibrationResiduals([100, 103, 101], 'linear')).toEqual([3, -2])
    expect(calibrationResiduals([1, Math.E], 'log')).toEqual([1])
    expect(calibrationResiduals([1, 0, 1, 1], 'log')).toEqual([0])
    expect(calibrationResiduals([], 'log')).toEqual([])
  })
})

describe('the scale', () => {
  test('is not the solution of its equation over the newest 200', () => {
    fc.assert(
      fc.property(fc.array(fc.oneof(steps, fc.constantFrom(0, 500)), { maxLength: 260 }), (residuals) => {
        const theirs = scaleByHalving(residuals)
        expect(Math.abs(new ScaleWindow(residuals).scale - theirs)).toBeLessThanOrEqual(1e-9 * theirs)
      }),
      { numRuns: 300 },
    )
  })

  test.each([
    ['nothing known', [], 0],
    ['no noise', [0, 0, 0], 0],
    ['one residual', [-2], 2 / Math.sqrt(0.7784655)],
    ['infinite ones left out', [UP, -2, Number.NaN], 2 / Math.sqrt(0.7784655)],
    ['mostly zeros: the root mean square', [0, 0, 0, 2], 1],
    ['as large as numbers get', [1e308, 1e308], 1e308 / Math.sqrt(0.7784655)],
    ['as small', [1e-300, 1e-300], 1e-300 / Math.sqrt(0.7784655)],
  ])('%s', (_, residuals, scale) => {
    const ours = new ScaleWindow(residuals).scale
    expect(Math.abs(ours - scale)).toBeLessThanOrEqual(1e-12 * scale)
  })

  test('the oldest of 201 still counts', () => {
    expect(new ScaleWindow([50, ...new Array(200).fill(0)]).scale).toBe(0)
    expect(new ScaleWindow([50, ...new Array(199).fill(0)]).scale).toBeGreaterThan(0)
    const running = new ScaleWindow()
    for (const residual of [50, ...new Array(200).fill(0)]) running.add(residual)
    expect(running.scale).toBe(0)
  })

  test('one outlier in twenty changes it much, or it does not respond to a second mode', () => {
    const calm = Array.from({ length: 95 }, (_, i) => Math.sin(i))
    const outliers = new ScaleWindow([...calm, 1e6, 1e6, 1e6, 1e6, 1e6]).scale
    expect(outliers / new ScaleWindow(calm).scale).toBeLessThan(1.2)
    // Half of the differences of two modes are next to nothing: a median would see only those.
    const modes = Array.from({ length: 100 }, (_, i) => (i % 2 === 0 ? 0.001 : 4))
    expect(new ScaleWindow(modes).scale).toBeGreaterThan(2)
  })
})

describe('the interval', () => {
  const one = fc.array(steps, { minLength: 6, maxLength: 14 })

  test('does not end where bets on either side reach 40', () => {
    fc.assert(
      fc.property(one, fc.integer({ min: 1, max: 50 }), (d, scale) => {
        const scales = d.map((_, i) => scale / (i + 1))
        const interval = intervalOf(d, scales)
        if (interval === null) return
        const [low, high] = interval
        const above = (theta: number) =>
          Math.max(
            ...worths(
              d.map((x) => x - theta),
              scales,
            ),
          )
        const below = (theta: number) =>
          Math.max(
            ...worths(
              d.map((x) => theta - x),
              scales,
            ),
          )
        expect(above(low)).toBeGreaterThanOrEqual(40 * (1 - 1e-9))
        expect(above(low + 1e-6)).toBeLessThan(40)
        expect(below(high)).toBeGreaterThanOrEqual(40 * (1 - 1e-9))
        expect(below(high - 1e-6)).toBeLessThan(40)
      }),
      { numRuns: 200 },
    )
  })

  test('does not move with the differences, or grows when pairs are added', () => {
    fc.assert(
      fc.property(one, steps, (d, by) => {
        const scales = d.map(() => 2)
        const all = intervalOf(d, scales)
        const moved = intervalOf(
          d.map((x) => x + by),
          scales,
        )
        const fewer = intervalOf(d.slice(0, -1), scales)
        if (all === null) return
        expect(moved?.[0]).toBeCloseTo(all[0] + by, 6)
        if (fewer === null) return
        expect(all[0]).toBeGreaterThanOrEqual(fewer[0] - 1e-9)
        expect(all[1]).toBeLessThanOrEqual(fewer[1] + 1e-9)
      }),
      { numRuns: 200 },
    )
  })

  test.each([
    ['fewer than 6 pairs refute nothing', [1, 1, 1, 1, 1]],
    ['no finite bound on one side', [1, 1, 1, 1, 1, -UP]],
    ['two halves that contradict each other', [...new Array(6).fill(5), ...new Array(60).fill(-5)]],
    ['nothing', []],
  ])('%s: an interval all the same', (_, d: number[]) => {
    expect(
      intervalOf(
        d,
        d.map(() => 0.1),
      ),
    ).toBeNull()
  })

  test('leaves the centre out more often than in 5 % of all cases', () => {
    let out = 0
    const cases = 2 ** 9
    for (let signs = 0; signs < cases; signs++) {
      const d = Array.from({ length: 9 }, (_, i) => ((signs >> i) & 1 ? 1 : -1) * (i + 1))
      const interval = intervalOf(
        d,
        d.map(() => 3),
      )
      if (interval !== null && (interval[0] > 0 || interval[1] < 0)) out += 1
    }
    expect(out / cases).toBeLessThanOrEqual(0.05)
    expect(out).toBeGreaterThan(0)
  })
})
