import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { noisyProject, notRecomputed, size } from './noisy.ts'
import type { StatusData } from './project.ts'

const bestOf = async (project: ReturnType<typeof noisyProject>) =>
  (await project.data<StatusData>('status')).best?.experiment

/** What the chart marks. */
const bestsOf = async (project: ReturnType<typeof noisyProject>) =>
  (await project.data<{ bests: string[] }>('report')).bests

test('an experiment that only beats its parent becomes the best, the chart marks one that lost to the best, or a revoked best has no successor', async () => {
  const project = noisyProject({}, { 'src/noise': '0.5' })
  await project.data('init')
  const set = (value: number) => writeFileSync(join(project.control, 'first'), String(value))
  set(80)
  const first = await project.attempt(size('first'))
  expect(first).toMatchObject({ status: 'kept', best: true, samples: 24 })
  // Its score says already that it is not the best, so no pair more is paid for.
  const second = await project.attempt(size(90))
  expect(second).toMatchObject({ status: 'kept', best: false, samples: 24 })
  // Its score says that it could be, and the best cannot be measured: no fault of this one.
  set(Number.NaN)
  const third = await project.attempt(size(70))
  expect(third).toMatchObject({ status: 'kept', best: false })
  expect(await project.data('show', third.experiment)).toMatchObject({ lost_to: first.experiment })
  expect(await bestOf(project)).toBe(first.experiment)
  expect(await bestsOf(project)).toEqual(['exp_0000', first.experiment])
  set(80)
  const fourth = await project.attempt(size(60))
  expect(fourth).toMatchObject({ status: 'kept', best: true, against: 'exp_0000', samples: 38 })
  expect(await project.data('show', fourth.experiment)).toMatchObject({ lost_to: null })
  expect(await bestsOf(project)).toEqual(['exp_0000', first.experiment, fourth.experiment])
  expect(await notRecomputed(project)).toEqual([])
})

test('fresh pairs of a confirmation have no effect on a keep', async () => {
  const project = noisyProject({ noise: { pairs: { max: 8 } } })
  await project.data('init')
  const set = (value: number) => writeFileSync(join(project.control, 'kept'), String(value))
  set(80)
  const { experiment } = await project.attempt(size('kept'))
  const other = await project.attempt(size(70))
  expect(await project.data('confirm', experiment)).toMatchObject({
    passed: true,
    flagged: false,
    against: 'exp_0000',
    samples: 14,
    status: 'kept',
  })
  set(98)
  expect(await project.data('confirm', experiment)).toMatchObject({
    passed: false,
    flagged: true,
    status: 'kept',
  })
  set(80)
  expect(await project.data('confirm', experiment)).toMatchObject({ passed: true, flagged: false })
  // That another one is better is told, and is nothing against it.
  const against = await project.data('confirm', experiment, '--against', other.experiment)
  expect(against).toMatchObject({ passed: false, status: 'kept', flagged: false, against: other.experiment })
  // The best of the run stands when the one that it won against falls.
  set(120)
  expect(await project.data('confirm', experiment)).toMatchObject({ passed: false, status: 'revoked' })
  set(110)
  expect(await project.data('confirm', other.experiment)).toMatchObject({ passed: true })
  expect(await bestOf(project)).toBe(other.experiment)
})

test('one that lost to the best is never the best, although the best is revoked', async () => {
  const project = noisyProject({}, { 'src/noise': '0.5' })
  await project.data('init')
  const set = (value: number) => writeFileSync(join(project.control, 'first'), String(value))
  set(80)
  const first = await project.attempt(size('first'))
  set(Number.NaN)
  const second = await project.attempt(size(70))
  set(120)
  expect(await project.data('confirm', first.experiment)).toMatchObject({ passed: false, status: 'revoked' })
  expect(await bestOf(project)).toBe(second.experiment)
  expect(await notRecomputed(project)).toEqual([])
})
