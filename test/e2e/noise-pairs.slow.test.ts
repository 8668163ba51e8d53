import { expect, test } from 'vitest'
import { type NoisyProject, noisyProject, notRecomputed, type Shown, size, steady } from './noisy.ts'

/** Who ran first in each pair. */
function orders(project: NoisyProject, experiment: string): string {
  const run = project.draws().slice(5)
  return run
    .filter((_, index) => index % 2 === 0)
    .map((one) => (one.experiment === experiment ? 'c' : 'p'))
    .join('')
}

test('pairs run in a fixed order, in one that follows from search.seed, or with different seeds in one pair', async () => {
  const found: string[] = []
  for (const [seed, nonce] of [
    [1, 1],
    [2, 1],
    [1, 2],
  ] as const) {
    const project = noisyProject({ search: { seed } }, {}, nonce)
    await project.data('init')
    const { experiment, status } = await project.attempt(size(60))
    expect(status).toBe('kept')
    found.push(orders(project, experiment))
    const draws = project.draws().slice(5)
    for (let pair = 0; pair < draws.length; pair += 2) expect(draws[pair]?.seed).toBe(draws[pair + 1]?.seed)
    expect(new Set(draws.map(({ seed: one }) => one)).size).toBe(draws.length / 2)
  }
  expect(found[0]).toMatch(/^[cp]{12}$/)
  expect(found[0]).toMatch(/cp|pc/)
  expect(found[1]).toBe(found[0])
  expect(found[2]).not.toBe(found[0])
})

test('a parent that fails sometimes rejects a candidate, or a broken machine counts as noise', async () => {
  const project = noisyProject({ noise: { calibrate: 2 } })
  await project.data('init')
  project.fail('exp_0000', 2)
  const kept = await project.attempt(size(60))
  // Two pairs count for nothing.
  expect(kept).toMatchObject({ status: 'kept', samples: 24 + 2 })
  project.fail('exp_0000', 3)
  expect(await project.attempt(size(70))).toMatchObject({
    status: 'failed',
    reason: 'environment',
    failure_class: 'environment',
  })
  expect(await project.data('status')).toMatchObject({
    budget: { experiments: { used: 2 }, failures: { used: 0 } },
  })
  expect(await notRecomputed(project)).toEqual([])
})

test('a candidate pays for a machine on which its parent fails too', async () => {
  const project = noisyProject({ noise: { calibrate: 2 } }, {}, 3)
  await project.data('init')
  const both = async (index: number, parent: number) => {
    const { experiment } = await project.open(size(60, { 'src/comment': `${index}` }))
    project.fail(experiment, 1)
    project.fail('exp_0000', parent)
    const ran = await project.data<{ status: string; reason: string; failure_class: string }>(
      'run',
      experiment,
    )
    return [ran.status, ran.reason, ran.failure_class]
  }
  const order: string[] = []
  for (let index = 0; index < 4; index++) {
    const before = project.draws().length
    expect(await both(index, 1)).toEqual(['failed', 'environment', 'environment'])
    order.push(project.draws()[before]?.experiment === 'exp_0000' ? 'p' : 'c')
  }
  // Whichever of the two ran first.
  expect(new Set(order).size).toBe(2)
  expect(await both(5, 0)).toEqual(['failed', 'crash', 'eval'])
  expect(await notRecomputed(project)).toEqual([])
})

test('a candidate with no effect is kept now and then', async () => {
  const project = noisyProject()
  await project.data('init')
  const found: string[] = []
  for (let n = 1; n <= 12; n++)
    found.push((await project.attempt(size(100, { 'src/comment': `${n}` }))).status)
  expect(found).toEqual(Array.from({ length: 12 }, () => 'rejected'))
  const pairs = (project.draws().length - 5) / 2
  // A hopeless one is given up early.
  expect(pairs / 12).toBeLessThan(8)
  expect(await notRecomputed(project)).toEqual([])
})

test('show does not list the pairs as they were measured', async () => {
  const project = noisyProject()
  await project.data('init')
  const { experiment } = await project.attempt(size(60))
  const shown = await project.data<Shown>('show', experiment)
  const sides = shown.attempts[0]?.measurements.map(({ side }) => side) ?? []
  expect(sides.filter((side) => side === 'parent')).toHaveLength(12)
  expect(sides).toHaveLength(24)
})

test('a candidate is kept whose typical pair is no better, with a gain of nothing outside of its own interval', async () => {
  const project = noisyProject({ noise: { mode: 'paired', calibrate: 2, pairs: { max: 13 } } }, steady)
  await project.data('init')
  // Better on two inputs of five, and the same on the others.
  const sometimes = `
const { appendFileSync, readFileSync } = require('node:fs')
module.exports = () => {
  const log = process.argv[2] + '/mine'
  appendFileSync(log, '.')
  return (readFileSync(log).length - 1) % 5 % 2 === 0 && readFileSync(log).length % 5 !== 0 ? 60 : 100
}
`
  const found = await project.attempt({ 'src/solve.cjs': sometimes })
  expect(found).toMatchObject({ status: 'rejected', reason: 'inconclusive', improvement_abs: 0 })
  expect(found.message).toContain('only some pairs got better: the typical one (the median) did not')
  const shown = await project.data<Shown>('show', found.experiment)
  expect(shown.explained[0]).toContain('only some pairs got better')
  expect(await project.data('show', found.experiment, '--recompute')).toMatchObject({ same: true })
})
