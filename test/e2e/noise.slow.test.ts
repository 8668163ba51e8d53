import { appendFileSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { noisyProject, type Shown, size } from './noisy.ts'

test('noise is taken for a gain, a gain for noise, or an old timing is compared with a new one', async () => {
  const project = noisyProject()
  expect(await project.data('init')).toMatchObject({ baseline: { noise: 'paired', samples: 5 } })
  const noop = await project.attempt(size(100, { 'src/comment': 'nothing' }))
  expect(noop).toMatchObject({
    status: 'rejected',
    reason: expect.stringMatching(/^(not_better|inconclusive)$/),
  })
  const gain = await project.attempt(size(90))
  expect(gain).toMatchObject({ status: 'kept', reason: 'improved', against: 'exp_0000', best: true })
  expect(Math.abs((gain.improvement ?? 0) - 0.1)).toBeLessThan(0.04)
  expect(gain.interval?.[0]).toBeGreaterThan(0)
  const better = await project.attempt(size(80), gain.experiment)
  expect(better).toMatchObject({ status: 'kept', parent_value: gain.value, best: true })
  // The score is the baseline times the confirmed ratios of its path.
  const ratio = 1 - (better.improvement ?? 0)
  expect(better.value).toBeCloseTo((gain.value ?? 0) * ratio, 6)
})

test('a verdict does not follow from its record, a changed record goes unnoticed, or nothing says why', async () => {
  const project = noisyProject({ noise: { pairs: { max: 8 } } })
  await project.data('init')
  const unclear = await project.attempt(size(99))
  const { experiment } = await project.attempt(size(70))
  for (const id of ['exp_0000', unclear.experiment, experiment])
    expect(await project.data('show', id, '--recompute')).toMatchObject({ same: true, differences: [] })
  const shown = await project.data<Shown>('show', experiment)
  expect(shown.explained).toEqual([
    expect.stringMatching(
      /^Judged against exp_0000: 5 of at most 8 pairs(, \d of them while [a-z ]+)?, \d\d(\.\d+)? % better/,
    ),
    expect.stringMatching(
      /^Confirmed on fresh pairs against exp_0000: 7 of at most 8 pairs, .*as soon as the/,
    ),
  ])
  // The same seed for both sides of a pair, another one for each pair.
  const samples = shown.attempts[0]?.measurements ?? []
  const seeds = (side: string) =>
    Object.fromEntries(
      samples.filter((one) => one.side === side).map((one) => [`${one.stage} ${one.pair}`, one.seed]),
    )
  expect(seeds('parent')).toEqual(seeds('candidate'))
  expect(new Set(Object.values(seeds('parent'))).size).toBe(12)
  const attempt = project.repo.path('.assay', 'runs', 'run_0001', 'exp', '0002', 'attempts', '1')
  const steps = join(attempt, 'steps.jsonl')
  const original = readFileSync(steps, 'utf8')
  writeFileSync(steps, original.replace(/"value":7\d\.\d+/, '"value":99.5'))
  const changed = await project.cli(['show', experiment, '--recompute'])
  expect(changed.code).toBe(4)
  expect(changed.json).toMatchObject({ data: { same: false, record: 'changed' } })
  // So is one that lacks what the verdict rests on.
  writeFileSync(steps, '')
  expect((await project.cli(['show', experiment, '--recompute'])).json).toMatchObject({
    data: { same: false, record: 'changed' },
  })
  // What a process wrote after the verdict is no part of it.
  writeFileSync(steps, original)
  appendFileSync(steps, `${original.split('\n')[0]}\n`)
  expect(await project.data('show', experiment, '--recompute')).toMatchObject({ same: true })
})
