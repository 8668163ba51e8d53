import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
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
  it('takes the best by score, not by value, and tells it in numbers', () => {
    const nodes = [candidate(0, { value: 9, score: -9 }), candidate(1, { value: 3, score: -3 })]
    expect(argmax.pick(nodes, 2)).toEqual([
      { experiment: 'exp_0001', value: 3, rank: 1, why: 'the best of 2, at 3' },
      { experiment: 'exp_0000', value: 9, rank: 2, why: 'number 2 of 2, at 9' },
    ])
  })

  it('gives ties to the lower order, not to the lower id', () => {
    const nodes = [
      candidate(0, { score: 5, order: 'z' }),
      candidate(1, { score: 5, order: 'b' }),
      candidate(2, { score: 4, order: 'a' }),
    ]
    expect(ids(argmax, nodes, 3)).toEqual(['exp_0001', 'exp_0000', 'exp_0002'])
  })
})

describe('open_only', () => {
  it('takes no node that a kept child has surpassed, however good, and says what was tried on the others', () => {
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
  it('picks nothing from nothing, and nothing when nothing is asked for', () => {
    expect(policy.pick([], 3)).toEqual([])
    for (const k of [0, -1, Number.NaN]) expect(policy.pick(scored(1, 2), k)).toEqual([])
  })

  it('gives k distinct nodes of those it takes if k exist, else all, ranked from 1, best first', () => {
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

  it('gives the same picks in whatever order the nodes come, and leaves the nodes as they were', () => {
    fc.assert(
      fc.property(frontiers, fc.integer({ min: 1, max: 8 }), (nodes, k) => {
        const before = structuredClone(nodes)
        expect(policy.pick([...nodes].reverse(), k)).toEqual(policy.pick(nodes, k))
        expect(nodes).toEqual(before)
      }),
    )
  })

  it('never picks a node whose score is not a number', () => {
    const nodes = scored(Number.NaN, 1, Number.POSITIVE_INFINITY, 2, Number.NEGATIVE_INFINITY)
    expect(ids(policy, nodes, 5)).toEqual(['exp_0003', 'exp_0001'])
  })

  it('survives scores at the ends of what numbers can hold', () => {
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
  it('names every policy, and auto, which is open_only', () => {
    expect(policyNames).toEqual(['auto', 'open_only', 'argmax'])
    expect(policyNamed('auto')).toEqual({ ok: true, value: openOnly })
  })

  it('goes on with open_only in a run of an earlier version whose policy is gone', () => {
    expect(policyOfRun('softmax')).toBe(openOnly)
    expect(policyOfRun('argmax')).toBe(argmax)
  })

  it('refuses an unknown name and lists the known ones', () => {
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
