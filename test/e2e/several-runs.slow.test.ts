/** Two active runs in one repository: a call that names something of one of them needs no `--run`. */
import { expect, test } from 'vitest'
import { assay, dataOf, problemOf } from '../rig/assay.ts'
import { makeProject, ms, type NewData, writeFiles } from './project.ts'

test('with two active runs, an experiment, a key, a token or a task that only one has needs --run, or reaches the other', async () => {
  const project = makeProject()
  await project.data('init')
  await project.data('init', '--new')
  const inRun = (run: string) => (args: string[], input?: string) =>
    project.cli<Record<string, unknown>>([...args, '--run', run], input === undefined ? {} : { input })
  const [first, second] = [inRun('run_0001'), inRun('run_0002')]

  const made = dataOf(await second(['new', '-m', 'x', '--key', 'made'])) as unknown as NewData
  writeFiles(made.worktree, ms(90))
  expect(await project.data('run', 'exp_0001', '--key', 'judged')).toMatchObject({
    status: 'kept',
    value: 90,
  })
  expect(await project.data('wait', '--for', 'exp_0001')).toMatchObject({ experiment: 'exp_0001' })
  // Repeated, the calls find their run by their keys: nothing is made or measured twice.
  expect(await project.data('new', '-m', 'x', '--key', 'made')).toMatchObject({ repeated: true })
  // The next command has no key, so it names the run.
  const again = await assay(['new', '-m', 'x', '--key', 'made'], { cwd: project.repo.dir })
  expect(again.stdout).toContain('Then: assay run --run run_0002 exp_0001')
  expect(dataOf(await first(['status']))).toMatchObject({ counts: { kept: 1, open: 0 } })

  const both = await project.problem('show', 'exp_0000')
  expect(both).toMatchObject({
    exit: 2,
    code: 'several_runs',
    message: '2 runs here have exp_0000: run_0001, run_0002',
    hint: 'say which one: --run run_0002',
    data: { runs: ['run_0001', 'run_0002'] },
  })
  expect(await project.problem('show', 'exp_0009')).toMatchObject({
    code: 'several_runs',
    message: 'there are 2 runs here: run_0001, run_0002',
  })

  const { token } = dataOf(await first(['round', 'open']))
  const briefs = JSON.stringify({ briefs: [{ parent: 'exp_0000', objective: 'go down' }] })
  const laid = await project.cli<{ lanes: unknown[] }>(['round', 'briefs', '--token', String(token)], {
    input: briefs,
  })
  expect(dataOf(laid).lanes).toHaveLength(1)
  dataOf(await first(['round', 'next']))
  expect(await project.data('task', 'r1/l1/d1/implement')).toMatchObject({ role: 'implement' })
  // Now both have it.
  dataOf(await second(['round', 'next']))
  const task = problemOf(await project.cli(['task', 'r1/brief']))
  expect(task).toMatchObject({
    code: 'several_runs',
    message: '2 runs here have r1/brief: run_0001, run_0002',
  })
})
