/** What `attribute` leaves of a winner must hold all that the winner had to hold before `finish --reduced` takes it. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { assay } from '../rig/assay.ts'
import { makeTemp } from '../rig/temp.ts'
import { type Found, switches, switchProject } from './attribute-scene.ts'
import type { Project, StatusData } from './project.ts'

/** The second part gains nothing, and is what makes the first one right on held-out data. */
const GAIN = `ENVIRON["ASSAY_HOLDOUT"] == "" || p[2] ? 10 * p[1] : -400 * p[1]`

test('finish --reduced takes a diff that is worse on held-out data, since the visible metric needs only a part', async () => {
  const project = switchProject(2, GAIN)
  const file = join(makeTemp('held'), 'cases')
  writeFileSync(file, 'held\n')
  await project.data('init', '--holdout', file)
  const { experiment } = await project.attempt(switches(2, [1, 2]))
  const found = await project.data<Found>('attribute', experiment)
  expect(found.reduced).toMatchObject({ status: 'rejected' })
  expect(await project.data('show', found.reduced?.experiment ?? '', '--recompute')).toMatchObject({
    same: true,
  })
  expect(await project.problem('finish', '--reduced')).toMatchObject({ code: 'not_reduced' })
  expect(await project.data('finish')).toMatchObject({ experiment })
})

test('finish --reduced refuses a diff that is as good on held-out data', async () => {
  const project = switchProject(2, '10 * p[1]')
  const file = join(makeTemp('held'), 'cases')
  writeFileSync(file, 'held\n')
  await project.data('init', '--holdout', file)
  const { experiment } = await project.attempt(switches(2, [1, 2]))
  const found = await project.data<Found>('attribute', experiment)
  expect(found.reduced).toMatchObject({ status: 'kept' })
  expect(await project.data('finish', '--reduced')).toMatchObject({
    experiment: found.reduced?.experiment,
  })
})

test('finish --reduced takes a diff that does not pass a gate of the winner', async () => {
  const project = switchProject(2, '10 * p[1]')
  await project.data('init')
  const { experiment } = await project.attempt(switches(2, [1, 2]))
  const found = await project.data<Found>('attribute', experiment)
  const reduced = found.reduced?.experiment ?? ''
  const gate = ['--name', 'both', '--command', 'grep -q "part 2 1" src/parts.txt', '--reason', 'needed']
  await project.data('gate', 'add', experiment, ...gate)
  expect(await project.data('gate', 'check', reduced)).toMatchObject({ passed: false })
  expect(await project.problem('finish', '--reduced')).toMatchObject({
    code: 'not_confirmed',
    message: expect.stringContaining('gate both does not pass') as string,
  })
})

/** A merge of two, and what an attribution left of it: without the part of the second one that does not pay. */
async function reducedMerge() {
  const project = switchProject(4, '10 * p[1] + 5 * p[2]')
  await project.data('init')
  const first = await project.attempt(switches(4, [1]))
  const second = await project.attempt(switches(4, [2, 4]))
  const { best } = await project.data<{ best: string }>('merge')
  const { reduced } = await project.data<Found>('attribute', best)
  expect(reduced).toMatchObject({ status: 'kept', value: 85 })
  return {
    project,
    first: first.experiment,
    second: second.experiment,
    merged: best,
    reduced: reduced?.experiment,
  }
}
const bestOf = async ({ data }: Project) => (await data<StatusData>('status')).best?.experiment

test('what an attribution left over stands although the winner, or a part of the merge that it is taken from, was revoked', async () => {
  const { project, first, second, merged, reduced } = await reducedMerge()
  const because = ['--reason', 'it cheats']
  await project.data('prune', merged, '--reason', 'the smaller one is there')
  for (const fallen of [second, merged]) {
    await project.data('revoke', fallen, ...because)
    expect(await bestOf(project)).toBe(first)
    expect((await assay(['show', String(reduced)], { cwd: project.repo.dir })).stdout).toContain(
      `does not count: ${reduced} is built on ${fallen}, which was revoked: it cheats`,
    )
    await project.data('restore', fallen)
    expect([merged, reduced]).toContain(await bestOf(project))
  }
})

test('finish --reduced takes what an attribution left of a merge although a part of the merge is in doubt', async () => {
  const { project, second, reduced } = await reducedMerge()
  await project.data('audit', second, '--input', JSON.stringify({ findings: [{ message: 'odd' }] }))
  expect(await project.problem('finish', '--reduced')).toMatchObject({
    code: 'path_in_doubt',
    message: `${reduced} is built on ${second}, which is in doubt: an audit flagged it: odd`,
  })
  await project.data('confirm', second)
  expect(await project.data('finish', '--reduced')).toMatchObject({ experiment: reduced })
})
