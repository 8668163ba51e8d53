import { describe, expect, test } from 'vitest'
import { type Remarked, remarksOn } from '../../cli/evaluate/verdict.ts'

const usual: Remarked = {
  status: 'kept',
  metric: { direction: 'minimize', target: null },
  value: 0,
  parentValue: 100,
  baselineValue: 100,
  sameAs: null,
}
const remarks = (facts: Partial<Remarked>) => remarksOn({ ...usual, ...facts })

describe('perfection in one step', () => {
  test.each<[string, Partial<Remarked>]>([
    ['0 where less is better', {}],
    ['the target', { metric: { direction: 'minimize', target: 7 }, value: 7 }],
    [
      'a target where more is better',
      { metric: { direction: 'maximize', target: 1 }, value: 1, parentValue: 0, baselineValue: 0 },
    ],
    ['most of the way after a small step', { parentValue: 90 }],
  ])('%s passes without a word', (_, facts) => {
    expect(remarks(facts)).toContain('suspiciously perfect')
  })

  test('a time below 0 passes without a message, after any step', () => {
    const below = { value: -5, parentValue: 1, belowZero: true }
    expect(remarks(below)).toBe(
      '; a time or a size below 0 cannot be: look at what the benchmark really measures before you trust it',
    )
    expect(remarks({ ...below, status: 'rejected' })).toBe('')
    expect(remarks({ value: -5, parentValue: 1 })).toBe('')
  })

  test.each<[string, Partial<Remarked>]>([
    ['the last of many steps', { parentValue: 1 }],
    ['a value short of the target', { metric: { direction: 'minimize', target: 7 }, value: 8 }],
    [
      '0 where more is better',
      { metric: { direction: 'maximize', target: null }, parentValue: -5, baselineValue: -5 },
    ],
    ['a tie at perfection', { parentValue: 0 }],
    ['what is not kept', { status: 'rejected' }],
    ['the baseline', { parentValue: null }],
    ['no value', { status: 'failed', value: null }],
  ])('%s is suspected', (_, facts) => {
    expect(remarks(facts)).toBe('')
  })
})

test('a twin is not named with the number of its tasks', () => {
  expect(remarks({ value: 5, sameAs: { experiment: 'exp_0003', tasks: 12 } })).toBe(
    '; the same score as exp_0003 on each of the 12 tasks',
  )
})

describe('a first sample that is worse than the others', () => {
  const memo = [250, 1.3, 1.2, 1.4]
  const kept = { value: 1.3, baselineValue: 250, parentValue: 250 }

  test('by far passes without a message', () => {
    expect(remarks({ ...kept, series: { own: memo, parents: [250, 251, 249] } })).toBe(
      '; its first sample gave 250 and the others about 1.3: it may remember answers between samples',
    )
    const rates = { own: [4, 800, 790], parents: [4, 4] }
    expect(remarks({ ...kept, metric: { direction: 'maximize', target: null }, series: rates })).toContain(
      'may remember',
    )
  })

  test.each([
    ['as that of its parent is', { own: memo, parents: [250, 1.5, 1.6] }],
    ['as programs warm up', { own: [4, 1, 1.1], parents: [1, 1] }],
    ['of two only', { own: [250, 1], parents: [250, 250] }],
    ['of values around 0', { own: [5, 0, 0], parents: [5, 5] }],
  ])('%s is remarked', (_, series) => {
    expect(remarks({ ...kept, series })).toBe('')
    expect(remarks({ ...kept, status: 'rejected', series: { own: memo, parents: [250, 250] } })).toBe('')
  })
})
