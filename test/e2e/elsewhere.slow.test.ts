/** What nobody here is seen to judge: a process of another machine, or of a container, is never proved dead. */
import { appendFileSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { identify } from '../../cli/process.ts'
import { assay, dataOf, problemOf } from '../rig/assay.ts'
import { tuneSpec } from './loop-scene.ts'
import { makeProject, ms, type NewData, writeFiles } from './project.ts'

test('a loop waits for ever for an attempt of a vanished container, or does not say how to continue', async () => {
  const { run, experiment } = await judgedInContainer()
  const ways = [
    ['run', experiment, '--detach', '--sealed'],
    ['run', experiment],
    ['wait', '--for', experiment, '--timeout', '0s'],
  ]
  for (const way of ways) {
    const told = await run(way)
    expect([told.code, problemOf(told).code]).toEqual([3, 'claim_elsewhere'])
    expect(problemOf(told).hint).toContain(`assay abort ${experiment} --reason TEXT`)
  }
  const ended = dataOf(await run(['abort', experiment, '--reason', 'the container is gone']))
  expect(ended).toMatchObject({ aborted: true, status: 'failed', failure_class: 'environment' })
  dataOf(await run(['run', experiment]))
})

test('a loop with loop.quiet waits for ever for a sample of a machine that is gone', async () => {
  const { run, experiment } = await judgedInContainer({
    loop: { width: 1, depth: 1, quiet: true },
    budget: { experiments: 2 },
    agent: tuneSpec().agent,
  })
  expect(dataOf(await run(['loop', '--rounds', '1']))).toMatchObject({ rounds: 1 })
  expect(dataOf(await run(['show', experiment]))).toMatchObject({ status: 'running' })
})

test('a loop that continues a round waits for ever for an attempt that a vanished machine judged in one of its lanes', async () => {
  const { run, experiment } = await judgedInContainer(
    { loop: { width: 1, depth: 1 }, budget: { experiments: 3 }, agent: tuneSpec().agent },
    ['--round', '1', '--lane', '1', '--depth', '1', '--key', 'r1/l1/d1/new'],
  )
  expect(dataOf(await run(['loop', '--rounds', '1']))).toMatchObject({ rounds: 1 })
  expect(dataOf(await run(['show', experiment]))).toMatchObject({ status: 'running' })
})

test('an attempt whose process vanished after its round was closed stays running for ever, or is not reported', async () => {
  const { cli, data, repo } = makeProject({ spec: { loop: { width: 1, depth: 1 } } })
  await data('init')
  const send = async (args: string[], input: object): Promise<object> =>
    dataOf(await cli<object>(args, { input: JSON.stringify(input) }))
  const round = async () => {
    const { token } = await data<{ token: string }>('round', 'open')
    const briefs = [{ parent: 'exp_0000', objective: 'try something' }]
    await send(['round', 'briefs', '--token', token], { briefs })
    return () => send(['round', 'close', '--token', token], { lanes: [] })
  }
  const close = await round()
  const place = ['--parent', 'exp_0000', '--round', '1', '--lane', '1']
  const { experiment, worktree } = await data<NewData>('new', '-m', 'an idea', ...place)
  writeFiles(worktree, ms(90))
  await data('seal', experiment)
  const own = identify()
  const ledger = repo.path('.assay', 'runs', 'run_0001', 'ledger.jsonl')
  const claimedBy = (owner: object | null, id: string, takes_over?: string) => {
    const event = { v: '1.0', id, at: new Date().toISOString(), type: 'started', experiment, attempt: 1 }
    appendFileSync(ledger, `${JSON.stringify({ ...event, owner, takes_over })}\n`)
  }
  const status = () => data<{ counts: Record<string, number>; stuck: object[] }>('status')

  claimedBy(own, 'lives')
  await close()
  expect(await status()).toMatchObject({ counts: { running: 1 }, stuck: [] })
  claimedBy({ ...own, host: 'container-1' }, 'far', 'lives')
  expect(await status()).toMatchObject({
    stuck: [{ experiment, hint: expect.stringContaining(`assay abort ${experiment}`) }],
  })
  await (await round())()
  expect(await status()).toMatchObject({ counts: { running: 1 }, stuck: [{ experiment }] })
  claimedBy({ ...own, started: 'before' }, 'dead', 'far')
  expect(await status()).toMatchObject({
    stuck: [{ experiment, hint: `continue it: assay run ${experiment}` }],
  })
  const forPeople = await assay(['status'], { cwd: repo.dir })
  expect(forPeople.stdout).toContain(`  the process that judged ${experiment} is gone\n`)
  await (await round())()
  expect(await status()).toMatchObject({ counts: { running: 0, failed: 1 }, stuck: [] })
  expect(await data('show', experiment)).toMatchObject({ failure_class: 'environment' })
})

/** An experiment whose judge is a process of another machine. With `place`, it is in the open round. */
async function judgedInContainer(spec = {}, place: string[] = []) {
  const made = makeProject({ spec, files: { 'src/params.json': '{"x": 90, "y": 70}' } })
  await made.data('init')
  if (place.length > 0) {
    const { token } = await made.data<{ token: string }>('round', 'open')
    const briefs = JSON.stringify({ briefs: [{ parent: 'exp_0000', objective: 'try it' }] })
    await made.data('round', 'briefs', '--token', token, '--input', briefs)
  }
  const { experiment, worktree } = await made.data<NewData>(
    'new',
    '--parent',
    'exp_0000',
    '-m',
    'try it',
    ...place,
  )
  writeFiles(worktree, ms(90))
  await made.data('seal', experiment)
  const ledger = made.repo.path('.assay', 'runs', 'run_0001', 'ledger.jsonl')
  const lines = readFileSync(ledger, 'utf8').trimEnd().split('\n')
  const claim = JSON.parse(lines.find((line) => line.includes('"type":"started"')) ?? '')
  const owner = { pid: 1, started: 'once', host: 'container-1' }
  appendFileSync(ledger, `${JSON.stringify({ ...claim, id: 'far', experiment, attempt: 1, owner })}\n`)
  return { run: made.cli<object>, experiment }
}
