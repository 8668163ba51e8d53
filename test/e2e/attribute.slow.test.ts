import { expect, test } from 'vitest'
import { all, switches } from './attribute-scene.ts'
import { noisyProject } from './noisy.ts'

/** The cost is 100, less the gain of the switches that are 1. */
const SOLVE = `const { readFileSync } = require('node:fs')
module.exports = () => {
  const p = [...readFileSync('src/parts.txt', 'utf8').matchAll(/^part \\d+ (\\d)/gm)].map(([, on]) => Number(on))
  return 100 - 10 * p[1] - 8 * p[6]
}
`

test('under 2 % of noise a part that pays is dropped, dead weight stays, or the answers do not follow from the record', async () => {
  const project = noisyProject({}, { 'src/solve.cjs': SOLVE, ...switches(8) })
  await project.data('init')
  const { experiment, status } = await project.attempt(switches(8, all(8)))
  expect(status).toBe('kept')
  const found = await project.data<{
    parts: { id: string; state: string; estimate: number; interval: [number, number] | null }[]
    pairs: number
    plan: { pairs: number }
    reduced: object
  }>('attribute', experiment)
  const paying = found.parts.filter(({ state }) => state === 'pays')
  expect(paying.map(({ id }) => id)).toEqual(['h2', 'h7'])
  for (const { estimate, interval } of paying) {
    expect(estimate).toBeGreaterThan(0.05)
    // Few pairs may give no interval with two finite ends.
    if (interval) expect(interval[0]).toBeGreaterThan(0)
  }
  expect(found.reduced).toMatchObject({ status: 'kept' })
  expect(found.plan.pairs).toBe(120)
  expect(found.pairs).toBeLessThan(120)
  expect(await project.data('show', experiment, '--recompute')).toMatchObject({
    same: true,
    tests: expect.arrayContaining([expect.objectContaining({ test: 1, same: true, record: 'intact' })]),
  })
})
