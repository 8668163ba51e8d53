/** Packages that a candidate adds, through the real CLI. */
import { expect, test } from 'vitest'
import { makeProject, ms, type Project } from './project.ts'
import { send } from './rounds-scene.ts'

const manifest = (...names: string[]) => ({
  'src/package.json': JSON.stringify({ dependencies: Object.fromEntries(names.map((name) => [name, '1'])) }),
})

async function started(spec: object): Promise<Project> {
  const project = makeProject({ spec: { ...spec }, files: manifest('a') })
  await project.data('init')
  return project
}

test('a candidate is measured, or charged, with a package that nobody approved; or approvals of the spec and of ideas do not count', async () => {
  const project = await started({ dependencies: { approved: ['lz4'] } })
  const begun = project.starts().length
  const rejected = await project.attempt({ ...ms(50), ...manifest('a', 'zstd', 'lz4') })
  expect(rejected).toMatchObject({
    status: 'rejected',
    reason: 'dependency',
    message: 'src/package.json adds zstd, which nobody approved',
  })
  expect(project.starts()).toHaveLength(begun)
  const { budget } = await project.data<{ budget: { experiments: { used: number } } }>('status')
  expect(budget.experiments.used).toBe(0)

  const idea = { hypothesis: 'Compress the keys', dependencies: ['zstd'] }
  await send(project, ['propose'], { ideas: [idea] })
  expect(await project.data('status')).toMatchObject({
    parked: [{ id: 'idea_0001', dependencies: ['zstd'], hypothesis: idea.hypothesis }],
  })
  await project.data('backlog', 'approve', 'idea_0001')
  // The approval answers what stood against the same files.
  expect(await project.data('run', rejected.experiment)).toMatchObject({ status: 'kept', value: 50 })
  const child = { ...ms(40), ...manifest('a', 'zstd', 'lz4', 'brotli') }
  expect(await project.attempt(child, rejected.experiment)).toMatchObject({ reason: 'dependency' })
  await project.data('config', 'set', 'dependencies.approved', '[lz4, brotli]', '--reason', 'it is small')
  expect(await project.attempt(child, rejected.experiment)).toMatchObject({ status: 'kept' })
})

test('without `dependencies` in the spec, a candidate is refused for a package', async () => {
  const project = await started({})
  expect(await project.attempt({ ...ms(50), ...manifest('a', 'zstd') })).toMatchObject({ status: 'kept' })
})
