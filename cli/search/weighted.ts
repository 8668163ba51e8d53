import { drawByWeight } from './lottery.ts'
import { figure, nodeAt, policy } from './policy.ts'
import { scaleOf } from './scale.ts'

export const weighted = policy({
  name: 'weighted',
  summary: 'weight sigmoid(2 · (score − median) / MAD) / (1 + children): good, and not yet worked on',
  params: {},
  choose(field, k, rng) {
    const { median, spread } = scaleOf(field.scores)
    const logWeight = (at: number): number => {
      const z = spread === 0 ? 0 : (2 * ((field.scores[at] ?? 0) - median)) / spread
      // log(1 / (1 + e^−z)), in the form that cannot overflow.
      const sigmoid = Math.min(z, 0) - Math.log1p(Math.exp(-Math.abs(z)))
      return sigmoid - Math.log1p(nodeAt(field, at).children)
    }
    return drawByWeight(field, k, rng, logWeight).map((at) => {
      const { value, children } = nodeAt(field, at)
      const work = children === 1 ? '1 child' : `${children} children`
      return { at, why: `at ${figure(value)} with ${work}: weight ${figure(Math.exp(logWeight(at)))}` }
    })
  },
})
