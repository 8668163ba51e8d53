import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { dataOf, startAssay } from '../rig/assay.ts'
import { until } from '../rig/until.ts'
import { noisyProject, notRecomputed, type Shown, size, steady } from './noisy.ts'
import type { RunData } from './project.ts'

test('a metric that varies rarely still counts as deterministic, and earlier keeps are not measured again', async () => {
  const project = noisyProject({}, steady)
  expect(await project.data('init')).toMatchObject({ baseline: { noise: 'deterministic', spread: 0 } })
  const early = await project.attempt(size(90))
  expect(early).toMatchObject({ status: 'kept', value: 90, samples: 2 })
  const beside = await project.attempt(size(95))
  expect(beside).toMatchObject({ status: 'kept', value: 95, best: false })
  // Its two samples differ: nothing that was measured until then counts.
  const noisy = await project.attempt(size(70, { 'src/noise': '1' }))
  expect(noisy).toMatchObject({ status: 'kept', reason: 'improved', against: 'exp_0000', samples: 38 })
  // Judged, confirmed, and measured against the best.
  const own = project.draws().filter(({ experiment }) => experiment === noisy.experiment)
  expect(own).toHaveLength(2 + 19)
  expect(new Set(own.map(({ seed }) => seed)).size).toBe(21)
  // The way to what was the best is confirmed at once; the rest waits for somebody to ask.
  expect(await project.data<Shown>('show', early.experiment)).toMatchObject({
    flagged: false,
    attempts: [{ confirmations: [{ passed: true, against: 'exp_0000' }] }],
  })
  expect(await project.data<Shown>('show', beside.experiment)).toMatchObject({
    status: 'kept',
    flagged: true,
  })
  expect(await project.problem('new', '--parent', beside.experiment, '-m', 'x')).toMatchObject({ exit: 3 })
  expect(await project.data('status')).toMatchObject({ best: { experiment: noisy.experiment } })
  const again = await project.data<{ value: number }>('confirm', beside.experiment)
  expect(again).toMatchObject({ passed: true, flagged: false, against: 'exp_0000' })
  expect(again.value).toBeCloseTo(95, 4)
  expect(await project.data('status')).toMatchObject({ flagged: [] })
  expect(await notRecomputed(project)).toEqual([])
})

test('a spec that says deterministic is not believed, or a value that varies is kept', async () => {
  const project = noisyProject({ noise: { mode: 'deterministic' } }, steady)
  await project.data('init')
  const early = await project.attempt(size(90))
  const noisy = await project.attempt(size(70, { 'src/noise': '1' }))
  expect(noisy).toMatchObject({ status: 'rejected', reason: 'unconfirmed', samples: 3 })
  expect(await project.data('show', early.experiment)).toMatchObject({ flagged: false })
  expect(await notRecomputed(project)).toEqual([])
})

test('a time that was rounded to equal values is compared once', async () => {
  const project = noisyProject({
    metric: { name: 'elapsed_ms', direction: 'minimize' },
    measure: { command: 'awk \'NF { print "METRIC elapsed_ms=" $1 }\' src/size', timeout: '30s' },
  })
  expect(await project.data('init')).toMatchObject({ baseline: { noise: 'paired', value: 100, spread: 0 } })
  // Without a spread, each pair is a toss of a coin that fell the right way.
  const kept = await project.attempt(size(99))
  expect(kept).toMatchObject({ status: 'kept', samples: 24 })
  expect(kept.value).toBeCloseTo(99, 4)
  expect(await notRecomputed(project)).toEqual([])
})

test('a confirmation does not see that a metric varies, or forgets the flags of what was kept before', async () => {
  const project = noisyProject({}, { ...steady })
  await project.data('init')
  const other = await project.attempt(size(95))
  writeFileSync(join(project.control, 'shaky'), '0')
  const { experiment } = await project.attempt(size(70, { 'src/noise': 'shaky' }))
  writeFileSync(join(project.control, 'shaky'), '1')
  expect(await project.data('confirm', experiment)).toMatchObject({
    passed: true,
    flagged: false,
    value: expect.any(Number),
  })
  expect(await project.data('show', other.experiment)).toMatchObject({ flagged: true })
  expect(await project.data('show', experiment)).toMatchObject({ flagged: false })
})

test('a candidate that waited for the slot is judged without what was found out in the meantime', async () => {
  const project = noisyProject({}, steady)
  await project.data('init')
  const shaky = await project.open(size(80, { 'src/noise': '1' }))
  const waiting = await project.open(size(70))
  writeFileSync(join(project.control, 'hold'), String(project.draws().length + 1))
  const cwd = project.repo.dir
  const first = startAssay<RunData>(['run', shaky.experiment, '--json'], { cwd })
  await until(() => existsSync(join(project.control, 'held')), {
    what: 'its first sample',
    dir: project.control,
  })
  const second = startAssay<RunData>(['run', waiting.experiment, '--json'], { cwd })
  await second.said('waiting for')
  writeFileSync(join(project.control, 'released'), '')
  expect(dataOf(await first.ended)).toMatchObject({ status: 'kept' })
  expect(dataOf(await second.ended)).toMatchObject({ status: 'kept', against: 'exp_0000', samples: 38 })
  expect(await project.data('status')).toMatchObject({ flagged: [] })
  expect(await notRecomputed(project)).toEqual([])
})

test('a new epoch forgets that the metric was seen to vary', async () => {
  const project = noisyProject({ noise: { calibrate: 2 } }, { 'src/noise': 'spread\n' })
  const spread = (percent: number) => writeFileSync(join(project.control, 'spread'), String(percent))
  spread(0)
  expect(await project.data('init')).toMatchObject({ baseline: { noise: 'deterministic' } })
  spread(2)
  expect(await project.attempt(size(80))).toMatchObject({ status: 'kept' })
  spread(0)
  await project.data('epoch', 'open', '--reason', 'another machine')
  expect(await project.data('status')).toMatchObject({ epoch: 2 })
  // Each stage takes the fewest pairs that can be evidence: 5, then 7.
  expect(await project.attempt(size(70))).toMatchObject({ status: 'kept', samples: 24 })
  expect(await notRecomputed(project)).toEqual([])
})
