/** Who drives: a session of an agent program by its lease in the ledger, a loop by its process. */
import { appendFileSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { openRound } from '../../cli/loop/open.ts'
import { identify } from '../../cli/process.ts'
import { openRun } from '../../cli/run/open.ts'
import { assay, dataOf, problemOf, type Ran, startAssay } from '../rig/assay.ts'
import { makeClock } from '../rig/clock.ts'
import { until } from '../rig/until.ts'
import { type LoopData, openScene, type Scene, sceneOf, tuneFiles, tuneSpec } from './loop-scene.ts'
import { hook, makeProject, ms, type NewData, type RunData, writeFiles } from './project.ts'

interface Opened {
  round: number | null
  token: string
  stop: string | null
  repeated?: true
}
interface Turn {
  turn: { host: string; session: string; last: string; live: boolean; mine: boolean } | null
  driver: object | null
}

const A = { CLAUDE_CODE_SESSION_ID: 'session-a' }
const B = { CODEX_THREAD_ID: 'session-b' }
const C = { COPILOT_AGENT_SESSION_ID: 'session-c' }
const NOBODY = {}

async function project(spec = {}) {
  const made = makeProject({ spec: { loop: { width: 1, depth: 1, stall: 1 }, ...spec } })
  await made.data('init')
  const call = <T = Opened>(env: Record<string, string>, args: string[], input?: object): Promise<Ran<T>> =>
    made.cli<T>(args, { env, ...(input === undefined ? {} : { input: JSON.stringify(input) }) })
  const open = (env: Record<string, string>, ...flags: string[]) => call(env, ['round', 'open', ...flags])
  const briefs = (env: Record<string, string>, token: string) =>
    call(env, ['round', 'briefs', '--token', token], {
      briefs: [{ parent: 'exp_0000', objective: 'try something' }],
    })
  const close = (env: Record<string, string>, token: string) =>
    call(env, ['round', 'close', '--token', token], { lanes: [] })
  return { ...made, scene: sceneOf(made.repo), call, open, briefs, close }
}

const refused = (ran: Ran<unknown>) => [ran.code, problemOf(ran).code]
const DRIVEN = [3, 'driven']

/** As if all that is in the ledger had happened so much earlier. */
function age(scene: Scene, minutes: number): void {
  const file = scene.repo.path('.assay', 'runs', 'run_0001', 'ledger.jsonl')
  const earlier = (at: string) => new Date(Date.parse(at) - minutes * 60_000).toISOString()
  const text = readFileSync(file, 'utf8')
  writeFileSync(
    file,
    text.replace(/"at":"([^"]+)"/g, (_, at: string) => `"at":"${earlier(at)}"`),
  )
}

