/** What a brief may go on with beside its parent: the files of an experiment that failed, or an artifact. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { start } from './rounds-scene.ts'
import { answered, briefed, card, edit, ids, ledger, next } from './tasks-scene.ts'

const NOTHING = { learnings: [], suggestions: [] }
const atBrief = async (project: Parameters<typeof card>[0], round: number) => {
  for (const id of ids(await next(project)).filter((one) => one.includes('/scan/')))
    await answered(project, id, { findings: [] })
  return (await card(project, `r${round}/brief`)).brief
}

test('a repair begins with the files of the parent, or an idea leaves the list before it was measured', async () => {
  const project = await start({ loop: { width: 2, depth: 1 } })
  await briefed(project, 'halve it')
  const first = await card(project, 'r1/l1/d1/implement')
  writeFileSync(join(first.artifacts, 'model.bin'), 'weights')
  writeFileSync(join(first.worktree, 'src/idea.txt'), 'the idea\n')
  writeFileSync(join(first.worktree, 'src/metrics.txt'), 'METRIC ms=many\n')
  await answered(project, 'r1/l1/d1/implement', {})
  await answered(project, 'r1/l1/d1/verify', { passed: true })
  expect(ids(await next(project, '--wait', '60s'))).toEqual(['r1/collect'])
  await answered(project, 'r1/collect', NOTHING)
  expect(await project.data('show', 'exp_0001')).toMatchObject({ status: 'failed', failure_class: 'eval' })

  // A repair that nobody works on measures nothing.
  expect((await atBrief(project, 2)).retests).toEqual(['exp_0001'])
  const again = { objective: 'print a number', repair: 'exp_0001' }
  await answered(project, 'r2/brief', { briefs: [again] })
  await project.data('discard', 'exp_0002', '--failure-class', 'environment', '--reason', 'no time')
  expect(ids(await next(project))).toEqual(['r2/collect'])
  await answered(project, 'r2/collect', NOTHING)

  expect((await atBrief(project, 3)).retests).toEqual(['exp_0001'])
  const model = { objective: 'From artifact exp_0001:model.bin: load it', pointers: [] }
  const wrong = [
    { objective: 'no such thing', from_artifact: 'exp_0001:gone' },
    { objective: 'the same repair once more', repair: 'exp_0001' },
    { objective: 'Repair of exp_0000 please' },
  ]
  await answered(project, 'r3/brief', { briefs: [again, ...wrong, model] })
  const laid = ledger(project).findLast(({ type }) => type === 'round_briefed')
  expect(laid).toMatchObject({
    refused: [
      { index: 1, reason: 'artifact', message: expect.stringContaining('exp_0001 has no artifact "gone"') },
      { index: 2, reason: 'duplicate' },
      { index: 3, reason: 'repair', message: expect.stringContaining('it was kept') },
    ],
  })
  const repair = await card(project, 'r3/l1/d1/implement')
  expect(readFileSync(join(repair.worktree, 'src/idea.txt'), 'utf8')).toBe('the idea\n')
  expect(repair.repair).toEqual({ experiment: 'exp_0001', why: expect.stringContaining('ms') })
  expect(existsSync(String(repair.parent_artifacts))).toBe(true)
  expect(repair.parent_artifacts).toContain('/exp/0000/')
  const seeded = await card(project, 'r3/l2/d1/implement')
  expect(readFileSync(String(seeded.seed_artifact), 'utf8')).toBe('weights')
  expect(existsSync(join(seeded.worktree, 'src/idea.txt'))).toBe(false)
  await edit(project, 'r3/l1/d1/implement', 80)
  await answered(project, 'r3/l1/d1/verify', { passed: true })
  await edit(project, 'r3/l2/d1/implement', 85)
  await answered(project, 'r3/l2/d1/verify', { passed: true })
  const { experiment } = repair
  await project.data('wait', '--for', experiment)
  expect(await project.data('show', experiment)).toMatchObject({
    status: 'kept',
    value: 80,
    parent: 'exp_0000',
    repair: 'exp_0001',
  })
  expect(await project.data('round', 'open')).toMatchObject({ retests: [] })
})
