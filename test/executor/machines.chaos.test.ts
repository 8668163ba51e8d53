import { expect, test } from 'vitest'
import { ms } from '../e2e/project.ts'
import { projectOnNode, waitedFor } from './scene.ts'

interface Standing {
  best: { experiment: string; other_machine?: string }
}

/** Its jobs say that they ran on another processor, with another C library. */
const onAnother = waitedFor(
  `sed -i 's/"cpu":"[^"]*"/"cpu":"Other CPU"/; s/"libc":"[^"]*"/"libc":"glibc 9.99"/' node.json`,
) as { submit: string[] }

test('a best that another machine measured than the baseline looks like one of the same', async () => {
  const project = projectOnNode({ spec: { executor: waitedFor() } })
  await project.data('init', '--no-canary')
  const same = await project.attempt(ms(90))
  expect((await project.data<Standing>('status')).best).toEqual({ experiment: same.experiment, value: 90 })
  const set = ['executor.submit', JSON.stringify(onAnother.submit)]
  await project.data('config', 'set', ...set, '--reason', 'a test')
  const other = await project.attempt(ms(80), same.experiment)
  const { best } = await project.data<Standing>('status')
  expect(best).toMatchObject({
    experiment: other.experiment,
    other_machine: expect.stringMatching(
      /^Other CPU in place of .*; the libc glibc 9\.99 in place of glibc \d/,
    ),
  })
  // Jobs on both kinds of machine: each experiment has its own.
  const back = ['executor.submit', JSON.stringify((waitedFor() as { submit: string[] }).submit)]
  await project.data('config', 'set', ...back, '--reason', 'a test')
  await project.attempt(ms(95))
  const shown = await project.data<{ other_machine?: string }>('show', other.experiment)
  expect(shown.other_machine).toContain('Other CPU in place of')
  const first = await project.data<{ other_machine?: string }>('show', same.experiment)
  expect(first.other_machine).toBeUndefined()
})

test('attribute measures here what another machine measured', async () => {
  const project = projectOnNode({
    spec: { executor: onAnother },
    files: { 'src/a.txt': 'a\n', 'src/b.txt': 'b\n' },
  })
  await project.data('init', '--no-canary')
  const { experiment, status } = await project.attempt({ ...ms(90), 'src/a.txt': 'c\n' })
  expect(status).toBe('kept')
  const before = project.starts().length
  for (const more of [[], ['--dry-run']]) {
    const refused = await project.problem('attribute', experiment, ...more)
    expect(refused.code).toBe('other_machine')
    expect(refused.message).toContain('attribute measures on this machine, not by jobs')
  }
  expect(project.starts()).toHaveLength(before)
})

test('attribute refuses on the kind of machine that measured', async () => {
  const project = projectOnNode({ files: { 'src/a.txt': 'a\n' } })
  await project.data('init', '--no-canary')
  const { experiment } = await project.attempt({ ...ms(90), 'src/a.txt': 'c\n' })
  expect(await project.data('attribute', experiment)).toMatchObject({ experiment })
})
