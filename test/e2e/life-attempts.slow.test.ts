import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { dataOf, problemOf } from '../rig/assay.ts'
import { hook, makeProject, ms, type RunData, type StatusData, specText, writeFiles } from './project.ts'

test('a repair is a new experiment, or the number of attempts has no end', async () => {
  const project = makeProject({ spec: { search: { max_attempts: 2 } } })
  await project.data('init')
  const { experiment, worktree } = await project.open(ms(110))
  expect(await project.data('run', experiment)).toMatchObject({ attempt: 1, reason: 'not_better' })
  expect(await project.data('run', experiment)).toMatchObject({ attempt: 1, repeated: true })
  writeFiles(worktree, ms(105))
  expect(await project.data('run', experiment)).toMatchObject({
    attempt: 2,
    reason: 'not_better',
    value: 105,
  })
  writeFiles(worktree, ms(90))
  expect(await project.problem('run', experiment)).toMatchObject({
    exit: 3,
    code: 'max_attempts',
    message: `${experiment} has used its 2 attempts`,
  })
  expect(project.starts()).toEqual(['exp_0000', 'exp_0000', experiment, experiment])
  expect(await project.data('show', experiment)).toMatchObject({
    status: 'rejected',
    value: 105,
    attempts: [
      { attempt: 1, value: 110, measurements: [{ value: 110 }] },
      { attempt: 2, value: 105, measurements: [{ value: 105 }] },
      { attempt: 3, status: null, value: null, measurements: [] },
    ],
  })
})

test('the budget of experiments does not end the run, or a free rejection counts', async () => {
  const project = makeProject({ spec: { budget: { experiments: 2 } } })
  await project.data('init')
  await project.attempt({})
  await project.attempt(ms(110))
  await project.attempt(ms(90))
  expect(await project.data('status')).toMatchObject({
    stop: 'budget',
    budget: { experiments: { used: 2, limit: 2 } },
  })
  const last = await project.open(ms(80))
  expect(await project.problem('run', last.experiment)).toMatchObject({
    exit: 3,
    code: 'budget_experiments',
    message: 'the budget of 2 experiments is used',
  })
  expect(await project.data('status')).toMatchObject({ counts: { open: 1, running: 0 } })
  expect(project.starts()).toHaveLength(5)
})

test('three identical failures do not stop the run, or three different ones do', async () => {
  const project = makeProject()
  await project.data('init')
  const crash = (n: number, words: string) =>
    project.attempt({ ...ms(n), ...hook(`echo "line ${n}: ${words}" >&2; exit 3`) })
  const stop = async () => (await project.data<StatusData>('status')).stop
  await crash(1, 'no module')
  await crash(2, 'no module')
  await crash(3, 'another cause')
  expect(await stop()).toBe(null)
  await crash(4, 'another cause')
  await project.attempt({})
  expect(await stop()).toBe(null)
  await crash(5, 'another cause')
  expect(await stop()).toBe('failures')
  expect(await project.attempt(ms(90))).toMatchObject({ status: 'kept' })
  expect(await stop()).toBe(null)
})

test('a failed build counts as a tested idea, or a broken machine as a failed build', async () => {
  const project = makeProject({ files: { 'src/build.sh': 'cp src/metrics.txt built.txt\n' } })
  const [broken, missing] = [join(project.control, 'broken'), join(project.control, 'missing')]
  const build = `if [ -f '${broken}' ]; then echo "no compiler here" >&2; exit 7; fi; sh src/build.sh`
  project.repo.commit('build', {
    'assay.yaml': specText({ worktree: { build: { command: build } } }),
    'bench/run.sh': `if [ -f '${missing}' ]; then echo "node: not found" >&2; exit 127; fi\ncat built.txt\n`,
  })
  await project.data('init')
  const bad = { ...ms(80), 'src/build.sh': 'echo "syntax error" >&2; exit 2\n' }
  const { experiment, worktree } = await project.open(bad)
  const failed = await project.cli<RunData>(['run', experiment])
  expect(failed.code).toBe(4)
  expect(dataOf(failed)).toMatchObject({
    status: 'failed',
    reason: 'crash',
    failure_class: 'build',
    value: null,
    samples: 0,
    message: 'the build failed: exit 2: syntax error',
  })
  // The parent was built a moment ago in this very slot: that it built then proves nothing now.
  writeFileSync(broken, '')
  writeFiles(worktree, { 'src/build.sh': 'cp src/metrics.txt built.txt\n' })
  const environment = { status: 'failed', reason: 'environment', failure_class: 'environment' }
  const spoilt = await project.data<RunData>('run', experiment)
  expect(spoilt).toMatchObject({ attempt: 2, ...environment })
  expect(spoilt.message).toBe('the build fails for the unchanged parent too: exit 7: no compiler here')
  rmSync(broken)
  writeFileSync(missing, '')
  expect(await project.data('run', experiment)).toMatchObject({ attempt: 3, ...environment })
  rmSync(missing)
  // The same tree once more, in the same slot: what its build made is there, though no .gitignore names it.
  expect(await project.data('run', experiment)).toMatchObject({ attempt: 4, status: 'kept', value: 80 })
  expect(await project.attempt(ms(70), experiment)).toMatchObject({ status: 'kept', value: 70 })
})

