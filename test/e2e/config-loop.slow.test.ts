/** A loop that runs, and a person who changes its spec meanwhile: the loop sees it at its next question. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { dataOf } from '../rig/assay.ts'
import { scriptedHost } from '../rig/host.ts'
import { openScene, type Scene } from './loop-scene.ts'
import { answers, numberFiles, numberSpec } from './number-scene.ts'

/** Holds the implementer until the file is there, and writes down the model that the verifier is asked with. */
const waiting = (gate: string, models: string) =>
  answers({
    implement: `async (card) => {
      while (!existsSync(${JSON.stringify(gate)})) await new Promise((resolve) => setTimeout(resolve, 20))
      return implement(card)
    }`,
    verify: `() => {
      appendFileSync(${JSON.stringify(models)}, (process.env.ASSAY_MODEL ?? 'none') + '\\n')
      return { passed: true, findings: [] }
    }`,
  })

const set = async (scene: Scene, key: string, value: string) =>
  dataOf(await scene.cli(['config', 'set', key, value, '--reason', 'r']))

test('a running loop ignores a changed model, prompt, skill or agent program until it is started again', async () => {
  const host = scriptedHost('')
  const other = scriptedHost('')
  const scene = await openScene(
    numberFiles,
    numberSpec(host, { budget: { experiments: 2 }, loop: { stall: 9 } }),
  )
  const [gate, models] = [scene.repo.path('.gate'), scene.repo.path('.models')]
  host.answer(waiting(gate, models))
  other.answer(waiting(gate, models))
  const loop = scene.startLoop('--json')
  await host.calledAs('implement')
  await set(scene, 'agent.roles.verify.model', 'small')
  await set(scene, 'loop.prompts.verify.before', 'Look at the cache first.')
  await set(scene, 'skills', '[numbers]')
  await set(scene, 'agent.command', JSON.stringify(other.argv))
  writeFileSync(gate, '')
  const ended = await loop.ended
  expect(dataOf(ended)).toMatchObject({ stop: 'budget', counts: { kept: 3 } })
  expect(readFileSync(models, 'utf8')).toBe('small\nsmall\n')
  // The question that was open went on; all later ones went to the new program.
  expect(host.calls().map(({ role }) => role)).toEqual(['brief', 'implement'])
  const prompts = (role: string) =>
    other
      .calls()
      .filter((call) => call.role === role)
      .map(({ prompt }) => prompt)
  expect(prompts('verify')).toHaveLength(2)
  for (const prompt of prompts('verify'))
    expect(prompt).toContain('\n\nLook at the cache first.\n\nRead the candidate')
  expect(prompts('implement')[0]).toContain('Load these skills in full first: numbers.')
})

test('a loop whose agent was removed fails its tasks, or continues without the cost limit that the new agent needs', async () => {
  const host = scriptedHost('')
  const scene = await openScene(
    numberFiles,
    numberSpec(host, { budget: { experiments: 1 }, loop: { stall: 9 } }),
  )
  const gate = scene.repo.path('.gate')
  host.answer(waiting(gate, scene.repo.path('.models')))
  const loop = scene.startLoop('--json')
  await host.calledAs('implement')
  await set(scene, 'agent', 'none')
  writeFileSync(gate, '')
  await scene.happened('a pause', ({ type }) => type === 'paused')
  expect(dataOf<{ paused: string }>(await scene.cli(['status'])).paused).toBe(
    'the spec of this run names no agent program (agent.host), so a loop cannot ask for candidates; name one: assay config set agent.host HOST --reason TEXT (assay guide spec agent); or work by hand: assay new, edit, assay run',
  )
  await set(scene, 'agent', JSON.stringify({ host: 'command', command: host.argv }))
  dataOf(await scene.cli(['loop', 'resume']))
  expect(dataOf(await loop.ended)).toMatchObject({ stop: 'budget', counts: { kept: 2 } })
  expect(host.calls().map(({ role }) => role)).toEqual(['brief', 'implement', 'verify', 'audit', 'collect'])
  expect(existsSync(gate)).toBe(true)
})
