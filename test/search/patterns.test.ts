import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type Observed, patternsOf } from '../../cli/search/patterns.ts'

let next = 0
const observed = (given: Partial<Observed> & { id: string }): Observed => ({
  parent: 'exp_0000',
  status: 'rejected',
  reason: 'not_better',
  failure_class: null,
  // Far apart, so that no plateau arises unless a test wants one.
  value: 10 ** (next++ % 200),
  hypothesis: given.id,
  gates: [],
  tasks: null,
  signature: null,
  message: '',
  ...given,
})
const failing = (id: string, ...names: string[]) =>
  observed({ id, gates: ['lint', 'unit', 'e2e'].map((name) => ({ name, passed: !names.includes(name) })) })
const messages = (list: readonly Observed[]) =>
  patternsOf(list).map(({ kind, message }) => `${kind}: ${message}`)

describe('failures that occur together', () => {
  test('gates that failed twice, alone or together, are not told, or one that failed once is', () => {
    const list = [
      failing('a', 'lint', 'unit'),
      failing('b', 'lint', 'unit'),
      failing('c', 'lint'),
      failing('d', 'e2e'),
    ]
    expect(patternsOf(list)).toEqual([
      { kind: 'gates', experiments: ['a', 'b', 'c'], message: 'gate lint failed in 3 experiments' },
      {
        kind: 'gates',
        experiments: ['a', 'b'],
        message: 'gates lint, unit failed together in 2 experiments',
      },
    ])
  })

  test('a task that scored 0 is not told alone and with the gate that failed with it, or a missing task counts as 0', () => {
    const list = [
      { ...failing('a', 'unit'), tasks: { t1: 0, t2: 1, t3: 0 } },
      { ...failing('b', 'unit'), tasks: { t1: 0, t2: 0.5, t3: 1 } },
      { ...failing('c'), tasks: { t1: 0, t2: 0 } },
    ]
    expect(messages(list)).toEqual([
      'tasks: task t1 scored 0 in 3 experiments',
      'tasks: gate unit failed and task t1 scored 0 together in 2 experiments',
    ])
  })
})

describe('improvers', () => {
  test('a change that gained over its own parent is not named in percent, the largest first, or one without a gain that stands is named', () => {
    const list = [
      observed({ id: 'base', parent: null, status: 'kept', reason: null, value: 100 }),
      observed({
        id: 'a',
        parent: 'base',
        status: 'kept',
        reason: 'improved',
        value: 90,
        hypothesis: 'small',
      }),
      observed({
        id: 'b',
        parent: 'a',
        status: 'kept',
        reason: 'improved',
        value: 45,
        hypothesis: 'halve\nit',
      }),
      observed({ id: 'c', parent: 'b', status: 'kept', reason: 'tie_broken', value: 45 }),
      observed({ id: 'd', parent: 'b', status: 'revoked', reason: 'improved', value: 1 }),
    ]
    expect(messages(list)).toEqual([
      'improver: b improved 90 → 45 (50%): halve it',
      'improver: a improved 100 → 90 (10%): small',
    ])
  })
})

