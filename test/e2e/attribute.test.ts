import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { assay } from '../rig/assay.ts'
import { all, type Found, paying, switches, switchProject } from './attribute-scene.ts'
import type { RunData } from './project.ts'

test('of eight hunks of which two pay, others stay, or the reduced diff gets no verdict of its own', async () => {
  const project = switchProject(8, '10 * p[2] + 5 * p[7]')
  await project.data('init')
  const { experiment, status } = await project.attempt(switches(8, all(8)))
  expect(status).toBe('kept')
  const before = project.starts().length
  const found = await project.data<Found>('attribute', experiment)
  expect(paying(found)).toEqual(['h2', 'h7'])
  expect(found).toMatchObject({
    ended: true,
    tests: 8,
    lines: { all: 16, kept: 4 },
    reduced: { experiment: 'exp_0002', status: 'kept', value: 85 },
    summary: 'the same gain with 4 of 16 lines: exp_0002',
  })
  // Two samples for each test, two for the verdict.
  expect(project.starts().length - before).toBe(18)
  const reduced = await project.data<RunData & { parent: string }>('show', 'exp_0002')
  expect(reduced).toMatchObject({ parent: 'exp_0000', status: 'kept' })
  const { attribution } = await project.data<{ attribution: Found }>('report')
  expect(attribution).toMatchObject({ experiment, summary: found.summary })
  const report = await assay(['report'], { cwd: project.repo.dir })
  expect(report.stdout).toMatch(/^parts +the same gain with 4 of 16 lines: exp_0002$/m)
  const page = join(project.control, 'page.html')
  await project.data('report', '--html', page)
  expect(readFileSync(page, 'utf8')).toContain('"summary":"the same gain with 4 of 16 lines: exp_0002"')
  // A second call measures nothing.
  expect(await project.data<Found>('attribute', experiment)).toEqual(found)
  expect(project.starts().length - before).toBe(18)
  expect(await project.data('show', experiment, '--recompute')).toMatchObject({ same: true })
})

test('a call that cannot work begins, or says no next step', async () => {
  const project = switchProject(3, '5 * p[1] + 4 * p[2]')
  await project.data('init')
  const { experiment } = await project.attempt(switches(3, [1, 2]))
  const worse = await project.attempt(switches(3, [3]))
  const single = await project.attempt(switches(3, [1]))
  const refused = (id: string) => project.problem('attribute', id)
  expect(await refused('exp_0099')).toMatchObject({ code: 'unknown_experiment', exit: 2 })
  expect(await refused('exp_0000')).toMatchObject({ code: 'is_baseline', exit: 3 })
  expect(await refused(worse.experiment)).toMatchObject({ code: 'not_kept', exit: 3 })
  expect(await refused(single.experiment)).toMatchObject({ code: 'one_part', exit: 3 })
  const plan = await project.data<{ units: { id: string }[]; plan: object }>(
    'attribute',
    experiment,
    '--dry-run',
  )
  expect(plan).toMatchObject({ plan: { pairs: 60, careful: false }, expected_pairs: 2, goes_on: null })
  expect(plan.units.map(({ id }) => id)).toEqual(['h1', 'h2'])
  expect(await project.data('attribute', experiment)).toMatchObject({ reduced: null, ended: true })
})
