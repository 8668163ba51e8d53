import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { POLICIES, policyNames, resolvePolicy } from '../../cli/search/policies.ts'
import type { Candidate, Policy } from '../../cli/search/policy.ts'
import { rngOf } from '../../cli/search/random.ts'
import { candidate, scored } from './candidates.ts'

/** What every policy owes its callers, whatever it prefers. */

const frontiers = fc
  .array(
    fc.record({
      score: fc.integer({ min: -50, max: 50 }),
      children: fc.integer({ min: 0, max: 9 }),
      keptChildren: fc.integer({ min: 0, max: 1 }),
      tasks: fc.option(
        fc.dictionary(
          fc.constantFrom('a', 'b', 'c', 'toString', '__proto__x'),
          fc.integer({ min: 0, max: 3 }),
        ),
      ),
    }),
    { maxLength: 40 },
  )
  .map((list) => list.map((given, number) => candidate(number, given)))

const ids = (policy: Policy, nodes: readonly Candidate[], k: number, seed = 'seed') =>
  policy.pick(nodes, k, rngOf(seed), {}).map(({ experiment }) => experiment)

const scaled = (nodes: readonly Candidate[], factor: number, shift: number) =>
  nodes.map((node) => ({
    ...node,
    score: node.score * factor + shift,
    tasks:
      node.tasks &&
      Object.fromEntries(Object.entries(node.tasks).map(([task, score]) => [task, score * factor + shift])),
  }))

