import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { focusOf, proposeStep, type TuneTrial } from '../../../cli/hosts/tune/propose.ts'
import type { Range } from '../../../cli/hosts/tune/space.ts'
import { bestOf, search } from './loop.ts'

const linear = (min: number, max: number): Range => ({ min, max, scale: 'linear' })
const integer = (min: number, max: number): Range => ({ min, max, scale: 'integer' })
const SEEDS = [1, 2, 3]

describe('reaches the optimum of known functions', () => {
  test.each(SEEDS)('sphere in 6 dimensions from a corner, 60 experiments, seed %i', (seed) => {
    const target = [0.3, -1.2, 2.5, 0.1, -0.7, 1.4]
    const trials = search({
      parameters: target.map(() => linear(-5, 5)),
      start: [5, 5, 5, 5, 5, 5],
      score: (values) => -values.reduce((sum, v, i) => sum + (v - (target[i] ?? 0)) ** 2, 0),
      seed,
      experiments: 60,
    })
    expect(bestOf(trials.slice(0, 1))).toBeCloseTo(-136.24, 5)
    expect(bestOf(trials)).toBeGreaterThan(-1)
  })

  test.each(SEEDS)('a curved valley (Rosenbrock), 80 experiments, seed %i', (seed) => {
    const trials = search({
      parameters: [linear(-2, 2), linear(-1, 3)],
      start: [-1.2, 1],
      score: ([x = 0, y = 0]) => -((1 - x) ** 2 + 100 * (y - x * x) ** 2),
      seed,
      experiments: 80,
    })
    expect(bestOf(trials.slice(0, 1))).toBeCloseTo(-24.2, 5)
    expect(bestOf(trials)).toBeGreaterThan(-0.5)
  })

  test.each(SEEDS)('a log-scaled rate over six decades, 40 experiments, seed %i', (seed) => {
    const trials = search({
      parameters: [{ min: 1e-6, max: 1, scale: 'log' }, linear(0, 1)],
      start: [1, 0],
      score: ([rate = 1, drop = 0]) => -((Math.log10(rate) + 3.5) ** 2) - 4 * (drop - 0.25) ** 2,
      seed,
      experiments: 40,
    })
    expect(bestOf(trials)).toBeGreaterThan(-0.01)
  })

  test.each(SEEDS)('under noise and with failures, seed %i', (seed) => {
    let call = 0
    const noise = () => Math.sin(++call * 12.9898) * 0.2
    const trials = search({
      parameters: [linear(0, 10), linear(0, 10)],
      start: [9, 9],
      score: ([x = 0, y = 0]) => (x < 1 ? null : -((x - 3) ** 2) - (y - 4) ** 2 + noise()),
      seed,
      experiments: 60,
    })
    expect(bestOf(trials)).toBeGreaterThan(-0.2)
  })
})

test('an integer grid is searched to its last point, each once, and then it is exhausted', () => {
  const trials = search({
    parameters: [integer(1, 4), integer(0, 2)],
    start: [1, 0],
    score: ([a = 0, b = 0]) => (a === 3 && b === 2 ? 1 : -a - b),
    seed: 1,
    experiments: 100,
    width: 1,
  })
  expect(trials.map((t) => t.values?.join(' ')).sort()).toEqual([
    '1 0',
    '1 1',
    '1 2',
    '2 0',
    '2 1',
    '2 2',
    '3 0',
    '3 1',
    '3 2',
    '4 0',
    '4 1',
    '4 2',
  ])
})

test('a lane never proposes what its history shows, or what stands in the worktree', () => {
  const trials = search({
    parameters: [linear(0, 1), integer(0, 3)],
    start: [0.5, 0],
    score: ([x = 0, y = 0]) => x * y,
    seed: 5,
    experiments: 60,
    width: 1,
  })
  expect(trials).toHaveLength(61)
  expect(new Set(trials.map((t) => t.values?.join(' '))).size).toBe(61)
})

test('a repair of a rejected proposal proposes something else', () => {
  const question = {
    parameters: [integer(0, 1)],
    parent: [0],
    current: [1],
    history: [],
    lane: [],
    seed: 1,
    round: 1,
    laneNumber: 1,
    depth: 1,
  }
  expect(proposeStep(question)).toBeNull()
  expect(proposeStep({ ...question, current: [0] })).toEqual([1])
})

test('the order in which the history arrives changes nothing', () => {
  // Three keeps first drive the step to its limit; read backwards they would not.
  const history: TuneTrial[] = [0.1, 0.2, 0.3, 0.4, 0.5, 0.6].map((x, i) => ({
    experiment: `e${i}`,
    parent: i === 0 ? null : 'e0',
    round: i === 0 ? null : i,
    lane: 1,
    depth: 1,
    values: [x, 1 - x],
    score: -((x - 0.3) ** 2),
    status: i < 4 ? 'kept' : 'rejected',
  }))
  const ask = (trials: TuneTrial[]) =>
    proposeStep({
      parameters: [linear(0, 1), linear(0, 1)],
      parent: [0.1, 0.9],
      current: [0.1, 0.9],
      history: trials,
      lane: [],
      seed: 2,
      round: 9,
      laneNumber: 1,
      depth: 1,
    })
  expect(ask([...history].reverse())).toEqual(ask(history))
})

test('seed, round, lane and depth each lead elsewhere', () => {
  const question = {
    parameters: [linear(0, 1), linear(0, 1)],
    parent: [0.5, 0.5],
    current: [0.5, 0.5],
    history: [],
    lane: [],
    seed: 1,
    round: 1,
    laneNumber: 1,
    depth: 1,
  }
  const answers = [
    question,
    { ...question, seed: 2 },
    { ...question, round: 2 },
    { ...question, laneNumber: 2 },
    { ...question, depth: 2 },
  ].map((q) => proposeStep(q)?.join(' '))
  expect(new Set(answers).size).toBe(5)
})

test('proposals stay within the bounds for any ranges, parents and histories', () => {
  const range = fc.oneof(
    fc
      .tuple(fc.integer({ min: -1000, max: 1000 }), fc.integer({ min: 1, max: 1000 }))
      .map(([min, width]): Range => linear(min, min + width)),
    fc
      .tuple(fc.integer({ min: -50, max: 50 }), fc.integer({ min: 1, max: 50 }))
      .map(([min, width]): Range => integer(min, min + width)),
    fc
      .tuple(fc.double({ min: 1e-9, max: 1, noNaN: true }), fc.integer({ min: 2, max: 1e6 }))
      .map(([min, by]): Range => ({ min, max: min * by, scale: 'log' })),
  )
  fc.assert(
    fc.property(fc.array(range, { minLength: 1, maxLength: 4 }), fc.integer(), (parameters, seed) => {
      const trials = search({
        parameters,
        start: parameters.map((p) => p.max),
        score: (values) => -Math.abs(values[0] ?? 0),
        seed,
        experiments: 8,
      })
      for (const { values } of trials) {
        for (const [i, { min, max, scale }] of parameters.entries()) {
          const value = values?.[i] ?? Number.NaN
          expect(value).toBeGreaterThanOrEqual(min)
          expect(value).toBeLessThanOrEqual(max)
          if (scale === 'integer') expect(Number.isInteger(value)).toBe(true)
        }
      }
    }),
    { seed: 7, numRuns: 40 },
  )
})

test('lanes of a round favour different parameters while they last', () => {
  const dealt = [1, 2, 3, 4, 5].flatMap((lane) => focusOf(10, 1, 3, lane))
  expect([...dealt].sort((a, b) => a - b)).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9])
  expect(focusOf(1, 1, 3, 4)).toEqual([0])
})
