/** What a process of another machine, or of a container, judged: it beats nowhere, and nothing proves it dead. */
import { appendFileSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { dataOf, problemOf } from '../rig/assay.ts'
import { tuneSpec } from './loop-scene.ts'
import { makeProject, ms } from './project.ts'

test('a loop waits for ever for what a container judged that is gone, or nobody says how to go on', async () => {
  const { run, experiment } = await judgedInContainer()
  const ways = [
    ['run', experiment, '--detach', '--sealed'],
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

test('a loop that keeps quiet waits for ever for a sample of another machine', async () => {
  const { run, experiment } = await judgedInContainer({
    loop: { width: 1, depth: 1, quiet: true },
    budget: { experiments: 2 },
    agent: tuneSpec().agent,
  })
  expect(dataOf(await run(['loop', '--rounds', '1']))).toMatchObject({ rounds: 1 })
  expect(dataOf(await run(['show', experiment]))).toMatchObject({ status: 'running' })
})

/** An experiment whose judge is a process of another machine. */
async function judgedInContainer(spec = {}) {
  const made = makeProject({ spec, files: { 'src/params.json': '{"x": 90, "y": 70}' } })
  await made.data('init')
  const { experiment } = await made.open(ms(90))
  await made.data('seal', experiment)
  const ledger = made.repo.path('.assay', 'runs', 'run_0001', 'ledger.jsonl')
  const lines = readFileSync(ledger, 'utf8').trimEnd().split('\n')
  const claim = JSON.parse(lines.find((line) => line.includes('"type":"started"')) ?? '')
  const owner = { pid: 1, started: 'once', host: 'container-1' }
  appendFileSync(ledger, `${JSON.stringify({ ...claim, id: 'far', experiment, attempt: 1, owner })}\n`)
  return { run: made.cli<object>, experiment }
}
