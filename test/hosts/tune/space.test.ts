import fc from 'fast-check'
import { expect, test } from 'vitest'
import { fromUnit, type Range, toUnit } from '../../../cli/hosts/tune/space.ts'

test.each<[Range, number, number]>([
  [{ min: 0, max: 1, scale: 'linear' }, 0.123456, 0.123],
  [{ min: 0, max: 1000, scale: 'linear' }, 0.123456, 123],
  [{ min: -0.01, max: 0.01, scale: 'linear' }, 0.75, 0.005],
  [{ min: 1e-6, max: 1, scale: 'log' }, 0.5, 0.001],
  [{ min: 1e-6, max: 1, scale: 'log' }, 0.123456, 0.0000055],
  [{ min: 1, max: 64, scale: 'integer' }, 0.5, 33],
  [{ min: 0.5, max: 2.5, scale: 'integer' }, 0, 1],
  [{ min: 0.5, max: 2.5, scale: 'integer' }, 1, 2],
])('%j at %d reads %d: few digits, so that a diff reads well', (range, place, value) => {
  expect(fromUnit(range, place)).toBe(value)
})

test('a value outside its range counts as the nearest bound', () => {
  const range: Range = { min: 10, max: 20, scale: 'linear' }
  expect([toUnit(range, 5), toUnit(range, 25), fromUnit(range, -1), fromUnit(range, 2)]).toEqual([
    0, 1, 10, 20,
  ])
})

test('rounding never leaves the bounds, and there and back stays close', () => {
  const bounds = fc
    .tuple(fc.double({ min: 1e-6, max: 1e6, noNaN: true }), fc.double({ min: 1.5, max: 1e6, noNaN: true }))
    .map(([min, by]) => ({ min, max: min * by }))
  fc.assert(
    fc.property(
      bounds,
      fc.constantFrom<Range['scale']>('linear', 'log'),
      fc.double({ min: 0, max: 1, noNaN: true }),
      ({ min, max }, scale, place) => {
        const range = { min, max, scale }
        const value = fromUnit(range, place)
        expect(value >= min && value <= max).toBe(true)
        expect(Math.abs(toUnit(range, value) - place)).toBeLessThan(0.02)
      },
    ),
    { seed: 3 },
  )
})
