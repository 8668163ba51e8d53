import { describe, expect, it } from 'vitest'
import {
  argmax,
  epsilonGreedy,
  openOnly,
  paretoPerTask,
  powerLaw,
  softmax,
  topK,
  weighted,
} from '../../cli/search/policies.ts'
import type { Candidate, Policy } from '../../cli/search/policy.ts'
import { rngOf } from '../../cli/search/random.ts'
import { candidate, scored } from './candidates.ts'

const DRAWS = 20_000

/** How often each node is the first pick, as a share. */
function shares(policy: Policy, nodes: readonly Candidate[], params: Record<string, number> = {}) {
  const counts = nodes.map(() => 0)
  for (let seed = 0; seed < DRAWS; seed++) {
    const [pick] = policy.pick(nodes, 1, rngOf(policy.name, seed), params)
    const at = nodes.findIndex(({ id }) => id === pick?.experiment)
    counts[at] = (counts[at] ?? 0) + 1
  }
  return counts.map((count) => count / DRAWS)
}

/** Four standard errors of a share of 20,000 draws are at most 0.0142; the seeds are fixed, so this cannot flake. */
function expectShares(actual: readonly number[], expected: readonly number[]) {
  expect(actual).toHaveLength(expected.length)
  for (const [at, share] of expected.entries())
    expect(Math.abs((actual[at] ?? 0) - share)).toBeLessThan(0.0142)
}

const ids = (policy: Policy, nodes: readonly Candidate[], k: number) =>
  policy.pick(nodes, k, rngOf('x')).map(({ experiment }) => experiment)

describe('argmax and top_k', () => {
  it('take the best by score, not by value, and tell it in numbers', () => {
    const nodes = [candidate(0, { value: 9, score: -9 }), candidate(1, { value: 3, score: -3 })]
    expect(argmax.pick(nodes, 1, rngOf())).toEqual([
      { experiment: 'exp_0001', value: 3, rank: 1, why: 'the best of 2, at 3' },
    ])
    expect(topK.pick(nodes, 2, rngOf()).map(({ why }) => why)).toEqual([
      'number 1 of 2 by score, at 3',
      'number 2 of 2 by score, at 9',
    ])
  })

  it('give ties to the lower order, not to the lower id', () => {
    const nodes = [
      candidate(0, { score: 5, order: 'z' }),
      candidate(1, { score: 5, order: 'b' }),
      candidate(2, { score: 4, order: 'a' }),
    ]
    expect(ids(argmax, nodes, 2)).toEqual(['exp_0001', 'exp_0000'])
    expect(ids(topK, nodes, 3)).toEqual(['exp_0001', 'exp_0000', 'exp_0002'])
  })

  it('find the k best of many equal scores', () => {
    const nodes = scored(...Array.from({ length: 500 }, (_, number) => number % 3))
    expect(ids(topK, nodes, 4)).toEqual(['exp_0002', 'exp_0005', 'exp_0008', 'exp_0011'])
  })
})

describe('epsilon_greedy', () => {
  it('with epsilon 0 is top_k', () => {
    const picks = epsilonGreedy.pick(scored(3, 1, 4, 1, 5), 3, rngOf(1), { epsilon: 0 })
    expect(picks.map(({ experiment }) => experiment)).toEqual(['exp_0004', 'exp_0002', 'exp_0000'])
  })

  it('takes the best with 1 − epsilon + epsilon / n, every other with epsilon / n', () => {
    expectShares(shares(epsilonGreedy, scored(1, 4, 2, 3), { epsilon: 0.4 }), [0.1, 0.7, 0.1, 0.1])
  })
})

describe('softmax', () => {
  it('weighs by exp of the distance in spreads', () => {
    // Median 2 and median deviation 1: weights e^−4, e^−3, e^−2, e^−1, 1 over their sum 1.5782.
    expectShares(shares(softmax, scored(0, 1, 2, 3, 4)), [0.0117, 0.0317, 0.0861, 0.2341, 0.6364])
  })

  it('gives k if k exist, however far behind they are', () => {
    const picks = softmax.pick(scored(0, 1, 2, -1e9), 4, rngOf(1), { temperature: 0.01 })
    expect(picks.map(({ experiment }) => experiment)).toEqual([
      'exp_0002',
      'exp_0001',
      'exp_0000',
      'exp_0003',
    ])
  })
})

describe('power_law', () => {
  it('gives rank r the weight 1 / r', () => {
    expectShares(shares(powerLaw, scored(10, 40, 20, 30)), [0.12, 0.48, 0.16, 0.24])
  })

  it('with exponent 0 is uniform', () => {
    expectShares(shares(powerLaw, scored(10, 40, 20, 30), { exponent: 0 }), [0.25, 0.25, 0.25, 0.25])
  })

  it('draws the second pick from what is left, by the same weights', () => {
    const counts = [0, 0, 0]
    for (let seed = 0; seed < DRAWS; seed++) {
      const second = powerLaw.pick(scored(3, 2, 1), 2, rngOf('second', seed))[1]
      const at = Number(second?.experiment.slice(-1))
      counts[at] = (counts[at] ?? 0) + 1
    }
    // Ranks 1, 2, 3 weigh 6, 3, 2 of 11: P(second = 1st) = 3/11·6/8 + 2/11·6/9, and so on.
    expectShares(
      counts.map((count) => count / DRAWS),
      [0.3258, 0.3879, 0.2864],
    )
  })

  it('tells rank and weight', () => {
    expect(powerLaw.pick(scored(5), 1, rngOf(1))[0]?.why).toBe('rank 1 of 1, at 5: weight 1')
  })
})

