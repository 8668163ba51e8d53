import { expect, test } from 'vitest'
import { makeProject, ms } from './project.ts'

test('gate add refuses a gate that the experiment passes because its parent does not', async () => {
  const project = makeProject()
  await project.data('init')
  const add = (id: string, command: string) =>
    ['gate', 'add', id, '--name', 'below-95', '--command', command, '--reason', 'hard won'] as const
  const holds = 'test "$(tr -dc 0-9 < src/metrics.txt)" -lt 95'
  const { experiment } = await project.attempt(ms(90))
  // One that is still open has won nothing.
  const open = await project.open(ms(80))
  expect(await project.problem(...add(open.experiment, holds))).toMatchObject({
    code: 'gate_fails',
    message: expect.stringContaining('does not pass on exp_0000'),
  })
  expect(await project.problem(...add(experiment, 'false'))).toMatchObject({
    code: 'gate_fails',
    message: expect.stringContaining(`does not pass on ${experiment}`),
  })
  expect(await project.data(...add(experiment, holds))).toMatchObject({ experiment, passed_on: experiment })
  const lost = await project.attempt(ms(96), experiment)
  expect(lost).toMatchObject({ status: 'rejected', reason: 'gate' })
  expect(await project.attempt(ms(85), experiment)).toMatchObject({ status: 'kept' })
  expect(await project.data('confirm', experiment)).toMatchObject({ passed: true })
})
