import { expect, test } from 'vitest'
import { assay, dataOf } from '../rig/assay.ts'
import { send, start } from './rounds-scene.ts'
import { answered, briefed } from './tasks-scene.ts'

test('skills of the spec are in no context, or missing from a prompt whose text was replaced or that revises', async () => {
  const skills = ['profiling', 'lexers']
  const project = await start({ skills, loop: { width: 1, depth: 1 } })
  expect(await project.data('context')).toMatchObject({ skills })
  const { stdout } = await assay(['context'], { cwd: project.repo.dir })
  expect(stdout).toContain('Load in full before you begin: profiling, lexers')
  const names = ['goal', 'metric', 'experiment', 'parent', 'worktree', 'artifacts', 'objective']
  const text = `Do it: ${names.map((name) => `{${name}}`).join(' ')}`
  const edit = {
    kind: 'prompt',
    prompt: 'implement',
    mode: 'replace',
    text,
    rationale: 'short',
    evidence: 'exp_0000',
  }
  dataOf(await send(project, ['meta', 'apply'], { edits: [edit] }))
  await briefed(project, 'change nothing')
  const promptOf = async (id: string) => (await project.data<{ prompt: string }>('task', id)).prompt
  const load = 'Load these skills in full first: profiling, lexers.'
  const first = await promptOf('r1/l1/d1/implement')
  expect([first.includes('Do it: '), first.includes(load)]).toEqual([true, true])
  await answered(project, 'r1/l1/d1/implement', {})
  expect(await promptOf('r1/l1/d1/revise.1')).toContain(load)
})
