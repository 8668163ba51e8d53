import { drawByWeight } from './lottery.ts'
import { figure, nodeAt, policy } from './policy.ts'
import { scaleOf } from './scale.ts'

export const softmax = policy({
  name: 'softmax',
  summary: 'weight exp((score − best) / (temperature · spread)), spread robust, so units do not matter',
  params: {
    temperature: { default: 1, min: 0.01, max: 100, doc: 'low: nearly the best; high: nearly uniform' },
  },
  choose(field, k, rng, { temperature }) {
    const { spread } = scaleOf(field.scores)
    const best = field.scores.reduce((most, score) => Math.max(most, score), Number.NEGATIVE_INFINITY)
    const behind = (at: number) => (spread === 0 ? 0 : ((field.scores[at] ?? 0) - best) / spread)
    return drawByWeight(field, k, rng, (at) => behind(at) / temperature).map((at) => ({
      at,
      why: `at ${figure(nodeAt(field, at).value)}, ${figure(0 - behind(at))} spreads behind the best of ${field.nodes.length}: weight ${figure(Math.exp(behind(at) / temperature))}`,
    }))
  },
})
