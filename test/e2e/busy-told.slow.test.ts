/** What rests on the wall clock beside a gain, on a machine that is as busy as the test says. */
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { assay, dataOf, problemOf } from '../rig/assay.ts'
import { makeTemp } from '../rig/temp.ts'
import { makeProject, metrics, ms, type Project, type RunData } from './project.ts'

const PRELOAD = fileURLToPath(new URL('../rig/busy-preload.cjs', import.meta.url))

/** The commands of a project see a machine that others keep busy while the file is there. */
function busyWhile(project: Project) {
  const busy = join(project.control, 'busy')
  const env = { NODE_OPTIONS: `--require=${JSON.stringify(PRELOAD)}`, BUSY: busy }
  const cli = async <T>(...args: string[]) => dataOf(await project.cli<T>(args, { env }))
  return { busy, cli, env }
}

test('held-out samples in a crowd reject a candidate or let one pass, or use up its attempt', async () => {
  const held = join(makeTemp('held'), 'cases')
  writeFileSync(held, 'kept from candidates')
  const project = makeProject({
    spec: {
      metric: { name: 'wall_ms', direction: 'minimize' },
      noise: { mode: 'paired', calibrate: 2 },
      search: { max_attempts: 1 },
    },
    files: { 'src/wait': '0.15\n', 'src/held': '0.15\n' },
  })
  const { busy, cli } = busyWhile(project)
  const crowds = join(project.control, 'crowds')
  const bench = `read wait < src/wait || exit
if [ -n "$ASSAY_HOLDOUT" ]; then read wait < src/held; if [ -f '${crowds}' ]; then : > '${busy}'; fi; fi
sleep $wait
echo METRIC done=1
`
  project.repo.commit('a benchmark', { 'bench/run.sh': bench })
  await cli('init', '--holdout', held)
  const judge = async (experiment: string) => {
    const judged = await cli<RunData>('run', experiment)
    expect(await cli('show', experiment, '--recompute')).toMatchObject({ same: true, differences: [] })
    return judged
  }
  for (const [seconds, verdict] of [
    ['0.3', { reason: 'holdout', failure_class: 'hypothesis' }],
    ['0.06', { status: 'kept', reason: 'improved' }],
  ] as const) {
    const { experiment } = await project.open({ 'src/wait': '0.06\n', 'src/held': `${seconds}\n` })
    writeFileSync(crowds, '')
    const judged = await judge(experiment)
    expect(judged).toMatchObject({ reason: 'inconclusive', failure_class: 'environment' })
    // Better or worse there is not told either.
    expect(judged.message).toMatch(
      /^it is better where it could look, and was tried on held-out data, but in 8 of 8 pairs other programs left no/,
    )
    for (const file of [busy, crowds]) rmSync(file)
    // The only attempt it has was not used up.
    expect(await judge(experiment)).toMatchObject(verdict)
  }
})

test('a tie that a breaker would decide uses up its attempt where a crowd breaks a constraint', async () => {
  const project = makeProject({
    spec: {
      metric: { name: 'cost', direction: 'minimize', min_improvement: '5%' },
      noise: { mode: 'paired', calibrate: 2 },
      tie_breakers: [{ metric: 'bytes', direction: 'minimize' }],
      constraints: [{ metric: 'wall_ms', op: '<=', value: 1000 }],
    },
    files: { 'src/wait': '0', ...metrics({ cost: 100, bytes: 7 }) },
  })
  const { busy, cli } = busyWhile(project)
  const bench = 'sleep $(cat src/wait || echo none) || exit\ncat src/metrics.txt\n'
  project.repo.commit('a benchmark', { 'bench/run.sh': bench })
  await cli('init')
  const { experiment } = await project.open({ 'src/wait': '1.2', ...metrics({ cost: 100, bytes: 5 }) })
  writeFileSync(busy, '')
  const told = expect.stringMatching(
    /^constraint wall_ms <= 1000 does not hold: .*, but in \d+ of \d+ samples/,
  )
  expect(await cli('run', experiment)).toMatchObject({ failure_class: 'environment', message: told })
  rmSync(busy)
  expect(await cli('run', experiment)).toMatchObject({ reason: 'constraint', failure_class: 'hypothesis' })
})