test('setup runs again although its inputs are the same, or not when they changed', async () => {
  const project = makeProject({ files: { 'src/lock.txt': 'one\n', 'src/free.txt': 'x\n' } })
  const log = join(project.control, 'setups')
  project.repo.commit('setup', {
    'assay.yaml': specText({
      worktree: {
        setup: { command: `pwd >> '${log}'; cp src/lock.txt src/installed.txt`, inputs: ['src/lock.txt'] },
      },
    }),
    'bench/run.sh': 'cmp src/lock.txt src/installed.txt || exit 5; cat src/metrics.txt\n',
  })
  const setups = () =>
    existsSync(log)
      ? readFileSync(log, 'utf8')
          .split('\n')
          .filter((line) => line.includes('/.assay/m/')).length
      : 0
  // Both checkouts of the slot, which init looks at beside each other.
  await project.data('init')
  expect(setups()).toBe(2)
  // What setup left in the edit worktree is no part of a candidate.
  expect(await project.attempt({})).toMatchObject({ reason: 'empty' })
  const free = await project.attempt({ ...ms(90), 'src/free.txt': 'y\n' })
  expect(free).toMatchObject({ status: 'kept', value: 90 })
  const { files } = await project.data<{ files: { path: string }[] }>('diff', free.experiment)
  expect(files.map(({ path }) => path)).toEqual(['src/free.txt', 'src/metrics.txt'])
  expect(setups()).toBe(2)
  expect(await project.attempt({ ...ms(80), 'src/lock.txt': 'two\n' })).toMatchObject({
    status: 'kept',
    value: 80,
  })
  expect(setups()).toBe(3)
  const placeOf = (value: number) =>
    ['a', 'b'].find((name) =>
      readFileSync(project.repo.path('.assay/m/0', name, 'src/metrics.txt'), 'utf8').includes(
        `ms=${value}\n`,
      ),
    )
  const changed = placeOf(80)
  expect(await project.attempt(ms(70))).toMatchObject({ status: 'kept', value: 70 })
  // Only the checkout that has the other input is set up again; which one holds the candidate is drawn.
  expect(setups()).toBe(placeOf(70) === changed ? 4 : 3)
})

test('a setup that fails leaves an experiment that no command can use', async () => {
  const project = makeProject()
  const broken = join(project.control, 'broken')
  project.repo.commit('setup', {
    'assay.yaml': specText({
      worktree: { setup: { command: `test ! -f '${broken}' || { echo "registry is down" >&2; exit 1; }` } },
    }),
  })
  await project.data('init')
  writeFileSync(broken, '')
  const ran = await project.cli(['new', '-m', 'x', '--key', 'k1'])
  expect([ran.code, problemOf(ran).code]).toEqual([4, 'setup_failed'])
  expect(problemOf(ran).message).toContain('registry is down')
  rmSync(broken)
  const made = await project.data<{ experiment: string; worktree: string }>('new', '-m', 'x', '--key', 'k1')
  expect(made).toMatchObject({ experiment: 'exp_0001', repeated: true })
  writeFiles(made.worktree, ms(90))
  expect(await project.data('run', made.experiment)).toMatchObject({ status: 'kept', value: 90 })
})

test('a repeated key of one experiment measures a different one without a claim, or answers for it', async () => {
  const project = makeProject()
  await project.data('init')
  const [one, other] = [await project.open(ms(90)), await project.open(ms(95))]
  await project.data('run', one.experiment, '--key', 'k1')
  const before = project.starts()
  expect(await project.problem('run', other.experiment, '--key', 'k1')).toMatchObject({
    exit: 2,
    code: 'key_reused',
    message: `the key k1 was used for ${one.experiment}`,
  })
  expect(project.starts()).toEqual(before)
  expect(await project.data('run', one.experiment, '--key', 'k1')).toMatchObject({
    repeated: true,
    value: 90,
  })
})