describe('sessions', () => {
  test('of many sessions that open a round at once, two get its token, or none does', async () => {
    const { open, scene } = await project()
    const sessions = Array.from({ length: 6 }, (_, n) => ({ CLAUDE_CODE_SESSION_ID: `session-${n}` }))
    const all = await Promise.all(sessions.map((env) => open(env)))
    const codes = all.map((ran) => (ran.json?.ok ? 'token' : problemOf(ran).code)).sort()
    expect(codes).toEqual(['driven', 'driven', 'driven', 'driven', 'driven', 'token'])
    const winner = all.findIndex((ran) => ran.json?.ok === true)
    const loser = all.find((ran) => ran.json?.ok === false)
    expect(scene.eventsOf('round_opened')[0]?.by?.session).toBe(`session-${winner}`)
    expect(loser?.json).toMatchObject({ problem: { data: { session: `session-${winner}` } } })
    expect(
      scene.eventsOf('round_opened').filter(({ by }) => by?.session === `session-${winner}`),
    ).toHaveLength(1)
  })

  /** Opens a round as session A, in this process; `other` is in the ledger after A has looked who drives. */
  function openBehind({ repo }: Awaited<ReturnType<typeof project>>, other: object): string | null {
    const random = () => {
      const line = JSON.stringify({ v: '1.0', id: 'other', at: new Date().toISOString(), ...other })
      appendFileSync(repo.path('.assay', 'runs', 'run_0001', 'ledger.jsonl'), `${line}\n`)
      return 'mine'
    }
    const { signal } = new AbortController()
    const run = openRun(
      { cwd: repo.dir, env: A, tell: () => {}, signal, clock: () => new Date(), random },
      null,
    )
    if (!run.ok) throw new Error(run.problem.message)
    const opened = openRound(run.value)
    return opened.ok ? opened.value.token : opened.problem.code
  }

  test('a session that opens a round a moment after a different one gets its token', async () => {
    const one = await project()
    const theirs = {
      type: 'round_opened',
      round: 1,
      token: 'theirs',
      width: 1,
      depth: 1,
      parents: [],
      policy: 'argmax',
      seed: 1,
      ideate: null,
      by: { host: 'codex', session: 'session-b' },
    }
    expect(openBehind(one, theirs)).toBe('driven')
    expect(dataOf(await one.open(B))).toMatchObject({ token: 'theirs', repeated: true })
  })

  test('a session that comes after a process continues, or holds a lease against it', async () => {
    const one = await project()
    const drove = { type: 'drove', driver: 'x', owner: identify(), phase: 'start', active_ms: 0 }
    expect(openBehind(one, drove)).toBe('driven')
    expect(one.scene.eventsOf('leased').map(({ how }) => how)).toEqual(['given_up'])
  })

  test('a different session opens a round, writes to it or takes over without permission, or does not see that the first has ended', async () => {
    const { open, briefs, close, call, scene } = await project()
    const { token } = dataOf(await open(A))
    const told = await open(B)
    expect(refused(told)).toEqual(DRIVEN)
    expect(problemOf(told).message).toContain('a session of claude-code drives the run: session-a, since ')
    expect(problemOf(told).hint).toContain('assay round open --take-over')
    expect(problemOf(told).data).toMatchObject({ session: 'session-a', free_at: expect.any(String) })
    expect(refused(await open(NOBODY))).toEqual(DRIVEN)
    expect(refused(await briefs(B, token))).toEqual(DRIVEN)
    const seen = { host: 'claude-code', session: 'session-a', live: true }
    expect(dataOf(await call<Turn>(A, ['status']))).toMatchObject({ turn: { ...seen, mine: true } })
    expect(dataOf(await call<Turn>(B, ['status']))).toMatchObject({ turn: { ...seen, mine: false } })
    const forPeople = await assay(['status'], { cwd: scene.repo.dir, env: B })
    expect(forPeople.stdout).toMatch(
      /loop: session session-a of claude-code drives it, last seen .*Z, round 1/,
    )
    // Asked again, it has what it has.
    expect(dataOf(await open(A))).toMatchObject({ token, repeated: true })
    dataOf(await call(A, ['config', 'autonomous', 'on']))
    expect(refused(await call(B, ['config', 'autonomous', 'on']))).toEqual(DRIVEN)
    const waited = await call(B, ['wait', '--for', 'loop', '--timeout', '0s'])
    expect([waited.code, dataOf(waited)]).toMatchObject([124, { driven_by: { session: 'session-a' } }])
    expect(dataOf(await call(A, ['wait', '--for', 'loop']))).toMatchObject({ event: 'loop_stopped' })

    expect(dataOf(await open(B, '--take-over'))).toMatchObject({ token, repeated: true })
    expect(scene.eventsOf('leased').map(({ by, how }) => [by?.session, how])).toEqual([
      ['session-b', 'taken_over'],
    ])
    expect(refused(await open(A))).toEqual(DRIVEN)
    expect(refused(await briefs(A, token))).toEqual(DRIVEN)
    dataOf(await briefs(B, token))
    dataOf(await call(B, ['new', '--parent', 'exp_0000', '-m', 'it', '--round', '1', '--lane', '1']))
    expect(dataOf(await open(B))).toMatchObject({ warnings: [] })
    expect(refused(await close(A, token))).toEqual(DRIVEN)
    // A refusal has ended nothing of the other's.
    expect(scene.eventsOf('discarded')).toEqual([])
    expect(dataOf(await briefs(A, token))).toMatchObject({ repeated: true })
    expect(dataOf(await close(B, token))).toMatchObject({ stop: 'stall' })
    expect(dataOf(await close(A, token))).toMatchObject({ repeated: true })
    // The loop is over, so its session is done with it, and who lifts the stop need not wait.
    dataOf(await call(NOBODY, ['config', 'set', 'loop.stall', '5', '--reason', 'more']))
    expect(dataOf(await open(NOBODY))).toMatchObject({ round: 2 })
  })

  test('after a takeover two agents edit one lane, and no warning says so', async () => {
    const { open, briefs, call } = await project({ loop: { width: 2, depth: 1 } })
    const warnings = async (env: Record<string, string>, ...flags: string[]) =>
      dataOf(await call<{ warnings: string[] }>(env, ['round', 'open', ...flags])).warnings
    const { token } = dataOf(await open(A))
    await briefs(A, token)
    const made = (lane: number, env: Record<string, string> = A) =>
      call<NewData>(env, ['new', '--parent', 'exp_0000', '-m', 'it', '--round', '1', '--lane', `${lane}`])
    const edited = dataOf(await made(1))
    const sealed = dataOf(await made(2))
    writeFiles(sealed.worktree, ms(90))
    dataOf(await call(A, ['seal', sealed.experiment]))
    expect(await warnings(A)).toEqual([])
    const { experiment, worktree } = edited
    const told = [
      expect.stringMatching(`^${experiment} .lane 1.*session-a of claude-code.* edit ${worktree};`),
    ]
    expect(await warnings(B, '--take-over')).toEqual(told)
    expect(await warnings(B)).toEqual(told)
    dataOf(
      await call(B, ['discard', experiment, '--failure-class', 'environment', '--reason', 'two editors']),
    )
    expect(await warnings(B)).toEqual([])
    // What B has begun itself since then is nobody else's.
    dataOf(await made(1, B))
    expect(await warnings(B)).toEqual([])
  })

  test('a caller without a session takes over, and the earlier session comes back and locks it out', async () => {
    const { open, close } = await project()
    const { token } = dataOf(await open(A))
    dataOf(await open(NOBODY, '--take-over'))
    const told = await open(A)
    expect(refused(told)).toEqual(DRIVEN)
    expect(problemOf(told).message).toContain('the run was taken from this session')
    expect(refused(await close(A, token))).toEqual(DRIVEN)
    expect(dataOf(await open(NOBODY))).toMatchObject({ token, repeated: true })
    expect(dataOf(await open(A, '--take-over'))).toMatchObject({ token, repeated: true })
    expect(refused(await open(NOBODY))).toEqual(DRIVEN)
  })

  test('a vanished session keeps the run for ever, or a working one loses it', async () => {
    const { open, call, scene } = await project()
    const { token } = dataOf(await open(A))
    age(scene, 14)
    expect(refused(await open(C))).toEqual(DRIVEN)
    age(scene, 1)
    expect(dataOf(await call<Turn>(NOBODY, ['status']))).toMatchObject({ turn: { live: false } })
    expect(dataOf(await call(NOBODY, ['wait', '--for', 'loop']))).toMatchObject({ event: 'loop_stopped' })
    // Whoever finds the round open has it from then on.
    expect(dataOf(await open(C))).toMatchObject({ token, repeated: true })
    expect(refused(await open(A))).toEqual(DRIVEN)
    age(scene, 14)
    dataOf(await call(C, ['new', '--parent', 'exp_0000', '-m', 'an idea', '--round', '1', '--lane', '1']))
    age(scene, 14)
    expect(refused(await open(A))).toEqual(DRIVEN)
    expect(scene.eventsOf('leased').map(({ by, how }) => [by?.host, how])).toEqual([['copilot', 'taken']])
    // A process of another machine is never proved dead: while it beats it drives.
    age(scene, 15)
    const owner = { pid: 1, started: 'once', host: 'another-machine' }
    const drove = { v: '1.0', id: 'far', at: new Date().toISOString(), type: 'drove', driver: 'x', owner }
    const beat = JSON.stringify({ ...drove, phase: 'start', active_ms: 0 })
    appendFileSync(scene.repo.path('.assay', 'runs', 'run_0001', 'ledger.jsonl'), `${beat}\n`)
    expect(problemOf(await open(A)).data).toEqual(owner)
    expect(dataOf(await call<Turn>(A, ['status'])).driver).toMatchObject({ host: 'another-machine' })
    age(scene, 15)
    expect(dataOf(await call<Turn>(A, ['status'])).driver).toBeNull()
    expect(dataOf(await call(A, ['wait', '--for', 'loop']))).toMatchObject({ event: 'loop_stopped' })
    dataOf(await open(A))
  })
})

