/**
 * One scene by its drivers: `assay loop`, the workflow script in the runtime of Assay, and a session that calls `round next`,
 * `task` and `answer`. The workflow tool of an agent program plays it in `test/hosts/in-tool.hosts.test.ts`.
 */
import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { dataOf } from '../rig/assay.ts'
import { type ScriptedHost, scriptedHost } from '../rig/host.ts'
import {
  abortLane3,
  EXPECTED,
  resume,
  sceneFiles,
  sceneHost,
  sceneSpec,
  sequences,
  session,
} from './drivers-scene.ts'
import { openScene, type Scene } from './loop-scene.ts'

const SCRIPT = readFileSync(new URL('../../workflows/optimize.js', import.meta.url), 'utf8')

const loop = async (scene: Scene) => dataOf(await scene.loop('--rounds', '2'))

test.each<[string, object, (scene: Scene, host: ScriptedHost) => Promise<unknown>]>([
  ['assay loop', {}, loop],
  ['a script of the loop', { workflow: 'own/loop.js' }, loop],
  ['a session', {}, (scene, host) => session(scene, host, 2)],
])(
  '%s takes other steps than a different driver, or gets a different verdict',
  async (_who, settings, drive) => {
    const host = scriptedHost(sceneHost())
    const agent = { host: 'command', command: host.argv, concurrency: 2 }
    const scene = await openScene({ ...sceneFiles, 'own/loop.js': SCRIPT }, sceneSpec(agent, settings))
    await Promise.all([drive(scene, host), abortLane3(scene), resume(scene)])
    expect(sequences(scene)).toEqual(EXPECTED)
  },
)
