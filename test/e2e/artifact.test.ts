import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { dataOf, problemOf } from '../rig/assay.ts'
import { scriptedHost } from '../rig/host.ts'
import { makeRepo } from '../rig/repo.ts'
import { makeTemp } from '../rig/temp.ts'
import { sceneOf } from './loop-scene.ts'
import type { NewData, RunData } from './project.ts'
import { learningSpec, openSuite, scores, suiteFiles, suiteSpec } from './suite-scene.ts'

interface SuiteData {
  learning_rate: number | null
  artifacts: { name: string; active: number; since: { experiment: string } | null; versions: unknown[] }[]
  epochs: {
    experiment: string
    outcome: string
    artifact: string | null
    from: number | null
    to: number | null
  }[]
  expectations: { expected: number; measured: number }[]
}

/** Gives the texts in this order, one for each question. */
const inOrder = (texts: readonly string[]) => `
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
const file = new URL('asked', import.meta.url)
const TEXTS = ${JSON.stringify(texts)}
export default {
  gradient: ({ brief: { artifact } }) => {
    const asked = existsSync(file) ? Number(readFileSync(file, 'utf8')) : 0
    writeFileSync(file, String(asked + 1))
    return { artifact, content: TEXTS[asked], rationale: 'r', expected_loss_reduction: 0.1, confidence: 0.5 }
  },
}`
const ONE = { learning_rate: 0.5, candidates: ['preamble'] }

test('versions, epochs or the learning rate are told wrong; a version is restored unmeasured', async () => {
  const host = scriptedHost(inOrder([scores(0.3, 0.3, 0.3), scores(0.9, 0.3, 0.3), scores(0.1, 0.1, 0.1)]))
  const scene = await openSuite(suiteFiles(scores(0.5, 0.5, 0.5)), learningSpec(host.argv, { gradient: ONE }))
  dataOf(await scene.loop('--rounds', '4'))
  const found = dataOf(await scene.cli<SuiteData>(['artifact']))
  expect(found.learning_rate).toBe(0.25)
  expect(found.epochs.map(({ outcome, from, to }) => [outcome, from, to])).toEqual([
    ['baseline', null, null],
    ['kept', 0, 1],
    ['not_kept', 1, null],
    ['kept', 1, 2],
  ])
  expect(
    found.artifacts.map(({ name, active, since, versions }) => [
      name,
      active,
      since?.experiment,
      versions.length,
    ]),
  ).toEqual([
    ['pitfalls', 0, 'exp_0000', 1],
    ['preamble', 2, 'exp_0003', 3],
  ])
  expect(found.expectations.map(({ expected, measured }) => [expected, Number(measured.toFixed(3))])).toEqual(
    [
      [0.1, 0.2],
      [0.1, -0.2],
      [0.1, 0.2],
    ],
  )

  const { versions } = dataOf(
    await scene.cli<{ versions: { diff: string | null }[] }>(['artifact', 'preamble']),
  )
  expect(
    versions.map(({ diff }) => diff?.split('\n').filter((line) => /^[-+]one/.test(line)) ?? null),
  ).toEqual([null, ['-one 0.5', '+one 0.7'], ['-one 0.7', '+one 0.9']])

  expect(problemOf(await scene.cli(['artifact', 'preamble', '--restore', '2']))).toMatchObject({
    code: 'is_active',
  })
  expect(problemOf(await scene.cli(['artifact', 'preamble', '--restore', '9']))).toMatchObject({
    code: 'unknown_version',
  })
  expect(problemOf(await scene.cli(['artifact', 'readme']))).toMatchObject({ code: 'unknown_artifact' })
  expect(problemOf(await scene.cli(['artifact', '--restore', '1']))).toMatchObject({
    code: 'missing_argument',
  })
  const back = dataOf(await scene.cli<RunData>(['artifact', 'preamble', '--restore', '1', '--key', 'k']))
  expect([back.status, back.reason, back.samples]).toEqual(['rejected', 'not_better', 1])
  expect(
    dataOf(await scene.cli<RunData>(['artifact', 'preamble', '--restore', '1', '--key', 'k'])),
  ).toMatchObject({
    experiment: back.experiment,
  })

  dataOf(await scene.cli(['config', 'set', 'gradient.learning_rate', '0.8', '--reason', 'bolder']))
  expect(dataOf(await scene.cli<SuiteData>(['artifact'])).learning_rate).toBe(0.8)
  const status = dataOf(await scene.cli<{ suite: SuiteData }>(['status']))
  expect(status.suite.epochs).toHaveLength(5)
})

