import { expect, test } from 'vitest'
import { assay } from '../rig/assay.ts'
import { makeProject, ms } from './project.ts'

test('a remark on an experiment is in no list, no context and no round', async () => {
  const project = makeProject()
  await project.data('init')
  const { experiment } = await project.attempt(ms(90))
  expect(await project.data('annotate')).toEqual({ remarks: [] })
  await project.data('annotate', experiment, 'the lexer takes half of the time', '--tag', 'profile')
  await project.data('annotate', 'exp_0000', 'slow on case 7', '--task', 't7')
  const [first, second] = [
    { experiment, task: null, tag: 'profile', text: 'the lexer takes half of the time' },
    { experiment: 'exp_0000', task: 't7', tag: null, text: 'slow on case 7' },
  ]
  expect(await project.data('annotate')).toMatchObject({ remarks: [first, second] })
  expect(await project.data('annotate', 'exp_0000')).toMatchObject({ remarks: [second] })
  expect(await project.data('annotate', '--tag', 'profile')).toMatchObject({ remarks: [first] })
  const said = [
    'exp_0000, task t7: slow on case 7',
    `${experiment} (profile): the lexer takes half of the time`,
  ]
  expect(await project.data('context')).toMatchObject({ remarks: { items: said, more: 0 } })
  const { stdout } = await assay(['context'], { cwd: project.repo.dir })
  for (const one of said) expect(stdout).toContain(one)
  expect(await project.data('round', 'open')).toMatchObject({ notes: [...said].reverse() })
})
