import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { dataOf, problemOf } from '../rig/assay.ts'
import { scriptedHost } from '../rig/host.ts'
import type { NewData, RunData } from './project.ts'
import { learningSpec, openSuite, scores, suiteFiles } from './suite-scene.ts'

interface InitData {
  run: string
  base: string
  baseline: { value: number }
  narrowed?: object
  repeated?: true
}
interface SuiteData {
  suite: string
  artifacts: { name: string; active: number }[]
  epochs: { experiment: string; tasks: Record<string, number> }[]
}

/** Makes task two better, at the cost of the others. */
const HOST = `export default {
  gradient: ({ brief: { artifact } }) => ({
    artifact,
    content: ${JSON.stringify(scores(0.9, 0.1, 0.9))},
    rationale: 'It failed.',
    expected_loss_reduction: 0.2,
    confidence: 0.9,
  }),
}`

async function open() {
  const host = scriptedHost(HOST)
  const gradient = { learning_rate: 0.5, candidates: ['preamble'] }
  const spec = learningSpec(host.argv, { gradient })
  const scene = await openSuite(suiteFiles(scores(0.5, 0.5, 0.5)), spec)
  const opened = dataOf(await scene.cli<NewData>(['new', '-m', 'another text']))
  writeFileSync(join(opened.worktree, 'prompts/preamble.md'), scores(0.2, 0.4, 0.3))
  return { ...scene, host, spec, experiment: opened.experiment }
}

test('a task by itself learns from the other tasks, or the suite learns from it', async () => {
  const { cli, loop, host, repo, experiment } = await open()
  expect(dataOf(await cli<RunData>(['run', experiment])).status).toBe('kept')
  const before = repo.git('status', '--porcelain')
  const of = async (run: string) => dataOf(await cli<SuiteData>(['artifact', '--run', run]))
  const suite = await of('run_0001')

  const begun = dataOf(await cli<InitData>(['init', '--target', 'exp_0001:two']))
  expect(begun).toMatchObject({
    run: 'run_0002',
    baseline: { value: expect.closeTo(0.4) },
    narrowed: { run: 'run_0001', experiment: 'exp_0001', task: 'two' },
  })
  expect(repo.git('status', '--porcelain')).toBe(before)
  expect(
    dataOf(await cli<InitData>(['init', '--target', 'exp_0001:two', '--run', 'run_0001'])),
  ).toMatchObject({
    run: 'run_0002',
    repeated: true,
  })
  const ran = dataOf(await loop('--rounds', '1', '--run', 'run_0002'))
  expect(ran.best).toEqual({ experiment: 'exp_0001', value: expect.closeTo(0.1) })
  expect(host.calls()[0]?.card).toMatchObject({
    brief: {
      suite: 'three tasks: two',
      content: scores(0.2, 0.4, 0.3),
      tasks: [{ task: 'two', loss: expect.closeTo(0.4) }],
    },
  })
  const own = await of('run_0002')
  expect(own.artifacts.map(({ active }) => active)).toEqual([0, 1])
  expect(own.epochs.map(({ tasks }) => Object.keys(tasks))).toEqual([['two'], ['two']])
  expect(await of('run_0001')).toEqual(suite)

  // What it learnt is a step after the experiment that it began with.
  dataOf(await cli(['finish', '--run', 'run_0002', '--branch', 'two']))
  expect(repo.git('show', 'two:prompts/preamble.md')).toBe(scores(0.9, 0.1, 0.9).trim())
  expect(repo.git('merge-base', 'HEAD', 'two')).toBe(repo.git('rev-parse', 'HEAD'))
})

test('a suite with other tasks goes on with the epochs of the old one', async () => {
  const { cli, repo, spec } = await open()
  const suite = { ...spec.suite, tasks: spec.suite.tasks.slice(1) }
  writeFileSync(repo.path('assay.yaml'), JSON.stringify({ ...spec, suite }))
  expect(problemOf(await cli(['init'])).code).toBe('run_exists')
  expect(dataOf(await cli<InitData>(['init', '--new'])).run).toBe('run_0002')
  const { epochs } = dataOf(await cli<SuiteData>(['artifact', '--run', 'run_0002']))
  expect(epochs.map(({ tasks }) => Object.keys(tasks))).toEqual([['two', 'three']])
})

test('a task that is not there, or an experiment that says nothing of it, becomes a run', async () => {
  const { cli, repo, experiment, spec } = await open()
  const refused = async (target: string, ...more: string[]) =>
    problemOf(await cli(['init', '--target', target, ...more])).code
  expect(await refused('exp_0000:four')).toBe('unknown_task')
  expect(await refused('exp_0000')).toBe('bad_arguments')
  expect(await refused('exp_0009:two')).toBe('unknown_experiment')
  expect(await refused(`${experiment}:two`)).toBe('no_verdict')
  expect(await refused('exp_0000:two', '--run', 'run_0007')).toBe('unknown_run')
  expect(await refused('exp_0000:two', '--from', 'suite.yaml')).toBe('spec_unreadable')
  writeFileSync(repo.path('assay.yaml'), JSON.stringify({ ...spec, measure: { timeout: '1s' } }))
  expect(await refused('exp_0000:two')).toBe('spec_changed')
})
