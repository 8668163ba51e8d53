import { drawRanks } from './lottery.ts'
import { figure, nodeAt, policy } from './policy.ts'
import { allPositions, atRanks, byScore } from './ranking.ts'

export const powerLaw = policy({
  name: 'power_law',
  summary: 'rank r has weight r^−exponent: the best often, every other one sometimes',
  params: { exponent: { default: 1, min: 0, max: 8, doc: '0: uniform; higher: closer to the best' } },
  choose(field, k, rng, { exponent }) {
    const ranks = drawRanks(field.nodes.length, k, exponent, rng)
    return atRanks(allPositions(field), ranks, byScore(field)).map((at, pick) => {
      const rank = (ranks[pick] ?? 0) + 1
      const weight = figure(rank ** -exponent)
      return {
        at,
        why: `rank ${rank} of ${field.nodes.length}, at ${figure(nodeAt(field, at).value)}: weight ${weight}`,
      }
    })
  },
})