describe('the axis warning', () => {
  const ideas = [
    'cache the parsed rows',
    'inline the hot loop',
    'sort before joining',
    'drop the second pass',
  ]
  const plateau = (count: number, given: Partial<Observed> = {}) =>
    ideas
      .slice(0, count)
      .map((hypothesis, at) => observed({ id: `p${at}`, hypothesis, value: 50 + at / 50, ...given }))

  test('no axis warning comes when three structurally different hypotheses end at about one score, or one comes after two', () => {
    expect(patternsOf(plateau(3))).toEqual([
      {
        kind: 'axis_warning',
        experiments: ['p0', 'p1', 'p2'],
        message:
          '3 structurally different hypotheses ended at about 50: what they have in common does not move the metric; try a new axis',
      },
    ])
    expect(patternsOf(plateau(2))).toEqual([])
  })

  test('an axis warning comes from one idea with three numbers', () => {
    const list = [64, 128, 256].map((size, at) =>
      observed({ id: `n${at}`, hypothesis: `set the buffer size to ${size}`, value: 50 }),
    )
    expect(patternsOf(list)).toEqual([])
  })

  test('what failed or was spoilt by the environment counts for the axis warning, what was not does not, or a later keep at another score does not end it', () => {
    expect(patternsOf(plateau(3, { status: 'failed' }))).toEqual([])
    const spoilt = { status: 'rejected', reason: 'inconclusive', failure_class: 'environment' } as const
    expect(patternsOf(plateau(3, spoilt))).toEqual([])
    expect(patternsOf(plateau(3, { ...spoilt, failure_class: 'eval' }))).toHaveLength(1)
    const kept = observed({ id: 'k', status: 'kept', reason: 'improved', value: 20, hypothesis: 'other' })
    expect(patternsOf([...plateau(3), kept])).toEqual([])
  })

  const dead = (id: string, given: Partial<Observed> = {}) =>
    observed({ id, status: 'discarded', failure_class: 'hypothesis', value: null, ...given })

  test('no axis warning comes after three hypotheses in a row failed on one parent', () => {
    const list = [dead('a'), dead('b', { status: 'rejected' }), dead('x', { parent: 'exp_0009' }), dead('c')]
    expect(patternsOf(list)).toEqual([
      {
        kind: 'axis_warning',
        experiments: ['a', 'b', 'c'],
        message: '3 hypotheses in a row failed on exp_0000: take a new parent, or a new axis',
      },
    ])
  })

  test('an axis warning comes after one idea with four numbers failed on one parent', () => {
    const list = ['a', 'b', 'c', 'd'].map((id, at) => dead(id, { hypothesis: `made buffer ${at}` }))
    expect(patternsOf(list)).toEqual([])
  })

  test.each(['build', 'eval', 'environment', null] as const)(
    'a failure of class %s counts for the axis warning, or breaks a row of failed hypotheses',
    (other) => {
      const failed = (id: string) => dead(id, { failure_class: other })
      expect(patternsOf([dead('a'), dead('b'), failed('c'), failed('d'), failed('e')])).toEqual([])
      expect(patternsOf([dead('a'), failed('x'), dead('b'), failed('y'), dead('c')])[0]?.experiments).toEqual(
        ['a', 'b', 'c'],
      )
    },
  )

  test('a row of failed hypotheses goes on after a kept child', () => {
    const kept = observed({ id: 'k', status: 'kept', reason: 'tie_broken' })
    expect(patternsOf([dead('a'), dead('b'), kept, dead('c')])).toEqual([])
  })
})

test('some record gives more than 24 patterns, one with more than 12 experiments, or a message of 1,000 characters or more', () => {
  const names = fc.constantFrom('a', 'b', 'c', 'toString', '__proto__', 'x'.repeat(5_000))
  const anything = fc.record({
    id: fc.string(),
    parent: fc.option(fc.constantFrom('a', 'b')),
    status: fc.constantFrom('kept', 'rejected', 'failed', 'discarded', 'open'),
    reason: fc.constantFrom('improved', 'gate', null),
    failure_class: fc.constantFrom('hypothesis', 'build', null),
    value: fc.option(fc.double()),
    hypothesis: fc.string({ maxLength: 3_000 }),
    gates: fc.array(fc.record({ name: names, passed: fc.boolean() }), { maxLength: 6 }),
    tasks: fc.option(fc.dictionary(names, fc.constantFrom(0, 1, Number.NaN))),
    signature: fc.option(fc.constantFrom('x', '__proto__')),
    message: fc.string({ maxLength: 3_000 }),
  })
  fc.assert(
    fc.property(fc.array(anything, { maxLength: 30 }), (list) => {
      const patterns = patternsOf(list)
      expect(patterns.length).toBeLessThanOrEqual(24)
      for (const { experiments, message } of patterns) {
        expect(experiments.length).toBeLessThanOrEqual(12)
        expect(message.length).toBeLessThan(1_000)
      }
    }),
  )
})
