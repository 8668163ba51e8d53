import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { steadyWall } from '../rig/wall.ts'
import { noisyProject, notRecomputed, type Shown, size } from './noisy.ts'
import { makeProject, ms } from './project.ts'

const least = (min_improvement: string) => ({
  metric: { name: 'cost', direction: 'minimize', min_improvement },
})

test('a gain below min_improvement is kept, one above it is not, or a tie is broken by chance', async () => {
  const project = noisyProject({ ...least('10%'), noise: { pairs: { max: 8 } } })
  await project.data('init')
  expect(await project.attempt(size(97))).toMatchObject({ status: 'rejected', reason: 'not_better' })
  expect(await project.attempt(size(80))).toMatchObject({ status: 'kept', reason: 'improved' })
  expect(await notRecomputed(project)).toEqual([])
})

test('a tie is broken by a metric that varies, or not by one that does not', async () => {
  const project = noisyProject({
    ...least('20%'),
    tie_breakers: [
      { metric: 'mb', direction: 'minimize' },
      { metric: 'bytes', direction: 'minimize' },
    ],
  })
  await project.data('init')
  const broken = await project.attempt(size(100, { 'src/bytes': '6' }))
  expect(broken).toMatchObject({ status: 'kept', reason: 'tie_broken' })
  expect(broken.message).toMatch(/bytes 7 → 6/)
  expect(await project.attempt(size(100, { 'src/bytes': '8' }))).toMatchObject({
    status: 'rejected',
    reason: 'tie',
  })
  expect(await project.attempt(size(100, { 'src/mb': '40' }))).toMatchObject({
    status: 'rejected',
    reason: 'tie',
  })
  expect(await notRecomputed(project)).toEqual([])
})

test('one unlucky sample breaks a constraint, or a boolean that fails sometimes holds', async () => {
  const project = noisyProject({
    constraints: [
      { metric: 'mb', op: '<=', value: 51 },
      { metric: 'ok', op: '==', value: true },
    ],
  })
  await project.data('init')
  // About every fourth sample is beyond 51.
  const kept = await project.attempt(size(80))
  expect(kept).toMatchObject({ status: 'kept' })
  const before = project.draws().length
  expect(await project.attempt(size(80, { 'src/ok': 'sometimes' }))).toMatchObject({
    status: 'rejected',
    reason: 'constraint',
  })
  // No pair more than it takes to see it fail.
  expect(project.draws().length - before).toBeLessThanOrEqual(7)
  expect(await project.attempt(size(80, { 'src/mb': '60' }))).toMatchObject({
    status: 'rejected',
    reason: 'constraint',
  })
  expect(await notRecomputed(project)).toEqual([])
})

test('a protected metric may get worse, or chance counts as getting worse', async () => {
  const project = noisyProject({
    protected: [
      { metric: 'mb', direction: 'minimize', max_regression: '2%' },
      { metric: 'bytes', direction: 'minimize' },
    ],
  })
  await project.data('init')
  expect(await project.attempt(size(80, { 'src/comment': '1' }))).toMatchObject({ status: 'kept' })
  const bytes = await project.attempt(size(80, { 'src/bytes': '8' }))
  expect(bytes).toMatchObject({ status: 'rejected', reason: 'protected' })
  expect(bytes.message).toMatch(/bytes went from 7 to 8/)
  const mb = await project.attempt(size(80, { 'src/mb': '60' }))
  expect(mb).toMatchObject({ status: 'rejected', reason: 'protected' })
  expect(await notRecomputed(project)).toEqual([])
})

test('a protected metric that varies is compared once, because the metric itself does not vary', async () => {
  const project = noisyProject({
    metric: { name: 'bytes', direction: 'minimize' },
    protected: [{ metric: 'mb', direction: 'minimize' }],
  })
  expect(await project.data('init')).toMatchObject({ baseline: { noise: 'deterministic' } })
  expect(await project.attempt(size(100, { 'src/bytes': '6' }))).toMatchObject({
    status: 'kept',
    samples: 2 + 20,
  })
  expect(await project.attempt(size(100, { 'src/bytes': '5', 'src/mb': '60' }))).toMatchObject({
    status: 'rejected',
    reason: 'protected',
  })
  expect(await notRecomputed(project)).toEqual([])
})

