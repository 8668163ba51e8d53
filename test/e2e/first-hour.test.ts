import { spawnSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { assay } from '../rig/assay.ts'
import { snapshotTree } from '../rig/snapshot.ts'
import { type Files, type InitData, makeProject, ms, type Project, specText } from './project.ts'

const bench = (script: string): Files => ({ 'bench/run.sh': script })

async function failed(project: Project, cause: string | null) {
  const problem = await project.problem('init')
  expect(problem).toMatchObject({ exit: 2, code: 'baseline_failed', data: { cause } })
  expect(existsSync(project.repo.path('.assay'))).toBe(false)
  return problem
}

test('init does not say what the globs match, which files are in no glob, or what a candidate costs', async () => {
  const project = makeProject({
    spec: { budget: { experiments: 3 }, gates: [{ name: 'g', command: 'true' }] },
    files: { 'src/a.txt': '', 'src/b.txt': '', 'src/c.txt': '' },
  })
  const { facts } = await project.data<InitData>('init')
  expect(facts).toEqual({
    scope: {
      mutable: [{ glob: 'src/**', files: 4, first: ['src/a.txt', 'src/b.txt', 'src/c.txt'] }],
      immutable: [{ glob: 'bench/**', files: 1, first: ['bench/run.sh'] }],
      changeable: 4,
    },
    data: { globs: [], files: 0, bytes: 0 },
    gates: 1,
    constraints: 0,
    canary: { outcome: 'reads', why: 'the metric "ms" is missing; no metric was found at all' },
    exposed: [],
    reads_seed: false,
    pairs_needed: null,
    holdout: null,
    isolation: { method: null, without: [], allow: [] },
    candidate: {
      sample_ms: expect.any(Number),
      build_ms: 0,
      gates_ms: expect.any(Number),
      samples: [1, 2],
      best_ms: expect.any(Number),
      worst_ms: expect.any(Number),
      buys: 3,
    },
  })
  const said = await assay(['init'], { cwd: project.repo.dir })
  for (const line of [
    'May change: 4 files. src/** 4 files (src/a.txt, src/b.txt, src/c.txt, …)',
    'Stays as it is: bench/** 1 file (bench/run.sh)',
    'the budget of 3 experiments buys at least 3 candidates',
    'the benchmark does not use ASSAY_SEED',
  ])
    expect(said.stdout).toContain(line)
})

test('a misspelt metric name is refused without the nearest one', async () => {
  const project = makeProject({ files: { 'src/metrics.txt': 'METRIC rss=7\nMETRIC time_ms=5\n' } })
  const problem = await failed(project, 'other_metric')
  expect(problem.data).toEqual({ cause: 'other_metric', found: ['rss', 'time_ms'], nearest: 'time_ms' })
  expect(problem.hint).toContain('did you mean `time_ms`?')
})

test('a metric on standard error is called missing without the stream', async () => {
  const project = makeProject({ files: bench('cat src/metrics.txt >&2\n') })
  const problem = await failed(project, 'printed_to_stderr')
  expect(problem.message).toContain('printed to stderr')
  expect(problem.hint).toContain('2>&1')
})

/** Where sh is bash, nothing fails. */
const SH_IS_BASH = spawnSync('/bin/sh', ['-c', 'source /dev/null && [[ 1 ]]']).status === 0

test.skipIf(SH_IS_BASH)(
  'a command or a script for bash that sh cannot run is refused without a hint',
  async () => {
    const source = 'source /dev/null && cat src/metrics.txt'
    const hints = await Promise.all(
      [
        { spec: { measure: { command: source } } },
        { spec: { worktree: { setup: { command: 'pushd src' } } } },
        { spec: { gates: [{ name: 'g', command: '[[ 1 == 1 ]]' }] } },
      ].map(async (parts) => (await failed(makeProject(parts), 'bash_only')).hint),
    )
    expect(hints).toEqual([
      '/bin/sh runs a command that is given as one text, and `source` is only known to bash: write `.` in its place, or give the command as a list: [bash, -c, "…"]',
      expect.stringContaining('`pushd` is only known to bash: write `cd` in its place'),
      expect.stringContaining('`[[` is only known to bash'),
    ])
  },
)

test('an ignored file that the benchmark wants is not named, with the line that gives it', async () => {
  const project = makeProject({
    files: { ...bench('cat fixtures/big.bin && cat src/metrics.txt\n'), '.gitignore': 'fixtures/\n' },
  })
  project.repo.write({ 'fixtures/big.bin': '' })
  const problem = await failed(project, 'ignored_file')
  expect(problem.hint).toContain('add to assay.yaml: worktree.data: ["fixtures/**"]')
  project.repo.write({ 'assay.yaml': specText({ worktree: { data: ['fixtures/**'] } }) })
  expect(await project.data('init')).toMatchObject({ baseline: { value: 100 } })
})

test('a package that is installed only in the checkout is taken for data', async () => {
  const project = makeProject()
  project.repo.git('rm', '--quiet', '-r', 'assay.yaml', 'bench', 'src')
  project.repo.commit('monorepo', {
    '.gitignore': 'node_modules/\n',
    'packages/a/assay.yaml': specText({ measure: { command: 'node bench/run.mjs' } }),
    'packages/a/bench/run.mjs': "import 'left-pad'\n",
    'packages/a/src/metrics.txt': 'METRIC ms=100\n',
  })
  project.repo.write({ 'packages/a/node_modules/left-pad/index.js': '' })
  const ran = await project.cli(['init'], { cwd: project.repo.path('packages/a') })
  expect(ran.json).toMatchObject({
    problem: {
      code: 'baseline_failed',
      hint: expect.stringContaining('install packages with worktree.setup: { command: npm ci'),
      data: { cause: 'ignored_file', paths: ['packages/a/node_modules/left-pad'] },
    },
  })
})

test('a benchmark that is not committed is not named', async () => {
  const project = makeProject({ spec: { measure: { command: 'sh tools/new.sh --fast' } } })
  project.repo.write({ 'tools/new.sh': 'cat src/metrics.txt\n' })
  const problem = await failed(project, 'not_committed')
  expect(problem.hint).toBe(
    'tools/new.sh is in your checkout but not committed: commit it, or take the working tree as it is: assay init --include-dirty',
  )
  expect(await project.data('init', '--include-dirty')).toMatchObject({ baseline: { value: 100 } })
})

test('a variable that the benchmark needs is not named, a different one is, or its value is told', async () => {
  const project = makeProject({
    files: bench(
      'test "$(printf %s "$LICENCE_B" | wc -c)" -eq 8 || { echo "no licence" >&2; exit 1; }\ncat src/metrics.txt\n',
    ),
  })
  const env = { LICENCE_A: 'no', LICENCE_B: 'sesame-9', LICENCE_C: 'no', ZED: 'no' }
  const ran = await project.cli(['init'], { env })
  expect(ran.code).toBe(2)
  expect(ran.json).toMatchObject({
    problem: {
      code: 'environment_needed',
      hint: 'add to assay.yaml: measure.environment.inherit: [LICENCE_B]',
      data: { variables: ['LICENCE_B'], certain: true },
    },
  })
  expect(ran.stdout + ran.stderr).not.toContain('sesame-9')
  expect(existsSync(project.repo.path('.assay'))).toBe(false)

  const inherit = { command: 'sh bench/run.sh', environment: { inherit: ['LICENCE_B'] } }
  project.repo.commit('as it was told', { 'assay.yaml': specText({ measure: inherit }) })
  const good = await project.cli<InitData>(['init'], { env })
  expect(good.json).toMatchObject({ ok: true, data: { baseline: { value: 100 } } })
  expect(everythingIn(project.repo.path('.assay'))).not.toContain('sesame-9')
})

test('a broken benchmark is blamed on the environment', async () => {
  const project = makeProject({ files: bench('echo broken >&2; exit 1\n') })
  const ran = await project.cli(['init'], { env: { ANYTHING: 'x' } })
  expect(ran.json).toMatchObject({ problem: { code: 'baseline_failed', data: { cause: null } } })
})

test('a build that leaves out what is required is a failed evaluation', async () => {
  const project = makeProject({
    spec: {
      worktree: { build: { command: 'sh src/build.sh' } },
      measure: { command: 'sh bench/run.sh', requires: ['out/app'] },
    },
    files: { 'src/build.sh': 'mkdir -p out && touch out/app\n', '.gitignore': 'out/\n' },
  })
  await project.data('init')
  const lazy = await project.attempt({ ...ms(90), 'src/build.sh': 'rm -rf out\n' })
  expect(lazy).toMatchObject({ status: 'failed', reason: 'crash', failure_class: 'build' })
  expect(lazy.message).toContain('out/app')
})

test('loop --dry-run changes something, or tells less than what the loop would do and cost', async () => {
  const project = makeProject({
    spec: {
      budget: { experiments: 10, hours: 2 },
      loop: { width: 2, depth: 2, stall: 4, revise: 1 },
      agent: { host: 'command', command: ['agent', '--print'], concurrency: 3 },
    },
  })
  await project.data('init')
  const before = snapshotTree(project.repo.path('.assay/runs'))
  const plan = await project.data<Record<string, unknown>>('loop', '--dry-run', '--rounds', '7')
  expect(plan).toMatchObject({
    run: 'run_0001',
    workflow: 'optimize',
    host: 'command',
    concurrency: 3,
    stop: null,
    rounds: { limit: 7, budgeted: 3, stall: 4, target: null },
    round: { lanes: 2, depth: 2, experiments: 4, agent_calls: 36 },
    budget: { experiments: { left: 10, limit: 10 }, hours: { limit: 2 } },
    candidate: { samples: [1, 2], buys: 10 },
  })
  expect(snapshotTree(project.repo.path('.assay/runs'))).toEqual(before)
  const said = await assay(['loop', '--dry-run'], { cwd: project.repo.dir })
  expect(said.code).toBe(0)
  expect(said.stdout).toContain('2 lanes')
})

function everythingIn(folder: string): string {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => readFileSync(join(entry.parentPath, entry.name), 'latin1'))
    .join('\n')
}
