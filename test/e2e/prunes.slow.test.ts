import { expect, test } from 'vitest'
import { assay } from '../rig/assay.ts'
import { ms, type NewData, type Project, writeFiles } from './project.ts'
import { brief, briefs, close, open, start } from './rounds-scene.ts'
import { next } from './tasks-scene.ts'

const IDEAS = ['cache the header', 'read in larger blocks', 'sort by first byte']

/** Opens an experiment with these words and has it judged. */
async function attempt(project: Project, parent: string, value: number, words: string): Promise<string> {
  const { experiment, worktree } = await project.data<NewData>('new', '--parent', parent, '-m', words)
  writeFiles(worktree, ms(value))
  await project.data('run', experiment)
  return experiment
}

/** Children of the baseline that were kept, each with three different ideas that were no better than it. */
async function exhausted(project: Project, values: number[]): Promise<string[]> {
  const found: string[] = []
  for (const value of values) {
    const id = await attempt(project, 'exp_0000', value, `begin with ${value}`)
    for (const [at, idea] of IDEAS.entries()) await attempt(project, id, value + 5 + at / 10, idea)
    found.push(id)
  }
  return found
}

const statusOf = async (project: Project, ids: string[]) => {
  const found: string[] = []
  for (const id of ids) found.push((await project.data<{ status: string }>('show', id)).status)
  return found
}

test('parents that brought nothing continue getting children, all of them are pruned at once, or nothing says which are left', async () => {
  const project = await start({ loop: { width: 1, depth: 1, stall: 9 } })
  const { token } = await open(project)
  const worn = await exhausted(project, [90, 88, 86])
  for (const value of [70, 75, 74]) await attempt(project, 'exp_0000', value, `leave ${value} alone`)
  await briefs(project, token, [brief('exp_0000', 'less')])
  expect(await close(project, token)).toMatchObject({ prune: worn.map((experiment) => ({ experiment })) })
  expect(await statusOf(project, worn)).toEqual(['pruned', 'pruned', 'kept'])
  const left = worn.slice(2)
  expect(await project.data('report')).toMatchObject({ left: { prune: left } })
  expect(await next(project)).toMatchObject({
    line: expect.stringContaining(`left for you to prune: ${left.join(', ')}`),
  })
  const text = await assay(['report'], { cwd: project.repo.dir })
  expect(text.stdout).toContain('1 to prune')
  // What the user restores stays: neither a repetition nor the next round prunes it again.
  await project.data('restore', worn[0] ?? '', '--reason', 'one more idea')
  const second = await open(project)
  await briefs(project, second.token, [brief('exp_0000', 'less')])
  await close(project, second.token)
  expect(await statusOf(project, worn)).toEqual(['kept', 'pruned', 'pruned'])
})

test('the loop prunes until too few parents are left to choose from', async () => {
  const project = await start({ loop: { width: 1, depth: 1, stall: 9 } })
  const { token } = await open(project)
  const worn = await exhausted(project, [90])
  await attempt(project, 'exp_0000', 70, 'leave it alone')
  await briefs(project, token, [brief('exp_0000', 'less')])
  await close(project, token)
  expect(await statusOf(project, worn)).toEqual(['kept'])
})

test('one idea that was tried with three numbers uses up its parent', async () => {
  const project = await start({ loop: { width: 1, depth: 1, stall: 9 } })
  const { token } = await open(project)
  for (const value of [90, 88, 86, 70]) await attempt(project, 'exp_0000', value, `begin with ${value}`)
  for (const [at, size] of [16, 32, 64].entries()) {
    await attempt(project, 'exp_0001', 95 + at, `made the buffer ${size}`)
    await attempt(project, 'exp_0002', 93 + at, IDEAS[at] ?? '')
  }
  await briefs(project, token, [brief('exp_0000', 'less')])
  expect(await close(project, token)).toMatchObject({
    prune: [{ experiment: 'exp_0002', why: '3 children, none better' }],
  })
  expect(await statusOf(project, ['exp_0001', 'exp_0002'])).toEqual(['kept', 'pruned'])
})
