import { expect, test } from 'vitest'
import { assay, dataOf } from '../rig/assay.ts'
import { crash, type LineDeath } from '../rig/crash.ts'
import { scriptedHost } from '../rig/host.ts'
import type { LoopData, Scene } from './loop-scene.ts'
import { learningSpec, openSuite, scores, suiteFiles } from './suite-scene.ts'

/** Each round a better text; it follows from the text that is there, so a question that is asked again has the same answer. */
const HOST = `export default {
  gradient: ({ brief: { artifact, content } }) => {
    const score = Number(content.split(' ').at(-1)) + 0.1
    return {
      artifact,
      content: ['one', 'two', 'three'].map((name) => name + ' ' + score.toFixed(1)).join('\\n'),
      rationale: 'It failed.',
      expected_loss_reduction: 0.1,
      confidence: 0.9,
    }
  },
}`

const open = () =>
  openSuite(
    suiteFiles(scores(0.5, 0.5, 0.5).trim()),
    learningSpec(scriptedHost(HOST).argv, { gradient: { learning_rate: 0.5, candidates: ['preamble'] } }),
  )

/** Without ids: a number that a killed process took is given to no other experiment. */
const historyOf = (scene: Scene): string[] =>
  scene.eventsOf('judged').map(({ status, value }) => `${status} ${value?.toFixed(3)}`)

/** In the order in which one loop comes to them; each process counts from its own start. A process that judges is replaced only so often. */
const DEATHS: LineDeath[][] = [
  [
    { line: '"type":"round_opened"', how: 'after', who: 'one' },
    { line: '/gradient/of/preamble"', how: 'before', who: 'one' },
    { line: '/gradient/of/preamble"', how: 'torn', who: 'all' },
    { line: '/gradient/of/preamble"', how: 'after', who: 'one' },
    { line: '/gradient/taken"', how: 'torn', who: 'one' },
    { line: '/gradient/taken"', how: 'after', who: 'all' },
    { line: '"type":"created"', how: 'before', who: 'one' },
    { line: '"type":"created"', how: 'after', who: 'one' },
    { line: '"type":"sealed"', how: 'torn', who: 'all' },
    { line: '"type":"sealed"', how: 'after', who: 'one' },
  ],
  [
    { line: '"type":"started"', how: 'after', who: 'all' },
    { line: '"step":"sample"', how: 'after', who: 'all' },
  ],
  [
    { line: '"type":"judged"', how: 'torn', who: 'all' },
    { line: '"type":"judged"', how: 'after', who: 'all' },
    { line: '"type":"round_closed"', how: 'after', who: 'one' },
  ],
]

test.each(DEATHS.map((deaths) => [deaths[0]?.line, deaths] as const))(
  'a loop that is killed at the events of an epoch from %s on learns something else, or tries a text twice',
  async (_, deaths) => {
    const twin = await open()
    dataOf(await twin.loop('--rounds', '2'))
    const scene = await open()
    for (const [at, death] of deaths.entries()) {
      const crashing = crash(death)
      await assay<LoopData>(['loop', '--rounds', '2', '--json'], { cwd: scene.repo.dir, env: crashing.env })
      expect([at, death.line, crashing.deaths()]).toEqual([at, death.line, 1])
    }
    while (scene.eventsOf('round_closed').length < 2) dataOf(await scene.loop('--rounds', '1'))
    expect(historyOf(scene).slice(0, 3)).toEqual(historyOf(twin))
    expect(scene.eventsOf('created')).toHaveLength(scene.eventsOf('judged').length)
    const answered = scene.eventsOf('task_answered').map(({ task }) => task)
    expect(new Set(answered).size).toBe(answered.length)
  },
)
