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

test('a mechanism that the remarks on several experiments name is no fact for the controller', async () => {
  const project = makeProject()
  await project.data('init')
  const due = async () =>
    (await project.data<{ facts: { name: string; message: string; experiments: string[] }[] }>('meta', 'due'))
      .facts
  const ids: string[] = []
  for (const _ of [1, 2, 3]) ids.push((await project.open(ms(90))).experiment)
  for (const id of ids.slice(0, 2))
    await project.data('annotate', id, 'too many misses', '--tag', 'cache line')
  await project.data('annotate', ids[0] ?? '', 'misses once more', '--tag', 'cache line')
  expect(await due()).toEqual([])
  await project.data('annotate', ids[2] ?? '', 'it misses here, too', '--tag', 'cache line')
  expect(await due()).toEqual([
    {
      name: 'remarks:cache_line:x3',
      message: 'remarks on 3 experiments name cache line; the newest: exp_0003: it misses here, too',
      experiments: ids,
    },
  ])
})
