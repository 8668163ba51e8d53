import { delimiter } from 'node:path'
import { expect, test } from 'vitest'
import { fakeProgram } from '../hosts/fake-program.ts'
import { RECORDINGS } from '../hosts/recorded.ts'
import { dataOf, problemOf, startAssay } from '../rig/assay.ts'
import { scriptedHost } from '../rig/host.ts'
import { type LoopData, notebook, openScene } from './loop-scene.ts'

const FILES = { 'src/number.txt': '100\n', 'bench/run.sh': 'echo METRIC ms=$(cat src/number.txt)\n' }

const specWith = (agent: object) => ({
  version: 1,
  name: 'number',
  goal: 'Make the number small.',
  scope: { mutable: ['src/**'], immutable: ['bench/**'] },
  measure: { command: ['sh', 'bench/run.sh'] },
  metric: { name: 'ms', direction: 'minimize' },
  noise: { mode: 'deterministic', calibrate: 2 },
  loop: { width: 2, depth: 1, stall: 1 },
  budget: { experiments: 2 },
  agent,
})

test('the fallback host is not asked, is asked for a model of the first host, or the failure is not recorded', async () => {
  const pi = fakeProgram('pi', [RECORDINGS.pi.error('Invalid API key')])
  const all = { briefs: [], findings: [], learnings: [], suggestions: [], passed: true }
  const qwen = fakeProgram('qwen', [RECORDINGS.qwen.object?.(all) ?? {}])
  const scene = await openScene(FILES, specWith({ host: 'pi', model: 'm1', fallback: ['qwen'] }))
  const folders = [pi, qwen].map(({ env }) => env.PATH?.split(delimiter)[0])
  const env = { PATH: [...folders, process.env.PATH].join(delimiter) }
  const loop = await startAssay<LoopData>(['loop', '--json'], { cwd: scene.repo.dir, env }).ended
  expect(dataOf(loop)).toMatchObject({ rounds: 1, stop: 'stall' })
  expect(scene.eventsOf('usage').map(({ host, role, outcome }) => [host, role, outcome])).toEqual([
    ['pi', 'brief', 'refused'],
    ['qwen', 'brief', 'ok'],
    ['pi', 'collect', 'refused'],
    ['qwen', 'collect', 'ok'],
  ])
  expect(pi.seen().map(({ argv }) => argv.includes('m1'))).toEqual([true, true])
  expect(qwen.seen().map(({ argv }) => argv.includes('m1'))).toEqual([false, false])
})

test('a hard brief gets the weaker model or an easy one the stronger, or a role other than implement gets it', async () => {
  const notes = notebook()
  const note = `appendFileSync(${JSON.stringify(notes.file)}, [card.role, card.lane ?? '-', process.env.ASSAY_MODEL, process.env.ASSAY_EFFORT].join(' ') + '\\n')`
  const host = scriptedHost(`import { appendFileSync, readFileSync, writeFileSync } from 'node:fs'
const noted = (answer) => (card) => { ${note}; return answer(card) }
export default {
  brief: noted(() => ({ briefs: [{ objective: 'turn it by one', hard: true }, { objective: 'halve what is left', hard: false }] })),
  implement: noted((card) => { writeFileSync(card.worktree + '/src/number.txt', 90 + card.lane + '\\n'); return {} }),
  verify: noted(() => ({ passed: true })),
  audit: noted(() => ({ findings: [] })),
  '*': noted(() => ({ learnings: [], suggestions: [], findings: [] })),
}`)
  const scene = await openScene(
    FILES,
    specWith({
      host: 'command',
      command: host.argv,
      model: 'plain',
      effort: 'low',
      roles: { hard: { model: 'strong' }, verify: { model: 'careful', effort: 'high' } },
    }),
  )
  dataOf(await scene.loop('--rounds', '1'))
  expect(notes.lines().sort()).toEqual([
    'audit 1 plain low',
    'audit 2 plain low',
    'brief - plain low',
    'collect - plain low',
    'implement 1 strong low',
    'implement 2 plain low',
    'verify 1 careful high',
    'verify 2 careful high',
  ])
})

test('an agent that Assay started starts agents of its own', async () => {
  const host = scriptedHost('export default {}')
  const scene = await openScene(FILES, specWith({ host: 'command', command: host.argv }))
  const options = { cwd: scene.repo.dir, env: { ASSAY_HOST_CALL: '1' } }
  const loop = await startAssay(['loop', '--json'], options).ended
  expect([loop.code, problemOf(loop).code]).toEqual([3, 'inside_agent'])
  expect(host.calls()).toEqual([])
})
