/**
 * One scene by its drivers: `assay loop`, the workflow script in the runtime of Assay, and a session that calls `round next`,
 * `task` and `answer`.
 */
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import type { Event } from '../../cli/ledger/events.ts'
import { dataOf } from '../rig/assay.ts'
import { type ScriptedHost, scriptedHost } from '../rig/host.ts'
import { openScene, type Scene } from './loop-scene.ts'
import { answers, numberFiles, numberSpec } from './number-scene.ts'

/**
 * Round 1: lane 1 is revised for a finding and kept, lane 2 is rejected, and a person aborts lane 3, which hangs. Round 2: lane 1
 * does not build, is repaired and kept, and an auditor flags it; the agents of the other lanes leave nothing.
 */
const SCENE = answers({
  implement: `(card) => {
    if (card.round === 2 && card.lane > 1) return 'I only looked.'
    write(card, card.round === 2 ? 'broken' : [99, 105, 77][card.lane - 1])
    return done('a first try')
  }`,
  revise: `(card) => (write(card, card.round === 2 ? 90 : 98), done('repaired'))`,
  verify: `(card) => card.claim.hypothesis === 'a first try' && card.round === 1 && card.lane === 1
    ? { passed: false, findings: [{ message: 'too little' }] }
    : { passed: true }`,
  audit: `(card) => ({ findings: card.round === 2 ? [{ message: 'it looks too good' }] : [] })`,
  collect: `(card) => ({ learnings: ['of round ' + card.round], suggestions: [] })`,
})

const SCRIPT = readFileSync(new URL('../../workflows/optimize.js', import.meta.url), 'utf8')

const open = (host: ScriptedHost, loop: object = {}): Promise<Scene> =>
  openScene(
    {
      ...numberFiles,
      'bench/run.sh': 'n=$(cat src/number.txt)\n[ "$n" = 77 ] && sleep 600\necho METRIC ms=$n\n',
      'bench/build.sh': 'grep -q "^[0-9]*$" src/number.txt\n',
      'own/loop.js': SCRIPT,
    },
    numberSpec(host, {
      loop: { width: 3, depth: 1, stall: 9, ...loop },
      worktree: { build: { command: ['sh', 'bench/build.sh'] } },
      agent: { concurrency: 2 },
      budget: { experiments: 20 },
    }),
  )

interface Told {
  over: string | null
  tasks: { id: string; experiment: string | null }[]
}

/** What a session does, with the scripted program in the place of its subagents. */
async function session(scene: Scene, host: ScriptedHost): Promise<void> {
  for (;;) {
    const next = dataOf(await scene.cli<Told>(['round', 'next', '--until', '2', '--wait', '50s']))
    if (next.over !== null) return
    for (const { id } of next.tasks) {
      const { prompt } = dataOf(await scene.cli<{ prompt: string }>(['task', id]))
      const said = execFileSync(host.argv[0], [host.argv[1]], { cwd: scene.repo.dir, input: prompt })
      const answered = said.toString().startsWith('{')
        ? scene.cli(['answer', id], said.toString())
        : scene.cli(['answer', id, '--none'])
      dataOf(await answered)
    }
  }
}

/** As a person who sees that lane 3 hangs. */
async function abortLane3(scene: Scene): Promise<void> {
  const hung = () =>
    scene.eventsOf('created').find(({ round, lane }) => round === 1 && lane === 3)?.experiment
  await scene.happened('lane 3 to be measured', (one) => one.type === 'started' && one.experiment === hung())
  const why = ['--failure-class', 'eval', '--reason', 'it hangs']
  dataOf(await scene.cli(['abort', hung() ?? '', ...why]))
}

const OF_A_DRIVER: readonly Event['type'][] = ['usage', 'drove', 'leased']

/** By lane, in order: what happened there, without ids and times. */
function sequences(scene: Scene): Record<string, string[]> {
  const lanes = new Map<string, string>()
  const found: Record<string, string[]> = {}
  for (const event of scene.events()) {
    if (OF_A_DRIVER.includes(event.type)) continue
    if (event.type === 'created' && event.round !== null)
      lanes.set(event.experiment, `round ${event.round}, lane ${event.lane}`)
    const { type, task, experiment, status, reason } = event as unknown as Record<string, string | undefined>
    const lane = lanes.get(experiment ?? '') ?? 'of all'
    const role = task?.slice(task.lastIndexOf('/') + 1)
    found[lane] = [...(found[lane] ?? []), [type, role, status, reason].filter(Boolean).join(' ')]
  }
  return found
}

test('a lane takes different steps, or gets a different verdict, if a script or a session drives it', async () => {
  const host = scriptedHost(SCENE)
  const [looped, scripted, driven] = await Promise.all([
    open(host),
    open(host, { workflow: 'own/loop.js' }),
    open(host),
  ])
  const drive = async (scene: Scene, by: () => Promise<unknown>) => Promise.all([by(), abortLane3(scene)])
  await drive(looped, async () => dataOf(await looped.loop('--rounds', '2')))
  await drive(scripted, async () => dataOf(await scripted.loop('--rounds', '2')))
  await drive(driven, () => session(driven, host))
  const expected = sequences(looped)
  expect(sequences(scripted)).toEqual(expected)
  expect(sequences(driven)).toEqual(expected)
  expect(Object.keys(expected).sort()).toEqual([
    'of all',
    'round 1, lane 1',
    'round 1, lane 2',
    'round 1, lane 3',
    'round 2, lane 1',
    'round 2, lane 2',
    'round 2, lane 3',
  ])
  expect(expected['round 1, lane 3']?.at(-1)).toBe('judged failed aborted')
  expect(expected['round 1, lane 1']).toEqual([
    'created',
    'task_answered implement',
    'sealed',
    'task_answered sealed',
    'task_answered verify',
    'task_answered revise.1',
    'sealed',
    'task_answered sealed.1',
    'task_answered verify.1',
    'started',
    'judged kept improved',
    'task_answered audit',
    'audited',
  ])
})