describe('weighted', () => {
  it('weighs by sigmoid(2 · (score − median) / MAD) / (1 + children)', () => {
    const nodes = [
      candidate(0, { score: 1 }),
      candidate(1, { score: 2 }),
      candidate(2, { score: 3, children: 3 }),
    ]
    // sigmoid(−2) = 0.1192, sigmoid(0) = 0.5, sigmoid(2) / 4 = 0.2202; their sum is 0.8394.
    expectShares(shares(weighted, nodes), [0.142, 0.5957, 0.2623])
  })

  it('with equal scores only the children count', () => {
    const nodes = [candidate(0, { score: 1, children: 3 }), candidate(1, { score: 1 })]
    expectShares(shares(weighted, nodes), [0.2, 0.8])
  })
})

describe('open_only', () => {
  it('never goes back to a node that a kept child has surpassed, and ties go by order', () => {
    const nodes = [
      candidate(0, { score: 1, keptChildren: 1, children: 4 }),
      candidate(1, { score: 9, keptChildren: 2, children: 2 }),
      candidate(2, { score: 5, children: 2, order: 'z' }),
      candidate(3, { score: 5, order: 'b' }),
      candidate(4, { score: 2 }),
    ]
    expect(openOnly.pick(nodes, 2, rngOf())).toEqual([
      {
        experiment: 'exp_0003',
        value: 5,
        rank: 1,
        why: 'number 1 of 3 open ones, at 5: nothing tried on it yet',
      },
      {
        experiment: 'exp_0002',
        value: 5,
        rank: 2,
        why: 'number 2 of 3 open ones, at 5: 2 tried on it, none kept',
      },
    ])
    expect(ids(openOnly, nodes, 9)).toEqual(['exp_0003', 'exp_0002', 'exp_0004'])
  })
})

describe('pareto_per_task', () => {
  const specialists = [
    candidate(0, { score: 9, tasks: { a: 3, b: 3, c: 0, d: 0 } }),
    candidate(1, { score: 1, tasks: { a: 0, b: 0, c: 5, d: 0 } }),
    candidate(2, { score: 2, tasks: { a: 0, b: 0, c: 0, d: 1 } }),
    candidate(3, { score: 8, tasks: { a: 2, b: 2, c: 2, d: 0 } }),
  ]

  it('samples only experiments that lead a task, weighted by the number of tasks', () => {
    expectShares(shares(paretoPerTask, specialists), [0.5, 0.25, 0.25, 0])
  })

  it('drops a holder whose tasks are all covered, the worst one', () => {
    const nodes = [
      candidate(0, { score: 1, tasks: { a: 1, b: 1 } }),
      candidate(1, { score: 3, tasks: { a: 1, b: 0 } }),
      candidate(2, { score: 2, tasks: { a: 0, b: 1 } }),
    ]
    // The worst of all, exp_0000, goes first: its tasks have better holders.
    expectShares(shares(paretoPerTask, nodes), [0, 0.5, 0.5])
  })

  it('drops a leader whose tasks are covered by a better and a worse one', () => {
    const nodes = [
      candidate(0, { score: 3, tasks: { a: 1, b: 0, c: 0 } }),
      candidate(1, { score: 2, tasks: { a: 1, b: 1, c: 0 } }),
      candidate(2, { score: 1, tasks: { a: 0, b: 1, c: 1 } }),
    ]
    expectShares(shares(paretoPerTask, nodes), [0.3333, 0, 0.6667])
  })

  it('keeps of equals the one that is first in order', () => {
    const nodes = [2, 0, 1].map((number) => candidate(number, { score: 1, tasks: { a: 1, b: 1 } }))
    expect(ids(paretoPerTask, nodes, 1)).toEqual(['exp_0000'])
  })

  it('can still reach nodes without tasks: together they count as one task', () => {
    const nodes = [...specialists, candidate(4, { score: 1 }), candidate(5, { score: 0 })]
    expectShares(shares(paretoPerTask, nodes), [0.4, 0.2, 0.2, 0, 0.1333, 0.0667])
  })

  it('without any tasks draws by power law', () => {
    expectShares(shares(paretoPerTask, scored(10, 40, 20, 30)), [0.12, 0.48, 0.16, 0.24])
  })

  it('tells how many tasks a pick holds', () => {
    const [, , , last] = paretoPerTask.pick(specialists, 4, rngOf(1))
    const first = paretoPerTask
      .pick(specialists, 3, rngOf(1))
      .find(({ experiment }) => experiment === 'exp_0000')
    expect(first?.why).toBe('best on 2 of 4 tasks, at 9')
    expect(last).toMatchObject({
      experiment: 'exp_0003',
      why: 'every task it leads is covered, drawn by rank of its score, at 8',
    })
  })

  it('ignores task scores that are no numbers', () => {
    const nodes = [
      candidate(0, { score: 1, tasks: { a: Number.NaN, b: Number.POSITIVE_INFINITY } }),
      candidate(1, { score: 0, tasks: { a: 0, b: 0 } }),
    ]
    expect(ids(paretoPerTask, nodes, 1)).toEqual(['exp_0001'])
  })
})
