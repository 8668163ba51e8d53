import { figure, nodeAt, policy } from './policy.ts'
import { allPositions, byScore, firstOf } from './ranking.ts'

export const argmax = policy({
  name: 'argmax',
  summary: 'always the best; further picks are the next best',
  params: {},
  choose(field, k) {
    return firstOf(allPositions(field), k, byScore(field)).map((at, rank) => ({
      at,
      why:
        rank === 0
          ? `the best of ${field.nodes.length}, at ${figure(nodeAt(field, at).value)}`
          : `number ${rank + 1} of ${field.nodes.length}, at ${figure(nodeAt(field, at).value)}`,
    }))
  },
})
