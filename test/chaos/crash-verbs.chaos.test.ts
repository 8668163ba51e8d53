import { expect, test } from 'vitest'
import { makeProject, ms, type NewData, type Project, writeFiles } from '../e2e/project.ts'
import { dataOf } from '../rig/assay.ts'
import { type Crash, crash, type LineDeath } from '../rig/crash.ts'
import { NOTHING_LOST, recordsOf, takeToll } from './toll.ts'

async function start(): Promise<Project> {
  const project = makeProject({
    spec: { noise: { mode: 'deterministic', calibrate: 2 }, loop: { width: 2, depth: 1 } },
  })
  await project.data('init')
  return project
}

const eventsOf = (project: Project, type: string) =>
  recordsOf(project.repo.path('.assay')).flatMap(({ lines }) => lines.filter((line) => line.type === type))

const HOW = ['before', 'torn', 'after'] as const

interface Call {
  args: string[]
  input?: object
  /** The event that it records. */
  type: string
}

/** The call, killed at its event; then the same call again, whose answer counts. */
async function killedOnce<T>(
  project: Project,
  crashes: Crash[],
  { args, input, type }: Call,
  how: LineDeath['how'],
): Promise<T> {
  const what = `${args.join(' ')}, ${how}`
  const options = input === undefined ? {} : { input: JSON.stringify(input) }
  const before = eventsOf(project, type).length
  const crashing = crash({
    line: `"type":"${type}"`,
    how,
    who: crashes.length % 2 === 0 ? 'one' : 'all',
  })
  const ran = await project.cli(args, { ...options, env: crashing.env })
  crashes.push(crashing)
  expect([what, crashing.deaths(), ran.signal]).toEqual([what, 1, 'SIGKILL'])
  const again = dataOf(await project.cli<T & { repeated?: true }>(args, options))
  expect([what, eventsOf(project, type).length]).toEqual([what, before + 1])
  expect([what, again.repeated ?? false]).toEqual([what, how === 'after'])
  return again
}

test('a verb that was killed and is repeated with its key counts twice, or not at all', async (context) => {
  const project = await start()
  const crashes: Crash[] = []
  for (const how of HOW) {
    const key = (name: string) => ['--key', `${name}-${how}`]
    const kill = <T>(type: string, ...args: string[]) => killedOnce<T>(project, crashes, { type, args }, how)
    const made = await kill<NewData>('created', 'new', '--parent', 'exp_0000', '-m', 'an idea', ...key('new'))
    const worse = { 'src/metrics.txt': 'METRIC ms=101\n', 'src/how.txt': how }
    const rejected = await project.attempt(worse)
    const kept = await project.attempt(ms({ before: 90, torn: 91, after: 92 }[how]))
    await kill('annotated', 'annotate', kept.experiment, 'a remark', ...key('annotate'))
    await kill('noted', 'note', 'a learning', ...key('note'))
    await kill('discarded', 'discard', rejected.experiment, '--reason', 'no use', ...key('discard'))
    await kill('restored', 'restore', rejected.experiment, '--reason', 'of use', ...key('restore'))
    await kill('pinned', 'pin', kept.experiment, '--reason', 'a new way', ...key('pin'))
    await kill('unpinned', 'unpin', kept.experiment, ...key('unpin'))
    await kill('pruned', 'prune', kept.experiment, '--reason', 'too wide', ...key('prune'))
    await kill('sealed', 'seal', made.experiment, ...key('seal'))
  }
  expect(await takeToll(context, { repo: project.repo, crashes })).toEqual(NOTHING_LOST)
})

interface Opened {
  round: number
  token: string
}
interface Briefed {
  lanes: { lane: number; experiment: string; parent: string }[]
}

