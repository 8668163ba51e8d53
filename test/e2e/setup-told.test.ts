import { expect, test } from 'vitest'
import { assay } from '../rig/assay.ts'
import { makeProject, specText } from './project.ts'

test('new says neither that a setup runs and how long it may take, nor how long it took', async () => {
  const project = makeProject()
  project.repo.commit('setup', {
    'assay.yaml': specText({ worktree: { setup: { command: 'echo installed', timeout: '3m' } } }),
  })
  await project.data('init')
  const said = await assay(['new', '-m', 'x'], { cwd: project.repo.dir })
  expect(said.stderr).toContain('preparing setup of exp_0001, at most 3 min 00 s\n')
  expect(said.stderr).toMatch(/^exp_0001: set up in \d[\d.]* m?s$/m)
  expect(said.stdout).toMatch(/^Edit in .* \(set up in \d[\d.]* m?s\)$/m)
  expect(await project.data('new', '-m', 'y')).toMatchObject({ setup_ms: expect.any(Number) })
})

test('new tells of a setup that the spec does not have', async () => {
  const project = makeProject()
  await project.data('init')
  expect(await project.data('new', '-m', 'x')).not.toHaveProperty('setup_ms')
  expect((await assay(['new', '-m', 'x'], { cwd: project.repo.dir })).stdout).not.toContain('set up in')
})
