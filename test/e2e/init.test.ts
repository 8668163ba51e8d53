import { execFileSync } from 'node:child_process'
import { appendFileSync, existsSync, lstatSync, realpathSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { assay, dataOf, problemOf, startAssay } from '../rig/assay.ts'
import { snapshotTree } from '../rig/snapshot.ts'
import { makeTemp } from '../rig/temp.ts'
import { until } from '../rig/until.ts'
import { notebook } from './loop-scene.ts'
import {
  type InitData,
  makeProject,
  ms,
  type NewData,
  projectIn,
  type RunData,
  type StatusData,
  specText,
  writeFiles,
} from './project.ts'

test('init answers other fields than its contract, or touches more than the exclude line', async () => {
  const project = makeProject()
  const before = snapshotTree(project.repo.dir)
  const ran = await project.cli<InitData>(['init'])
  expect(ran.code).toBe(0)
  const { spec_hash, facts, ...data } = dataOf(ran)
  expect(facts).toMatchObject({ gates: 0, constraints: 0, canary: { outcome: 'reads' } })
  expect(spec_hash).toMatch(/^[0-9a-f]{64}$/)
  expect(data).toEqual({
    run: 'run_0001',
    base: project.repo.git('rev-parse', 'HEAD'),
    baseline: {
      experiment: 'exp_0000',
      value: 100,
      unit: null,
      samples: 2,
      noise: 'deterministic',
      spread: 0,
    },
    warnings: [
      'no gate and no constraint is declared: a candidate that breaks the code but scores well is kept',
      'no budget is set: the loop ends by itself only at the target or when it stalls',
    ],
  })
  const after = snapshotTree(project.repo.dir, { except: ['.assay'] })
  const changed = Object.keys(after).filter((path) => after[path] !== before[path])
  expect(changed).toEqual(['.git/info/exclude'])
  expect(Object.keys(after)).toEqual(Object.keys(before))
  expect(project.starts()).toEqual(['exp_0000', 'exp_0000'])
})

test('the same init twice measures twice, or a different spec replaces the run', async () => {
  const project = makeProject()
  const first = await project.data<InitData>('init')
  expect(await project.data('init')).toEqual({ ...first, repeated: true })
  expect(project.starts()).toHaveLength(2)

  project.repo.write({ 'assay.yaml': specText({ budget: { experiments: 7 } }) })
  expect(await project.data('init')).toMatchObject({ run: 'run_0001', repeated: true })

  project.repo.write({ 'assay.yaml': specText({ metric: { name: 'ms', direction: 'maximize' } }) })
  const other = await project.problem('init')
  expect(other).toMatchObject({ exit: 3, code: 'run_exists', data: { runs: ['run_0001'] } })
  expect(other.hint).toContain('--new')
  expect(await project.data('init', '--new')).toMatchObject({ run: 'run_0002' })
  expect(await project.data('init')).toMatchObject({ run: 'run_0002', repeated: true })
})

test('with two runs a verb picks one by itself, or --run does not reach the other', async () => {
  const project = makeProject()
  await project.data('init')
  await project.data('init', '--new')
  for (const args of [['status'], ['new', '-m', 'x'], ['run', 'exp_0000']]) {
    const problem = await project.problem(...args)
    expect(problem).toMatchObject({ exit: 2, code: 'several_runs' })
    expect(problem.message).toContain('run_0001, run_0002')
  }
  const made = await project.data<NewData>('new', '-m', 'x', '--run', 'run_0002')
  writeFiles(made.worktree, ms(90))
  expect(await project.data('status', '--run', 'run_0001')).toMatchObject({
    run: 'run_0001',
    counts: { open: 0 },
  })
  expect(await project.data('status', '--run', 'run_0002')).toMatchObject({
    run: 'run_0002',
    counts: { open: 1 },
  })
  // Inside a worktree its own run is meant.
  const inside = await project.cli<RunData>(['run', made.experiment], { cwd: join(made.worktree, 'src') })
  expect(dataOf(inside)).toMatchObject({ status: 'kept', value: 90 })
  // What is to be done next is to be done there, too; with one run only nobody has to say which.
  const { hint } = await project.problem('show', 'exp_0009', '--run', 'run_0002')
  expect(hint).toContain('assay tree --run run_0002')
  const said = async (...args: string[]) =>
    (await assay([...args, '--run', 'run_0002'], { cwd: project.repo.dir })).stdout
  expect(await said('gc', '--dry-run')).toContain('do it: assay gc --run run_0002\n')
  expect(await said('run', made.experiment)).toContain(`assay diff --run run_0002 ${made.experiment}`)
  const left = await project.data<NewData>('new', '-m', 'y', '--run', 'run_0002')
  writeFiles(left.worktree, ms(80))
  await project.data('seal', left.experiment, '--run', 'run_0002')
  const owner = { pid: 1, started: 'once', host: 'container-1' }
  const claim = { v: '1.0', id: 'far', at: new Date().toISOString(), type: 'started', attempt: 1, owner }
  const line = JSON.stringify({ ...claim, experiment: left.experiment })
  appendFileSync(project.repo.path('.assay', 'runs', 'run_0002', 'ledger.jsonl'), `${line}\n`)
  const abort = `assay abort --run run_0002 ${left.experiment}`
  expect(await project.data('status', '--run', 'run_0002')).toMatchObject({
    stuck: [{ hint: expect.stringContaining(abort) }],
  })
  expect(await project.problem('status', '--run', 'run_0003')).toMatchObject({
    exit: 2,
    code: 'unknown_run',
    hint: 'runs here: run_0001, run_0002',
  })
})

test('a detached HEAD, a linked worktree or a sub-folder of one is refused, or has state of its own', async () => {
  const project = makeProject()
  project.repo.git('switch', '--quiet', '--detach')
  const linked = join(makeTemp(), 'linked')
  project.repo.git('worktree', 'add', '--quiet', '--detach', linked)
  const fromLinked = await project.cli<InitData>(['init'], { cwd: join(linked, 'src') })
  expect(dataOf(fromLinked)).toMatchObject({ run: 'run_0001', baseline: { value: 100 } })
  expect(existsSync(project.repo.path('.assay'))).toBe(true)
  expect(existsSync(join(linked, '.assay'))).toBe(false)
  expect(await project.data('init')).toMatchObject({ run: 'run_0001', repeated: true })
  expect(dataOf(await project.cli(['status'], { cwd: linked }))).toMatchObject({ run: 'run_0001' })
  expect(project.repo.git('status', '--porcelain')).toBe('')
  expect(
    execFileSync('git', ['status', '--porcelain'], { cwd: linked, env: project.repo.env, encoding: 'utf8' }),
  ).toBe('')
})

test('a bare common folder with linked worktrees is refused, or two worktrees do not share a run', async () => {
  const source = makeProject()
  const root = realpathSync(makeTemp())
  const git = (...args: string[]) =>
    execFileSync('git', args, { cwd: root, env: source.repo.env, encoding: 'utf8', stdio: 'pipe' })
  git('clone', '--quiet', '--bare', source.repo.dir, '.bare')
  for (const name of ['one', 'two'])
    git('-C', '.bare', 'worktree', 'add', '--quiet', '-b', name, join(root, name))
  const at = (name: string) => ({ cwd: join(root, name) })
  expect(dataOf(await source.cli<InitData>(['init'], at('one')))).toMatchObject({ baseline: { value: 100 } })
  expect(existsSync(join(root, 'one', '.assay', 'runs', 'run_0001'))).toBe(true)
  expect(dataOf(await source.cli<StatusData>(['status'], at('two')))).toMatchObject({ run: 'run_0001' })
  expect(git('-C', 'one', 'status', '--porcelain')).toBe('')
  expect(problemOf(await source.cli(['init'], at('.bare')))).toMatchObject({ code: 'bare_repository' })
})

test('globs of a spec in a sub-folder count from the root of the repository', async () => {
  const project = makeProject()
  project.repo.git('rm', '--quiet', '-r', 'assay.yaml', 'bench', 'src')
  project.repo.commit('monorepo', {
    'packages/a/assay.yaml': specText(),
    'packages/a/bench/run.sh': 'cat src/metrics.txt\n',
    'packages/a/src/metrics.txt': 'METRIC ms=100\n',
    'src/other.txt': 'of another package\n',
  })
  const inPackage = projectIn({ ...project.repo, dir: project.repo.path('packages/a') }, project.control)
  expect(await inPackage.data('init')).toMatchObject({ run: 'run_0001', baseline: { value: 100 } })
  expect(existsSync(project.repo.path('.assay'))).toBe(true)
  const good = await inPackage.open({ 'packages/a/src/metrics.txt': 'METRIC ms=90\n' })
  expect(await inPackage.data('run', good.experiment)).toMatchObject({ status: 'kept', value: 90 })
  const bad = await inPackage.attempt({ 'src/other.txt': 'changed\n' })
  expect(bad).toMatchObject({ status: 'rejected', reason: 'out_of_scope' })
  expect(bad.message).toContain('src/other.txt')
  // From the root, where no spec lies, the same run is found.
  expect(await project.data('status')).toMatchObject({ run: 'run_0001', counts: { kept: 2, rejected: 1 } })
})

test('a candidate may change the spec of its run if that has another name, or the spec must be committed', async () => {
  const project = makeProject()
  const spec = specText({ scope: { mutable: ['**'], immutable: ['bench/**'] } })
  project.repo.commit('a spec', { 'perf.yaml': spec })
  project.repo.write({ 'perf.yaml': `${spec}\n` })
  expect(await project.data('init', 'perf.yaml', '--no-canary')).toMatchObject({ run: 'run_0001' })
  const attempt = await project.attempt({ ...ms(90), 'perf.yaml': spec.replace('Make', 'Do not make') })
  expect(attempt).toMatchObject({ status: 'rejected', reason: 'out_of_scope' })
  expect(attempt.message).toContain('perf.yaml')
})

test('--include-dirty touches the files, the index or their times, or measures the commit', async () => {
  const project = makeProject()
  project.repo.commit('more', { 'src/gone.txt': 'x\n', '.gitignore': 'ignored.txt\n' })
  project.repo.write({ ...ms(80), 'src/new.txt': 'new\n', 'src/ignored.txt': 'no\n', 'src/.env': 'KEY=1\n' })
  project.repo.git('add', 'src/new.txt')
  project.repo.git('rm', '--quiet', 'src/gone.txt')
  project.repo.write({ 'src/new.txt': 'newer\n' })
  const times = () =>
    ['.git/index', 'src/metrics.txt', 'src/new.txt', '.git/HEAD'].map(
      (path) => lstatSync(project.repo.path(path)).mtimeMs,
    )
  const before = { tree: snapshotTree(project.repo.dir, { except: ['.git/info/exclude'] }), times: times() }
  const data = await project.data<InitData>('init', '--include-dirty')
  expect(data).toMatchObject({ run: 'run_0001', baseline: { value: 80 } })
  expect(data.warnings).toContain('src/.env is not part of the base: looks like a secret (environment file)')
  const after = snapshotTree(project.repo.dir, { except: ['.git/info/exclude', '.assay'] })
  expect({ tree: after, times: times() }).toEqual(before)
  const { worktree } = await project.data<NewData>('new', '-m', 'x')
  expect(Object.keys(snapshotTree(worktree, { except: ['.git'] }))).toEqual([
    '.gitignore',
    'assay.yaml',
    'bench',
    'bench/run.sh',
    'src',
    'src/metrics.txt',
    'src/new.txt',
  ])
})

test('--prepare measures a benchmark that is not built yet, or ignores what is built in immutable paths', async () => {
  const project = makeProject({ spec: { measure: { command: 'sh bench/fresh.sh' } } })
  const prepared = await project.data<InitData>('init', '--prepare')
  expect(prepared.baseline).toMatchObject({ experiment: 'exp_0000', value: null, samples: 0 })
  expect(prepared.worktree).toBe(project.repo.path('.assay/w/1-0000'))
  const worktree = prepared.worktree ?? ''
  expect(await project.data('init', '--prepare')).toMatchObject({ repeated: true, worktree })
  expect((await project.problem('new', '-m', 'too early')).exit).toBe(3)
  writeFiles(worktree, { 'bench/fresh.sh': 'cat src/metrics.txt\n', 'tool.txt': 'anything\n' })
  expect(await project.data('run', 'exp_0000')).toMatchObject({
    experiment: 'exp_0000',
    status: 'kept',
    reason: null,
    value: 100,
    samples: 2,
  })
  expect(await project.data('init')).toMatchObject({ repeated: true, baseline: { value: 100 } })
  const child = await project.open(ms(90))
  writeFiles(child.worktree, { 'bench/fresh.sh': 'echo METRIC ms=1\n' })
  const rejected = await project.data<RunData>('run', child.experiment)
  expect(rejected).toMatchObject({ status: 'rejected', reason: 'out_of_scope' })
  expect(rejected.message).toContain('bench/fresh.sh')
  writeFiles(child.worktree, { 'bench/fresh.sh': 'cat src/metrics.txt\n' })
  expect(await project.data('run', child.experiment)).toMatchObject({ status: 'kept', value: 90, attempt: 2 })
  expect(project.repo.git('status', '--porcelain')).toBe('')
  expect(existsSync(project.repo.path('bench/fresh.sh'))).toBe(false)
})

test('the template is no valid spec', async () => {
  const project = makeProject()
  const printed = await assay(['init', '--template'], { cwd: project.repo.dir })
  expect(printed.code).toBe(0)
  expect(existsSync(project.repo.path('.assay'))).toBe(false)
  // Only the words that its author has to fill in are changed.
  project.repo.commit('from the template', {
    'assay.yaml': printed.stdout
      .replace('node bench/run.mjs', 'sh bench/run.sh')
      .replace('npm test', 'test -f assay.yaml'),
  })
  expect(await project.data('init')).toMatchObject({ run: 'run_0001', baseline: { value: 100, samples: 5 } })
})

test('one Ctrl-C stops the baseline without a verdict, or init cannot be repeated', async () => {
  const notes = notebook()
  const project = makeProject({
    files: {
      'bench/run.sh': `echo began >> '${notes.file}'
while [ ! -f '${notes.file}.go' ]; do sleep 0.05; done
cat src/metrics.txt
`,
    },
  })
  const running = startAssay(['init', '--json'], { cwd: project.repo.dir })
  await until(() => notes.lines().length === 1, { what: 'the baseline to be measured' })
  running.kill('SIGINT')
  await running.said('finishing the work that is paid for; Ctrl-C again stops now')
  writeFileSync(`${notes.file}.go`, '')
  const ended = await running.ended
  expect(ended.code).toBe(130)
  expect(problemOf(ended)).toMatchObject({ code: 'interrupted', hint: 'continue with: assay init' })
  const paid = notes.lines().length
  const again = await project.data('init')
  expect(again).toMatchObject({ repeated: true, baseline: { value: 100 } })
  // The look whether the benchmark sees the candidate: nothing of the baseline is measured again.
  expect(notes.lines()).toHaveLength(paid + 1)
})
