import { type Choice, type Field, figure, nodeAt, policy } from './policy.ts'
import { chanceByText } from './random.ts'
import { allPositions, byKey, byScore, firstOf, type Order } from './ranking.ts'

export const epsilonGreedy = policy({
  name: 'epsilon_greedy',
  summary: 'the best, but with chance epsilon any other, each equally likely',
  params: { epsilon: { default: 0.1, min: 0, max: 1, doc: 'chance that a pick is made at random' } },
  choose(field, k, rng, { epsilon }) {
    const sides = Array.from({ length: k }, () => (rng() < epsilon ? 'random' : 'best'))
    const best = sides.includes('best') ? firstOf(allPositions(field), k, byScore(field)) : []
    const random = sides.includes('random') ? firstOf(allPositions(field), k, shuffled(field, rng)) : []
    const taken = new Set<number>()
    const choices: Choice[] = []
    const next = { best: 0, random: 0 }
    for (const [pick, side] of sides.entries()) {
      const list = side === 'best' ? best : random
      // Both lists are k long and fewer than k are taken, so one is left.
      while (taken.has(list[next[side]] ?? -1)) next[side]++
      const at = list[next[side]] ?? 0
      taken.add(at)
      const value = figure(nodeAt(field, at).value)
      const left = field.nodes.length - pick
      choices.push({
        at,
        why:
          side === 'best'
            ? `the best of ${left} left, at ${value}`
            : `drawn at random (epsilon ${figure(epsilon)}) from ${left}, at ${value}`,
      })
    }
    return choices
  },
})

function shuffled(field: Field, rng: () => number): Order {
  const chance = chanceByText(rng)
  const keys = new Float64Array(field.nodes.length)
  for (let at = 0; at < keys.length; at++) keys[at] = chance(nodeAt(field, at).order)
  return byKey(field, keys)
}