test('a killed call of a round is repeated, and opens two rounds, makes different lanes, or closes twice', async (context) => {
  const project = await start()
  const crashes: Crash[] = []
  for (const [index, how] of HOW.entries()) {
    const kill = <T>(type: string, args: string[], input?: object) =>
      killedOnce<T>(project, crashes, { type, args, ...(input === undefined ? {} : { input }) }, how)
    const { round, token } = await kill<Opened>('round_opened', ['round', 'open'])
    expect(round).toBe(index + 1)
    const briefs = ['one way', 'another way'].map((objective) => ({
      parent: 'exp_0000',
      kind: 'edit',
      objective,
    }))
    const laid = await kill<Briefed>('round_briefed', ['round', 'briefs', '--token', token], { briefs })
    expect(laid.lanes).toHaveLength(2)
    for (const { lane, experiment, parent } of laid.lanes) {
      const place = ['--round', String(round), '--lane', String(lane), '--depth', '1']
      const args = ['new', '--parent', parent, '-m', 'x', ...place, '--key', `${round}-${lane}`]
      const made = await kill<NewData>('created', args)
      expect(made.experiment).toBe(experiment)
      await project.data('discard', made.experiment, '--reason', 'done with')
    }
    await kill('round_closed', ['round', 'close', '--token', token], { lanes: [] })
  }
  expect(eventsOf(project, 'round_closed').map(({ round }) => round)).toEqual([1, 2, 3])
  expect(await takeToll(context, { repo: project.repo, crashes })).toEqual(NOTHING_LOST)
})

test('a process is killed as a lease changes hands, and two sessions hold it, or the one that gave it up', async (context) => {
  const project = await start()
  await project.data('config', 'set', 'loop.stall', '1', '--reason', 'one round is enough')
  const crashes: Crash[] = []
  const input = JSON.stringify({ briefs: [{ parent: 'exp_0000', objective: 'one way' }], lanes: [] })
  const call = <T>(session: string, args: string[], env = {}) =>
    project.cli<T>(args, { input, env: { CLAUDE_CODE_SESSION_ID: session, ...env } })
  const killed = async <T>(session: string, how: LineDeath['how'], line: string, ...args: string[]) => {
    const crashing = crash({ line, how, who: 'one' })
    crashes.push(crashing)
    expect((await call(session, args, crashing.env)).signal).toBe('SIGKILL')
    return dataOf(await call<T>(session, args))
  }
  const { token } = dataOf(await call<Opened>('first', ['round', 'open']))
  let earlier = 'first'
  for (const how of HOW) {
    const taken = await killed<Opened>(how, how, '"how":"taken_over"', 'round', 'open', '--take-over')
    expect(taken.token).toBe(token)
    expect((await call(earlier, ['round', 'open'])).code).toBe(3)
    earlier = how
  }
  for (const [index, how] of HOW.entries()) {
    const current = index === 0 ? token : dataOf(await call<Opened>(how, ['round', 'open'])).token
    const session = index === 0 ? earlier : how
    dataOf(await call(session, ['round', 'briefs', '--token', current]))
    await killed(session, how, '"how":"given_up"', 'round', 'close', '--token', current)
    await project.data('config', 'set', 'loop.stall', String(index + 2), '--reason', 'more')
  }
  expect(await project.data('round', 'open')).toMatchObject({ round: 4 })
  expect(await takeToll(context, { repo: project.repo, crashes })).toEqual(NOTHING_LOST)
})

test('a round is closed over a candidate whose process died, and it stays running for ever or is blamed', async (context) => {
  const project = await start()
  const { token } = await project.data<Opened>('round', 'open')
  const briefs = [{ parent: 'exp_0000', kind: 'edit', objective: 'one way' }]
  const laid = await project.cli<Briefed>(['round', 'briefs', '--token', token], {
    input: JSON.stringify({ briefs }),
  })
  const { experiment } = dataOf(laid).lanes[0] ?? { experiment: '' }
  const made = await project.data<NewData>(
    ...['new', '--parent', 'exp_0000', '-m', 'x', '--round', '1', '--lane', '1', '--depth', '1'],
  )
  writeFiles(made.worktree, ms(90))
  const crashing = crash({ line: '"type":"started"', how: 'after', who: 'one' })
  expect((await project.cli(['run', experiment], { env: crashing.env })).signal).toBe('SIGKILL')
  expect(await project.data('show', experiment)).toMatchObject({ status: 'running' })
  await project.cli(['round', 'close', '--token', token], { input: '{"lanes":[]}' })
  expect(await project.data('show', experiment)).toMatchObject({
    status: 'failed',
    reason: 'aborted',
    failure_class: 'environment',
    message: expect.stringContaining('ended from outside'),
  })
  // It was charged once, and may be tried again.
  expect(await project.data('run', experiment)).toMatchObject({ status: 'kept', value: 90 })
  expect(await takeToll(context, { repo: project.repo, crashes: [crashing] })).toEqual(NOTHING_LOST)
})
