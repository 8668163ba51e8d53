import { expect, test } from 'vitest'
import { rngOf } from '../../cli/search/random.ts'

const draws = (rng: () => number, count: number) => Array.from({ length: count }, () => rng())

test('the same parts give another stream of numbers, so that old runs cannot be repeated', () => {
  expect(draws(rngOf(7, 3, 1, 0), 3)).toEqual(draws(rngOf(7, 3, 1, 0), 3))
  // Recorded: a change of the generator would make old runs unrepeatable.
  expect(draws(rngOf(7, 3, 1, 0), 3)).toEqual([0.20052496390417218, 0.18228203034959733, 0.41586122033186257])
})

test('parts that differ in value, order or type give the same stream', () => {
  const first = [
    rngOf(1, 2),
    rngOf(2, 1),
    rngOf(12),
    rngOf('1', 2),
    rngOf(1, '2'),
    rngOf('1|2'),
    rngOf(),
    rngOf(''),
  ]
  expect(new Set(first.map((rng) => rng())).size).toBe(8)
})

test('the numbers are not uniform, in their mean or over the sixteenths', () => {
  const values = draws(rngOf('uniform'), 64_000)
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length
  expect(Math.abs(mean - 0.5)).toBeLessThan(0.005)
  const cells = Array.from({ length: 16 }, () => 0)
  for (const value of values) cells[Math.floor(value * 16)] = (cells[Math.floor(value * 16)] ?? 0) + 1
  const chi = cells.reduce((sum, count) => sum + (count - 4000) ** 2 / 4000, 0)
  // 99.9 % of fair generators stay below this with 15 degrees of freedom.
  expect(chi).toBeLessThan(37.7)
})

test('the first numbers of neighbouring seeds are correlated, or their mean is off', () => {
  const firsts = Array.from({ length: 20_000 }, (_, seed) => rngOf(seed)())
  const mean = firsts.reduce((sum, value) => sum + value, 0) / firsts.length
  const echo =
    firsts.slice(1).reduce((sum, value, at) => sum + (value - mean) * ((firsts[at] ?? 0) - mean), 0) /
    firsts.length
  expect(Math.abs(mean - 0.5)).toBeLessThan(0.01)
  expect(Math.abs(echo * 12)).toBeLessThan(0.03)
})
