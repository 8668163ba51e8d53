import { expect, test } from 'vitest'
import { hook, ms } from './project.ts'
import { brief, briefs, close, open, start } from './rounds-scene.ts'

test('a round without a new verdict gives its scanners nothing to read', async () => {
  const project = await start()
  await project.attempt(ms(90))
  for (const round of [1, 2, 3]) {
    const { token, scan } = await open(project)
    expect([round, scan.batches]).toEqual([round, [['exp_0001']]])
    await briefs(project, token, [brief('exp_0001', `way ${round}`)])
    await close(project, token)
  }
})

test('one error in several experiments is reported as separate failures', async () => {
  const project = await start()
  const fails = (line: number) => hook(`echo "TypeError: x is null, line ${line}" >&2; exit 3`)
  await project.attempt(fails(10))
  expect((await open(project)).patterns).toEqual([])
  await project.attempt({ ...ms(80), ...fails(20) })
  expect((await open(project)).patterns).toEqual([
    {
      kind: 'errors',
      experiments: ['exp_0001', 'exp_0002'],
      message: expect.stringMatching(
        /^2 experiments failed with the same error: .*TypeError: x is null, line 20/,
      ),
    },
  ])
})
