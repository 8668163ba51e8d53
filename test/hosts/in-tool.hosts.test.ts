/** The workflow in the own tool of an agent program, against `assay loop` on the same project with the same answers. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { delimiter, dirname, join } from 'node:path'
import { beforeAll, expect, test } from 'vitest'
import type { Event } from '../../cli/ledger/events.ts'
import { execute } from '../../cli/process.ts'
import { binFolders } from '../../scripts/install-hosts.mjs'
import {
  abortLane3,
  answerOf,
  EXPECTED,
  meanwhile,
  PARTS,
  sceneFiles,
  sceneSpec,
  sequences,
} from '../e2e/drivers-scene.ts'
import { type LoopData, openScene, RUN, type Scene } from '../e2e/loop-scene.ts'
import { assay, dataOf, startAssay } from '../rig/assay.ts'
import { startModel } from '../rig/model-server.ts'
import { makeRepo } from '../rig/repo.ts'
import { isolatedEnv, makeTemp } from '../rig/temp.ts'
import { type Asked, inTool } from './real/in-tool.ts'
import { WIRINGS } from './real/wiring.ts'

const WIRING = WIRINGS['claude-code']
const BENCH = `import { readdirSync, readFileSync } from 'node:fs'
const gains = readdirSync('src').map((name) => Number(readFileSync('src/' + name, 'utf8')))
console.log('METRIC ms=' + (101 - gains.reduce((sum, gain) => sum + gain, 0)))
`
const HOME = { dir: '' }
const env = () => ({
  ...isolatedEnv(),
  HOME: HOME.dir,
  XDG_CONFIG_HOME: undefined,
  XDG_STATE_HOME: undefined,
  XDG_CACHE_HOME: undefined,
  XDG_DATA_HOME: undefined,
  PATH: [...binFolders(), dirname(process.execPath), '/usr/bin', '/bin'].join(delimiter),
  TERM: 'dumb',
})
/** What the installer says to allow. */
let rules: { allow: string[] } = { allow: [] }

beforeAll(async () => {
  HOME.dir = makeTemp('home')
  const { dir } = makeRepo({ files: { 'a.txt': 'a\n' } })
  const installed = await assay<{ permissions: string[] }>(['install', 'claude-code', '--json'], {
    cwd: dir,
    env: env(),
  })
  const text = /"permissions": (\{.*\})/.exec(dataOf(installed).permissions[0] ?? '')?.[1]
  rules = JSON.parse(text ?? '{}')
})

const openProject = (files = {}): Promise<Scene> =>
  openScene(
    { 'src/base.txt': '1', 'bench/run.mjs': BENCH, ...files },
    {
      version: 1,
      name: 'gains',
      goal: 'Make the number small.',
      scope: { mutable: ['src/**'], immutable: ['bench/**'] },
      measure: { command: [process.execPath, 'bench/run.mjs'] },
      metric: { name: 'ms', direction: 'minimize' },
      noise: { mode: 'deterministic', calibrate: 2 },
      loop: { width: 2, depth: 2 },
      budget: { experiments: 20 },
      agent: { host: 'claude-code', timeout: '2m', model: WIRING.models.plain },
    },
  )
const allowed = () => ({ '.claude/settings.json': JSON.stringify({ permissions: rules }) })

/** As a person does once, when the program asks. Rules of a project count from then on. */
function trust(folder: string): void {
  const file = join(HOME.dir, '.claude.json')
  const known = existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : {}
  const projects = { ...known.projects, [folder]: { hasTrustDialogAccepted: true } }
  writeFileSync(file, JSON.stringify({ ...known, projects }))
}

/** One conversation of the program, headless; its model launches the workflow. */
async function converse(scene: Scene, url: string, flags: string[] = []): Promise<void> {
  const defined = Object.entries({ ...env(), ...WIRING.env(url, HOME.dir) }).filter(
    (one): one is [string, string] => one[1] !== undefined,
  )
  const done = await execute({
    argv: [
      'claude',
      '-p',
      '--output-format',
      'stream-json',
      '--verbose',
      '--model',
      WIRING.models.plain,
      ...flags,
    ],
    cwd: scene.repo.dir,
    env: {
      ...Object.fromEntries(defined),
      CLAUDE_CODE_PRINT_BG_WAIT_CEILING_MS: '0',
      DISABLE_AUTOUPDATER: '1',
    },
    input: 'Optimise this project with Assay: launch its workflow.',
    timeoutMs: 300_000,
  })
  expect([done.code, done.stderr.toString()]).toEqual([0, ''])
}

/** Of each lane, and of the rounds as such: what the ledger says, and whom the script asked in between. */
function stepsAndCalls(scene: Scene, asked: readonly Asked[]): Record<string, string[]> {
  const events = scene.events()
  const laneOf = (event: Event) => {
    const experiment = 'experiment' in event ? event.experiment : null
    const created = scene.eventsOf('created').find((one) => one.experiment === experiment)
    return created?.lane ?? null
  }
  const told: { lane: number | null; at: number; row: string }[] = [
    ...events.flatMap((event, at) => {
      // Only a driver of Assay's own tells these.
      if (['usage', 'drove', 'resumed'].includes(event.type)) return []
      const { type, task, role, status, reason } = event as unknown as Record<string, string>
      const row = [type, role ?? task?.split('/').at(-1), status, reason].filter(Boolean).join(' ')
      return [{ lane: laneOf(event), at: at + 0.5, row }]
    }),
    ...asked.map(({ role, lane, at }) => ({ lane, at, row: `asked ${role}` })),
  ].sort((a, b) => a.at - b.at)
  return Object.fromEntries(
    [null, 1, 2].map((lane) => [String(lane), told.filter((one) => one.lane === lane).map(({ row }) => row)]),
  )
}