test('values around zero are taken for ratios', async () => {
  const project = noisyProject(
    { metric: { name: 'cost', direction: 'maximize' } },
    { ...size(0), 'src/around-zero': '1' },
  )
  expect(await project.data('init')).toMatchObject({ baseline: { noise: 'paired' } })
  const gain = await project.attempt(size(6))
  expect(gain).toMatchObject({ status: 'kept', reason: 'improved' })
  expect(Math.abs((gain.improvement_abs ?? 0) - 6)).toBeLessThan(2)
  expect(await project.attempt(size(0, { 'src/comment': '' }))).toMatchObject({ status: 'rejected' })
  expect((await project.data<Shown>('show', gain.experiment)).explained).toHaveLength(2)
  expect(await notRecomputed(project)).toEqual([])
})

test('a cost that falls to 0 has no ratio, so it is lost', async () => {
  const project = noisyProject()
  await project.data('init')
  const { experiment, ...zero } = await project.attempt(size(0))
  expect(zero).toMatchObject({ status: 'kept', reason: 'improved', value: 0, improvement: 1 })
  expect(await project.attempt(size(0, { 'src/comment': '' }), experiment)).toMatchObject({
    status: 'rejected',
    reason: 'not_better',
    value: 0,
  })
  expect(await notRecomputed(project)).toEqual([])
})

test('a confirmation believes a gain in time that no clock shows', async () => {
  const project = makeProject({ spec: { noise: { mode: 'paired', calibrate: 2 } }, files: ms(300) })
  project.repo.commit('sleeps', { 'bench/run.sh': 'sleep 0.3; cat src/metrics.txt\n' })
  await project.data('init')
  const { experiment } = await project.attempt(ms(150))
  expect(await project.data('show', experiment)).toMatchObject({ status: 'kept', flagged: true })
  const again = await project.data<{ message: string }>('confirm', experiment)
  expect(again).toMatchObject({ passed: false, status: 'kept', flagged: true })
  expect(again.message).toContain('does the benchmark time itself?')
})

test('a doubt stays after a confirmation whose clocks show the gain, or after a person has cleared it', async () => {
  const wall = steadyWall()
  const project = makeProject({
    spec: { noise: { mode: 'paired', calibrate: 2 } },
    files: { ...ms(600), 'src/took': '600\n' },
    env: wall.env,
  })
  // While the file is there, all runs take as long as that of the baseline.
  const long = join(project.control, 'long')
  project.repo.commit('takes time', {
    'bench/run.sh': `if [ -e '${long}' ]; then took=600; else took=$(cat src/took); fi; ${wall.takes('took')}; cat src/metrics.txt\n`,
  })
  await project.data('init', '--no-canary')
  const quick = (value: number) => ({ ...ms(value), 'src/took': '100\n' })
  writeFileSync(long, '')
  const { experiment: first } = await project.attempt(quick(100))
  const { experiment: second } = await project.attempt(quick(99))
  expect(await project.data('status')).toMatchObject({
    flagged: [first, second],
    best: { experiment: 'exp_0000' },
  })

  // The clocks contradict it again, and then they show it.
  expect(await project.data('confirm', first)).toMatchObject({ passed: false, status: 'kept', flagged: true })
  rmSync(long)
  expect(await project.data('confirm', first)).toMatchObject({ passed: true, status: 'kept', flagged: false })
  expect(await project.data('status')).toMatchObject({ flagged: [second], best: { experiment: first } })

  await project.data('restore', second)
  expect(await project.data('status')).toMatchObject({ flagged: [], best: { experiment: second } })
  const child = await project.data<{ parent: string }>('new', '-m', 'on it', '--parent', second)
  expect(child.parent).toBe(second)
  expect(await notRecomputed(project)).toEqual([])
})
