import { writeFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import type { Event } from '../../cli/ledger/events.ts'
import { dataOf } from '../rig/assay.ts'
import { type ScriptedHost, scriptedHost } from '../rig/host.ts'
import { until } from '../rig/until.ts'
import {
  candidatesIn,
  notebook,
  openScene,
  processesIn,
  type Scene,
  tuneFiles,
  tuneSpec,
} from './loop-scene.ts'
import { WHO } from './project.ts'

/** What is killed: the driver alone, as the kernel does when memory is short, or all that it started and did not detach. */
type Victims = 'the driver' | 'the whole group'

interface Moment {
  after: string
  like: (event: Event) => boolean
}

const inRound2 = (scene: () => Scene | null) => (event: Event) => {
  if (!('experiment' in event) || event.experiment === null) return false
  const created = scene()
    ?.eventsOf('created')
    .find(({ experiment }) => experiment === event.experiment)
  return created?.round === 2
}

const second = (type: Event['type']): Moment => ({
  after: type,
  like: (event) => event.type === type && 'round' in event && event.round === 2,
})

async function kill(scene: Scene, moment: Moment, victims: Victims): Promise<void> {
  const driver = scene.startLoop('--json')
  await scene.happened(`a ${moment.after} event of round 2`, moment.like)
  process.kill(victims === 'the driver' ? driver.pid : -driver.pid, 'SIGKILL')
  expect((await driver.ended).signal).toBe('SIGKILL')
}

const BUDGET = { experiments: 4 }

describe('with tune', () => {
  const starts = notebook()
  const files = {
    ...tuneFiles,
    'bench/run.mjs': `import { appendFileSync } from 'node:fs'
appendFileSync(${JSON.stringify(starts.file)}, process.env.BOWL + '\\n')
${tuneFiles['bench/run.mjs']}`,
  }
  let undisturbed: Promise<{ candidates: string[]; stop: string | null; samples: number }> | null = null

  const scenario = (name: string) =>
    openScene(
      files,
      tuneSpec({
        loop: { depth: 1 },
        budget: BUDGET,
        measure: {
          isolation: 'none',
          command: [process.execPath, 'bench/run.mjs'],
          environment: { set: { BOWL: name } },
        },
      }),
    )
  const samples = (name: string) => starts.lines().filter((line) => line === name).length

  const reference = async () => {
    const scene = await scenario('undisturbed')
    const { stop } = dataOf(await scene.loop())
    return { candidates: candidatesIn(scene), stop, samples: samples('undisturbed') }
  }

  const moments: [string, Victims, (scene: () => Scene | null) => Moment][] = [
    ['round_opened', 'the whole group', () => second('round_opened')],
    ['round_briefed', 'the driver', () => second('round_briefed')],
    ['created', 'the whole group', () => second('created')],
    ['sealed', 'the driver', (scene) => ({ after: 'sealed', like: both('sealed', inRound2(scene)) })],
    ['started', 'the whole group', (scene) => ({ after: 'started', like: both('started', inRound2(scene)) })],
    ['judged', 'the driver', (scene) => ({ after: 'judged', like: both('judged', inRound2(scene)) })],
  ]

  test.each(moments)(
    'killed after %s (%s), the next loop comes to a different result, or pays again',
    async (after, victims, momentOf) => {
      undisturbed ??= reference()
      const { candidates, stop, samples: paid } = await undisturbed
      const name = `killed-after-${after}`
      const scene = await scenario(name)
      await kill(
        scene,
        momentOf(() => scene),
        victims,
      )
      const rest = dataOf(await scene.loop())
      expect(rest.stop).toBe(stop)
      expect(candidatesIn(scene)).toEqual(candidates)
      expect(scene.eventsOf('started').filter(({ takes_over }) => takes_over === undefined)).toHaveLength(
        1 + 4,
      )
      expect(scene.eventsOf('created')).toHaveLength(1 + 4)
      expect(samples(name)).toBe(paid)
      expect(scene.eventsOf('round_opened').map(({ round }) => round)).toEqual(
        scene.eventsOf('round_closed').map(({ round }) => round),
      )
      await until(() => processesIn(scene.repo.dir).length === 0, { what: 'all processes of the run to end' })
    },
  )
})

const both = (type: Event['type'], also: (event: Event) => boolean) => (event: Event) =>
  event.type === type && also(event)

describe('with a command', () => {
  const host = (notes: string, hangs = 'card.round === 2'): ScriptedHost =>
    scriptedHost(`import { appendFileSync, existsSync, readFileSync, writeFileSync } from 'node:fs'
const file = (card) => card.worktree + '/src/number.txt'
export default {
  scan: () => ({ findings: [] }),
  ideate: () => ({ ideas: [] }),
  brief: ({ round, capsule: { open } }) => ({
    briefs: [{ parent: open.parents[0].experiment, objective: 'go down in round ' + round }],
  }),
  implement: async (card) => {
    const number = Number(readFileSync(file(card), 'utf8'))
    if (${hangs} && !existsSync(${JSON.stringify(`${notes}.go`)})) {
      appendFileSync(${JSON.stringify(notes)}, process.pid + '\\n')
      await new Promise((resolve) => setTimeout(resolve, 3_600_000))
    }
    writeFileSync(file(card), number - 1 + '\\n')
    return { hypothesis: 'one less than ' + number }
  },
  verify: () => ({ passed: true, findings: [] }),
  audit: () => ({ findings: [] }),
  collect: () => ({ learnings: ['round over'], suggestions: [] }),
}
`)

  const open = (agent: ScriptedHost, bench: string, name: string, depth = 1) =>
    openScene(
      { 'src/number.txt': '100\n', 'bench/run.sh': bench },
      {
        version: 1,
        name,
        goal: 'Make the number small.',
        scope: { mutable: ['src/**'], immutable: ['bench/**'] },
        measure: { isolation: 'none', command: ['sh', 'bench/run.sh'] },
        metric: { name: 'ms', direction: 'minimize' },
        noise: { mode: 'deterministic', calibrate: 2 },
        search: { policy: 'argmax', k: 1 },
        loop: { width: 1, depth },
        budget: { experiments: 2 },
        agent: { host: 'command', command: agent.argv },
      },
      // Every start of the benchmark is counted.
      ['--no-canary'],
    )
  const asked = (agent: ScriptedHost) => agent.calls().map(({ role, card }) => `${card.round} ${role}`)

  test.each<Victims>(['the driver', 'the whole group'])(
    'killed while an agent works (%s): an answer is paid twice, or the old agent works on beside the new one',
    async (victims) => {
      const notes = notebook()
      const agent = host(notes.file)
      const scene = await open(agent, 'echo METRIC ms=$(cat src/number.txt)\n', 'agents')
      const driver = scene.startLoop('--json')
      await until(() => notes.lines().length === 1, { what: 'the agent of round 2 to hang' })
      process.kill(victims === 'the driver' ? driver.pid : -driver.pid, 'SIGKILL')
      await driver.ended
      const before = asked(agent)
      expect(before).toEqual([
        '1 brief',
        '1 implement',
        '1 verify',
        '1 audit',
        '1 collect',
        '2 scan',
        '2 brief',
        '2 implement',
      ])
      writeFileSync(`${notes.file}.go`, '')
      const rest = dataOf(await scene.loop())
      // Round 1 was closed by the start that was killed.
      expect(rest).toMatchObject({ rounds: 1, stop: 'budget', best: { value: 98 } })
      expect(asked(agent).slice(before.length)).toEqual(['2 implement', '2 verify', '2 audit', '2 collect'])
      expect(candidatesIn(scene, 'src/number.txt')).toEqual([
        '/100 100 kept null',
        '/100/99 99 kept improved',
        '/100/99/98 98 kept improved',
      ])
      await until(() => processesIn(scene.repo.dir).length === 0, { what: 'the first agent to end' })
    },
  )

  test('killed at depth 2: the auditor is asked again about what had passed at depth 1', async () => {
    const notes = notebook()
    const agent = host(notes.file, 'card.depth === 2')
    const scene = await open(agent, 'echo METRIC ms=$(cat src/number.txt)\n', 'audits', 2)
    const driver = scene.startLoop('--json')
    await until(() => notes.lines().length === 1, { what: 'the agent at depth 2 to hang' })
    process.kill(-driver.pid, 'SIGKILL')
    await driver.ended
    const before = asked(agent)
    expect(before).toEqual(['1 brief', '1 implement', '1 verify', '1 audit', '1 implement'])
    writeFileSync(`${notes.file}.go`, '')
    expect(dataOf(await scene.loop())).toMatchObject({ stop: 'budget', best: { value: 98 } })
    expect(asked(agent).slice(before.length)).toEqual(['1 implement', '1 verify', '1 audit', '1 collect'])
    expect(scene.eventsOf('audited').map(({ experiment, outcome }) => [experiment, outcome])).toEqual([
      ['exp_0001', 'passed'],
      ['exp_0002', 'passed'],
    ])
  })

  test('killed while a sample runs: its worker is not waited for, or a second one is started beside it', async () => {
    const notes = notebook()
    const agent = host(notes.file)
    writeFileSync(`${notes.file}.go`, '')
    const bench = `echo ${WHO} >> '${notes.file}'
if [ "${WHO}" = exp_0002 ]; then while [ ! -e '${notes.file}.release' ]; do sleep 0.05; done; fi
echo METRIC ms=$(cat src/number.txt)
`
    const scene = await open(agent, bench, 'samples')
    const driver = scene.startLoop('--json')
    await until(() => notes.lines().includes('exp_0002'), { what: 'the sample of round 2' })
    process.kill(-driver.pid, 'SIGKILL')
    await driver.ended
    const joined = await scene.cli(['run', 'exp_0002', '--detach'])
    expect(dataOf(joined)).toEqual({ experiment: 'exp_0002', started: true })
    const again = scene.startLoop('--json')
    await scene.happened(
      'the next driver',
      (event) => event.type === 'drove' && event.owner.pid === again.pid,
    )
    writeFileSync(`${notes.file}.release`, '')
    expect(dataOf(await again.ended)).toMatchObject({ stop: 'budget', best: { value: 98 } })
    expect(notes.lines()).toEqual(['exp_0000', 'exp_0000', 'exp_0001', 'exp_0001', 'exp_0002', 'exp_0002'])
    expect(scene.eventsOf('started').map(({ experiment }) => experiment)).toEqual([
      'exp_0000',
      'exp_0001',
      'exp_0002',
    ])
    expect(new Set(asked(agent)).size).toBe(asked(agent).length)
  })

  test('its worker is killed too: the claim is charged twice, or a sample that was paid is taken again', async () => {
    const notes = notebook()
    const agent = host(notes.file)
    writeFileSync(`${notes.file}.go`, '')
    // The first sample of exp_0002 is good; its confirmation hangs.
    const bench = `echo ${WHO} $ASSAY_SAMPLE >> '${notes.file}'
if [ "$(grep -c exp_0002 '${notes.file}')" = 2 ]; then while [ ! -e '${notes.file}.release' ]; do sleep 0.05; done; fi
echo METRIC ms=$(cat src/number.txt)
`
    const scene = await open(agent, bench, 'workers')
    const driver = scene.startLoop('--json')
    const measured = () => notes.lines().filter((line) => line.startsWith('exp_0002')).length
    await until(() => measured() === 2, { what: 'the second sample of exp_0002' })
    process.kill(-driver.pid, 'SIGKILL')
    const started = scene.eventsOf('started').findLast(({ experiment }) => experiment === 'exp_0002')
    if (!started) throw new Error('exp_0002 has no claim')
    process.kill(started.owner.pid, 'SIGKILL')
    await driver.ended
    await until(() => processesIn(scene.repo.dir).length === 0, { what: 'the sample to end with its worker' })
    expect(dataOf(await scene.loop())).toMatchObject({ stop: 'budget', best: { value: 98 } })
    expect(measured()).toBe(3)
    expect(
      scene.eventsOf('started').map(({ experiment, takes_over }) => [experiment, takes_over ?? null]),
    ).toEqual([
      ['exp_0000', null],
      ['exp_0001', null],
      ['exp_0002', null],
      ['exp_0002', started.id],
    ])
    const status = dataOf(await scene.cli<{ budget: { experiments: { used: number } } }>(['status']))
    expect(status.budget.experiments.used).toBe(2)
    expect(new Set(asked(agent)).size).toBe(asked(agent).length)
  })
})
