/** Whose run changed what judges a candidate, without isolation: in a later look, and beside another slot. */
import { existsSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { dataOf, problemOf, startAssay } from '../rig/assay.ts'
import { makeClock } from '../rig/clock.ts'
import { makeTemp, tempBase } from '../rig/temp.ts'
import { until } from '../rig/until.ts'
import { type Found, statesOf, switches } from './attribute-scene.ts'
import { isolated } from './isolated.ts'
import {
  hook,
  makeProject,
  ms,
  type NewData,
  type RunData,
  type SpecParts,
  specText,
  writeFiles,
} from './project.ts'

test('a candidate that changes its benchmark only during the confirmation is confirmed', async () => {
  const project = makeProject({ files: { 'bench/expected.txt': '7\n' } })
  await project.data('init')
  const flag = join(project.control, 'cheat')
  const trick = `if [ -e '${flag}' ]; then cp -p bench/expected.txt keep; echo 8 > bench/expected.txt; mv keep bench/expected.txt; fi`
  const run = await project.attempt({ ...ms(50), ...hook(trick) })
  expect(run.status).toBe('kept')
  writeFileSync(flag, '')
  const confirmed = await project.data<{ passed: boolean; message: string; status: string }>(
    'confirm',
    run.experiment,
  )
  expect(confirmed).toMatchObject({ passed: false, status: 'revoked' })
  expect(confirmed.message).toContain('bench/expected.txt')
})

test('a candidate that writes to the benchmark of its parent, and puts it back, is kept, or a child pays for what its parent does', async () => {
  const project = makeProject({
    spec: { metric: { name: 'n', direction: 'minimize' }, noise: { mode: 'paired', calibrate: 2 } },
    files: { 'src/metrics.txt': 'METRIC n=100\n' },
  })
  await project.data('init')
  const other = `for one in ../[ab]/bench/run.sh; do case $one in "../$(basename "$PWD")"/*) ;; *) WRITE ;; esac; done`
  const n = (value: number) => ({ 'src/metrics.txt': `METRIC n=${value}\n` })
  for (const write of [
    'cp -p "$one" src/keep; echo "sleep 1" >> "$one"; cat src/keep > "$one"',
    'echo "echo METRIC n=900; exit" > "$one"',
  ]) {
    const verdict = await project.attempt({ ...n(50), ...hook(other.replace('WRITE', write)) })
    expect(verdict).toMatchObject({ status: 'rejected', reason: 'out_of_scope' })
    expect(verdict.message).toContain('changed what judges it: bench/run.sh in the checkout of exp_0000')
  }
  expect((await project.attempt(n(90))).value).toBeCloseTo(90, 3)

  // A kept one does it only when it is the parent: its child is not to blame.
  const flag = join(project.control, 'evil')
  const evil = await project.attempt({
    ...n(80),
    ...hook(`[ ! -e '${flag}' ] || ${other.replace('WRITE', 'echo exit >> "$one"')}`),
  })
  expect(evil).toMatchObject({ status: 'kept' })
  writeFileSync(flag, '')
  const child = await project.attempt({ ...n(70), ...hook('true') }, evil.experiment)
  const told = `the run of ${evil.experiment}, with which it is compared, changed files that decide this verdict: bench/run.sh; look at the code of ${evil.experiment} before you run this again`
  expect(child).toMatchObject({ status: 'failed', failure_class: 'environment', message: told })
  expect(await project.data('show', child.experiment, '--recompute')).toMatchObject({ same: true })
  rmSync(flag)
  expect(await project.data<RunData>('run', child.experiment)).toMatchObject({ status: 'kept', attempt: 2 })
  writeFileSync(flag, '')
  expect(await project.problem('confirm', child.experiment)).toMatchObject({
    code: 'not_measured',
    message: expect.stringContaining(told),
  })
  expect(await project.data('show', child.experiment)).toMatchObject({ status: 'kept', flagged: false })
})

test('a build that rewrites the answers that judge it is kept', async () => {
  const project = makeProject({
    spec: { worktree: { build: { command: 'sh src/build.sh' } } },
    files: { 'bench/expected.txt': '7\n', 'bench/made.txt': '', 'src/build.sh': 'date > bench/made.txt\n' },
  })
  await project.data('init')
  expect(await project.attempt(ms(90))).toMatchObject({ status: 'kept' })
  const cheat = await project.attempt({ ...ms(50), 'src/build.sh': 'echo 8 > bench/expected.txt\n' })
  expect(cheat).toMatchObject({ status: 'rejected', reason: 'out_of_scope' })
  expect(cheat.message).toContain('bench/expected.txt')
})

test('a process that resumes an attempt forgets which files earlier samples changed', async () => {
  const project = makeProject({
    spec: { gates: [{ name: 'last', command: 'sh src/gate.sh', phase: 'after' }] },
    files: { 'bench/expected.txt': '7\n', 'src/gate.sh': '' },
  })
  await project.data('init')
  const [began, go, once] = ['began', 'go', 'once'].map((name) => join(project.control, name))
  const { experiment } = await project.open({
    ...ms(50),
    ...hook(
      `[ -e '${once}' ] || { : > '${once}'; cp -p bench/expected.txt keep; echo 8 > bench/expected.txt; mv keep bench/expected.txt; }`,
    ),
    'src/gate.sh': `: > '${began}'; until [ -e '${go}' ]; do sleep 0.05; done\n`,
  })
  const first = startAssay(['run', experiment], { cwd: project.repo.dir })
  await until(() => existsSync(began as string), { what: 'the gate to begin', dir: project.control })
  first.kill('SIGKILL')
  await first.ended
  writeFileSync(go as string, '')
  const taken = await project.data<RunData>('run', experiment)
  expect(taken).toMatchObject({ status: 'rejected', reason: 'out_of_scope' })
  expect(taken.message).toContain('bench/expected.txt')
})

test('with two slots, the candidate in one is rejected for what the candidate in the other one changed there', async () => {
  const project = makeProject({
    spec: {
      measure: { command: 'sh bench/run.sh', slots: 2, timeout: '60s' },
      search: { max_attempts: 1 },
    },
    files: { 'bench/expected.txt': '7\n' },
  })
  await project.data('init')
  const [began, go] = [join(project.control, 'began'), join(project.control, 'go')]
  const wait = `: > '${began}'; until [ -e '${go}' ]; do sleep 0.05; done`
  const honest = await project.open({ ...ms(60), ...hook(wait) })
  // The files of the other slot seem to be older than its start.
  const clock = makeClock()
  clock.ahead(60)
  const running = startAssay<RunData>(['run', honest.experiment, '--json'], {
    cwd: project.repo.dir,
    env: clock.env,
  })
  await until(() => existsSync(began), { what: 'the honest sample', dir: project.control })
  const evil =
    'for one in ../../*/[ab]/bench/run.sh; do case $one in "../../$(basename "$(dirname "$PWD")")"/*) ;; *) echo "# touched" >> "$one" ;; esac; done 2>/dev/null'
  await project.attempt({ ...ms(90), ...hook(evil) })
  // What one changes in its own checkout is told only when it runs alone.
  const putsBack = 'cp -p bench/expected.txt keep; echo 8 > bench/expected.txt; cat keep > bench/expected.txt'
  const cheat = await project.attempt({ ...ms(1), ...hook(putsBack) })
  expect(cheat).toMatchObject({ status: 'failed', failure_class: 'environment', best: false })
  expect(cheat.message).toContain('run it again while no other slot measures')
  writeFileSync(go, '')
  const verdict = dataOf(await running.ended)
  expect(verdict).toMatchObject({ status: 'failed', reason: 'environment', failure_class: 'environment' })
  expect(verdict.message).toContain('while another slot measured')
  // Neither of the two has used up its only attempt.
  expect(await project.data<RunData>('run', honest.experiment)).toMatchObject({ status: 'kept', value: 60 })
  expect(await project.data<RunData>('run', cheat.experiment)).toMatchObject({
    status: 'rejected',
    reason: 'out_of_scope',
  })
})

test('a candidate is rejected for what one in another slot did that began before it and has ended', async () => {
  const project = makeProject({ spec: { measure: { command: 'sh bench/run.sh', slots: 2, timeout: '60s' } } })
  await project.data('init')
  const at = (name: string) => join(project.control, name)
  const wait = (name: string) =>
    `: > '${at(`${name}-began`)}'; until [ -e '${at(`${name}-go`)}' ]; do sleep 0.05; done`
  const touch =
    'for one in ../../*/[ab]/bench/run.sh; do case $one in "../../$(basename "$(dirname "$PWD")")"/*) ;; *) echo "# touched" >> "$one" ;; esac; done 2>/dev/null'
  const run = async (name: string, files: Record<string, string>) => {
    const { experiment } = await project.open(files)
    const { ended } = startAssay<RunData>(['run', experiment, '--json'], { cwd: project.repo.dir })
    await until(() => existsSync(at(`${name}-began`)), { what: name, dir: project.control })
    return ended
  }
  const evil = run('evil', { ...ms(90), ...hook(`${wait('evil')}; ${touch}`) } as Record<string, string>)
  await until(() => existsSync(at('evil-began')), { what: 'the other sample', dir: project.control })
  const honest = run('honest', { ...ms(60), ...hook(wait('honest')) } as Record<string, string>)
  await until(() => existsSync(at('honest-began')), { what: 'the honest sample', dir: project.control })
  writeFileSync(at('evil-go'), '')
  await evil
  writeFileSync(at('honest-go'), '')
  expect(dataOf(await honest)).toMatchObject({ status: 'failed', failure_class: 'environment' })
})

/** Writes to the benchmark in each other slot. */
const TOUCHES_OTHERS =
  'for one in ../../*/[ab]/bench/run.sh; do case $one in "../../$(basename "$(dirname "$PWD")")"/*) ;; *) echo "# touched" >> "$one" ;; esac; done 2>/dev/null'
const TWO_SLOTS: SpecParts = { measure: { command: 'sh bench/run.sh', slots: 2, timeout: '60s' } }

/** `wait`: text of a hook that says that it began, and waits until it may go on. */
function halt(name: string) {
  const control = makeTemp('halt')
  const [began, go] = [join(control, 'began'), join(control, 'go')]
  return {
    wait: `{ : > '${began}'; until [ -e '${go}' ]; do sleep 0.05; done; }`,
    began: () => until(() => existsSync(began), { what: name, dir: control }),
    go: () => writeFileSync(go, ''),
  }
}

test('a kept experiment is revoked for what a candidate in another slot did while it was confirmed', async () => {
  const project = makeProject({ spec: TWO_SLOTS })
  await project.data('init')
  const flag = join(project.control, 'waits')
  const sample = halt('the sample of the confirmation')
  const honest = await project.attempt({ ...ms(60), ...hook(`[ ! -e '${flag}' ] || ${sample.wait}`) })
  expect(honest.status).toBe('kept')
  writeFileSync(flag, '')
  const running = startAssay(['confirm', honest.experiment, '--json'], { cwd: project.repo.dir })
  await sample.began()
  await project.attempt({ ...ms(90), ...hook(TOUCHES_OTHERS) })
  sample.go()
  expect(problemOf(await running.ended)).toMatchObject({
    code: 'not_measured',
    message: expect.stringContaining('changed while another slot measured'),
  })
  expect(await project.data('show', honest.experiment)).toMatchObject({ status: 'kept', flagged: false })
  expect(await project.data('confirm', honest.experiment)).toMatchObject({ passed: true })
})

test('a process that resumes an attempt forgets that another slot measured when its files were changed', async () => {
  const project = makeProject({ spec: TWO_SLOTS })
  await project.data('init')
  const [first, second] = [halt('the first sample'), halt('the second sample')]
  const count = join(project.control, 'count')
  const halts = `echo >> '${count}'; case $(wc -l < '${count}') in 1) ${first.wait} ;; 2) ${second.wait} ;; esac`
  const { experiment } = await project.open({ ...ms(60), ...hook(halts) })
  const running = startAssay(['run', experiment], { cwd: project.repo.dir })
  await first.began()
  await project.attempt({ ...ms(90), ...hook(TOUCHES_OTHERS) })
  first.go()
  await second.began()
  running.kill('SIGKILL')
  await running.ended
  second.go()
  expect(await project.data<RunData>('run', experiment)).toMatchObject({
    status: 'failed',
    failure_class: 'environment',
  })
  expect(await project.data<RunData>('run', experiment)).toMatchObject({ status: 'kept', attempt: 2 })
})

test('a part counts as needed because a candidate in another slot changed the benchmark during its test', async () => {
  const flag = join(makeTemp('flag'), 'waits')
  const sample = halt('the sample of a test')
  const project = makeProject({
    spec: TWO_SLOTS,
    files: {
      ...switches(3),
      'bench/cost.awk': '$1 == "part" { p[$2] = $3 }\nEND { printf "METRIC ms=%s\\n", 100 - 10 * p[2] }\n',
      ...hook(
        `if [ -e '${flag}' ]; then rm '${flag}'; ${sample.wait}; fi; awk -f bench/cost.awk src/parts.txt; exit`,
      ),
    },
  })
  await project.data('init')
  const { experiment } = await project.attempt(switches(3, [1, 2, 3]))
  writeFileSync(flag, '')
  const running = startAssay(['attribute', experiment, '--json'], { cwd: project.repo.dir })
  await sample.began()
  await project.attempt(hook(`${TOUCHES_OTHERS}; echo METRIC ms=99; exit`))
  sample.go()
  expect(problemOf(await running.ended)).toMatchObject({
    code: 'not_measured',
    message: expect.stringContaining('changed while another slot measured'),
  })
  const found = await project.data<Found>('attribute', experiment)
  expect(Object.values(statesOf(found)).sort()).toEqual(['dead_weight', 'dead_weight', 'pays'])
})

isolated('of two runs in one repository, only one of which is isolated', () => {
  test('an isolated candidate is rejected for what a candidate of the other run did to its files', async () => {
    const sample = halt('the isolated sample')
    const measure = { command: 'sh bench/run.sh', slots: 2, timeout: '60s' }
    const project = makeProject({
      spec: {
        measure: { ...measure, isolation: 'strict', allow: [tempBase()] },
        search: { max_attempts: 1 },
      },
    })
    await project.data('init')
    writeFileSync(project.repo.path('assay.yaml'), specText({ measure: { ...measure, isolation: 'none' } }))
    project.repo.git('commit', '-qam', 'without isolation')
    await project.data('init', '--new')
    const of = async (run: string, files: Record<string, unknown>) => {
      const made = dataOf(await project.cli<NewData>(['new', '-m', 'x', '--run', run]))
      writeFiles(made.worktree, files as never)
      return made.experiment
    }
    const honest = await of('run_0001', { ...ms(60), ...hook(sample.wait) })
    const running = startAssay<RunData>(['run', honest, '--run', 'run_0001', '--json'], {
      cwd: project.repo.dir,
    })
    await sample.began()
    const evil = await of('run_0002', { ...ms(90), ...hook(TOUCHES_OTHERS) })
    dataOf(await project.cli(['run', evil, '--run', 'run_0002']))
    sample.go()
    expect(dataOf(await running.ended)).toMatchObject({ status: 'failed', failure_class: 'environment' })
    expect(dataOf(await project.cli(['run', honest, '--run', 'run_0001']))).toMatchObject({ status: 'kept' })
  })

  test('an isolated cheat is not rejected because a different isolated candidate was measured beside it', async () => {
    const sample = halt('the isolated sample')
    const project = makeProject({
      spec: {
        measure: {
          command: 'sh bench/run.sh',
          slots: 2,
          timeout: '60s',
          isolation: 'strict',
          allow: [tempBase()],
        },
        scope: { mutable: ['src/**'], immutable: ['bench/**'] },
      },
      files: { 'expected.txt': '7\n' },
    })
    await project.data('init')
    const honest = await project.open({ ...ms(60), ...hook(sample.wait) })
    const running = startAssay<RunData>(['run', honest.experiment, '--json'], { cwd: project.repo.dir })
    await sample.began()
    const putsBack = 'cp -p expected.txt keep; echo 8 > expected.txt; cat keep > expected.txt'
    expect(await project.attempt({ ...ms(1), ...hook(putsBack) })).toMatchObject({
      status: 'rejected',
      reason: 'out_of_scope',
    })
    sample.go()
    expect(dataOf(await running.ended)).toMatchObject({ status: 'kept' })
  })
})
