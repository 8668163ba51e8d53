import { execFileSync } from 'node:child_process'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { assay, problemOf } from '../rig/assay.ts'
import { snapshotTree } from '../rig/snapshot.ts'
import { isolatedEnv, makeTemp } from '../rig/temp.ts'
import { hook, makeProject, ms, type Project, type SpecParts, specText } from './project.ts'

/** `init`, which must fail and leave everything byte for byte as it was: no state, no exclude line. */
async function refused(project: Project, ...args: string[]) {
  const before = snapshotTree(project.repo.dir)
  const problem = await project.problem('init', ...args)
  expect(snapshotTree(project.repo.dir)).toEqual(before)
  return problem
}

const spoilt = (spec: SpecParts) => makeProject({ spec })

test('an unknown key is accepted, or refused without its place and the key that was meant', async () => {
  const problem = await refused(spoilt({ budgets: { experiments: 3 } }))
  expect(problem).toMatchObject({
    exit: 2,
    code: 'spec_invalid',
    message: '`budgets` is not a key of the spec',
    hint: 'did you mean `budget`?',
  })
  expect(problem.at).toBe('assay.yaml:25:3\n    "budgets": {\n    ^^^^^^^^^')
})

test('a misspelt direction is refused without the word that was meant', async () => {
  const problem = await refused(spoilt({ metric: { name: 'ms', direction: 'minimise' } }))
  expect(problem).toMatchObject({ exit: 2, code: 'spec_invalid', hint: 'did you mean `minimize`?' })
  expect(problem.message).toContain('minimise')
  expect(problem.at).toMatch(/^assay\.yaml:19:18\n/)
})

test('problems after the first one are held back until the first is corrected', async () => {
  const problem = await refused(
    spoilt({
      metric: { name: 'ms', direction: 'minimise', target: '10' },
      budget: { experiments: 'many' },
      gates: [{ name: 'a', command: 'true', phase: 'later' }],
      extra: 1,
    }),
  )
  const all = [problem, ...(problem.more ?? [])].map(({ message }) => message)
  expect(all).toHaveLength(5)
  for (const word of ['minimise', 'metric.target', 'budget.experiments', 'gates[0].phase', '`extra`'])
    expect(all.some((message) => message.includes(word))).toBe(true)
})

test('a glob that matches nothing lets every candidate be empty', async () => {
  const problem = await refused(spoilt({ scope: { mutable: ['scr/**'], immutable: ['bench/**'] } }))
  expect(problem).toMatchObject({
    exit: 2,
    code: 'glob_matches_nothing',
    message: '`scr/**` matches no file',
    hint: 'did you mean `src/**`?',
  })
  expect(problem.at).toMatch(/^assay\.yaml:\d+:\d+\n/)
})

test('a scope in which everything is immutable starts a run that can change nothing', async () => {
  expect(await refused(spoilt({ scope: { mutable: ['src/**'], immutable: ['src/**'] } }))).toMatchObject({
    exit: 2,
    code: 'nothing_mutable',
  })
})

test('a benchmark that was never committed is not told from one that is broken', async () => {
  const project = spoilt({ measure: { command: 'sh tools/new.sh' } })
  project.repo.write({ 'tools/new.sh': 'echo METRIC ms=1\n' })
  const problem = await refused(project)
  expect(problem).toMatchObject({ exit: 2, code: 'baseline_failed' })
  expect(problem.message).toContain('tools/new.sh')
  expect(problem.hint).toContain('not committed')
})

test('a benchmark that exits 1 becomes a baseline', async () => {
  const project = makeProject({ files: hook('echo "no database" >&2; exit 1') })
  const problem = await refused(project)
  expect(problem).toMatchObject({ exit: 2, code: 'baseline_failed' })
  expect(problem.message).toContain('exit 1: no database')
  expect(problem.at).toBe('sh bench/run.sh\nno database')
})

test('a benchmark that prints no metric becomes a baseline, or its output is not shown', async () => {
  const problem = await refused(makeProject({ files: { 'src/metrics.txt': 'all good\n' } }))
  expect(problem).toMatchObject({ exit: 2, code: 'baseline_failed', at: 'sh bench/run.sh\nall good' })
  expect(problem.message).toContain('ms')
})

test('a metric under a different name is refused without the names that were printed', async () => {
  const project = makeProject({ files: { 'src/metrics.txt': 'METRIC time_ms=5\nMETRIC rss=7\n' } })
  const problem = await refused(project)
  expect(problem).toMatchObject({ exit: 2, code: 'baseline_failed' })
  for (const word of ['ms', 'time_ms', 'rss']) expect(problem.message).toContain(word)
})

test('samples that differ pass as a metric without noise', async () => {
  const project = makeProject()
  const counting = `echo x >> '${join(project.control, 'count')}'; n=$(wc -l < '${join(project.control, 'count')}')\necho "METRIC ms=$((100 + n))"\n`
  project.repo.commit('noisy', { 'bench/run.sh': counting })
  const problem = await refused(project)
  expect(problem).toMatchObject({ exit: 2, code: 'baseline_failed' })
  expect(problem.message).toContain('(101, 102)')
})

