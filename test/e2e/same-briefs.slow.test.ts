/** Which briefs of one round are one too many, whatever their words. */
import { expect, test } from 'vitest'
import { ms, type Project, writeFiles } from './project.ts'
import { briefs, open, start } from './rounds-scene.ts'

const written = (objective: string, more: object = {}) => ({ parent: 'exp_0000', objective, ...more })

async function tried(project: Project, hypothesis: string, value: number, ...place: string[]) {
  const made = await project.data<{ experiment: string; worktree: string }>(
    'new',
    '-p',
    'exp_0000',
    '-m',
    hypothesis,
    ...place,
  )
  writeFiles(made.worktree, ms(value))
  return project.data('run', made.experiment)
}

test('two briefs of one parent that point to the same places, or differ in numbers only, become two lanes', async () => {
  const project = await start({ loop: { width: 6, depth: 1 }, search: { policy: 'argmax', k: 2 } })
  await project.attempt(ms(90))
  const { token } = await open(project)
  const laid = await briefs(project, token, [
    written('Cache the tokens', { pointers: ['src/parse.js', 'src/lex.js:40'] }),
    written('Avoid the regular expression', {
      pointers: ['`./src/parse.js`', 'src/lex.js:40.', 'bench log'],
    }),
    written('Avoid the regular expression', { pointers: ['src/other.js'] }),
    written('Set the buffer to 64 KiB'),
    written('Set the buffer to 128 KiB'),
    { ...written('Set the buffer to 256 KiB'), parent: 'exp_0001' },
    written('Set the buffer of the writer to 64', { pointers: ['src/write.js'] }),
    written('Set the buffer of the reader to 64', { pointers: ['src/read.js'] }),
  ])
  expect(laid.lanes.map(({ brief }) => brief.objective)).toEqual([
    'Cache the tokens',
    'Avoid the regular expression',
    'Set the buffer to 64 KiB',
    'Set the buffer to 256 KiB',
    'Set the buffer of the writer to 64',
    'Set the buffer of the reader to 64',
  ])
  expect(laid.refused).toEqual([
    {
      index: 1,
      reason: 'duplicate',
      message: 'it starts from the same parent and points to the same places as the brief of lane 1',
    },
    {
      index: 4,
      reason: 'duplicate',
      message: 'it starts from the same parent and proposes the same kind of change as the brief of lane 3',
    },
  ])
})

test('the axis warning names no other axis, or a brief evades it with a new word for the same kind', async () => {
  const project = await start({ loop: { width: 3, depth: 1 } })
  await project.attempt(ms(90))
  const { token } = await open(project)
  const place = (lane: number) => ['--round', '1', '--lane', `${lane}`, '--depth', '1']
  const ways = ['hash all keys', 'intern each string', 'memoise the lookup']
  await briefs(
    project,
    token,
    ways.map((objective, n) => written(objective, { kind: 'cache', pointers: [`src/${n}.js`] })),
  )
  for (const [n, way] of ways.entries()) await tried(project, way, 120 + 10 * n, ...place(n + 1))
  await project.data('propose', '--input', JSON.stringify({ ideas: [{ hypothesis: 'Read in blocks' }] }))
  await project.cli(['round', 'close', '--token', String(token)], { input: '{"lanes":[]}' })
  const second = await open(project)
  expect(second.patterns).toContainEqual({
    kind: 'axis_warning',
    experiments: ['exp_0002', 'exp_0003', 'exp_0004'],
    message: expect.stringContaining(
      '; not tried yet: exp_0001 as the parent, on which nothing was built, or the idea "Read in blocks"',
    ),
  })
  const laid = await briefs(project, second.token, [
    written('Hash all the keys', { kind: 'hashing', pointers: ['src/9.js'] }),
    written('Sort the table', { kind: 'order', pointers: ['src/1.js'] }),
    written('Memoise a lookup', { kind: 'speed' }),
  ])
  expect([laid.lanes.length, laid.refused.map(({ index, reason }) => [index, reason])]).toEqual([
    2,
    [[2, 'axis']],
  ])
})
