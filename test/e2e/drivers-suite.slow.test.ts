/** A suite by the drivers of the loop: its rounds have no lanes, and some need no agent at all. */
import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { dataOf } from '../rig/assay.ts'
import { type ScriptedHost, scriptedHost } from '../rig/host.ts'
import { session } from './drivers-scene.ts'
import type { LoopData, Scene } from './loop-scene.ts'
import { learningSpec, openSuite, scores, suiteFiles, suiteSpec } from './suite-scene.ts'

const SCRIPT = readFileSync(new URL('../../workflows/optimize.js', import.meta.url), 'utf8')

/** Round 1: the better of two texts is tried and kept. Round 2: a worse one, so round 3 asks nobody. Round 4: no text is proposed. */
const HOST = `const TEXTS = ${JSON.stringify({
  'r1/gradient/of/preamble': [scores(0.3, 0.3, 0.3), 0.2],
  'r1/gradient/of/pitfalls': ['Mind both gaps.', 0.1],
  'r2/gradient/of/preamble': [scores(0.6, 0.6, 0.6), 0.1],
  'r2/gradient/of/pitfalls': [null, 0],
  'r4/gradient/of/preamble': [null, 0],
  'r4/gradient/of/pitfalls': [null, 0],
})}
export default {
  gradient: ({ task, brief: { artifact } }) => {
    const [content, expected] = TEXTS[task]
    return content === null
      ? { artifact: null, content: null, rationale: 'r', expected_loss_reduction: 0, confidence: 0 }
      : { artifact, content, rationale: 'r', expected_loss_reduction: expected, confidence: 1 }
  },
}`

type Drive = (scene: Scene, host: ScriptedHost, rounds: number) => Promise<LoopData | null>
const loop: Drive = async (scene, _, rounds) => dataOf(await scene.loop('--rounds', String(rounds)))
const DRIVERS: [string, object, Drive][] = [
  ['assay loop', {}, loop],
  ['a script of the loop', { workflow: 'own/loop.js' }, loop],
  ['a session', {}, async (scene, host, rounds) => session(scene, host, rounds).then(() => null)],
]
const files = { ...suiteFiles(scores(0.5, 0.5, 0.5)), 'own/loop.js': SCRIPT }

test.each(DRIVERS)(
  '%s learns other texts than a different driver, or asks when nobody is to be asked',
  async (_, own, drive) => {
    const host = scriptedHost(HOST)
    const spec = learningSpec(host.argv, { loop: { meta: { on: false }, ...own } })
    const scene = await openSuite(files, spec)
    const ran = await drive(scene, host, 4)
    expect(ran?.rounds ?? 4).toBe(4)
    expect(
      host
        .calls()
        .map(({ card }) => (card as { task: string }).task)
        .sort(),
    ).toEqual([
      'r1/gradient/of/pitfalls',
      'r1/gradient/of/preamble',
      'r2/gradient/of/pitfalls',
      'r2/gradient/of/preamble',
      'r4/gradient/of/pitfalls',
      'r4/gradient/of/preamble',
    ])
    expect(scene.eventsOf('judged').map(({ status, value }) => [status, Number(value?.toFixed(3))])).toEqual([
      ['kept', 0.5],
      ['kept', 0.3],
      ['rejected', 0.6],
    ])
    expect(scene.eventsOf('round_closed')).toHaveLength(4)
  },
)

test.each(DRIVERS)(
  '%s takes a suite that is repeated for a host that does not answer',
  async (_, own, drive) => {
    const host = scriptedHost('export default {}')
    const agent = { host: 'command', command: host.argv }
    const spec = suiteSpec({ agent, loop: { meta: { on: false }, ...own }, budget: { experiments: 20 } })
    const scene = await openSuite(files, spec)
    const ran = await drive(scene, host, 3)
    expect(ran?.rounds ?? 3).toBe(3)
    expect(host.calls()).toEqual([])
    expect(scene.eventsOf('round_closed')).toHaveLength(3)
    const { variance } = dataOf(await scene.cli<{ variance: { task: string; runs: number }[] }>(['artifact']))
    expect(variance.map(({ task, runs }) => [task, runs])).toEqual([
      ['one', 3],
      ['two', 3],
      ['three', 3],
    ])
  },
)