test('a gate that fails on the baseline is found only at the first candidate', async () => {
  const project = spoilt({ gates: [{ name: 'unit', command: 'echo "1 test failed" >&2; exit 3' }] })
  const problem = await refused(project)
  expect(problem).toMatchObject({ exit: 2, code: 'baseline_failed' })
  expect(problem.message).toContain('gate unit did not pass: exit 3')
  expect(problem.message).toContain('1 test failed')
  expect(project.starts()).toEqual([])
})

test('a constraint that the baseline violates rejects every candidate', async () => {
  const problem = await refused(spoilt({ constraints: [{ metric: 'ms', op: '<', value: 50 }] }))
  expect(problem).toMatchObject({ exit: 2, code: 'baseline_failed' })
  expect(problem.message).toContain('ms')
  expect(problem.message).toContain('50')
  expect(problem.message).toContain('100')
})

test('work that is not committed is silently missing from the base', async () => {
  const project = makeProject()
  project.repo.write({ ...ms(77), 'src/new.txt': 'new\n', 'notes.txt': 'mine\n' })
  expect(await refused(project)).toMatchObject({
    exit: 3,
    code: 'dirty_scope',
    message: 'not committed, and in the scope of the spec: src/metrics.txt, src/new.txt',
    hint: 'commit them, or measure the working tree as it is: assay init --include-dirty',
  })
})

test('outside of a repository, or before its first commit, something half-made is left', async () => {
  const folder = makeTemp()
  const outside = await assay(['init', '--json'], { cwd: folder })
  expect([outside.code, problemOf(outside).code]).toEqual([3, 'not_a_repository'])
  expect(problemOf(outside).hint).toContain('git init')
  expect(snapshotTree(folder)).toEqual({})

  const empty = makeTemp()
  execFileSync('git', ['init', '--quiet'], { cwd: empty, env: isolatedEnv() })
  const before = snapshotTree(empty)
  const ran = await assay(['init', '--json'], { cwd: empty })
  expect([ran.code, problemOf(ran).code]).toEqual([3, 'empty_repository'])
  expect(problemOf(ran).hint).toContain('git commit')
  expect(snapshotTree(empty)).toEqual(before)
})

test('a spec that is missing, or not YAML, or named wrongly on the command line makes state', async () => {
  const project = makeProject()
  expect(await refused(project, 'other.yaml')).toMatchObject({ exit: 2, code: 'spec_unreadable' })
  project.repo.git('rm', '--quiet', 'assay.yaml')
  expect(await refused(project)).toMatchObject({
    exit: 2,
    code: 'spec_unreadable',
    message: 'there is no assay.yaml',
    hint: 'write one: assay init --template > assay.yaml',
  })
  project.repo.write({ 'assay.yaml': 'version: 1\nname: [open\n' })
  expect(await refused(project)).toMatchObject({ exit: 2, code: 'spec_invalid' })
})

test('a verb before init answers something else than how to start', async () => {
  const project = makeProject()
  mkdirSync(project.repo.path('deep', 'er'), { recursive: true })
  for (const args of [
    ['status'],
    ['new', '-m', 'x'],
    ['run', 'exp_0001'],
    ['tree'],
    ['wait', '--for', 'loop'],
  ]) {
    const ran = await project.cli(args, { cwd: project.repo.path('deep', 'er') })
    expect([ran.code, problemOf(ran).code]).toEqual([3, 'no_run'])
    expect(problemOf(ran).hint).toContain('assay init')
  }
})

test('a baseline that fails in a second run removes the first run', async () => {
  const project = makeProject()
  await project.data('init')
  const before = await project.data('status')
  project.repo.write({ 'assay.yaml': specText({ measure: { command: 'exit 9' } }) })
  expect(await project.problem('init', '--new')).toMatchObject({ exit: 2, code: 'baseline_failed' })
  // The edited spec is noticed; nothing else differs.
  expect({ ...(await project.data<object>('status')), spec: null }).toEqual(before)
  expect(project.repo.read('.git/info/exclude')).toContain('/.assay/\n')
})

test('an agent that is still in a worktree is told to write a spec there, or begins a run on it', async () => {
  const project = makeProject()
  await project.data('init')
  const { worktree } = await project.open(ms(90))
  const ran = await project.cli(['init', '--prepare'], { cwd: join(worktree, 'src') })
  expect(problemOf(ran)).toMatchObject({
    code: 'in_worktree',
    hint: expect.stringContaining(project.repo.dir),
  })
})

test('a setup that fails under --prepare leaves a run in the way of the corrected spec', async () => {
  const project = spoilt({ worktree: { setup: { command: 'echo no such tool >&2; exit 3' } } })
  expect(await refused(project, '--prepare')).toMatchObject({
    code: 'setup_failed',
    hint: 'correct worktree.setup and run assay init again; nothing of this run is left',
  })
  project.repo.write({ 'assay.yaml': specText({ worktree: { setup: { command: 'true' } } }) })
  expect((await project.cli(['init', '--prepare'])).json).toMatchObject({
    ok: true,
    data: { run: 'run_0001' },
  })
})
