import { figure, nodeAt, policy } from './policy.ts'
import { allPositions, byScore, firstOf } from './ranking.ts'

export const topK = policy({
  name: 'top_k',
  summary: 'the k best',
  params: {},
  choose(field, k) {
    return firstOf(allPositions(field), k, byScore(field)).map((at, rank) => ({
      at,
      why: `number ${rank + 1} of ${field.nodes.length} by score, at ${figure(nodeAt(field, at).value)}`,
    }))
  },
})
