import { expect, test } from 'vitest'
import { makeProject, type RunData } from '../e2e/project.ts'

/** Answers for so many cases in the result file. */
const cases = (count: number) => `node -e 'const tasks = {}
for (let n = 0; n < ${count}; n++) tasks["case-" + n] = { score: 100, reason: "a text that explains the score" }
require("fs").writeFileSync(process.env.ASSAY_RESULT, JSON.stringify({ tasks }))'`

test('an answer that is too long for the record leaves an experiment that runs for ever', async () => {
  const project = makeProject()
  await project.data('init')
  const { experiment } = await project.open({ 'src/hook.sh': `${cases(2000)}\n` })
  const ran = await project.cli<RunData>(['run', experiment])
  expect([ran.code, ran.json]).toMatchObject([
    4,
    { ok: true, data: { status: 'failed', reason: 'metric_error', failure_class: 'eval', value: null } },
  ])
  expect(ran.json?.ok && ran.json.data.message).toContain('report groups of cases as one task')
  expect(await project.data('status')).toMatchObject({ counts: { running: 0, failed: 1 } })
})

test('the hint for a benchmark that prints too much asks for several calls', async () => {
  const project = makeProject({ files: { 'src/hook.sh': `${cases(2000)}\n` } })
  const problem = await project.problem('init')
  expect(problem.message).toContain('report groups of cases as one task')
  expect(problem.exit).toBe(2)
})
