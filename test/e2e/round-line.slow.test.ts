import { expect, test } from 'vitest'
import { ms } from './project.ts'
import { brief, briefs, close, open, start } from './rounds-scene.ts'
import { next } from './tasks-scene.ts'

test('a round does not say in one line its limit, the best before it, what was spent and why ideas are asked for', async () => {
  const project = await start({
    loop: { width: 1, depth: 1, stall: 4, ideate: { stall: 1 } },
    budget: { experiments: 9 },
  })
  const first = await next(project)
  expect(first).toMatchObject({
    line: expect.stringMatching(
      /^round 1: best 100 \(exp_0000\); 0 of 4 rounds without a new best; spent 0 of 9 experiments.*; no ideas asked for$/,
    ),
  })
  const { token } = await open(project)
  await project.attempt(ms(90))
  await briefs(project, token, [brief('exp_0000', 'less')])
  await close(project, token)
  expect(await next(project)).toMatchObject({
    line: expect.stringContaining('round 2: best 90 (exp_0001); before 100 (exp_0000); 0 of 4 rounds'),
  })
  const second = await open(project)
  await briefs(project, second.token, [brief('exp_0001', 'less')])
  await close(project, second.token)
  const { line } = (await next(project)) as unknown as { line: string }
  expect(line).toContain(
    'round 3: best 90 (exp_0001); 1 of 4 rounds without a new best; spent 1 of 9 experiments',
  )
  expect(line).toMatch(/; ideas asked for: 1 round without a new best$/)
})
