import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { dataOf } from '../rig/assay.ts'
import { scriptedHost } from '../rig/host.ts'
import type { Scene } from './loop-scene.ts'
import type { NewData, RunData } from './project.ts'
import { learningSpec, openSuite, scores, suiteFiles, suiteSpec } from './suite-scene.ts'

async function attempt(scene: Scene, files: Record<string, string>): Promise<RunData> {
  const opened = dataOf(await scene.cli<NewData>(['new', '-m', 'another text']))
  for (const [path, text] of Object.entries(files)) writeFileSync(join(opened.worktree, path), text)
  return dataOf(await scene.cli<RunData>(['run', opened.experiment]))
}

test('the loss of the baseline is not the mean of its tasks, or a better text is not kept', async () => {
  const scene = await openSuite(suiteFiles(scores(0.4, 0.53, 0.31)), suiteSpec())
  const [baseline] = scene.eventsOf('judged')
  expect(baseline?.value).toBeCloseTo(0.41333, 5)
  expect(baseline?.tasks).toEqual({
    one: expect.closeTo(0.4),
    two: expect.closeTo(0.53),
    three: expect.closeTo(0.31),
  })
  const kept = await attempt(scene, { 'prompts/preamble.md': scores(0.045, 0.62, 0.365) })
  expect([kept.status, kept.value]).toEqual(['kept', expect.closeTo(0.34333, 5)])
  const worse = await attempt(scene, { 'prompts/preamble.md': scores(0.45, 0.62, 0.37) })
  expect([worse.status, worse.value]).toEqual(['rejected', expect.closeTo(0.48, 5)])
  const both = await attempt(scene, { 'prompts/preamble.md': scores(0, 0, 0), 'prompts/pitfalls.md': 'x' })
  expect([both.status, both.reason, both.samples]).toEqual(['rejected', 'over_limit', 0])
  const other = await attempt(scene, { 'prompts/other.md': 'x' })
  expect([other.status, other.reason]).toEqual(['rejected', 'out_of_scope'])
})

/** A text can lead an agent to anything that the program lets it do. */
const FORGES = `import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
const { name } = JSON.parse(process.env.ASSAY_TASK)
const text = readFileSync('prompts/preamble.md', 'utf8')
if (name === 'one' && text.includes('forge')) {
  const next = join(dirname(dirname(process.env.ASSAY_RESULT)), '1')
  mkdirSync(next, { recursive: true })
  writeFileSync(join(next, 'result.json'), '{"eval": 1, "status": "complete"}')
}
if (name === 'two' && text.includes('forge')) process.exit(0)
writeFileSync(process.env.ASSAY_RESULT, '{"eval": 0.5, "status": "complete"}')
`

test('a task leaves a good result for the next one, which leaves none, and the text is kept', async () => {
  const scene = await openSuite(suiteFiles('plain', FORGES), suiteSpec({}, { concurrency: 1 }), [
    '--no-canary',
  ])
  const forged = await attempt(scene, { 'prompts/preamble.md': 'forge' })
  expect([forged.status, forged.value]).toEqual(['rejected', expect.closeTo(2 / 3, 5)])
})

/** Answers of the three texts: the expected reductions and confidences of the worked example. */
const ANSWERS = (preamble: string) => `
const EXPECTED = { pitfalls: [0.18, 0.55], preamble: [0.32, 0.68], rubric: [0.12, 0.6] }
const CONTENT = { pitfalls: 'Mind both gaps.', preamble: ${JSON.stringify(preamble)}, rubric: 'Be strict.' }
export default {
  gradient: ({ brief: { artifact } }) => ({
    artifact,
    content: CONTENT[artifact],
    rationale: 'It failed.',
    expected_loss_reduction: EXPECTED[artifact][0],
    confidence: EXPECTED[artifact][1],
  }),
}`
const THREE = {
  artifacts: ['pitfalls', 'preamble', 'rubric'].map((name) => ({ name, file: `prompts/${name}.md` })),
}
const files = () => ({ ...suiteFiles(scores(0.4, 0.53, 0.31)), 'prompts/rubric.md': 'Be fair.' })

test('the worked example comes out differently: the best product is tried, and kept', async () => {
  const host = scriptedHost(ANSWERS(scores(0.045, 0.62, 0.365)))
  const scene = await openSuite(files(), learningSpec(host.argv, {}, THREE))
  const ran = dataOf(await scene.loop('--rounds', '1'))
  expect(ran.best).toEqual({ experiment: 'exp_0001', value: expect.closeTo(0.34333, 5) })
  expect(scene.eventsOf('created')[1]).toMatchObject({
    parent: 'exp_0000',
    text: { by: 'gradient', artifact: 'preamble', product: expect.closeTo(0.2176), learning_rate: 0.5 },
  })
  expect(host.calls().map(({ role }) => role)).toEqual(['gradient', 'gradient', 'gradient'])
  expect(host.calls()[0]?.prompt).toContain('- 1 of 1: too long')
})

test('a text that is not kept stays, or the learning rate is not halved, or the next round asks', async () => {
  const host = scriptedHost(ANSWERS(scores(0.45, 0.62, 0.37)))
  const scene = await openSuite(files(), learningSpec(host.argv, {}, THREE))
  const ran = dataOf(await scene.loop('--rounds', '2'))
  expect([ran.rounds, ran.best?.experiment]).toEqual([2, 'exp_0000'])
  expect(scene.eventsOf('judged')[1]).toMatchObject({ status: 'rejected', value: expect.closeTo(0.48, 5) })
  expect(host.calls()).toHaveLength(3)
  dataOf(await scene.loop('--rounds', '1'))
  expect(host.calls()).toHaveLength(6)
  expect(host.calls()[5]?.card).toMatchObject({ brief: { learning_rate: 0.25 } })
})
