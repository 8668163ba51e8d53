import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { isAlive } from '../rig/alive.ts'
import { assay, dataOf, problemOf, startAssay } from '../rig/assay.ts'
import { until } from '../rig/until.ts'
import { hook, makeProject, ms, type Project, type RunData, specText } from './project.ts'

/** A project with a gate after the measurement that says that it began, and goes on once `release` is called. */
async function heldAfterMeasuring() {
  const project = makeProject()
  const [began, hold] = [join(project.control, 'began'), join(project.control, 'hold')]
  const gate = `echo $$ >> '${began}'; while [ -f '${hold}' ]; do sleep 0.05; done`
  project.repo.commit('gate', {
    'assay.yaml': specText({ gates: [{ name: 'held', command: gate, phase: 'after' }] }),
  })
  await project.data('init')
  writeFileSync(hold, '')
  rmSync(began, { force: true })
  const pids = () =>
    existsSync(began) ? readFileSync(began, 'utf8').split('\n').filter(Boolean).map(Number) : []
  const release = () => rmSync(hold, { force: true })
  // A worker that outlives a test that failed would keep the slot from the next one.
  onTestFinished(release)
  return {
    project,
    gates: pids,
    began: (times: number) =>
      until(() => pids().length >= times, { what: `gate ${times} to begin`, dir: project.control }),
    release,
  }
}

const status = (project: Project) => project.data<{ counts: Record<string, number> }>('status')

test('the work of a killed process is lost, paid for again, or its children still run', async () => {
  const { project, gates, began, release } = await heldAfterMeasuring()
  const { experiment } = await project.open(ms(90))
  const worker = startAssay<RunData>(['run', experiment, '--json'], { cwd: project.repo.dir })
  await began(1)
  worker.kill('SIGKILL')
  expect((await worker.ended).signal).toBe('SIGKILL')
  const [gate = 0] = gates()
  await until(() => !isAlive(gate), { what: 'the gate of the dead worker to end' })
  expect((await status(project)).counts).toMatchObject({ running: 1 })
  expect(project.starts()).toEqual(['exp_0000', 'exp_0000', experiment])
  expect(await project.data('wait', '--for', experiment)).toMatchObject({
    event: 'lost',
    experiment,
    timed_out: false,
  })
  expect(await project.problem('discard', experiment)).toMatchObject({ exit: 3, code: 'is_running' })
  release()
  expect(await project.data('run', experiment)).toMatchObject({
    attempt: 1,
    status: 'kept',
    value: 90,
    samples: 2,
  })
  // One more start: the confirmation. The first sample counts as it was recorded.
  expect(project.starts()).toEqual(['exp_0000', 'exp_0000', experiment, experiment])
  expect(gates()).toHaveLength(2)
  expect(await project.data('status')).toMatchObject({ budget: { experiments: { used: 1 } } })
})

test('a detached run ends with its caller, or wait answers before the verdict', async () => {
  const { project, began, release } = await heldAfterMeasuring()
  const { experiment } = await project.open(ms(90))
  expect(await project.data('run', experiment, '--detach')).toEqual({ experiment, started: true })
  await began(1)
  const early = await project.cli(['wait', '--for', experiment, '--timeout', '1ms'])
  expect(early.code).toBe(124)
  expect(dataOf(early)).toMatchObject({ event: null, experiment, timed_out: true })
  // A second run of the same seal joins the first.
  const joined = startAssay<RunData>(['run', experiment, '--json'], { cwd: project.repo.dir })
  const waiting = startAssay<RunData>(['wait', '--for', experiment, '--json'], { cwd: project.repo.dir })
  expect(await project.data('run', experiment, '--detach')).toEqual({ experiment, started: true })
  release()
  const verdict = { attempt: 1, status: 'kept', value: 90, best: true }
  const waited = await waiting.ended
  expect(waited.code).toBe(0)
  expect(dataOf(waited)).toMatchObject({ event: 'judged', experiment, timed_out: false, ...verdict })
  expect(dataOf(await joined.ended)).toMatchObject({ ...verdict, repeated: true })
  expect(project.starts()).toHaveLength(4)
})

test('a detached run that is refused says that it started', async () => {
  const { project, release } = await heldAfterMeasuring()
  release()
  const { experiment } = await project.open(ms(90))
  await project.data('seal', experiment)
  await project.data('discard', experiment, '--reason', 'no')
  expect(await project.problem('run', experiment, '--detach')).toMatchObject({
    exit: 3,
    code: 'is_discarded',
  })
})

