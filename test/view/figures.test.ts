import { expect, it } from 'vitest'
import { duration, figure, gainOf, gainText, percent } from '../../cli/view/figures.ts'

it('writes numbers as people do', () => {
  const given = [0, -0, 2.71238999, 12345.678, 123456.7, 1e-7, 2.5e12, -2.5, Number.NaN, null]
  expect(given.map((value) => figure(value))).toEqual([
    '0',
    '0',
    '2.7124',
    '12346',
    '123457',
    '1e-7',
    '2.5e12',
    '−2.5',
    '–',
    '–',
  ])
  expect([figure(3, 'ms'), figure(3, '%'), figure(null, 'ms')]).toEqual(['3 ms', '3%', '–'])
})

it('writes shares with the digits that matter', () => {
  expect([0.316, 0.0004, 12, 0, -0.05, null, Number.NaN, 1e300].map(percent)).toEqual([
    '31.6%',
    '0.04%',
    '1200%',
    '0%',
    '−5%',
    '–',
    '–',
    '1e302%',
  ])
})

it('writes durations without a 60 in them', () => {
  expect(
    [0, 1234, 9_960, 59_600, 61_000, 3_599_600, 7_620_000, 4e8, null, Number.NaN, -5].map(duration),
  ).toEqual(['0.0s', '1.2s', '10s', '1m 00s', '1m 01s', '1h 00m', '2h 07m', '111h', '–', '–', '0.0s'])
})

it('knows which way is better, and that nothing is a share of 0', () => {
  expect(gainOf(10, 8, 'minimize')).toBe(0.2)
  expect(gainOf(10, 8, 'maximize')).toBe(-0.2)
  expect(gainOf(-10, -8, 'maximize')).toBe(0.2)
  expect([gainOf(0, 8, 'maximize'), gainOf(null, 8, 'maximize'), gainOf(5e-324, 1e300, 'maximize')]).toEqual([
    null,
    null,
    null,
  ])
  expect([gainText(0.2), gainText(-0.2), gainText(0), gainText(null)]).toEqual([
    '20% better',
    '20% worse',
    'the same',
    '',
  ])
})
