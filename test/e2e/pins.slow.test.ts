import { expect, test } from 'vitest'
import { assay } from '../rig/assay.ts'
import { ms, type NewData, type Project, writeFiles } from './project.ts'
import { brief, briefs, close, open, start } from './rounds-scene.ts'

interface Picked {
  parents: { experiment: string; rank: number; why: string }[]
}

/** Three children of the baseline that were kept: the last is the best. */
async function three(spec: object = {}): Promise<Project> {
  const project = await start({ loop: { width: 1, depth: 1, stall: 9 }, ...spec })
  for (const value of [90, 80, 70]) await project.attempt(ms(value))
  return project
}

const ranked = async (project: Project, ...args: string[]) =>
  (await project.data<Picked>('frontier', ...args)).parents.map(({ experiment, rank }) => [rank, experiment])

test('what a person pinned is no parent of the next round, or stays one when it is unpinned', async () => {
  const project = await three()
  expect(await project.data('pin', 'exp_0001', '--reason', 'its index is new')).toMatchObject({
    experiment: 'exp_0001',
    pinned: ['exp_0001'],
    k: 1,
    changed: true,
  })
  const opened = await open(project)
  expect(opened.parents).toEqual([
    { experiment: 'exp_0001', value: 90, rank: 1, why: 'pinned by a person: its index is new' },
  ])
  await briefs(project, opened.token, [brief('exp_0001', 'less')])
  await close(project, opened.token)
  expect(await project.data('status')).toMatchObject({
    pins: [{ experiment: 'exp_0001', why: 'its index is new', parent: true }],
  })
  expect(await project.data('show', 'exp_0001')).toMatchObject({ pinned: 'its index is new' })
  expect(await project.data('unpin', 'exp_0001')).toMatchObject({ pinned: [], changed: true })
  expect(await project.data('unpin', 'exp_0001')).toMatchObject({ pinned: [], changed: false })
  expect((await open(project)).parents).toMatchObject([{ experiment: 'exp_0003' }])
  expect(await project.data('status')).not.toHaveProperty('pins')
  expect(await project.data('show', 'exp_0001')).not.toHaveProperty('pinned')
})

test('more pins than parents are not told, or a pin takes the place of the best that the policy picks', async () => {
  const project = await three()
  await project.data('pin', 'exp_0001', '--reason', 'the first')
  const said = await assay(['pin', 'exp_0002', '--reason', 'the second'], { cwd: project.repo.dir })
  expect(said.stdout).toBe(
    `exp_0002 is pinned: each round offers it as a parent. Undo: assay unpin exp_0002
  2 experiments are pinned and search.k is 1: a round offers the best of them
`,
  )
  expect(await ranked(project)).toEqual([[1, 'exp_0002']])
  expect(await ranked(project, '--k', '2')).toEqual([
    [1, 'exp_0002'],
    [2, 'exp_0001'],
  ])
  expect(await ranked(project, '--k', '4')).toEqual([
    [1, 'exp_0002'],
    [2, 'exp_0001'],
    [3, 'exp_0003'],
    [4, 'exp_0000'],
  ])
  // The reason of the policy counts all that it could have picked.
  const { parents } = await project.data<Picked>('frontier', '--k', '4')
  expect(parents[3]?.why).toBe('number 4 of 4, at 100')
  const status = await assay(['status'], { cwd: project.repo.dir })
  expect(status.stdout).toContain('  pinned: exp_0002: the second\n')
})

test('a pin makes a parent of what may be none, or outlives a prune', async () => {
  const project = await three()
  const rejected = await project.attempt(ms(120))
  for (const [id, code] of [
    [rejected.experiment, 'bad_parent'],
    ['exp_0042', 'unknown_experiment'],
  ] as const)
    expect(await project.problem('pin', id, '--reason', 'no')).toMatchObject({ code })
  expect(await project.problem('pin', 'exp_0001')).toMatchObject({ code: 'no_reason' })
  await project.data('pin', 'exp_0001', '--reason', 'its index is new')
  // In doubt it is pinned, and offered by no round.
  const findings = [{ code: 'opinion', message: 'it may know the input' }]
  await project.data('audit', 'exp_0001', '--input', JSON.stringify({ findings }))
  expect(await ranked(project)).toEqual([[1, 'exp_0003']])
  expect(await project.data('status')).toMatchObject({ pins: [{ experiment: 'exp_0001', parent: false }] })
  await project.data('restore', 'exp_0001')
  expect(await ranked(project)).toEqual([[1, 'exp_0001']])
  await project.data('prune', 'exp_0001', '--reason', 'no use')
  await project.data('restore', 'exp_0001')
  expect(await ranked(project)).toEqual([[1, 'exp_0003']])
  expect(await project.data('status')).not.toHaveProperty('pins')
})

test('the loop prunes what a person pinned, or advises to', async () => {
  const project = await start({ loop: { width: 1, depth: 1, stall: 9 } })
  const { token } = await open(project)
  for (const value of [90, 70, 75, 74, 73]) await project.attempt(ms(value), 'exp_0000')
  for (const [at, idea] of ['cache the header', 'read in larger blocks', 'sort by first byte'].entries()) {
    const made = await project.data<NewData>('new', '--parent', 'exp_0001', '-m', idea)
    writeFiles(made.worktree, ms(95 + at / 10))
    await project.data('run', made.experiment)
  }
  await project.data('pin', 'exp_0001', '--reason', 'one more idea')
  await briefs(project, token, [brief('exp_0000', 'less')])
  expect(await close(project, token)).toMatchObject({ prune: [{ experiment: 'exp_0001' }] })
  expect(await project.data('show', 'exp_0001')).toMatchObject({ status: 'kept' })
  const { left } = await project.data<{ left: object }>('report')
  expect(left).not.toHaveProperty('prune')
})
