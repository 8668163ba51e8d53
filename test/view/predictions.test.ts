import { expect, test } from 'vitest'
import { gainIn } from '../../cli/view/predictions.ts'

test.each([
  ['about 30 % less', 0.3],
  ['20–30 % faster', 0.25],
  ['between 5% and more', 0.05],
  ['-10 to -20 %', 0.15],
  ['3x faster', 2 / 3],
  ['1.5× as fast', 1 / 3],
  ['halves the time', 0.5],
  ['twice as fast', 0.5],
  ['better than its parent', null],
  ['5 % slower, but safer', null],
  ['exp_0012 did it with 12 lines', null],
  ['0.5x', null],
])('of a time, the prediction "%s" is read as another gain than %s', (text, gain) => {
  const found = gainIn(text, 'minimize')
  if (gain === null) expect(found).toBe(null)
  else expect(found).toBeCloseTo(gain, 10)
})

test('three times as much of a rate is read as less than twice more', () => {
  expect(gainIn('3x the throughput', 'maximize')).toBe(2)
})
