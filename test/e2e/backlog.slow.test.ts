/** A backlog of 30 ideas, worked through in batches by the real CLI and a scripted host. */
import { expect, test } from 'vitest'
import { dataOf } from '../rig/assay.ts'
import { scriptedHost } from '../rig/host.ts'
import { openScene, type Scene } from './loop-scene.ts'
import { answers, numberFiles, numberSpec, rolesOf } from './number-scene.ts'

const KINDS = ['parser', 'cache', 'output', 'memory', 'threads']
const PRIORITY = ['low', 'medium', 'high']
/** Idea n has kind n mod 5 and priority n mod 3; 4, 8, 12, 16, 20 and 24 need a package. */
const IDEAS = Array.from({ length: 30 }, (_, n) => ({
  hypothesis: `change number ${n + 1} of the ${KINDS[n % 5]}`,
  kind: KINDS[n % 5],
  priority: PRIORITY[n % 3],
  ...(n % 4 === 3 && n < 24 ? { dependencies: ['zstd', `extra-${n + 1}`] } : {}),
}))
const PARKED = ['idea_0004', 'idea_0008', 'idea_0012', 'idea_0016', 'idea_0020', 'idea_0024']

interface BacklogData {
  ideas: { id: string; status: string; missing: string[]; outcome: string | null }[]
}

const laneIdeas = (scene: Scene) =>
  scene.eventsOf('round_briefed').map(({ lanes }) => lanes.map(({ brief }) => brief.idea))
const countIn = (text: string, part: string) => text.split(part).length - 1

test('a batch repeats a category, a parked idea is shown at each start or tried, an approval is asked for again, or a resumed run takes others', async () => {
  const host = scriptedHost(answers({ brief: `() => { throw new Error('nobody writes briefs') }` }))
  const scene = await openScene(
    numberFiles,
    numberSpec(host, {
      loop: { width: 4, depth: 1, stall: 9, revise: 0, briefs: 'backlog', merge: 'off' },
      dependencies: { approved: ['extra-4'] },
    }),
  )
  for (const at of [0, 15]) dataOf(await scene.cli(['propose'], { ideas: IDEAS.slice(at, at + 15) }))
  const backlog = async (...args: string[]) =>
    dataOf(await scene.cli<BacklogData>(['backlog', ...args])).ideas
  expect((await backlog()).filter(({ status }) => status === 'parked').map(({ id }) => id)).toEqual(PARKED)
  expect((await backlog()).find(({ id }) => id === 'idea_0004')?.missing).toEqual(['zstd'])

  const first = await scene.startLoop('--rounds', '1').ended
  expect(countIn(first.stderr, '6 ideas wait for your approval of packages')).toBe(1)
  expect(countIn(first.stdout, 'idea_0024 needs zstd, extra-24')).toBe(1)
  // Four kinds, each with its first idea of high priority that needs no approval.
  expect(laneIdeas(scene)).toEqual([['idea_0003', 'idea_0006', 'idea_0009', 'idea_0015']])

  dataOf(await scene.cli(['backlog', 'approve', 'idea_0012', 'idea_0024']))
  const dropped = await scene.cli(['backlog', 'drop', 'idea_0016', '--reason', 'the format must not change'])
  expect(dropped.code).toBe(0)

  const killed = scene.startLoop('--rounds', '1')
  await scene.happened('the batch of round 2', (event) => event.type === 'round_briefed' && event.round === 2)
  killed.kill('SIGKILL')
  await killed.ended
  const second = await scene.startLoop('--rounds', '1').ended
  // idea_0012 (cache, high) was approved with zstd, which three other ideas needed together with one more package.
  expect(laneIdeas(scene)).toEqual([
    ['idea_0003', 'idea_0006', 'idea_0009', 'idea_0015'],
    ['idea_0012', 'idea_0018', 'idea_0021', 'idea_0024'],
  ])
  expect(second.stderr).not.toContain('wait for your approval')
  expect(scene.eventsOf('ideas_parked')).toHaveLength(1)
  expect(countIn(second.stdout, '2 ideas wait for your approval of packages')).toBe(1)

  const report = dataOf(await scene.cli<{ left: { parked: { id: string }[] } }>(['report'])).left
  expect(report.parked.map(({ id }) => id)).toEqual(['idea_0008', 'idea_0020'])
  const status = dataOf(await scene.cli<{ parked: { id: string }[] }>(['status']))
  expect(status.parked).toEqual(report.parked)
  const done = (await backlog('--all')).filter(({ status }) => status === 'done')
  expect(done.map(({ id }) => id)).toHaveLength(8)
  expect(done.every(({ outcome }) => outcome === 'kept')).toBe(true)
  expect(rolesOf(host)).not.toContain('brief')
}, 120_000)
