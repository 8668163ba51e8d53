import { expect, test } from 'vitest'
import { heldOut, solve } from './held-out.ts'
import { sceneOf } from './loop-scene.ts'
import { noisyProject, notRecomputed, size } from './noisy.ts'
import { hook, makeProject, metrics, ms } from './project.ts'

interface Draws {
  attempts: { measurements: { side: string; stage: string; seed: number }[] }[]
}

test('a confirmation reuses the seeds of the verdict, or a confirmation against a non-parent revokes', async () => {
  const project = noisyProject()
  await project.data('init')
  const gain = await project.attempt(size(80))
  const child = await project.attempt(size(60), gain.experiment)
  const before = new Set(
    (await project.data<Draws>('show', gain.experiment)).attempts[0]?.measurements.map(({ seed }) => seed),
  )
  const from = project.draws().length
  expect(await project.data('confirm', gain.experiment)).toMatchObject({ passed: true, status: 'kept' })
  const fresh = project.draws().slice(from)
  expect(fresh.length).toBeGreaterThan(0)
  expect(fresh.filter(({ seed }) => before.has(seed))).toEqual([])
  // Its own child is better: that is told, and nothing falls.
  expect(await project.data('confirm', gain.experiment, '--against', child.experiment)).toMatchObject({
    passed: false,
    status: 'kept',
    flagged: false,
  })
  expect(await project.data('status')).toMatchObject({ best: { experiment: child.experiment } })
})

test('a repeated confirmation needs no more evidence each time, or does not say that it does', async () => {
  const project = noisyProject()
  await project.data('init')
  const [one, twin] = [
    await project.attempt(size(80)),
    await project.attempt(size(80, { 'src/comment': '1' })),
  ]
  const look = async (...against: string[]) => project.data('confirm', twin.experiment, ...against)
  for (const told of [/^[^(]*$/, /\(look 2 at these two/, /\(look 3 at these two/])
    expect(await look('--against', one.experiment)).toMatchObject({
      passed: false,
      status: 'kept',
      message: expect.stringMatching(told),
    })
  expect(await look()).toMatchObject({ passed: true })
  const inputs = sceneOf(project.repo)
    .eventsOf('confirmed')
    .map(({ comparison }) => comparison.inputs)
  expect(inputs.map(({ look, bounds }) => [look, bounds])).toEqual([
    [undefined, { e: 123, p: 0.0044 }],
    [2, { e: 4 * 123, p: 0.0044 / 4 }],
    [3, { e: 9 * 123, p: 0.0044 / 9 }],
    [undefined, { e: 123, p: 0.0044 }],
  ])
})

test('several confirmations at once each count as the first', async () => {
  const project = noisyProject()
  await project.data('init')
  const one = await project.attempt(size(80))
  const twin = await project.attempt(size(80, { 'src/comment': '1' }))
  const look = (...more: string[]) =>
    project.data('confirm', twin.experiment, '--against', one.experiment, ...more)
  await Promise.all([look(), look(), look('--key', 'same'), look('--key', 'same')])
  const inputs = sceneOf(project.repo)
    .eventsOf('confirmed')
    .map(({ comparison }) => comparison.inputs)
  expect(inputs.map(({ look }) => look)).toEqual([undefined, 2, 3])
})

test('a protected metric that a candidate makes random is no longer protected', async () => {
  const project = makeProject({
    spec: { protected: [{ metric: 'q', direction: 'maximize', max_regression: '1%' }] },
    files: metrics({ ms: 100, q: 100 }),
  })
  await project.data('init')
  const random = hook(
    'echo "METRIC ms=90" > src/metrics.txt; echo "METRIC q=$((ASSAY_SEED % 5))" >> src/metrics.txt',
  )
  const { experiment } = await project.open({ ...metrics({ ms: 90, q: 100 }), ...random })
  const ran = await project.data<{ status: string; reason: string }>('run', experiment)
  expect(ran.status).toBe('rejected')
})

test('an experiment that was never measured on held-out data becomes the best when the others are revoked', async () => {
  const { project, init } = heldOut()
  await init()
  const best = await project.attempt(solve('70'))
  const second = await project.attempt(solve("input === 'visible' ? 80 : 900"))
  expect(second).toMatchObject({ status: 'kept', best: false })
  const finding = { findings: [{ code: 'opinion', message: 'too good' }] }
  await project.cli(['audit', best.experiment], { input: JSON.stringify(finding) })
  expect(await project.data('status')).toMatchObject({ best: { experiment: 'exp_0000' } })
})

test('a tie is broken by one sample of a metric that varies, in a confirmation as well', async () => {
  const project = noisyProject({
    metric: { name: 'bytes', direction: 'minimize' },
    tie_breakers: [{ metric: 'mb', direction: 'minimize' }],
  })
  expect(await project.data('init')).toMatchObject({ baseline: { noise: 'deterministic' } })
  expect(await project.attempt(size(100, { 'src/mb': '40' }))).toMatchObject({
    status: 'rejected',
    reason: 'tie',
  })
  const random = makeProject({
    spec: { tie_breakers: [{ metric: 'q', direction: 'minimize' }] },
    files: metrics({ ms: 100, q: 9 }),
  })
  await random.data('init')
  // Nothing varied before this candidate made it so.
  const drawn = hook(`echo METRIC q=$((ASSAY_SEED % 1000 - 1000))`)
  expect(await random.attempt({ ...ms(100), ...drawn })).toMatchObject({
    status: 'rejected',
    reason: 'tie',
    samples: 2,
  })
  expect(await notRecomputed(project)).toEqual([])
  expect(await notRecomputed(random)).toEqual([])
})
