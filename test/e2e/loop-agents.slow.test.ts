import { writeFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { alive } from '../process/scene.ts'
import { dataOf, problemOf } from '../rig/assay.ts'
import { scriptedHost } from '../rig/host.ts'
import { until } from '../rig/until.ts'
import { notebook, openScene, processesIn } from './loop-scene.ts'
import { answers, numberFiles, numberSpec, play, rolesOf, verdicts } from './number-scene.ts'

describe.concurrent('agents that do not do as they should', () => {
  test.each([
    ['its time limit', { timeout: '6s' }],
    ['that of its role', { timeout: '1h', roles: { implement: { timeout: '6s' } } }],
  ])('an agent that hangs holds its lane for ever, or outlives %s', async (_, agent) => {
    const pids = notebook()
    const { scene, data } = await play(
      {
        implement: `async (card) => {
          if (card.lane === 1) return implement(card)
          appendFileSync(${JSON.stringify(pids.file)}, process.pid + '\\n')
          await new Promise((resolve) => setTimeout(resolve, 3_600_000))
        }`,
      },
      { loop: { width: 2 }, budget: { experiments: 2 }, agent },
    )
    expect(data.stop).toBe('budget')
    expect(verdicts(scene)[1]).toEqual(['exp_0001', 'kept', 99])
    expect(pids.lines()).toHaveLength(1)
    expect(pids.lines().filter((pid) => alive(Number(pid)))).toEqual([])
    expect(scene.eventsOf('usage').filter(({ outcome }) => outcome === 'failed')).toHaveLength(1)
    expect(data.counts).toMatchObject({ discarded: 1, open: 0 })
  })

  test('an edit is discarded or paid twice because its agent then hangs until its time limit', async () => {
    const { scene, host, data } = await play(
      {
        implement: `async (card) => {
          write(card, 80)
          await new Promise((resolve) => setTimeout(resolve, 3_600_000))
        }`,
      },
      { budget: { experiments: 1 }, agent: { timeout: '1h', roles: { implement: { timeout: '6s' } } } },
    )
    expect(verdicts(scene)[1]).toEqual(['exp_0001', 'kept', 80])
    expect(rolesOf(host).filter((role) => role === 'implement')).toHaveLength(1)
    expect(data.counts).toMatchObject({ discarded: 0, open: 0 })
  })

  test.each([
    ['refuses', `() => refuse('no')`, ['brief', 'brief']],
    ['answers with other fields', `() => ({ plan: 'go down' })`, null],
    [
      'names no parent that exists',
      `() => ({ briefs: [{ parent: 'exp_0404', objective: 'go down' }] })`,
      ['brief', 'brief'],
    ],
    ['has no idea', `() => ({ briefs: [] })`, ['brief']],
  ])('the agent that writes the briefs %s, and the loop runs for ever or fails', async (_, text, roles) => {
    const { scene, host, data } = await play({ brief: text }, { loop: { stall: 3 } })
    expect(data).toMatchObject({
      rounds: 1,
      stop: 'no_hypothesis',
      best: { experiment: 'exp_0000', value: 100 },
    })
    if (roles) expect(rolesOf(host).filter((role) => role === 'brief')).toEqual(roles)
    expect(scene.eventsOf('created')).toHaveLength(1)
    // What was wrong is mended: the loop that is started again goes on.
    host.answer(answers())
    const again = dataOf(await scene.loop('--rounds', '1'))
    expect(again).toMatchObject({ rounds: 1, best: { experiment: 'exp_0001', value: 99 } })
  })

  test('a candidate that never passes verification is measured, or stays open', async () => {
    const { scene, host, data } = await play({ verify: `() => ({ passed: false, findings: [] })` })
    expect(rolesOf(host)).toEqual(['brief', 'implement', 'verify', 'revise', 'verify', 'collect'])
    expect(scene.eventsOf('started')).toHaveLength(1)
    expect(
      scene.eventsOf('discarded').map(({ experiment, failure_class }) => [experiment, failure_class]),
    ).toEqual([['exp_0001', 'eval']])
    expect(data).toMatchObject({ stop: 'stall', counts: { discarded: 1, open: 0 } })
  })

  test('a verifier that crashes counts as a refusal, so a good candidate is discarded', async () => {
    const { scene, host } = await play({ verify: `() => refuse('no')` }, { budget: { experiments: 1 } })
    expect(rolesOf(host)).toEqual(['brief', 'implement', 'verify', 'audit', 'collect'])
    expect(verdicts(scene)[1]).toEqual(['exp_0001', 'kept', 99])
  })
})

describe('an agent at work when its loop is to end', () => {
  test('a second loop drives as well, or after SIGINT the run is lost, processes are left, or the loop cannot continue', async () => {
    const gate = notebook()
    const host = scriptedHost(
      answers({
        implement: `async (card) => {
          appendFileSync(${JSON.stringify(gate.file)}, process.pid + '\\n')
          if (card.depth === 1) return implement(card)
          await new Promise((resolve) => setTimeout(resolve, 3_600_000))
        }`,
      }),
    )
    const spec = numberSpec(host, { loop: { depth: 2 }, budget: { experiments: 2 } })
    const scene = await openScene(numberFiles, spec)
    const driver = scene.startLoop('--json')
    await until(() => gate.lines().length === 2, { what: 'the second agent to hang' })

    const second = await scene.loop()
    expect(second.code).toBe(3)
    expect(problemOf(second)).toMatchObject({ code: 'driven', data: { pid: driver.pid } })
    expect(problemOf(second).message).toContain(`process ${driver.pid}`)
    const seen = dataOf(await scene.cli<{ driver: { pid: number } | null }>(['status']))
    expect(seen.driver?.pid).toBe(driver.pid)

    driver.kill('SIGINT')
    await driver.said('finishing the work that is paid for; Ctrl-C again stops now')
    expect(gate.lines().map((pid) => alive(Number(pid)))).toEqual([false, true])
    driver.kill('SIGINT')
    const stopped = await driver.ended
    expect(stopped.code).toBe(130)
    expect(problemOf(stopped).code).toBe('interrupted')
    await until(() => processesIn(scene.repo.dir).length === 0, { what: 'the agents to end' })
    expect(gate.lines().filter((pid) => alive(Number(pid)))).toEqual([])
    expect(dataOf(await scene.cli<{ driver: null }>(['status'])).driver).toBeNull()

    host.answer(answers())
    const asked = host.calls().length
    const rest = dataOf(await scene.loop())
    expect(rest).toMatchObject({ stop: 'budget', best: { value: 98 } })
    expect(rolesOf(host).slice(asked)).toEqual(['implement', 'verify', 'audit', 'collect'])
    expect(verdicts(scene)).toEqual([
      ['exp_0000', 'kept', 100],
      ['exp_0001', 'kept', 99],
      ['exp_0002', 'kept', 98],
    ])
  })

  test('after one Ctrl-C a candidate gets no verdict, new work begins, a pause is waited for, or the loop cannot continue', async () => {
    const gate = notebook()
    const host = scriptedHost(
      answers({
        implement: `async (card) => {
          appendFileSync(${JSON.stringify(gate.file)}, 'began\\n')
          while (!existsSync(${JSON.stringify(`${gate.file}.go`)})) await new Promise((resolve) => setTimeout(resolve, 20))
          return implement(card)
        }`,
      }),
    )
    const scene = await openScene(
      numberFiles,
      numberSpec(host, { loop: { depth: 2 }, budget: { experiments: 4 } }),
    )
    const driver = scene.startLoop('--json')
    await until(() => gate.lines().length === 1, { what: 'the first agent to work' })
    dataOf(await scene.cli(['loop', 'pause']))
    driver.kill('SIGINT')
    await driver.said('finishing the work that is paid for; Ctrl-C again stops now')
    writeFileSync(`${gate.file}.go`, '')
    const ended = await driver.ended
    expect([ended.code, ended.signal]).toEqual([0, null])
    expect(dataOf(ended)).toMatchObject({ stop: 'user', best: { value: 99 } })
    expect(gate.lines()).toEqual(['began'])
    expect(processesIn(scene.repo.dir)).toEqual([])
    expect(verdicts(scene)).toEqual([
      ['exp_0000', 'kept', 100],
      ['exp_0001', 'kept', 99],
    ])
    expect(dataOf(await scene.loop())).toMatchObject({ stop: 'budget', best: { value: 96 } })
  })
})