describe('a long measurement', () => {
  test('a session loses the run during its long measurement, or renews a lost lease by a measurement', async () => {
    const clock = makeClock()
    const [a, b] = [
      { ...A, ...clock.env },
      { ...B, ...clock.env },
    ]
    const { scene, repo, control, starts, call, open } = await project({ loop: { width: 2, depth: 1 } })
    /** Whose lease was kept, in order; resolves when it was so often. */
    const kept = async (times: number) => {
      const all = () =>
        scene.eventsOf('leased').flatMap(({ by, how }) => (how === 'kept' ? [by?.session] : []))
      await scene.happened('a lease that is kept', () => all().length >= times)
      return all()
    }
    const { token } = dataOf(await open(a))
    const parent = { parent: 'exp_0000', objective: 'try something' }
    dataOf(await call(a, ['round', 'briefs', '--token', token], { briefs: [parent, parent] }))
    const lane = async (number: number) => {
      const place = ['--round', '1', '--lane', String(number)]
      const made = await call<NewData>(a, ['new', '--parent', 'exp_0000', '-m', `lane ${number}`, ...place])
      const { experiment, worktree } = dataOf(made)
      const gate = join(control, `gate-${number}`)
      const waits = `until [ -e '${gate}' ]; do sleep 0.05; done`
      writeFiles(worktree, { ...ms(10 - number), ...hook(waits) })
      const measure = (env: Record<string, string>, verb: string, ...flags: string[]) => {
        rmSync(gate, { force: true })
        const before = starts().length
        const running = startAssay<RunData>([verb, experiment, '--json', ...flags], { cwd: repo.dir, env })
        const began = () => until(() => starts().length > before, { what: `${verb} of ${experiment}` })
        return { ...running, began }
      }
      return { measure, goes: () => writeFileSync(gate, '') }
    }
    const one = await lane(1)
    const two = await lane(2)

    // Each step is within the lease, all of them together are not.
    const judging = one.measure(a, 'run')
    await judging.began()
    clock.ahead(14)
    await kept(1)
    clock.ahead(28)
    expect(await kept(2)).toEqual(['session-a', 'session-a'])
    expect(refused(await open(b))).toEqual(DRIVEN)
    const waited = await call(b, ['wait', '--for', 'loop', '--timeout', '0s'])
    expect([waited.code, dataOf(waited)]).toMatchObject([124, { driven_by: { session: 'session-a' } }])
    one.goes()
    expect(dataOf(await judging.ended)).toMatchObject({ status: 'kept' })
    clock.ahead(42)
    const again = one.measure(a, 'confirm')
    await again.began()
    clock.ahead(56)
    expect(await kept(4)).toEqual(Array(4).fill('session-a'))

    // B has it now, and A's confirmation holds the slot that B's lane waits for.
    dataOf(await open(b, '--take-over'))
    const other = two.measure(b, 'run')
    await other.said('slot')
    clock.ahead(70)
    await kept(5)
    one.goes()
    await again.ended
    two.goes()
    dataOf(await other.ended)
    // What is tried by hand, besides the loop, says nothing about it.
    clock.ahead(80)
    const tried = await call<NewData>(b, ['new', '--parent', 'exp_0000', '-m', 'by hand'])
    dataOf(await call(b, ['run', dataOf(tried).experiment]))
    expect((await kept(5)).slice(4)).toEqual(['session-b'])
  })
})

