/** The verbs of the backlog, and what a host is told of it. */
import { expect, test } from 'vitest'
import { dataOf } from '../rig/assay.ts'
import { brief, briefs, open, send, start } from './rounds-scene.ts'
import { answered, card, ids, next } from './tasks-scene.ts'

const PARKED = '1 idea waits for your approval of packages:'
const IDEAS = {
  ideas: [
    { hypothesis: 'Intern the keys', kind: 'memory', priority: 'low', sources: ['src/keys.c'] },
    { hypothesis: 'Compress by zstd', kind: 'codec', priority: 'high', dependencies: ['zstd'] },
    { hypothesis: 'Skip empty lines', kind: 'parser', priority: 'high' },
  ],
}

test('a host is not told what waits for an approval, is told it at each call, or not again at the end', async () => {
  const project = await start({ dependencies: { approved: [] } })
  await send(project, ['propose'], IDEAS)
  const told = async (...flags: string[]) =>
    (await project.data<{ alerts: string[] }>('round', 'next', ...flags)).alerts
  expect(await told()).toEqual([expect.stringContaining(PARKED)])
  expect(await told()).toEqual([])
  await project.data('loop', 'stop', '--reason', 'enough')
  await answered(project, 'r1/brief', { briefs: [] })
  await answered(project, 'r1/collect', { learnings: [], suggestions: [] })
  expect(await next(project)).toMatchObject({ over: 'user', alerts: [expect.stringContaining('idea_0002')] })
})

test('a brief does not take the idea that it names, or takes one that waits or was taken', async () => {
  const project = await start({ dependencies: { approved: [] }, loop: { width: 3, depth: 1 } })
  await send(project, ['propose'], IDEAS)
  await next(project)
  expect((await card(project, 'r1/brief')).brief.proposals?.map(({ hypothesis }) => hypothesis)).toEqual([
    'Skip empty lines',
    'Intern the keys',
  ])
  const { token } = await open(project)
  const laid = await briefs(project, token, [
    { ...brief('exp_0000', 'leave out what is empty'), idea: 'idea_0003' },
    { ...brief('exp_0000', 'the same once more, elsewhere'), idea: 'idea_0003' },
    { ...brief('exp_0000', 'make it small'), idea: 'idea_0002' },
    { ...brief('exp_0000', 'something else'), idea: 'idea_0009' },
  ])
  expect(laid.lanes.map(({ brief: one }) => one)).toMatchObject([{ idea: 'idea_0003' }])
  expect(laid.refused.map(({ message }) => message)).toEqual([
    'it carries out the same idea as the brief of lane 1',
    'idea_0002 waits for an approval of zstd',
    'there is no idea_0009',
  ])
  expect(await project.problem('backlog', 'drop', 'idea_0003', '--reason', 'no')).toMatchObject({
    code: 'is_taken',
    exit: 3,
  })
})

test('an author that should not see the backlog sees it, or a loop by the backlog asks an author', async () => {
  const hidden = await start({ loop: { width: 1, depth: 1, briefs: 'author' } })
  await send(hidden, ['propose'], IDEAS)
  await next(hidden)
  expect((await card(hidden, 'r1/brief')).brief.proposals).toEqual([])
  const read = async (key: string) => (await hidden.data<{ value: unknown }>('config', 'get', key)).value
  expect([await read('briefs'), await read('dependencies.approved'), await read('targets')]).toEqual([
    'author',
    null,
    [],
  ])
  const changed = await hidden.data('config', 'set', 'dependencies.approved', '[lz4]', '--reason', 'small')
  expect(changed).toMatchObject({ value: ['lz4'], before: null })
  await hidden.data('config', 'set', 'briefs', 'backlog', '--reason', 'they are good')
  expect(ids(await next(hidden))).toEqual(['r1/l1/d1/implement'])
})

test('an agent approves the package that its own idea needs', async () => {
  const project = await start({ dependencies: { approved: [] } })
  await send(project, ['propose'], IDEAS)
  const { worktree } = await project.open({})
  const tried = await project.cli(['backlog', 'approve', 'idea_0002'], { cwd: worktree })
  expect(tried.json).toMatchObject({ ok: false, problem: { code: 'in_worktree' } })
  expect(await project.data('backlog', 'approve', 'idea_0002')).toMatchObject({ ideas: ['idea_0002'] })
})

test('a person cannot read the backlog: what is left, what waits and for what, what became of the others', async () => {
  const project = await start({ dependencies: { approved: [] } })
  const wrong = { ideas: [{ hypothesis: 'x', priority: 'urgent' }] }
  expect((await send(project, ['propose'], wrong)).code).toBe(2)
  await send(project, ['propose'], IDEAS)
  await project.data('backlog', 'drop', 'idea_0003', '--reason', 'the format')
  const said = async (...args: string[]) => {
    const { assay } = await import('../rig/assay.ts')
    return (await assay(['backlog', ...args], { cwd: project.repo.dir })).stdout
  }
  const left = await said()
  expect(left).toMatch(/idea_0001 +added +low +memory +Intern the keys/)
  expect(left).toMatch(/idea_0002 +parked +high +codec +Compress by zstd \(needs zstd\)/)
  expect(left).toContain(`${PARKED}\n  idea_0002 needs zstd: Compress by zstd\n`)
  expect(left).toContain('1 done or dropped: assay backlog --all')
  expect(await said('--all')).toMatch(/idea_0003 +dropped +high +parser +Skip empty lines \(the format\)/)
  const ids = dataOf(await project.cli<{ ideas: { id: string }[]; hidden: number }>(['backlog']))
  expect([ids.ideas.map(({ id }) => id), ids.hidden]).toEqual([['idea_0001', 'idea_0002'], 1])
})
