/** A host whose provider asks it to wait. */
import { expect, test } from 'vitest'
import { dataOf } from '../rig/assay.ts'
import { scriptedHost } from '../rig/host.ts'
import { until } from '../rig/until.ts'
import { openScene } from './loop-scene.ts'
import { answers, numberFiles, numberSpec, rolesOf, verdicts } from './number-scene.ts'

interface Status {
  waiting: { host: string; until: string; why: string } | null
  paused: string | null
}

const saying = (words: string) => `() => {
  console.error('${words}')
  console.error('    at run (agent.js:429:10)')
  process.exit(1)
}`

test('a loop whose provider says when to try again asks at once, fails the lane, is silent, or cannot be stopped and continued', async () => {
  const host = scriptedHost(answers({ implement: saying('rate limit, try again in 17 minutes') }))
  const scene = await openScene(numberFiles, numberSpec(host, { budget: { experiments: 1 } }))
  const status = async () => dataOf(await scene.cli<Status>(['status']))
  const loop = scene.startLoop()
  await scene.happened('the loop to wait', (event) => event.type === 'drove' && event.waiting !== undefined)
  const { waiting } = await status()
  expect(waiting).toMatchObject({ host: 'command', why: 'rate limit, try again in 17 minutes' })
  const asked = Date.parse(scene.eventsOf('usage').at(-1)?.at ?? '')
  expect(Math.round((Date.parse(waiting?.until ?? '') - asked) / 60_000)).toBe(17)
  expect((await scene.cli(['loop', 'stop'])).code).toBe(0)
  const ended = await loop.ended
  expect([ended.code, ended.stderr]).toEqual([0, expect.stringContaining('asks to wait until')])
  expect(rolesOf(host)).toEqual(['brief', 'implement'])
  expect(scene.eventsOf('discarded')).toEqual([])
  expect((await status()).waiting).toBeNull()

  host.answer(answers({ implement: saying('usage limit reached, resets in 30 hours') }))
  const second = scene.startLoop('--json')
  await scene.happened('the loop to pause', (event) => event.type === 'paused')
  expect((await status()).paused).toMatch(
    /^command asks to wait until .* \(usage limit reached, resets in 30 hours\): a loop waits at most 6 h by itself$/,
  )
  host.answer(
    answers({
      implement: `(card) => {
    const mark = new URL('asked', import.meta.url)
    if (existsSync(mark)) return implement(card)
    writeFileSync(mark, '')
    console.error('429 Too Many Requests, retry after 1 second')
    process.exit(1)
  }`,
    }),
  )
  dataOf(await scene.cli(['loop', 'resume']))
  const data = dataOf(await second.ended)
  expect(data).toMatchObject({ stop: 'budget', best: { experiment: 'exp_0001', value: 99 } })
  expect(verdicts(scene)[1]).toEqual(['exp_0001', 'kept', 99])
  await until(() => scene.eventsOf('drove').at(-1)?.phase === 'stop', { what: 'the driver to end' })
  expect(rolesOf(host).filter((role) => role === 'brief')).toHaveLength(1)
})

test('a wait beyond budget.hours is waited for', async () => {
  const host = scriptedHost(answers({ implement: saying('retry after 7200 s') }))
  const scene = await openScene(numberFiles, numberSpec(host, { budget: { hours: 1 } }))
  const loop = scene.startLoop('--json')
  await scene.happened('the loop to pause', (event) => event.type === 'paused')
  expect(scene.eventsOf('paused')[0]?.why).toContain('that is beyond budget.hours')
  expect((await scene.cli(['loop', 'stop'])).code).toBe(0)
  expect(dataOf(await loop.ended)).toMatchObject({ stop: 'user', rounds: null })
})
