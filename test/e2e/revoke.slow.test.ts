import { existsSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { assay, type Ran, startAssay } from '../rig/assay.ts'
import { crash } from '../rig/crash.ts'
import { until } from '../rig/until.ts'
import { haltIn } from './merge-scene.ts'
import { hook, makeProject, ms, type Project } from './project.ts'

async function chain() {
  const project = makeProject()
  await project.data('init')
  const first = await project.attempt(ms(90))
  const second = await project.attempt(ms(80), first.experiment)
  return { project, first: first.experiment, second: second.experiment }
}
const REASON = 'it caches the answer between samples'

test('a cheat that a person revoked counts again after a measurement, or what is built on it stays the best, or nothing says that it fell', async () => {
  const { project, first, second } = await chain()
  expect(await project.data('status')).toMatchObject({ best: { experiment: second } })
  const revoked = await project.data('revoke', first, '--reason', REASON, '--key', 'k')
  expect(revoked).toEqual({ experiment: first, status: 'revoked', flagged: false, changed: true })
  expect(await project.data('revoke', first, '--reason', REASON, '--key', 'k')).toEqual({
    ...(revoked as object),
    repeated: true,
  })
  expect(await project.data('revoke', first, '--reason', 'once more')).toMatchObject({ changed: false })
  expect(await project.data('status')).toMatchObject({ best: { experiment: 'exp_0000' } })
  expect(await project.problem('confirm', first)).toMatchObject({ code: 'is_revoked' })
  expect(await project.data('wait', '--for', first)).toMatchObject({ status: 'kept', revoked: REASON })
  expect(await project.attempt(ms(90))).toMatchObject({
    reason: 'duplicate',
    message: `the same files were judged as ${first}: revoked, ${REASON}`,
  })
  const undermined = `${second} is built on ${first}, which was revoked: ${REASON}`
  expect(await project.data('confirm', second)).toMatchObject({ passed: true, undermined })
  expect(await project.data('show', second)).toMatchObject({ status: 'kept' })
  const printed = async (...args: string[]) => (await assay(args, { cwd: project.repo.dir })).stdout
  expect(await printed('confirm', second)).toContain(`\n  It does not count: ${undermined}\n`)
  expect(await printed('show', second)).toContain(`\n  does not count: ${undermined}\n`)
  expect(await project.data('status')).toMatchObject({ best: { experiment: 'exp_0000' } })
  expect(await project.problem('new', '--parent', first, '-m', 'more')).toMatchObject({ exit: 3 })
  expect(await project.problem('finish')).toMatchObject({ code: 'nothing_better' })
  expect(await project.data('restore', first, '--reason', 'it does not')).toMatchObject({ status: 'kept' })
  expect(await project.data('status')).toMatchObject({ best: { experiment: second } })
})

test('what only lost to a cheat is a duplicate when it is tried again after the cheat was revoked', async () => {
  const project = makeProject()
  await project.data('init')
  await project.attempt(ms(50))
  expect(await project.attempt(ms(80), 'exp_0001')).toMatchObject({ reason: 'not_better' })
  expect(await project.attempt(ms(80))).toMatchObject({ reason: 'duplicate' })
  await project.data('revoke', 'exp_0001', '--reason', REASON)
  expect(await project.attempt(ms(80))).toMatchObject({ status: 'kept', value: 80, best: true })
})

test('revoke takes the baseline or what was never kept, or says nothing of the next step', async () => {
  const { project } = await chain()
  const worse = await project.attempt(ms(200))
  expect(await project.problem('revoke', worse.experiment, '--reason', REASON)).toMatchObject({
    exit: 3,
    code: 'is_rejected',
    message: `${worse.experiment} is rejected: only what was kept can be revoked`,
  })
  const { experiment } = await project.open(ms(70))
  expect(await project.problem('revoke', experiment, '--reason', REASON)).toMatchObject({ code: 'is_open' })
  expect(await project.problem('revoke', 'exp_0000', '--reason', REASON)).toMatchObject({
    code: 'is_baseline',
  })
  expect(await project.problem('revoke', 'exp_0001')).toMatchObject({ exit: 2 })
  expect(await project.problem('revoke', 'exp_0099', '--reason', REASON)).toMatchObject({
    code: 'unknown_experiment',
  })
})

test('finish publishes a winner that is built on an experiment in doubt', async () => {
  const { project, first, second } = await chain()
  const findings = JSON.stringify({ findings: [{ code: 'opinion', message: 'a test is weaker' }] })
  await project.data('audit', first, '--input', findings)
  expect(await project.problem('finish')).toMatchObject({
    exit: 3,
    code: 'path_in_doubt',
    message: `${second} is built on ${first}, which is in doubt: an audit flagged it: a test is weaker`,
    hint: `measure it again: assay confirm ${first}`,
  })
  await project.data('confirm', first)
  expect(await project.data('finish')).toMatchObject({ experiment: second })
})

/** The same, and its benchmark waits as in `haltIn`. */
async function halting(): Promise<Project> {
  const project = makeProject()
  await project.data('init')
  await project.attempt({ ...ms(90), ...hook(haltIn(project.control)) })
  await project.attempt(ms(80), 'exp_0001')
  return project
}

/** Calls `finish`, and `act` during its first sample. */
async function finishDuring(project: Project, act: () => Promise<unknown>): Promise<Ran<unknown>> {
  const [hold, at] = [join(project.control, 'hold'), join(project.control, 'at')]
  writeFileSync(hold, '')
  const running = startAssay(['finish', '--json'], { cwd: project.repo.dir })
  try {
    await until(() => existsSync(at), { what: 'the sample of finish', dir: project.control })
    await act()
  } finally {
    rmSync(hold)
  }
  return running.ended
}

test('finish publishes a winner although what it is built on was revoked, or came in doubt, during the measurement', async () => {
  const revoked = await halting()
  const first = await finishDuring(revoked, () => revoked.data('revoke', 'exp_0001', '--reason', REASON))
  expect(first.json).toMatchObject({
    problem: {
      code: 'path_revoked',
      message: `no branch was made, since this was found while exp_0002 was measured: exp_0002 is built on exp_0001, which was revoked: ${REASON}`,
    },
  })
  expect(revoked.repo.git('branch', '--list', 'assay/*')).toBe('')
  const doubted = await halting()
  const findings = JSON.stringify({ findings: [{ code: 'opinion', message: 'a test is weaker' }] })
  const second = await finishDuring(doubted, () => doubted.data('audit', 'exp_0001', '--input', findings))
  expect(second.json).toMatchObject({ problem: { code: 'path_in_doubt' } })
  expect(doubted.repo.git('branch', '--list', 'assay/*')).toBe('')
})

test('a winner that was pruned can neither be confirmed nor finished, although its value counts', async () => {
  const { project, second } = await chain()
  await project.data('prune', second, '--reason', 'enough children')
  expect(await project.data('confirm', second)).toMatchObject({ passed: true, status: 'pruned' })
  expect(await project.data('finish')).toMatchObject({ experiment: second })
  expect((await project.problem('new', '--parent', second, '-m', 'more')).code).toBe('bad_parent')
})

test('a finish that was killed after it made the branch leaves no text of the pull request', async () => {
  const { project } = await chain()
  const file = project.repo.path('.assay/runs/run_0001/pull-request.md')
  const killed = crash({ name: 'spawn refs/heads/assay/demo', how: 'after', who: 'one' })
  const ran = await project.cli(['finish'], { env: killed.env })
  expect([ran.signal, existsSync(file)]).toEqual(['SIGKILL', true])
})
