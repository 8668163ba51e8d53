import { expect, test } from 'vitest'
import { duration, figure, gainOf, gainText, percent, shown } from '../../cli/evaluate/figure.ts'

test('a number is shown with digits that nobody reads, without its unit, or not as a dash where it is unknown', () => {
  const given = [0, -0, 2.71238999, 12345.678, 123456.7, 12345678, 1e-7, 2.5e25, -2.5, Number.NaN, null]
  expect(given.map((value) => shown(value))).toEqual([
    '0',
    '0',
    '2.7124',
    '12346',
    '123457',
    '12345678',
    '1e-7',
    '2.5e+25',
    '-2.5',
    '–',
    '–',
  ])
  expect([shown(3, 'ms'), shown(3, '%'), shown(null, 'ms')]).toEqual(['3 ms', '3 %', '–'])
})

test('a number in the sentence of a verdict is written otherwise than before, so that an old sentence does not come out again', () => {
  const given = [0, 100 / 3, 0.00012345, 9999.9, 1234567, -0.12345, null]
  expect(given.map(figure)).toEqual(['0', '33.33', '0.0001234', '10000', '1234567', '-0.1235', 'unknown'])
})

test('a share is written with digits that do not matter, without one that does, or not as a dash where it is unknown', () => {
  expect([0.316, 0.0004, 12, 0, -0.05, null, Number.NaN, 1e300].map(percent)).toEqual([
    '31.6 %',
    '0.04 %',
    '1200 %',
    '0 %',
    '-5 %',
    '–',
    '–',
    '1e+302 %',
  ])
})

test('a duration is written in the wrong unit, with a 60 in it or below 0, or an unknown one is not a dash', () => {
  const given = [0, 999.6, 1234, 9_960, 59_600, 61_000, 3_599_600, 7_620_000, 4e8, null, Number.NaN, -5]
  expect(given.map(duration)).toEqual([
    '0 ms',
    '1 s',
    '1.2 s',
    '10 s',
    '1 min 00 s',
    '1 min 01 s',
    '1 h 00 min',
    '2 h 07 min',
    '111 h',
    '–',
    '–',
    '0 ms',
  ])
})

test('a loss counts as a gain, a change from 0 is told as a share of it, or many times as much is told in percent', () => {
  expect(gainOf(10, 8, 'minimize')).toBe(0.2)
  expect(gainOf(10, 8, 'maximize')).toBe(-0.2)
  expect(gainOf(-10, -8, 'maximize')).toBe(0.2)
  expect([gainOf(0, 8, 'maximize'), gainOf(null, 8, 'maximize'), gainOf(5e-324, 1e300, 'maximize')]).toEqual([
    null,
    null,
    null,
  ])
  expect([gainText(-549, 100, 55_000), gainText(999, 1, 1000), gainText(-11, 1, -10)]).toEqual([
    '550 times as much, which is worse',
    '1000 times as much, which is better',
    '1100 % worse',
  ])
  expect([gainText(0.2), gainText(-0.2), gainText(0), gainText(null)]).toEqual([
    '20 % better',
    '20 % worse',
    'the same',
    '',
  ])
})
