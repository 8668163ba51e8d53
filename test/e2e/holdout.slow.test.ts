import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { heldOut, SECRET, solve } from './held-out.ts'
import { notRecomputed } from './noisy.ts'

test('held-out data that candidates can read are taken, or data that changed are measured on', async () => {
  const { project, file, init } = heldOut()
  project.repo.write({ '..cases': 'inside', 'more/cases': 'inside' })
  for (const [path, message] of [
    ['..cases', 'lies inside the repository'],
    ['more/cases', 'lies inside the repository'],
    ['more', 'is not a file'],
    ['nowhere', 'cannot be read'],
  ] as const) {
    const problem = await project.problem('init', '--holdout', path)
    expect(problem).toMatchObject({
      exit: 2,
      code: 'bad_holdout',
      message: `the held-out file ${path} ${message}`,
    })
  }
  await init()
  writeFileSync(file, 'other cases')
  const { experiment } = await project.open(solve('80'))
  const first = await project.data('run', experiment)
  expect(first).toMatchObject({ status: 'failed', reason: 'environment', failure_class: 'environment' })
  writeFileSync(file, SECRET)
  // The record tells that they had changed; the file of now does not.
  expect(await notRecomputed(project)).toEqual([])
  expect(await project.data('run', experiment)).toMatchObject({ status: 'kept', best: true })
  expect(await notRecomputed(project)).toEqual([])
})

test('under noise a candidate that knows the answers is kept, a real gain is not, or one side always runs first', async () => {
  const { project, init } = heldOut({}, {})
  await init()
  const cheat = await project.attempt(solve("input === 'visible' ? 50 : 115"))
  expect(cheat).toMatchObject({ status: 'rejected', reason: 'holdout' })
  const gain = await project.attempt(solve('80'))
  expect(gain).toMatchObject({ status: 'kept', best: true })
  const held = project
    .draws()
    .filter((draw) => draw.heldOut)
    .slice(1)
  expect(held).toHaveLength(2 * 2 * 8)
  const first = held.filter((_, index) => index % 2 === 0).map(({ experiment }) => experiment === 'exp_0000')
  expect(new Set(first).size).toBe(2)
  expect(await notRecomputed(project)).toEqual([])
})

test('a candidate that shows that the metric varies is compared on held-out data with a single sample', async () => {
  const { project, init } = heldOut({ noise: { calibrate: 2 } }, { 'src/noise': 'spread\n' })
  const spread = (percent: number) => writeFileSync(join(project.control, 'spread'), String(percent))
  spread(0)
  await init()
  spread(2)
  const gain = await project.attempt(solve('80'))
  expect(gain).toMatchObject({ status: 'kept', best: true })
  const held = project.draws().filter((draw) => draw.experiment === gain.experiment && draw.heldOut)
  expect(held).toHaveLength(8)
  expect(await notRecomputed(project)).toEqual([])
})
