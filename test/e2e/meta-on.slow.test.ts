/** The meta controller, in a project whose spec does not name it. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { makeClock } from '../rig/clock.ts'
import { makeProject } from './project.ts'
import { answered, briefed, card, edit, ids, next } from './tasks-scene.ts'

test('the meta controller is off unless the spec names it, looks too early, or cannot be switched off', async () => {
  const clock = makeClock()
  const project = makeProject({ env: clock.env, spec: { loop: { width: 1, depth: 1 } } })
  await project.data('init')
  await briefed(project, 'less')
  const { worktree } = await card(project, 'r1/l1/d1/implement')
  writeFileSync(join(worktree, 'src/hook.sh'), "echo 'WARNING: the cache is cold' >&2\n")
  await edit(project, 'r1/l1/d1/implement', 50)
  await answered(project, 'r1/l1/d1/verify', { passed: true })
  expect(ids(await next(project, '--wait', '60s'))).toEqual(['r1/l1/d1/audit'])
  clock.ahead(3)
  expect(ids(await next(project))).toEqual(['r1/l1/d1/audit'])
  clock.ahead(7)
  expect(ids(await next(project))).toEqual(['r1/l1/d1/audit', 'meta/1'])
  const { prompt } = await project.data<{ prompt: string }>('task', 'meta/1')
  expect(prompt).toContain('warning:exp_0001:1')
  // What nobody answered is asked once more.
  await project.data('answer', 'meta/1', '--none')
  clock.ahead(14)
  const turn = (on: boolean) =>
    project.data('config', 'set', 'loop.meta.on', String(on), '--reason', 'try it')
  await turn(false)
  expect(ids(await next(project))).toEqual(['r1/l1/d1/audit'])
  await turn(true)
  expect(ids(await next(project))).toEqual(['r1/l1/d1/audit', 'meta/2'])
})
