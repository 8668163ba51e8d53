import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { type Files, type InitData, makeProject, metrics, ms, type Project, specText } from './project.ts'

/** The benchmark that reads the user's own checkout by some way must be refused, with the way, and leave nothing. */
async function blind(project: Project) {
  const problem = await project.problem('init')
  expect(problem).toMatchObject({ exit: 2, code: 'blind_benchmark' })
  expect(problem.hint).toContain('--no-canary')
  expect(existsSync(project.repo.path('.assay'))).toBe(false)
  return problem
}

const bench = (script: string): Files => ({ 'bench/run.sh': script })

test('a benchmark that reads no mutable file makes every candidate a tie', async () => {
  const project = makeProject({ files: bench('echo METRIC ms=100\n') })
  const problem = await blind(project)
  expect(problem.message).toContain('with every mutable file emptied (1), it still says ms = 100')
  expect(problem.hint).toContain('src/**')
  const data = await project.data<InitData>('init', '--no-canary')
  expect(data.facts).toMatchObject({ canary: { outcome: 'skipped' } })
  expect(await project.data('init')).toMatchObject({ run: 'run_0001', repeated: true })
})

test.each([
  [150, 'skipped', 'an honest benchmark is called blind for its noise'],
  [130, 'refused', 'some noise is enough for a blind benchmark to pass'],
])('if every second value is %i in place of 100, the check is not %s: %s', async (high, answer) => {
  const project = makeProject({ spec: { noise: { mode: 'paired', calibrate: 4 } } })
  const count = join(project.control, 'count')
  project.repo.commit(
    'noise',
    bench(`echo >> '${count}'; echo METRIC ms=$(($(wc -l < '${count}') % 2 ? 100 : ${high}))\n`),
  )
  if (answer === 'refused') return void (await blind(project))
  const { facts } = await project.data<InitData>('init')
  expect(facts).toMatchObject({
    canary: {
      outcome: 'skipped',
      why: expect.stringMatching(
        /^with them emptied, the value differs no more than noise explains: .* up to 40 % apart$/,
      ),
    },
  })
})

test('an absolute path in the benchmark that leads to the checkout is not named', async () => {
  const project = makeProject()
  const real = project.repo.path('src/metrics.txt')
  project.repo.commit('absolute', bench(`cat '${real}'\n`))
  const problem = await blind(project)
  expect(problem.message).toContain(`bench/run.sh names your own checkout, ${project.repo.dir}`)
})

test('an absolute path in the command is not named', async () => {
  const project = makeProject()
  project.repo.commit('absolute', {
    'assay.yaml': specText({ measure: { command: `cat '${project.repo.path('src/metrics.txt')}'` } }),
  })
  expect((await blind(project)).message).toContain('measure.command names your own checkout')
})

test('a workspace link that node finds above the candidate is not named', async () => {
  const project = makeProject({
    spec: { scope: { mutable: ['packages/**'] }, measure: { command: 'node bench.mjs' } },
    files: {
      '.gitignore': 'node_modules/\n',
      'bench.mjs': "import { ms } from '@demo/fast'\nconsole.log('METRIC ms=' + ms)\n",
      'packages/fast/package.json': '{"name":"@demo/fast","version":"1.0.0","main":"index.js"}\n',
      'packages/fast/index.js': 'exports.ms = 100\n',
    },
  })
  mkdirSync(project.repo.path('node_modules/@demo'), { recursive: true })
  symlinkSync('../../packages/fast', project.repo.path('node_modules/@demo/fast'))
  const problem = await blind(project)
  expect(problem.message).toContain('node finds @demo/fast through')
  expect(problem.message).toContain('a link to packages/fast in your own checkout')
  expect(problem.hint).toContain('worktree.setup')
})

test('an editable install is not named', async () => {
  const project = makeProject()
  const packages = project.repo.path('.venv/lib/python3.11/site-packages')
  mkdirSync(packages, { recursive: true })
  writeFileSync(join(packages, '__editable__.demo-1.0.pth'), `${project.repo.path('src')}\n`)
  // What python makes of that file.
  const script =
    'here=$(cat "$(ls -d ../../../../.venv/lib/python3*/site-packages)"/*.pth)\ncat "$here/metrics.txt"\n'
  project.repo.write({ '.git/info/exclude': '.venv\n' })
  project.repo.commit('python', bench(script))
  const problem = await project.problem('init')
  expect(problem).toMatchObject({ exit: 2, code: 'blind_benchmark' })
  expect(problem.message).toContain('an editable install points at your own checkout')
  expect(problem.message).toContain('.venv/lib/python3.11/site-packages/__editable__.demo-1.0.pth')
})

test('a variable that leads to the checkout is not named, or its value is', async () => {
  const project = makeProject({
    spec: { measure: { command: 'sh bench/run.sh', environment: { inherit: ['MODULES'] } } },
    files: bench('cat "$MODULES/metrics.txt"\n'),
  })
  const ran = await project.cli(['init'], { env: { MODULES: project.repo.path('src') } })
  expect(ran.json).toMatchObject({ ok: false, problem: { code: 'blind_benchmark' } })
  expect(ran.stdout).toContain('the variable MODULES names your own checkout')
  expect(ran.stdout).not.toContain(project.repo.path('src'))
})

test('a build that skips empty files leaves its old output, so the benchmark seems to read no mutable file', async () => {
  const project = makeProject({
    spec: {
      worktree: { build: { command: 'sh src/build.sh' }, setup: { command: 'touch .ready' } },
      measure: { command: 'cat out.txt' },
    },
    files: { '.gitignore': 'out.txt\n.ready\n', 'src/build.sh': 'cp src/metrics.txt out.txt\n' },
  })
  expect(await project.data<InitData>('init')).toMatchObject({
    facts: { canary: { outcome: 'reads', why: expect.stringContaining('out.txt') } },
  })
  expect(await project.attempt(ms(90))).toMatchObject({ status: 'kept', value: 90 })
})

test('the emptied files, or what was built of them, stay in the slot', async () => {
  const project = makeProject({
    spec: {
      worktree: { build: { command: 'mkdir -p out && cp src/metrics.txt out/metrics.txt' } },
      measure: { command: 'cat out/metrics.txt' },
    },
    files: { '.gitignore': 'out/\n' },
  })
  await project.data('init')
  const slot = project.repo.path('.assay/m/0/b')
  const place = existsSync(slot) ? slot : project.repo.path('.assay/m/1/b')
  expect(readFileSync(join(place, 'src/metrics.txt'), 'utf8')).toBe('METRIC ms=100\n')
  expect(project.repo.read('src/metrics.txt')).toBe('METRIC ms=100\n')
  expect(await project.attempt(ms(90))).toMatchObject({ status: 'kept', value: 90 })
  // The baseline's own tree again, so that only a fresh build gives its value.
  expect(await project.attempt(metrics({ ms: 100, other: 1 }))).toMatchObject({ reason: 'tie', value: 100 })
})