test('the workflow does not run with the documented permissions, or takes different steps than assay loop', async () => {
  const inside = await openProject(allowed())
  trust(inside.repo.dir)
  const insideScript = inTool({ args: { run: RUN, rounds: 1 }, scene: inside })
  await converse(inside, (await startModel(insideScript.reply)).url)
  expect(insideScript.endings()).toEqual([expect.stringContaining('<status>completed</status>')])
  const looping = await openProject()
  const loopScript = inTool({ scene: looping })
  const url = (await startModel(loopScript.reply)).url
  const loop = await startAssay<LoopData>(['loop', '--json', '--rounds', '1'], {
    cwd: looping.repo.dir,
    env: { ...env(), ...WIRING.env(url, HOME.dir) },
  }).ended
  expect(dataOf(loop)).toMatchObject({ rounds: 1, best: { value: 80 } })
  const expected = stepsAndCalls(looping, loopScript.asked())
  expect(stepsAndCalls(inside, insideScript.asked())).toEqual(expected)
  // The agents of the tool are of the session, so the lease is one.
  const [first, ...later] = inside
    .events()
    .flatMap((event) => (event.type.startsWith('round_') && 'by' in event ? [event.by] : []))
  expect(first).toMatchObject({ host: 'claude-code' })
  expect(later).toEqual([first, first])
  // Of the CLI itself: what it found in the seal.
  const sealed = ['sealed', 'task_answered sealed']
  const verified = ['asked verify', 'task_answered verify']
  const tried = ['created', 'asked implement', 'task_answered implement', ...sealed, ...verified]
  expect(expected).toEqual({
    null: [
      'run_started',
      'created',
      'isolated',
      'sealed',
      'started',
      'judged kept',
      'round_opened',
      'asked brief',
      'task_answered brief',
      'round_briefed',
      'task_answered laid',
      'asked collect',
      'task_answered collect',
      'round_closed',
    ],
    1: [
      ...tried,
      'asked revise',
      'task_answered revise.1',
      'sealed',
      'task_answered sealed.1',
      'asked verify',
      'task_answered verify.1',
      'started',
      'judged kept improved',
      'asked audit',
      'task_answered audit',
      'audited',
      ...tried,
      'started',
      'judged rejected not_better',
    ],
    2: [...tried, 'started', 'judged rejected not_better'],
  })
}, 400_000)

/** The scene's parts, with the calls that an agent of this program makes for them. */
function playScene(scene: Scene): NonNullable<Parameters<typeof inTool>[0]['play']> {
  const happened = new Set<string>()
  return (task, { worktree, experiment, brief }) => {
    const part = PARTS[task]
    if (!part) throw new Error(`the scene has no task ${task}`)
    if (!happened.has(task)) meanwhile(part, scene.repo.dir, experiment)
    happened.add(task)
    const file_path = `${worktree}/src/number.txt`
    // The program writes a file that exists only after it was read.
    const edits =
      part.writes === undefined
        ? []
        : [{ tool: 'Read', input: { file_path } }, WIRING.write(file_path, `${part.writes}\n`)]
    const { parents } = Object(brief) as { parents?: { experiment: string }[] }
    return { edits, answer: answerOf(part, parents?.[0]?.experiment ?? '') }
  }
}

test('the workflow tool takes other steps than the drivers of Assay, or does not end and continue with a pause', async () => {
  const agent = { host: 'claude-code', timeout: '2m', model: WIRING.models.plain }
  const scene = await openScene({ ...sceneFiles, ...allowed() }, sceneSpec(agent))
  trust(scene.repo.dir)
  const script = inTool({ args: { run: RUN, rounds: 2 }, launches: 2, scene, play: playScene(scene) })
  const { url } = await startModel(script.reply)
  await Promise.all([converse(scene, url), abortLane3(scene)])
  expect(script.endings()).toEqual([
    expect.stringContaining('"continue":{"run":"run_0001","rounds":1}'),
    expect.stringContaining('"rounds":1'),
  ])
  expect(sequences(scene)).toEqual(EXPECTED)
}, 400_000)

test('a launch runs into the cap of the host, or the next one pays for a candidate again', async () => {
  const scene = await openProject(allowed())
  trust(scene.repo.dir)
  const script = inTool({ args: { run: RUN, rounds: 1, agents: 28 }, launches: 6, scene })
  await converse(scene, (await startModel(script.reply)).url)
  expect(script.endings().length).toBeGreaterThan(1)
  expect(script.endings().at(-1)).toContain('"rounds":1,"stop":null,"best"')
  const implemented = script.asked().filter(({ role }) => role === 'implement')
  expect(implemented.map(({ experiment }) => experiment).sort()).toEqual(['exp_0001', 'exp_0002', 'exp_0003'])
  expect(script.asked().filter(({ role }) => role === 'audit')).toHaveLength(1)
  expect(scene.eventsOf('round_closed')).toHaveLength(1)
}, 400_000)

test('after a command that is not allowed it continues, or does not say what to allow', async () => {
  const scene = await openProject()
  const script = inTool({ args: { run: RUN, rounds: 1 }, scene })
  await converse(scene, (await startModel(script.reply)).url, ['--allowedTools', 'Workflow'])
  expect(script.clerks()).toHaveLength(1)
  expect(script.endings()).toEqual([expect.stringContaining('<status>failed</status>')])
  expect(script.endings()[0]).toContain(JSON.stringify(rules.allow).replaceAll(',', ', '))
}, 400_000)