test('an interrupted run blames the candidate, or cannot be repeated', async () => {
  const { project, gates, began, release } = await heldAfterMeasuring()
  const { experiment } = await project.open(ms(90))
  const worker = startAssay<RunData>(['run', experiment, '--json'], { cwd: project.repo.dir })
  await began(1)
  worker.kill('SIGTERM')
  const ended = await worker.ended
  const [gate = 0] = gates()
  expect(isAlive(gate)).toBe(false)
  expect([4, 130]).toContain(ended.code)
  if (ended.json?.ok)
    expect(ended.json.data).toMatchObject({ reason: 'aborted', failure_class: 'environment' })
  else expect(problemOf(ended).code).toBe('interrupted')
  release()
  expect(await project.data('run', experiment)).toMatchObject({ status: 'kept', value: 90 })
})

test('one Ctrl-C stops a measurement without a verdict, or a second one does not end it', async () => {
  const { project, gates, began, release } = await heldAfterMeasuring()
  const { experiment } = await project.open(ms(90))
  const start = () => startAssay<RunData>(['run', experiment, '--json'], { cwd: project.repo.dir })
  const hasty = start()
  await began(1)
  hasty.kill('SIGINT')
  await hasty.said('finishing the work that is paid for; Ctrl-C again stops now')
  hasty.kill('SIGINT')
  expect((await hasty.ended).code).toBe(130)
  expect(gates().filter(isAlive)).toEqual([])

  const patient = start()
  await began(2)
  patient.kill('SIGINT')
  await patient.said('finishing the work that is paid for')
  release()
  const ended = await patient.ended
  expect([ended.code, ended.signal]).toEqual([0, null])
  expect(dataOf(ended)).toMatchObject({ status: 'kept', value: 90 })
})

test('wait without --for waits, or waits for something that does not exist', async () => {
  const { project, release } = await heldAfterMeasuring()
  release()
  expect(await project.problem('wait')).toMatchObject({ exit: 2, code: 'wait_for' })
  expect(await project.problem('wait', '--for', 'exp_0099')).toMatchObject({
    exit: 2,
    code: 'unknown_experiment',
  })
  expect(await project.data('wait', '--for', 'exp_0000')).toMatchObject({ event: 'judged', value: 100 })
  expect(await project.problem('wait', '--for', 'round')).toMatchObject({ exit: 3, code: 'no_round' })
  expect(await project.problem('wait', '--for', 'loop')).toMatchObject({ exit: 3, code: 'no_loop' })
  const { experiment } = await project.open(ms(90))
  expect((await project.cli(['wait', '--for', experiment, '--timeout', '1ms'])).code).toBe(124)
  expect(await project.problem('wait', '--for', experiment)).toMatchObject({
    exit: 3,
    code: 'not_judged',
    message: `no process judges ${experiment}: it is not sealed`,
    hint: `measure it: assay run ${experiment}`,
  })
  await project.data('seal', experiment)
  expect(await project.problem('wait', '--for', experiment)).toMatchObject({
    message: `no process judges ${experiment}: its last seal was not run`,
  })
  await project.data('discard', experiment, '--reason', 'no')
  expect(await project.problem('wait', '--for', experiment)).toMatchObject({ code: 'is_discarded' })
})

test('wait does not say how many pairs were measured, or how many there may be', async () => {
  const project = makeProject({
    spec: { noise: { mode: 'paired', calibrate: 2, pairs: { min: 4, max: 24 } } },
  })
  await project.data('init')
  const [begun, go] = [join(project.control, 'begun'), join(project.control, 'go')]
  const { experiment } = await project.open({
    ...ms(90),
    ...hook(
      `echo >> '${begun}'; [ "$(wc -l < '${begun}')" -lt 4 ] || until [ -e '${go}' ]; do sleep 0.05; done`,
    ),
  })
  expect(await project.data('run', experiment, '--detach')).toMatchObject({ started: true })
  await until(() => existsSync(begun) && readFileSync(begun, 'utf8').length === 4, {
    what: 'the fourth sample of the candidate',
    dir: project.control,
  })
  const waited = await project.cli<{ progress: unknown }>(['wait', '--for', experiment, '--timeout', '1ms'])
  expect(dataOf(waited).progress).toMatchObject({ stage: 'judge', done: 3, most: 24 })
  const { stdout } = await assay(['wait', '--for', experiment, '--timeout', '1ms'], { cwd: project.repo.dir })
  expect(stdout).toMatch(/is being judged: pair 3 of at most 24, at most .* more for this comparison\n$/)
  writeFileSync(go, '')
  expect(await project.data('wait', '--for', experiment)).toMatchObject({ event: 'judged' })
})
