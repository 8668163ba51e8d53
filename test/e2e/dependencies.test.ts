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

test('a candidate adds a package that has no dot in its group, or takes a known one from elsewhere, and is measured', async () => {
  const files = { 'src/build.gradle': 'dependencies {}\n', ...manifest('a') }
  const project = makeProject({ spec: { dependencies: { approved: [] } }, files })
  await project.data('init')
  const gradle = "dependencies { implementation 'commons-io:commons-io:2.11' }\n"
  expect(await project.attempt({ ...ms(50), 'src/build.gradle': gradle })).toMatchObject({
    reason: 'dependency',
    message: 'src/build.gradle adds commons-io:commons-io, which nobody approved',
  })
  const elsewhere = JSON.stringify({ dependencies: { a: 'git@github.com:evil/a.git' } })
  expect(await project.attempt({ ...ms(50), 'src/package.json': elsewhere })).toMatchObject({
    reason: 'dependency',
    message: 'src/package.json adds a from git@github.com:evil/a.git, which nobody approved',
  })
})

test('a candidate adds a package by a lock file, a workspace file or a file that the CLI cannot read, and is measured', async () => {
  const project = await started({ dependencies: { approved: ['src/Gemfile'] } })
  const rejects = async (file: string, text: string, message: string) =>
    expect(await project.attempt({ ...ms(50), [file]: text })).toMatchObject({
      reason: 'dependency',
      message,
    })
  const lock = 'packages:\n  evil@1.0.0:\n    resolution: {integrity: x}\n'
  await rejects('src/pnpm-lock.yaml', lock, 'src/pnpm-lock.yaml adds evil, which nobody approved')
  const yarn = 'evil@^1:\n  version "1.0.0"\n'
  await rejects('src/yarn.lock', yarn, 'src/yarn.lock adds evil, which nobody approved')
  const setup = 'setup(install_requires=["evil"])\n'
  await rejects('src/setup.py', setup, 'src/setup.py adds evil, which nobody approved')
  const unread =
    'src/composer.json may add packages, which the CLI cannot read there: look at it, and approve it by this path'
  await rejects('src/composer.json', '{}', unread)
  expect(await project.attempt({ ...ms(50), 'src/Gemfile': "gem 'x'\n" })).toMatchObject({ status: 'kept' })
})
