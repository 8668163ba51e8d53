import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Candidate } from '../../cli/search/frontier.ts'
import {
  argmax,
  openOnly,
  POLICIES,
  type Policy,
  policyNamed,
  policyNames,
  policyOfRun,
} from '../../cli/search/policies.ts'
import { candidate, scored } from './candidates.ts'

const ids = (policy: Policy, nodes: readonly Candidate[], k: number) =>
  policy.pick(nodes, k).map(({ experiment }) => experiment)

describe('argmax', () => {
  test('argmax takes the best by value and not by score, or does not tell it in numbers', () => {
    const nodes = [candidate(0, { value: 9, score: -9 }), candidate(1, { value: 3, score: -3 })]
    expect(argmax.pick(nodes, 2)).toEqual([
      { experiment: 'exp_0001', value: 3, rank: 1, why: 'the best of 2, at 3' },
      { experiment: 'exp_0000', value: 9, rank: 2, why: 'number 2 of 2, at 9' },
    ])
  })

  test('a tie goes to the lower id, not to the lower order', () => {
    const nodes = [
      candidate(0, { score: 5, order: 'z' }),
      candidate(1, { score: 5, order: 'b' }),
      candidate(2, { score: 4, order: 'a' }),
    ]
    expect(ids(argmax, nodes, 3)).toEqual(['exp_0001', 'exp_0000', 'exp_0002'])
  })
})

describe('open_only', () => {
  test('open_only takes a node that a kept child has surpassed, or does not tell what was tried on the others', () => {
    const nodes = [
      candidate(0, { score: 9, children: 2, keptChildren: 1 }),
      candidate(1, { score: 5, children: 2 }),
      candidate(2, { score: 7 }),
    ]
    expect(openOnly.pick(nodes, 5)).toEqual([
      {
        experiment: 'exp_0002',
        value: 7,
        rank: 1,
        why: 'the best of 2 open ones, at 7: nothing tried on it yet',
      },
      {
        experiment: 'exp_0001',
        value: 5,
        rank: 2,
        why: 'number 2 of 2 open ones, at 5: 2 tried on it, none kept',
      },
    ])
    expect(openOnly.takes(candidate(0, { keptChildren: 1 }))).toBe(false)
  })
})

const frontiers = fc
  .array(
    fc.record({
      score: fc.integer({ min: -50, max: 50 }),
      children: fc.integer({ min: 0, max: 9 }),
      keptChildren: fc.integer({ min: 0, max: 1 }),
    }),
    { maxLength: 40 },
  )
  .map((list) => list.map((given, number) => candidate(number, given)))

describe.each(POLICIES.map((policy) => [policy.name, policy] as const))('%s', (_, policy) => {
  test('a node is picked from nothing, or when none is asked for', () => {
    expect(policy.pick([], 3)).toEqual([])
    for (const k of [0, -1, Number.NaN]) expect(policy.pick(scored(1, 2), k)).toEqual([])
  })

  test('the picks are not the best k nodes that the policy takes (all, if there are fewer), each once and ranked from 1', () => {
    fc.assert(
      fc.property(frontiers, fc.integer({ min: 1, max: 60 }), (nodes, k) => {
        const picks = policy.pick(nodes, k)
        const taken = nodes.filter((node) => policy.takes(node))
        const scores = new Map(taken.map((node) => [node.id, node.score]))
        expect(picks).toHaveLength(Math.min(k, taken.length))
        expect(new Set(picks.map(({ experiment }) => experiment)).size).toBe(picks.length)
        expect(picks.map(({ rank }) => rank)).toEqual(picks.map((_, index) => index + 1))
        const best = [...scores.values()].sort((a, b) => b - a).slice(0, k)
        expect(picks.map(({ experiment }) => scores.get(experiment))).toEqual(best)
      }),
    )
  })

  test('the order in which the nodes come changes the picks, or the policy changes the nodes', () => {
    fc.assert(
      fc.property(frontiers, fc.integer({ min: 1, max: 8 }), (nodes, k) => {
        const before = structuredClone(nodes)
        expect(policy.pick([...nodes].reverse(), k)).toEqual(policy.pick(nodes, k))
        expect(nodes).toEqual(before)
      }),
    )
  })

  test('a node is picked whose score is not a finite number', () => {
    const nodes = scored(Number.NaN, 1, Number.POSITIVE_INFINITY, 2, Number.NEGATIVE_INFINITY)
    expect(ids(policy, nodes, 5)).toEqual(['exp_0003', 'exp_0001'])
  })

  test('scores at the ends of what numbers can hold are picked in the wrong order, or told as NaN or Infinity', () => {
    const picks = policy.pick(scored(Number.MAX_VALUE, -Number.MAX_VALUE, 5e-324, 0), 5)
    expect(picks.map(({ experiment }) => experiment)).toEqual([
      'exp_0000',
      'exp_0002',
      'exp_0003',
      'exp_0001',
    ])
    expect(picks.map(({ why }) => why).join()).not.toMatch(/NaN|Infinity/)
  })
})

describe('the registry', () => {
  test('a policy is not named, or auto is not open_only', () => {
    expect(policyNames).toEqual(['auto', 'open_only', 'argmax'])
    expect(policyNamed('auto')).toEqual({ ok: true, value: openOnly })
  })

  test('a run of an earlier version whose policy is gone does not go on with open_only, or one whose policy exists does', () => {
    expect(policyOfRun('softmax')).toBe(openOnly)
    expect(policyOfRun('argmax')).toBe(argmax)
  })

  test('an unknown policy is accepted, or refused without the names of the known ones', () => {
    expect(policyNamed('softmax')).toEqual({
      ok: false,
      problem: {
        kind: 'usage',
        code: 'unknown_policy',
        message: 'there is no policy "softmax"',
        hint: 'use one of: auto, open_only, argmax',
      },
    })
  })
})