test('a baseline that was measured in a crowd counts as broken or as kept, or breaks the next init', async () => {
  const project = makeProject({
    spec: { constraints: [{ metric: 'wall_ms', op: '<=', value: 1000 }] },
  })
  const { busy, cli } = busyWhile(project)
  const bench = `if [ -f '${busy}' ]; then sleep 1.2; fi\ncat src/metrics.txt\n`
  project.repo.commit('a benchmark', { 'bench/run.sh': bench })
  writeFileSync(busy, '')
  await expect(cli('init')).rejects.toThrow(
    /baseline failed: constraint wall_ms <= 1000 does not hold: .*, but in 2 of 2 samples .*nothing needs repair.*busy_machine/,
  )
  rmSync(busy)
  expect(await cli('init')).toMatchObject({ baseline: { value: 100 } })
})

test('one of two samples that was taken in a crowd uses up an attempt, or revokes a keep', async () => {
  const project = makeProject({
    spec: { constraints: [{ metric: 'wall_ms', op: '<=', value: 1000 }], search: { max_attempts: 1 } },
  })
  const { busy, cli, env } = busyWhile(project)
  const [quiet, crowds] = [join(project.control, 'quiet'), join(project.control, 'crowds')]
  // The first sample is left alone, the next one is not.
  const bench = `if [ -f '${quiet}' ]; then rm '${quiet}'; elif [ -f '${crowds}' ]; then : > '${busy}'; sleep 2; fi
cat src/metrics.txt
`
  project.repo.commit('a benchmark', { 'bench/run.sh': bench })
  await cli('init')
  const { experiment } = await project.open(ms(50))
  const crowded = async <T>(...args: string[]) => {
    for (const file of [quiet, crowds]) writeFileSync(file, '')
    const ran = await project.cli<T>(args, { env })
    for (const file of [busy, crowds]) rmSync(file)
    return ran
  }
  const told = expect.stringMatching(/wall_ms <= 1000 does not hold: .*, but in 1 of 2 samples/)
  expect(dataOf(await crowded('run', experiment))).toMatchObject({
    reason: 'inconclusive',
    failure_class: 'environment',
    message: told,
  })
  expect(await cli('show', experiment, '--recompute')).toMatchObject({ same: true, differences: [] })
  expect(await cli('run', experiment)).toMatchObject({ status: 'kept' })
  expect(problemOf(await crowded('confirm', experiment))).toMatchObject({
    code: 'not_measured',
    message: told,
  })
  expect(await cli('show', experiment)).toMatchObject({ status: 'kept', flagged: false })
})

test.each([
  ['a crowd', 'inconclusive'],
  ['itself', 'constraint'],
])(
  'a baseline that is rejected in a later epoch because of %s is stuck, or takes edits of its worktree',
  async (by, reason) => {
    const project = makeProject({
      spec: { constraints: [{ metric: 'wall_ms', op: '<=', value: 1000 }] },
    })
    const { busy, cli, env } = busyWhile(project)
    const slow = join(project.control, 'slow')
    const bench = `if [ -f '${slow}' ]; then sleep 1.2; fi\ncat src/metrics.txt\n`
    project.repo.commit('a benchmark', { 'bench/run.sh': bench })
    await cli('init')
    for (const file of by === 'a crowd' ? [slow, busy] : [slow]) writeFileSync(file, '')
    await project.cli(['epoch', 'open', '--reason', 'another machine'], { env })
    const { stdout } = await assay(['run', 'exp_0000'], { cwd: project.repo.dir, env })
    expect(stdout).toContain(`exp_0000 rejected (${reason})`)
    expect(stdout).toContain('Next: assay run exp_0000 again when that is over')
    const status = await assay(['status'], { cwd: project.repo.dir, env })
    expect(status.stdout).toContain('no baseline of epoch 2 yet: assay run exp_0000')
    const worktree = join(project.repo.dir, '.assay/w/1-0000')
    mkdirSync(join(worktree, 'src'), { recursive: true })
    writeFileSync(join(worktree, 'src/metrics.txt'), 'METRIC ms=999\n')
    await project.cli(['seal', 'exp_0000'], { env })
    for (const file of [slow, busy]) rmSync(file, { force: true })
    expect(await cli('run', 'exp_0000')).toMatchObject({ status: 'kept', value: 100 })
  },
)
