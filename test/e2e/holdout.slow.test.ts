import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { heldOut, solve } from './held-out.ts'
import { notRecomputed } from './noisy.ts'

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

test('one that shows that the metric varies is compared once on held-out data', async () => {
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
