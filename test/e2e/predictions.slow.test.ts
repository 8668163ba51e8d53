/** What agents predict and object to, as a person reads it. */
import { expect, test } from 'vitest'
import { assay } from '../rig/assay.ts'
import { play } from './number-scene.ts'
import { makeProject } from './project.ts'

test('a report does not say how far predictions were from what was measured, or an objection reaches agents and not the person', async () => {
  const { scene, host } = await play(
    {
      implement: `(card) => {
        write(card, read(card) - 10)
        return { hypothesis: 'to ' + read(card), predicted: 'about 40 % less', objection: 'the benchmark counts only ' + card.round, learnings: [], suggestions: [] }
      }`,
      audit: `() => ({ findings: [], objection: 'the benchmark reads a file that the candidate writes' })`,
    },
    { loop: { depth: 1, width: 1 }, budget: { experiments: 2 } },
  )
  const report = (await scene.cli<Record<string, unknown>>(['report'])).json
  expect(report).toMatchObject({
    data: {
      predictions: [{ role: 'implement', agent: 'command', experiments: 2, better: 2, predicted: 0.4 }],
      objections: expect.arrayContaining([
        expect.objectContaining({
          role: 'implement',
          experiment: 'exp_0001',
          text: 'the benchmark counts only 1',
        }),
        expect.objectContaining({ text: 'the benchmark reads a file that the candidate writes' }),
      ]),
    },
  })
  const read = async (...args: string[]) => (await assay(args, { cwd: scene.repo.dir })).stdout
  expect(await read('report')).toMatch(
    /predicted +40 % better; measured 10\.\d+ % better, 2 of 2 gained: edits by com/,
  )
  expect(await read('status')).toContain('objection on exp_0001: the benchmark counts only 1')
  expect(await read('finish')).toContain('read it before you merge: the benchmark reads a file')
  // Agents are not told: an objection decides nothing.
  expect(host.calls().filter(({ prompt }) => prompt.includes('counts only'))).toEqual([])
}, 60_000)

test('a person cannot object by hand, or objects with an experiment that does not exist', async () => {
  const project = makeProject()
  await project.data('init')
  const text = 'the benchmark times only the first call'
  expect(
    await project.problem('note', '--kind', 'objection', '--experiment', 'exp_0007', text),
  ).toMatchObject({
    code: 'unknown_experiment',
  })
  await project.data('note', '--kind', 'objection', '--experiment', 'exp_0000', text)
  expect(await project.data('status')).toMatchObject({
    objections: [{ role: null, experiment: 'exp_0000', text }],
  })
  const context = (await assay(['context'], { cwd: project.repo.dir })).stdout
  expect(context).not.toContain(text)
})
