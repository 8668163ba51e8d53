import { figure, nodeAt, policy } from './policy.ts'
import { allPositions, byScore, firstOf } from './ranking.ts'

/** A kept child is better than its parent by definition, so what is left are the leaves of the kept tree. */
export const openOnly = policy({
  name: 'open_only',
  summary: 'only nodes that no kept child has surpassed, best first',
  params: {},
  takes: ({ keptChildren }) => keptChildren === 0,
  choose(field, k) {
    return firstOf(allPositions(field), k, byScore(field)).map((at, rank) => {
      const { value, children } = nodeAt(field, at)
      const tried = children === 0 ? 'nothing tried on it yet' : `${children} tried on it, none kept`
      return {
        at,
        why: `number ${rank + 1} of ${field.nodes.length} open ones, at ${figure(value)}: ${tried}`,
      }
    })
  },
})
