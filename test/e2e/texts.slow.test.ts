/** What people read after a verb: the verdict, what the failing command said, and the next step. */
import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { assay } from '../rig/assay.ts'
import { makeTemp } from '../rig/temp.ts'
import { type Files, hook, makeProject, ms, type NewData, writeFiles } from './project.ts'

const GATE =
  'grep -q -e 90 -e 100 src/metrics.txt || { echo "case 7: wrong sum" >&2; echo "1 failed" >&2; exit 1; }'

test('a verdict does not say what the gate printed, where to repair it, or what comes next', async () => {
  const project = makeProject({ spec: { gates: [{ name: 'unit', command: GATE }] } })
  await project.data('init')
  const { experiment, worktree } = await project.open(ms(80))
  const run = () => assay(['run', experiment, '--quiet'], { cwd: project.repo.dir })
  expect((await run()).stdout.split('\n')).toEqual([
    'exp_0001 rejected (gate)',
    '  gate unit did not pass: exit 1: 1 failed',
    `  $ ${GATE}`,
    '  | case 7: wrong sum',
    '  | 1 failed',
    `Next: repair it in ${worktree}, then assay run exp_0001`,
    '',
  ])
  writeFiles(worktree, ms(90))
  expect((await run()).stdout.split('\n')).toEqual([
    'exp_0001 kept  90  10 % better  ← the best so far',
    '  ms = 90: 10 better (10 %, minimize) against exp_0000 (100)',
    'Next: assay diff exp_0001, or assay new -m "your idea"',
    '',
  ])
  const show = await assay(['show', experiment], { cwd: project.repo.dir })
  expect(show.stdout).toContain('child of exp_0000, 0 children')
  expect(show.stdout).toContain('attempt 2: kept (improved), 1 file +1 −1')
})

test('a candidate that changed the benchmark while it ran reads like a success, or a value many times as large like a share', async () => {
  const project = makeProject()
  await project.data('init', '--no-canary')
  const said = async (files: Files) => {
    const { experiment } = await project.open(files)
    return (await assay(['run', experiment, '--quiet'], { cwd: project.repo.dir })).stdout.split('\n')
  }
  const cheat = await said({ ...ms(1), ...hook('echo "# more" >> bench/run.sh') })
  expect(cheat[0]).toBe('exp_0001 rejected (out_of_scope)')
  expect(cheat.join()).not.toContain('better')
  expect((await said(ms(55_000)))[0]).toBe(
    'exp_0002 rejected (not_better)  55000  550 times as much, which is worse',
  )
})

test('a repair is asked for when the machine was at fault, or an unused budget reads like a budget of 0', async () => {
  const up = join(makeTemp('service'), 'up')
  writeFileSync(up, '')
  const measure = { command: 'sh bench/run.sh', timeout: '30s', before: `test -f '${up}'` }
  const project = makeProject({ spec: { measure } })
  await project.data('init')
  const status = await assay(['status'], { cwd: project.repo.dir })
  expect(status.stdout).toContain('\n  budget: none is set; used: 0 experiments, 0 hours, 0 failures\n')
  const { experiment } = await project.open(ms(80))
  rmSync(up)
  const run = () => assay(['run', experiment, '--quiet'], { cwd: project.repo.dir })
  expect((await run()).stdout.trimEnd().split('\n').at(-1)).toBe(
    'Next: assay run exp_0001 again when that is over; the candidate needs no change',
  )
  const context = await assay(['context'], { cwd: project.repo.dir })
  expect(context.stdout).toMatch(
    /\n- exp_0001 failed \(environment\).*, 3 attempts left: the machine failed, so run the same again\n/,
  )
  writeFileSync(up, '')
  expect((await run()).stdout).toContain('exp_0001 kept  80')
})

test('every doubt is explained as an audit, or a confirmation offers to restore what was not revoked', async () => {
  const project = makeProject()
  await project.data('init')
  await project.attempt(ms(80))
  await project.attempt(ms(70), 'exp_0001')
  const said = async (...args: string[]) =>
    (await assay([...args, '--quiet'], { cwd: project.repo.dir })).stdout
  expect(await said('confirm', 'exp_0001', '--against', 'exp_0002')).toBe(
    'exp_0001 is kept\n  not confirmed: ms = 80 is no better than 70 of exp_0002\n  This answer does not change its status\n',
  )
  await project.cli(['audit', 'exp_0002'], { input: '{"findings":[{"message":"odd"}]}' })
  expect(await said('status')).toContain('  in doubt: exp_0002; measure it again: assay confirm exp_0002\n')
})

test('a prepared run does not say what is to be done', async () => {
  const project = makeProject()
  await project.data<NewData>('init', '--prepare')
  const status = await assay(['status'], { cwd: project.repo.dir })
  expect(status.stdout).toContain(
    'no baseline yet; build the benchmark in its worktree (assay path exp_0000 names it), then assay run exp_0000',
  )
  const ran = await assay(['run', 'exp_0000', '--quiet'], { cwd: project.repo.dir })
  expect(ran.stdout).toContain(
    'Next: assay init, which tests whether the benchmark reads what candidates change\n',
  )
  const after = await assay(['status'], { cwd: project.repo.dir })
  expect(after.stdout).toContain('100 at the baseline, nothing better yet')
})

test('init complains of a benchmark that is still to be built, or looks for the built one in the checkout', async () => {
  const project = makeProject({
    spec: {
      scope: { mutable: ['src/**'], immutable: ['judge/**'] },
      measure: { command: 'sh judge/run.sh' },
      budget: { experiments: 5 },
    },
  })
  const init = async (...flags: string[]) =>
    (await assay(['init', ...flags], { cwd: project.repo.dir })).stdout
  const first = await init('--prepare')
  expect(first).toContain('Stays as it is: judge/** 0 files\n')
  expect(first).not.toContain('Note: judge/**')
  expect(first).not.toContain('ASSAY_SEED')
  writeFiles(project.repo.path('.assay/w/1-0000'), {
    'judge/run.sh': '# The same for each $ASSAY_SEED.\ncat src/metrics.txt\n',
  })
  await project.data('run', 'exp_0000')
  const second = await init()
  expect(second).toContain('Stays as it is: judge/** 1 file (judge/run.sh)\n')
  expect(second).not.toContain('ASSAY_SEED')
})

test('a gain that no outside clock shows is kept without a message, or its name has to say the unit', async () => {
  const bench = `import { elapsed } from '../src/clock.mjs'
const from = performance.now()
while (performance.now() - from < 1000);
console.log('METRIC elapsed=' + elapsed(performance.now() - from))
`
  const project = makeProject({
    files: { 'bench/run.mjs': bench, 'src/clock.mjs': 'export const elapsed = (ms) => ms\n' },
    spec: {
      measure: { command: [process.execPath, 'bench/run.mjs'] },
      metric: { name: 'elapsed', direction: 'minimize' },
      noise: { calibrate: 2 },
    },
  })
  await project.data('init')
  const { experiment } = await project.open({ 'src/clock.mjs': 'export const elapsed = (ms) => ms * 0.3\n' })
  const ran = await assay(['run', experiment, '--quiet'], { cwd: project.repo.dir })
  expect(ran.stdout).toContain('\n  in doubt, so not a parent yet: elapsed fell by 700 ms, but wall time ')
  expect(ran.stdout).toContain('Next: measure it again: assay confirm exp_0001\n')
  expect(await project.data('run', experiment)).toMatchObject({
    status: 'kept',
    best: false,
    doubt: expect.stringContaining('does the benchmark time itself?'),
    lasting_doubt: null,
  })
})
