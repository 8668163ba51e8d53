import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { heldOut, solve } from './held-out.ts'
import { hook, makeProject, ms, specText } from './project.ts'

test('a candidate that only picks a lucky seed is kept', async () => {
  // What the candidate makes of its input depends on a constant of its own, and on nothing that it does.
  const drawn = (seed: number) => solve(`90 + (input.length * ${seed}) % 23`)
  const { project, init } = heldOut({}, { 'src/noise': '0\n', ...drawn(7) })
  await init()
  const lucky = await project.attempt(drawn(10))
  expect(lucky).toMatchObject({ status: 'rejected', reason: 'holdout', best: false })
  expect(await project.data('status')).toMatchObject({ best: { experiment: 'exp_0000' } })
})

test('a revoked best is still what a new best must beat, or the next candidate skips its gates', async () => {
  const project = makeProject()
  const log = join(project.control, 'gates')
  project.repo.commit('gate', {
    'assay.yaml': specText({ gates: [{ name: 'tests', command: `echo ran >> '${log}'`, phase: 'after' }] }),
  })
  await project.data('init')
  const count = () => (existsSync(log) ? readFileSync(log, 'utf8').split('\n').length - 1 : 0)
  const gone = join(project.control, 'gone')
  const fake = hook(`if [ -f '${gone}' ]; then echo METRIC ms=100 > src/metrics.txt; fi`)
  const { experiment } = await project.attempt({ ...ms(50), ...fake })
  writeFileSync(gone, '')
  expect(await project.data('confirm', experiment)).toMatchObject({ passed: false, status: 'revoked' })
  const before = count()
  expect(await project.attempt(ms(90))).toMatchObject({ status: 'kept', best: true, improvement_abs: 10 })
  expect(count() - before).toBe(1)
})
