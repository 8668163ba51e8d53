import { readFileSync, rmSync } from 'node:fs'
import { expect, test } from 'vitest'
import { parse } from 'yaml'
import { dataOf, problemOf } from '../rig/assay.ts'
import { scriptedHost } from '../rig/host.ts'
import { makeRepo } from '../rig/repo.ts'
import { sceneOf } from './loop-scene.ts'

/** As the format says it, unmodified: optional keys, comments and all. */
const SUITE = `name: research_writeup_v1
description: Two-task suite for the quality of a report.
baseline_artifacts:
  worker_pitfalls: 0
  manager_planning_preamble: 0
tasks:
  - name: task_a
    task: "Summarise the attached paper in three paragraphs."
    workflow: examples/workflows/01_simple_pipeline    # optional
    model: openai/gpt-5-mini                            # optional
    budget:                                             # optional
      max_loops: 8
      max_total_workers: 6
      max_total_tokens: 800000
      max_wall_time: 1200
    weights:                                            # optional
      eval: 0.5
      critique: 0.3
      gate_rejections: 0.1
      budget: 0.05
      status: 0.05
  - name: task_b
    task: "Say hello."
    worker_model:
`
const PROGRAM = `import { readFileSync, writeFileSync } from 'node:fs'
const { name, budget, workflow } = JSON.parse(process.env.ASSAY_TASK)
if (name === 'task_a' && (budget.max_loops !== 8 || workflow === null)) throw new Error('no budget')
const text = readFileSync('prompts/worker_pitfalls.md', 'utf8') + readFileSync('prompts/manager_planning_preamble.txt', 'utf8')
writeFileSync(process.env.ASSAY_RESULT, JSON.stringify({ eval: Math.min(1, text.length / 100) }))
`
const FILES = {
  'suites/research.yaml': SUITE,
  'bench/run-task.mjs': PROGRAM,
  'prompts/worker_pitfalls.md': 'Mind the gap.\n',
  'prompts/manager_planning_preamble.txt': 'Plan.\n',
}
const FROM = ['init', '--from', 'suites/research.yaml', '--run', `'${process.execPath}' bench/run-task.mjs`]

test('a suite of an outer loop is not taken as it is', async () => {
  const { cli, repo } = sceneOf(makeRepo({ files: FILES }))
  const ran = dataOf(await cli<{ imported: { format: string }; baseline: { value: number } }>(FROM))
  expect(ran.imported.format).toBe('suite')
  // The texts have 20 characters, so eval is 0.2; the other parts are missing.
  expect(ran.baseline.value).toBeCloseTo((0.5 * 0.8 + 0.5 * 0.5 + 0.4 * 0.8 + 0.6 * 0.5) / 2, 5)
  expect(parse(repo.read('assay.yaml'))).toMatchObject({
    name: 'research-writeup-v1',
    goal: 'Two-task suite for the quality of a report.',
    scope: { mutable: ['prompts/worker_pitfalls.md', 'prompts/manager_planning_preamble.txt'] },
    suite: {
      artifacts: [
        { name: 'worker_pitfalls', file: 'prompts/worker_pitfalls.md' },
        { name: 'manager_planning_preamble', file: 'prompts/manager_planning_preamble.txt' },
      ],
      tasks: [
        { name: 'task_a', budget: { max_loops: 8, max_wall_time: 1200 }, loss: { eval: 0.5, status: 0.05 } },
        { name: 'task_b' },
      ],
    },
  })
})

test.each([
  ['an unknown key', SUITE.replace('    model:', '    modle:'), 'spec_invalid', /research\.yaml:10:5/],
  [
    'an unknown weight',
    SUITE.replace('      status:', '      state:'),
    'spec_invalid',
    /research\.yaml:21:7/,
  ],
  ['a text without a file', SUITE.replace('worker_pitfalls: 0', 'critique_rubric: 0'), 'text_missing', /^$/],
  [
    'a version that is nowhere',
    SUITE.replace('worker_pitfalls: 0', 'worker_pitfalls: 3'),
    'unknown_version',
    /^$/,
  ],
])('%s is not refused', async (_, text, code, place) => {
  const { cli } = sceneOf(makeRepo({ files: { ...FILES, 'suites/research.yaml': text } }))
  const problem = problemOf(await cli(FROM))
  expect([problem.code, problem.at ?? '']).toEqual([code, expect.stringMatching(place)])
})

test('a suite without a program is not refused', async () => {
  const { cli } = sceneOf(makeRepo({ files: FILES }))
  expect(problemOf(await cli(FROM.slice(0, 3)))).toMatchObject({ code: 'no_runner' })
})

test('a pinned version is recorded, and the text that is there is measured', async () => {
  const host = scriptedHost(`export default {
    gradient: ({ brief: { artifact } }) => ({
      artifact: artifact === 'worker_pitfalls' ? artifact : null,
      content: 'Mind the gap, and mind it again.',
      rationale: 'r',
      expected_loss_reduction: 0.1,
      confidence: 1,
    }),
  }`)
  const scene = sceneOf(makeRepo({ files: FILES }))
  const { cli, repo } = scene
  const first = dataOf(await cli<{ baseline: { value: number } }>(FROM))
  const set = (key: string, value: string) => cli(['config', 'set', key, value, '--reason', 'test'])
  dataOf(await set('agent', JSON.stringify({ host: 'command', command: host.argv })))
  dataOf(await set('gradient', '{learning_rate: 0.5}'))
  dataOf(await set('budget.experiments', '3'))
  const ran = dataOf(await scene.loop('--rounds', '1'))
  expect(ran.best?.experiment).toBe('exp_0001')

  rmSync(repo.path('assay.yaml'))
  repo.write({ 'suites/research.yaml': SUITE.replace('worker_pitfalls: 0', 'worker_pitfalls: 1') })
  repo.commit('pinned')
  const again = dataOf(await cli<{ baseline: { value: number } }>([...FROM, '--new', '--include-dirty']))
  expect(readFileSync(repo.path('prompts/worker_pitfalls.md'), 'utf8')).toBe(
    'Mind the gap, and mind it again.',
  )
  expect(again.baseline.value).toBeCloseTo(ran.best?.value ?? 0, 5)
  expect(again.baseline.value).toBeLessThan(first.baseline.value)
  const texts = dataOf(await cli<{ artifacts: { active: number }[] }>(['artifact', '--run', 'run_0002']))
  expect(texts.artifacts.map(({ active }) => active)).toEqual([0, 0])
})
