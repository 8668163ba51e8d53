import { expect, test } from 'vitest'
import { disagrees } from '../../cli/evaluate/metrics.ts'
import type { Aggregate } from '../../cli/evaluate/stats.ts'

const against = (value: number, scores: number[], how: Aggregate = 'mean') =>
  disagrees('t', value, Object.fromEntries(scores.map((score, index) => [`case-${index}`, { score }])), how)

test.each<[string, number, number[], Aggregate]>([
  ['a third in two digits', 0.33, [0, 0, 1], 'mean'],
  ['two thirds in one digit', 12.3, [12, 12, 13.04], 'mean'],
  ['a sum in another order', 0.6, [0.1, 0.2, 0.3], 'sum'],
  ['parts that cancel out', 0, [1e16, 1, -1e16], 'sum'],
  ['zeros', 0, [0, 0], 'max'],
  ['a negative', -1.5, [-1, -2], 'mean'],
  ['a large whole number', 1_234_567, [1_234_566.6], 'min'],
])('%s is refused, though it is only rounded', (_, value, scores, how) => {
  expect(against(value, scores, how)).toBe(null)
})

test.each<[string, number, number[], Aggregate]>([
  ['1 for 0.6', 1, [0.5, 0.7], 'mean'],
  ['0 for 0.4', 0, [0.4, 0.4], 'mean'],
  ['the best task for all', 3, [1, 3], 'mean'],
  ['the wrong sign', -2, [2, 2], 'mean'],
  ['a digit that is too much', 0.3339, [0, 0, 1], 'mean'],
  ['no task at all', 1, [], 'mean'],
])('%s is believed', (_, value, scores, how) => {
  expect(against(value, scores, how)).not.toBe(null)
})

test('the refusal does not say both numbers, or how to agree', () => {
  expect(against(3, [1, 3])).toBe(
    't is 3, but the mean of the scores of its 2 tasks is 2: correct one of them, or set tasks.aggregate',
  )
})
