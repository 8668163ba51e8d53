import { expect, test } from 'vitest'
import { belowFloor, movedControl, unfitFor } from '../../cli/evaluate/plausible.ts'
import { rngOf } from '../../cli/search/random.ts'

const sample = (value: number, control: number | boolean) => ({ value, metrics: { ms: value, control } })

/** Pairs in which the metric gains a tenth and the control changes by `factor`, both with 2 % noise. */
function pairs(count: number, factor: number, seed: number) {
  const rng = rngOf(seed)
  const normal = () => Math.sqrt(-2 * Math.log(1 - rng())) * Math.cos(2 * Math.PI * rng())
  const noisy = (value: number) => value * Math.exp(0.02 * normal())
  return Array.from({ length: count }, () => ({
    parent: sample(noisy(100), noisy(10)),
    candidate: sample(noisy(90), noisy(10 * factor)),
  }))
}

test('a control that gets better or worse with the metric goes unseen', () => {
  for (const factor of [0.9, 1.1]) expect(movedControl(['control'], pairs(12, factor, 1))).not.toBe(null)
  expect(movedControl(['control'], pairs(12, 0.9, 1))).toMatch(
    /^the control control went from \d+\.\d+ to \d+\.\d+ in the same samples, and the change cannot touch it/,
  )
})

test('a control that only varies casts doubt on more than 1 % of true gains', () => {
  const runs = 2000
  let doubts = 0
  for (let seed = 1; seed <= runs; seed++) if (movedControl(['control'], pairs(14, 1, seed))) doubts += 1
  expect(doubts).toBeLessThanOrEqual(runs / 100)
})

test('a control that moves by far less than the gain casts doubt on it', () => {
  const steady = (control: number) => ({ candidate: sample(50, control), parent: sample(100, 10) })
  expect(movedControl(['control'], Array(12).fill(steady(10.2)))).toBe(null)
  expect(movedControl(['control'], Array(12).fill(steady(7)))).toContain('went from 10 to 7')
})

test('one sample of each side cannot show that a control without noise moved', () => {
  const pair = { candidate: sample(90, 9), parent: sample(100, 10) }
  expect(movedControl(['control'], [pair])).toContain('went from 10 to 9')
  expect(movedControl(['control'], [{ ...pair, candidate: sample(90, 10) }])).toBe(null)
})

test('a control that a candidate stops printing counts as steady', () => {
  const pair = { candidate: { value: 90, metrics: {} }, parent: sample(100, 10) }
  expect(movedControl(['control'], [pair])).toBe(
    'the control control is missing in a sample, or is no number',
  )
})

test('a value below the floor is taken as a gain, or one at the floor as impossible', () => {
  const metric = { name: 'ms', floor: 2, unit: 'ms' }
  expect(belowFloor(metric, [3, 1.5])).toContain('ms = 1.5 ms is below metric.floor (2 ms)')
  expect(belowFloor(metric, [2, 3])).toBe(null)
  expect(belowFloor({ ...metric, floor: undefined }, [0.1])).toBe(null)
})

test('a baseline that lacks a control, or is itself below the floor, is accepted', () => {
  const controls = ['control']
  expect(unfitFor({ controls, metric: { name: 'ms' } }, { value: 1, metrics: { ms: 1 } })).toBe(
    'the control control is missing, or is no number; the benchmark reported ms',
  )
  expect(unfitFor({ controls: [], metric: { name: 'ms', floor: 2 } }, sample(1, 1))).toContain(
    'correct the floor, or the benchmark',
  )
  expect(unfitFor({ controls, metric: { name: 'ms', floor: 2 } }, sample(2, 1))).toBe(null)
})