test('a text that was turned down is a duplicate for ever, or is no version once it is kept', async () => {
  const better = join(makeTemp('model'), 'better')
  const program = `import { existsSync, readFileSync, writeFileSync } from 'node:fs'
const text = readFileSync('prompts/preamble.md', 'utf8')
const loss = text.includes('new') ? (existsSync(${JSON.stringify(better)}) ? 0.2 : 0.6) : text.includes('old') ? 0.5 : 1
writeFileSync(process.env.ASSAY_RESULT, JSON.stringify({ eval: 1 - loss }))
`
  const scene = await openSuite(suiteFiles('old', program), suiteSpec({ measure: { isolation: 'none' } }))
  const opened = dataOf(await scene.cli<NewData>(['new', '-m', 'another text']))
  const restore = (wanted: string) => scene.cli<RunData>(['artifact', 'preamble', '--restore', wanted])
  expect(problemOf(await restore(opened.experiment))).toMatchObject({ code: 'no_verdict' })
  writeFileSync(join(opened.worktree, 'prompts/preamble.md'), 'new')
  expect(dataOf(await scene.cli<RunData>(['run', opened.experiment])).status).toBe('rejected')
  const again = dataOf(await restore('exp_0001'))
  expect([again.experiment, again.status, again.reason]).toEqual(['exp_0002', 'rejected', 'not_better'])
  // The same files by another way are a duplicate as before.
  const twin = dataOf(await scene.cli<NewData>(['new', '-m', 'the same text']))
  writeFileSync(join(twin.worktree, 'prompts/preamble.md'), 'new')
  expect(dataOf(await scene.cli<RunData>(['run', twin.experiment])).reason).toBe('duplicate')

  writeFileSync(better, '')
  expect(dataOf(await restore('exp_0001'))).toMatchObject({ experiment: 'exp_0004', status: 'kept' })
  const { artifacts } = dataOf(await scene.cli<SuiteData>(['artifact']))
  expect(artifacts.find(({ name }) => name === 'preamble')).toMatchObject({
    active: 1,
    since: { experiment: 'exp_0004' },
  })
  expect(problemOf(await restore('1'))).toMatchObject({ code: 'is_active' })
  expect(problemOf(await restore('exp_9999'))).toMatchObject({ code: 'unknown_experiment' })
  expect(problemOf(await restore('first'))).toMatchObject({ code: 'unknown_version' })
  const down = dataOf(await restore('0'))
  expect([down.status, down.reason]).toEqual(['rejected', 'not_better'])
})

test('without a gradient the loop asks somebody, or does not tell how the tasks vary', async () => {
  const scene = await openSuite(suiteFiles(scores(0.5, 0.4, 0.3)), suiteSpec())
  expect(dataOf(await scene.loop('--rounds', '3')).rounds).toBe(3)
  const { variance, epochs } = dataOf(
    await scene.cli<SuiteData & { variance: { task: string; runs: number; deviation: number }[] }>([
      'artifact',
    ]),
  )
  expect(variance.map(({ task, runs, deviation }) => [task, runs, deviation])).toEqual([
    ['one', 3, expect.closeTo(0)],
    ['two', 3, expect.closeTo(0)],
    ['three', 3, expect.closeTo(0)],
  ])
  expect(epochs).toHaveLength(1)
})

test('two suites side by side see the texts or the epochs of each other', async () => {
  const host = scriptedHost(inOrder([scores(0.3, 0.3, 0.3)]))
  const scene = await openSuite(suiteFiles(scores(0.5, 0.5, 0.5)), learningSpec(host.argv, { gradient: ONE }))
  const other = suiteSpec(
    { name: 'other' },
    { name: 'another suite', tasks: [{ name: 'two', task: 'Do two.' }] },
  )
  writeFileSync(scene.repo.path('other.yaml'), JSON.stringify(other))
  scene.repo.commit('another suite')
  dataOf(await scene.cli(['init', 'other.yaml', '--new']))
  const [loop] = await Promise.all([
    scene.loop('--rounds', '1', '--run', 'run_0001'),
    scene.loop('--rounds', '2', '--run', 'run_0002'),
  ])
  expect(dataOf(loop).best?.value).toBeCloseTo(0.3, 5)
  const of = async (run: string) => dataOf(await scene.cli<SuiteData>(['artifact', '--run', run]))
  const [one, two] = [await of('run_0001'), await of('run_0002')]
  expect(one.artifacts.map(({ active }) => active)).toEqual([0, 1])
  expect(two.artifacts.map(({ active }) => active)).toEqual([0, 0])
  expect([one.epochs.length, two.epochs.length]).toEqual([2, 1])
})

test('loss gives a different number than a run of the suite, or hides what is missing', async () => {
  const repo = makeRepo({
    files: {
      'one.json': '{"eval":{"score":0.2},"critique":0.5,"gate_rejections":1,"status":"partial"}',
      'run/run_completion.json': '{"status":"failed"}',
      'nan.json': '{"eval":NaN}',
    },
  })
  const { cli } = sceneOf(repo)
  const found = dataOf(
    await cli<{
      loss: number
      files: { loss: number; crashed: boolean; parts: object; unread: string | null }[]
    }>(['loss', 'one.json', 'run', 'nan.json', 'none.json']),
  )
  expect(found.files.map(({ loss, crashed, unread }) => [Number(loss.toFixed(4)), crashed, unread])).toEqual([
    [0.62, false, null],
    [1, true, null],
    [0.5, false, null],
    [1, true, 'it wrote no result'],
  ])
  expect(found.files[0]?.parts).toEqual({
    eval: 0.8,
    critique: 0.5,
    gate_rejections: 0.5,
    budget: null,
    status: 0.5,
  })
  const only = ['--weights', 'eval=1,critique=0,gate_rejections=0,budget=0,status=0']
  expect(dataOf(await cli<{ loss: number }>(['loss', 'one.json', ...only])).loss).toBeCloseTo(0.8, 10)
  expect(problemOf(await cli(['loss', 'one.json', '--weights', 'evil=1']))).toMatchObject({
    code: 'bad_weights',
  })
})