describe.each(POLICIES.map((policy) => [policy.name, policy] as const))('%s', (_, policy) => {
  it('picks nothing from nothing, and nothing when nothing is asked for', () => {
    expect(policy.pick([], 3, rngOf(1))).toEqual([])
    expect(policy.pick(scored(1, 2), 0, rngOf(1))).toEqual([])
    expect(policy.pick(scored(1, 2), -1, rngOf(1))).toEqual([])
    expect(policy.pick(scored(1, 2), Number.NaN, rngOf(1))).toEqual([])
  })

  it('picks the only node there is', () => {
    expect(policy.pick(scored(7), 1, rngOf(1))).toEqual([
      { experiment: 'exp_0000', value: 7, rank: 1, why: expect.stringMatching(/\d/) },
    ])
  })

  it('gives k distinct nodes of those it takes if k exist, else all, ranked from 1', () => {
    fc.assert(
      fc.property(frontiers, fc.integer({ min: 1, max: 60 }), fc.string(), (nodes, k, seed) => {
        const picks = policy.pick(nodes, k, rngOf(seed))
        const taken = nodes.filter((node) => policy.takes(node))
        const known = new Map(taken.map((node) => [node.id, node.value]))
        expect(picks).toHaveLength(Math.min(k, taken.length))
        expect(new Set(picks.map(({ experiment }) => experiment)).size).toBe(picks.length)
        expect(picks.map(({ rank }) => rank)).toEqual(picks.map((_, index) => index + 1))
        for (const pick of picks) {
          expect(known.get(pick.experiment)).toBe(pick.value)
          expect(pick.why).not.toMatch(/NaN|undefined|Infinity/)
        }
      }),
    )
  })

  it('gives the same picks for the same seed, in whatever order the nodes come', () => {
    fc.assert(
      fc.property(
        frontiers,
        fc.integer({ min: 1, max: 8 }),
        fc.string(),
        fc.nat(),
        (nodes, k, seed, turn) => {
          const shift = nodes.length === 0 ? 0 : turn % nodes.length
          const turned = [...nodes.slice(shift), ...nodes.slice(0, shift)].reverse()
          expect(policy.pick(turned, k, rngOf(seed))).toEqual(policy.pick(nodes, k, rngOf(seed)))
        },
      ),
    )
  })

  it('does not depend on the unit or the zero point of the metric', () => {
    fc.assert(
      fc.property(
        frontiers,
        fc.integer({ min: 1, max: 8 }),
        fc.integer({ min: -9999, max: 9999 }),
        (nodes, k, c) => {
          // Powers of two, so that rounding cannot excuse a difference.
          expect(ids(policy, scaled(nodes, 1024, c), k)).toEqual(ids(policy, nodes, k))
        },
      ),
    )
    const nodes = scored(3, 1, 4, 1, 5, 9, 2, 6)
    expect(ids(policy, scaled(nodes, 1000, 0), 4)).toEqual(ids(policy, nodes, 4))
  })

  it('leaves the nodes as they were', () => {
    const nodes = [
      candidate(0, { score: 1, tasks: { a: 1, b: 0 } }),
      candidate(1, { score: 2, tasks: { a: 0, b: 1 } }),
    ]
    const before = structuredClone(nodes)
    policy.pick(nodes, 2, rngOf(1))
    expect(nodes).toEqual(before)
  })

  it('never picks a node whose score is not a number', () => {
    const nodes = scored(Number.NaN, 1, Number.POSITIVE_INFINITY, 2, Number.NEGATIVE_INFINITY)
    expect(ids(policy, nodes, 5).sort()).toEqual(['exp_0001', 'exp_0003'])
  })

  it('survives scores at the ends of what numbers can hold', () => {
    const nodes = scored(Number.MAX_VALUE, -Number.MAX_VALUE, 5e-324, 0, -0)
    const picks = policy.pick(nodes, 5, rngOf('ends'))
    expect(picks).toHaveLength(5)
    expect(picks.map(({ why }) => why).join()).not.toMatch(/NaN|Infinity/)
  })

  it('finds every node when all scores are equal, given enough seeds or picks', () => {
    const nodes = scored(...Array.from({ length: 9 }, () => 5))
    expect(ids(policy, nodes, 9).sort()).toEqual(nodes.map(({ id }) => id))
  })

  it.each(['wide', 'deep'])('holds for 10,000 nodes, %s', (form) => {
    const nodes = Array.from({ length: 10_000 }, (_, number) =>
      candidate(number, {
        score: (number * 7919) % 10_007,
        parent: number === 0 ? null : `exp_${String(form === 'deep' ? number - 1 : 0).padStart(4, '0')}`,
        children: form === 'deep' ? 1 : number === 0 ? 9_999 : 0,
        tasks: number % 3 === 0 ? null : { a: number % 11, b: (number * 31) % 17 },
      }),
    )
    for (const k of [1, 5, 100]) expect(new Set(ids(policy, nodes, k)).size).toBe(k)
    expect(new Set(ids(policy, nodes, 20_000)).size).toBe(10_000)
  })

  it('clamps params to their bounds and ignores what is not a number', () => {
    for (const [name, { min, max, default: usual }] of Object.entries(policy.params)) {
      const with_ = (value: number) => policy.pick(scored(3, 1, 4, 1, 5), 3, rngOf('p'), { [name]: value })
      expect(with_(min - 1e6)).toEqual(with_(min))
      expect(with_(max + 1e6)).toEqual(with_(max))
      expect(with_(Number.NaN)).toEqual(with_(usual))
    }
  })
})

describe('the registry', () => {
  it('names every policy, and auto', () => {
    expect(policyNames).toEqual([
      'auto',
      'argmax',
      'top_k',
      'epsilon_greedy',
      'softmax',
      'power_law',
      'weighted',
      'open_only',
      'pareto_per_task',
    ])
  })

  it('resolves auto by what the nodes carry: a single task knows only one best', () => {
    const name = (nodes: Candidate[]) => {
      const resolved = resolvePolicy('auto', nodes)
      return resolved.ok ? resolved.value.name : resolved.problem.code
    }
    expect(name(scored(1, 2))).toBe('power_law')
    expect(name([candidate(0, { tasks: {} })])).toBe('power_law')
    expect(name([candidate(0, { tasks: { a: 1 } })])).toBe('power_law')
    expect(name([candidate(0), candidate(1, { tasks: { a: 1, b: 0 } })])).toBe('pareto_per_task')
  })

  it('refuses an unknown name and lists the known ones', () => {
    expect(resolvePolicy('best', [])).toEqual({
      ok: false,
      problem: {
        kind: 'usage',
        code: 'unknown_policy',
        message: 'there is no policy "best"',
        hint: 'use one of: auto, argmax, top_k, epsilon_greedy, softmax, power_law, weighted, open_only, pareto_per_task',
      },
    })
  })
})
