import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { makeProject, ms } from './project.ts'

/** A benchmark whose number changes with a file outside of the repository, as with the version of a tool. */
async function withTool(mode: 'auto' | 'deterministic') {
  const project = makeProject({
    spec: { noise: { mode, calibrate: 2 }, metric: { name: 'size', direction: 'minimize' } },
    files: { 'bench/run.sh': 'echo METRIC size=0\n' },
  })
  const tool = join(project.control, 'tool')
  const toolAdds = (n: number) => writeFileSync(tool, String(n))
  toolAdds(0)
  project.repo.commit('bench', {
    'bench/run.sh': `value=$(sed 's/METRIC ms=//' src/metrics.txt)\necho METRIC size=$((value + $(cat '${tool}')))\n`,
  })
  await project.data('init', '--no-canary')
  return { project, toolAdds }
}

describe.each(['auto', 'deterministic'] as const)('noise.mode %s', (mode) => {
  test('a change outside of the repository confirms a candidate that changes nothing', async () => {
    const { project, toolAdds } = await withTool(mode)
    toolAdds(-10)
    const { experiment } = await project.attempt({ 'src/comment.txt': 'nothing\n' })
    const message =
      mode === 'auto'
        ? expect.stringContaining('which is not better')
        : 'not confirmed: size = 90 is no better than 90 of exp_0000, which gave 100 before: something outside of the repository changed'
    expect(await project.data('confirm', experiment)).toMatchObject({
      passed: false,
      status: 'revoked',
      message,
    })
    expect(await project.data('status')).toMatchObject({ best: { experiment: 'exp_0000' } })
  })

  test('a change outside of the repository makes finish offer a candidate that changes nothing', async () => {
    const { project, toolAdds } = await withTool(mode)
    toolAdds(-10)
    await project.attempt({ 'src/comment.txt': 'nothing\n' })
    expect(await project.problem('finish')).toMatchObject({ code: 'not_confirmed' })
  })

  test('a change outside of the repository revokes an honest gain', async () => {
    const { project, toolAdds } = await withTool(mode)
    const { experiment } = await project.attempt(ms(90))
    toolAdds(5)
    expect(await project.data('confirm', experiment)).toMatchObject({ passed: true, status: 'kept' })
  })
})