describe('a loop', () => {
  const loop = (scene: Scene, env: Record<string, string>, ...flags: string[]) =>
    startAssay<LoopData>(['loop', '--json', ...flags], { cwd: scene.repo.dir, env })
  const cli = <T = Opened>(scene: Scene, env: Record<string, string>, ...args: string[]) =>
    startAssay<T>([...args, '--json'], { cwd: scene.repo.dir, env }).ended
  const tune = () => openScene(tuneFiles, tuneSpec({ loop: { width: 1, depth: 1 } }))

  test('it begins although a session drives, makes its own session wait, or leaves a lease when it is killed', async () => {
    const scene = await tune()
    dataOf(await cli(scene, A, 'round', 'open'))
    expect(refused(await loop(scene, NOBODY).ended)).toEqual(DRIVEN)
    const own = loop(scene, A)
    await scene.happened('a round of the loop', (event) => event.type === 'round_opened' && event.round === 2)
    process.kill(-own.pid, 'SIGKILL')
    await own.ended
    expect(scene.eventsOf('round_opened').map(({ by }) => by?.session ?? null)).toEqual(['session-a', null])
    expect(dataOf(await loop(scene, NOBODY, '--rounds', '1').ended)).toMatchObject({ rounds: 1 })
  })

  test('--take-over does not end the lease of a session for it, or a session opens a round while it runs', async () => {
    const scene = await tune()
    const { token } = dataOf(await cli(scene, A, 'round', 'open'))
    // It lives, and opens nothing.
    await cli(scene, NOBODY, 'loop', 'pause')
    const running = loop(scene, NOBODY, '--take-over', '--rounds', '1')
    await scene.happened('a driver', ({ type }) => type === 'drove')
    expect(scene.eventsOf('leased').map(({ by, how }) => [by, how])).toEqual([[null, 'taken_over']])
    const told = await cli(scene, A, 'round', 'open', '--take-over')
    expect(refused(told)).toEqual(DRIVEN)
    expect(problemOf(told)).toMatchObject({
      data: { pid: running.pid },
      hint: expect.stringContaining('assay loop stop'),
    })
    const late = startAssay(['round', 'close', '--token', token, '--json'], {
      cwd: scene.repo.dir,
      env: A,
      input: '{"lanes":[]}',
    })
    expect(refused(await late.ended)).toEqual(DRIVEN)
    // What a process drove is free as soon as it is dead.
    process.kill(-running.pid, 'SIGKILL')
    await running.ended
    expect(dataOf(await cli(scene, A, 'round', 'open'))).toMatchObject({ token, repeated: true })
  })

  test('a killed container keeps the run for ever, one with signs of life loses it, or two drive after it wakes', async () => {
    const scene = await tune()
    const owner = { pid: 1, started: 'once', host: 'container-1' }
    const beat = { v: '1.0', type: 'drove', driver: 'x', owner }
    const run = scene.repo.path('.assay', 'runs', 'run_0001')
    const begins = (id: string) =>
      appendFileSync(
        join(run, 'ledger.jsonl'),
        `${JSON.stringify({ ...beat, id, at: new Date().toISOString(), phase: 'start', active_ms: 0 })}\n`,
      )
    begins('far')
    symlinkSync(JSON.stringify({ ...owner, nonce: '1' }), join(run, 'driver'))
    age(scene, 14)
    const told = await loop(scene, NOBODY).ended
    expect(refused(told)).toEqual(DRIVEN)
    expect(problemOf(told).hint).toContain('if container-1 is gone, ')
    age(scene, 1)
    await cli(scene, NOBODY, 'loop', 'pause')
    const running = loop(scene, NOBODY)
    await scene.happened('a driver', (event) => event.type === 'drove' && event.owner.pid === running.pid)
    // The other one wakes. Whoever began last drives, and the first one ends by itself.
    begins('again')
    await cli(scene, NOBODY, 'loop', 'resume')
    const data = { rounds: 0, driven: expect.stringContaining('process 1 on container-1') }
    expect(dataOf(await running.ended)).toMatchObject(data)
    expect(dataOf(await cli<Turn>(scene, NOBODY, 'status')).driver).toMatchObject({ host: 'container-1' })
  })
})
