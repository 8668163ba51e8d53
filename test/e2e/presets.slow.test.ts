/** The presets against the tools themselves; what is read of tools that are not here is in test/evaluate/presets. */
import { execFileSync } from 'node:child_process'
import { symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
import { missingProgram } from '../rig/needs.ts'
import { isolatedEnv, makeTemp } from '../rig/temp.ts'
import { type Files, type InitData, makeProject } from './project.ts'

const MODULES = fileURLToPath(new URL('../../node_modules', import.meta.url))
const show = (text: string) => expect.stringContaining(text)

interface Tool {
  name: string
  metric: string
  direction?: string
  command: string
  unit: string | null
  /** Names of the tasks; none = one benchmark. */
  tasks: string[]
  files?: Files
  /** Without the preset: what `init` proposes. */
  proposes?: string
  candidate?: boolean
}

interface Shown {
  tasks: Record<string, number> | null
}

/**
 * The baseline is judged, with `candidate` a candidate that changes nothing gets a verdict, and without the preset `init`
 * proposes it.
 */
async function holds({
  name,
  metric,
  direction = 'minimize',
  command,
  unit,
  tasks,
  files,
  proposes,
  candidate,
}: Tool) {
  const spec = (read: unknown, asked = metric) => ({
    measure: { command, ...(read === null ? {} : { read }) },
    metric: { name: asked, direction },
    noise: { mode: 'paired', calibrate: 2, pairs: { min: 2, max: 8 } },
  })
  const project = makeProject({ spec: spec(name), files: { 'src/main.sh': 'true\n', ...files } })
  const { baseline } = await project.data<InitData & { baseline: { unit: string | null } }>(
    'init',
    '--no-canary',
  )
  expect(baseline).toMatchObject({ unit, samples: 2 })
  expect(baseline.value).toBeGreaterThanOrEqual(0)
  if (candidate) {
    const answer = await project.attempt({ 'src/other.txt': 'nothing that matters\n' })
    expect(answer.reason).not.toBe('metric_error')
    expect(answer.value).not.toBeNull()
  }
  const shown = await project.data<Shown>('show', 'exp_0000')
  const names = Object.keys(shown.tasks ?? {})
  expect(names.sort()).toEqual([...tasks].sort())

  const without = makeProject({ spec: spec(null, 'latency'), files: { 'src/main.sh': 'true\n', ...files } })
  expect(await without.problem('init', '--no-canary')).toMatchObject({
    code: 'baseline_failed',
    message: show(proposes ?? `write measure: { read: ${name} }`),
    hint: show(`read: ${name}`),
    data: { cause: 'known_tool', preset: name },
  })
}

describe('hyperfine', () => {
  const missing = missingProgram('hyperfine', ['hyperfine', '--version'])
  test('the file of --export-json, with two commands', async ({ skip }) => {
    skip(missing !== null, missing ?? '')
    await holds({
      name: 'hyperfine',
      metric: 'median',
      command: "hyperfine -r 2 -N --export-json {result} 'sh src/main.sh' 'sleep 0.01'",
      unit: 's',
      tasks: ['sh src/main.sh', 'sleep 0.01'],
      candidate: true,
    })
  })
  test('what it prints', async ({ skip }) => {
    skip(missing !== null, missing ?? '')
    await holds({
      name: 'hyperfine',
      metric: 'mean',
      command: "hyperfine -r 2 --style color 'sh src/main.sh'",
      unit: 's',
      tasks: ['sh src/main.sh'],
    })
  })
})

describe('GNU time', () => {
  const missing = missingProgram('GNU time', ['/usr/bin/time', '--version'])
  test.for([
    ['-v', 'max_rss', 'KiB'],
    ['', 'elapsed', 's'],
    ['-p', 'elapsed', 's'],
  ] as const)('%s %s', async ([option, metric, unit], { skip }) => {
    skip(missing !== null, missing ?? '')
    await holds({
      name: 'gnu-time',
      metric,
      command: `/usr/bin/time ${option} sh src/main.sh`,
      unit,
      tasks: [],
      candidate: option === '-v',
    })
  })
  test.skipIf(missing)(
    'a pattern that matches on stderr only is told so, and may read it there',
    async () => {
      const regex = 'Maximum resident set size .kbytes.: (\\d+)'
      const spec = (read: unknown) => ({
        measure: { command: '/usr/bin/time -v sh src/main.sh; echo METRIC n=1', read },
        metric: { name: 'rss', direction: 'minimize' },
        noise: { mode: 'paired', calibrate: 2 },
      })
      const files = { 'src/main.sh': 'true\n' }
      const problem = await makeProject({ spec: spec({ regex }), files }).problem('init', '--no-canary')
      expect(problem.message).toContain('a line of stderr matches: write read: { regex: …, from: stderr }')
      expect(`${problem.message} ${problem.hint}`).not.toContain('`n`')
      const right = makeProject({ spec: spec({ regex, from: 'stderr' }), files })
      const { baseline } = await right.data<InitData>('init', '--no-canary')
      expect(baseline.value).toBeGreaterThan(100)
    },
  )
})

test('pytest-benchmark: the file of --benchmark-json', async ({ skip }) => {
  const missing = missingProgram('pytest-benchmark', ['/usr/bin/python3', '-c', 'import pytest_benchmark'])
  skip(missing !== null, missing ?? '')
  const flags = '--benchmark-min-rounds=2 --benchmark-max-time=0.01'
  await holds({
    name: 'pytest-benchmark',
    metric: 'mean',
    command: `/usr/bin/python3 -m pytest -q -p no:cacheprovider ${flags} --benchmark-json={result} src/test_it.py`,
    unit: 's',
    tasks: ['src/test_it.py::test_sum', 'src/test_it.py::test_sort'],
    files: {
      'src/test_it.py':
        'def test_sum(benchmark):\n    benchmark(sum, range(9))\ndef test_sort(benchmark):\n    benchmark(sorted, [3, 1])\n',
    },
  })
})

describe('a program that fails is quicker, and the exit code of the tool is hidden', () => {
  const refuses = async (name: string, command: string, base: Files, failing: Files) => {
    const spec = {
      measure: { command, read: name },
      metric: { name: 'mean', direction: 'minimize' },
      noise: { mode: 'paired', calibrate: 2 },
    }
    const project = makeProject({ spec, files: base })
    await project.data<InitData>('init', '--no-canary')
    expect(await project.attempt(failing)).toMatchObject({
      reason: 'metric_error',
      message: show(`${name} says that what it ran failed`),
    })
  }
  test('the summary of hyperfine -i', async ({ skip }) => {
    const missing = missingProgram('hyperfine', ['hyperfine', '--version'])
    skip(missing !== null, missing ?? '')
    const base = { 'src/main.sh': 'sleep 0.02\n' }
    await refuses('hyperfine', "hyperfine -i -r 2 'sh src/main.sh'", base, { 'src/main.sh': 'exit 1\n' })
  })
  test('the file of pytest-benchmark, behind a pipe', async ({ skip }) => {
    const missing = missingProgram('pytest-benchmark', ['/usr/bin/python3', '-c', 'import pytest_benchmark'])
    skip(missing !== null, missing ?? '')
    const flags = '--benchmark-min-rounds=2 --benchmark-max-time=0.01 --benchmark-json={result}'
    const sum = (text: string) => ({ 'src/sum.py': `def total(numbers):\n    return ${text}\n` })
    await refuses(
      'pytest-benchmark',
      `/usr/bin/python3 -m pytest -q -p no:cacheprovider ${flags} bench/test_it.py | tail -n 3`,
      {
        ...sum('sum(numbers)'),
        'bench/test_it.py':
          "import sys\nsys.path.insert(0, 'src')\nfrom sum import total\ndef test_sum(benchmark):\n    assert benchmark(total, range(999)) == 498501\n",
      },
      sum('0'),
    )
  })
})

test('google-benchmark: its JSON, with a counter that is NaN', async ({ skip }) => {
  const missing = missingProgram('g++', ['g++', '--version'])
  skip(missing !== null, missing ?? '')
  const folder = makeTemp('benchmark')
  writeFileSync(
    join(folder, 'bench.cc'),
    `#include <benchmark/benchmark.h>
#include <limits>
static void fast(benchmark::State &state) {
  for (auto _ : state) { int x = 1; benchmark::DoNotOptimize(x); }
  state.counters["bad"] = std::numeric_limits<double>::quiet_NaN();
}
static void slow(benchmark::State &state) {
  for (auto _ : state) { volatile int x = 0; for (int i = 0; i < 1000; i++) x = x + i; }
}
BENCHMARK(fast)->Repetitions(2);
BENCHMARK(slow)->Unit(benchmark::kMillisecond);
BENCHMARK_MAIN();
`,
  )
  const program = join(folder, 'bench')
  execFileSync('g++', ['-O1', join(folder, 'bench.cc'), '-o', program, '-lbenchmark', '-lpthread'], {
    env: isolatedEnv(),
  })
  await holds({
    name: 'google-benchmark',
    metric: 'real_time',
    command: `${program} --benchmark_min_time=0.001 --benchmark_out={result} --benchmark_out_format=json`,
    unit: 'ns',
    tasks: ['fast/repeats:2', 'slow'],
  })
})

test('vitest: the file of --outputJson', async () => {
  const project = {
    'src/a.bench.js': `import { bench, describe } from 'vitest'
describe('math', () => {
  bench('add', () => { 1 + 1 }, { time: 5 })
  bench('sort', () => { [3, 1, 2].sort() }, { time: 5 })
})
`,
  }
  await holds({
    name: 'vitest-bench',
    metric: 'hz',
    direction: 'maximize',
    // A checkout has no modules: a real project installs them in worktree.setup.
    command: `ln -sfn '${MODULES}' node_modules; node node_modules/vitest/vitest.mjs bench --run --outputJson {result}; status=$?; rm node_modules; exit $status`,
    unit: '/s',
    tasks: ['src/a.bench.js > math > add', 'src/a.bench.js > math > sort'],
    files: project,
  })
})

test('mitata: the JSON that it prints', async () => {
  const folder = makeTemp('mitata')
  symlinkSync(MODULES, join(folder, 'node_modules'))
  writeFileSync(
    join(folder, 'bench.mjs'),
    `import { bench, run } from 'mitata'
bench('add', () => 1 + 1)
bench('sort', () => [3, 1, 2].sort())
await run({ format: { json: { debug: false, samples: false } } })
`,
  )
  await holds({
    name: 'mitata',
    metric: 'avg',
    command: `node '${join(folder, 'bench.mjs')}'`,
    unit: 'ns',
    tasks: ['add', 'sort'],
  })
})

test('a file that the sample did not write, or JSON of a different shape, gives the number of a different sample', async () => {
  const spec = (read: unknown) => ({
    measure: { command: 'sh src/main.sh', read },
    metric: { name: 'mean', direction: 'minimize' },
    noise: { mode: 'deterministic', calibrate: 2 },
  })
  const write = (value: number) => ({
    'src/main.sh': `mkdir -p out; printf '{\\n "results": [\\n  {"mean": ${value}, "bad": NaN}\\n ]\\n}\\n' > out/hf.json\n`,
  })
  const read = { json: 'results[0].mean', file: 'out/hf.json' }
  const project = makeProject({ spec: spec(read), files: write(100) })
  expect(await project.data('init')).toMatchObject({ baseline: { value: 100 } })
  expect(await project.attempt(write(90))).toMatchObject({ status: 'kept', value: 90 })
  // The candidate brings the file, where the benchmark should write it.
  const brought = { 'src/main.sh': 'true\n', 'src/hf.json': '{"results": [{"mean": 1}]}\n' }
  const stale = makeProject({
    spec: spec({ json: '/results/0/mean', file: 'src/hf.json' }),
    files: { 'src/main.sh': 'echo \'{"results": [{"mean": 100}]}\' > src/hf.json\n', 'src/hf.json': '{}\n' },
  })
  await stale.data('init')
  expect(await stale.attempt(brought)).toMatchObject({
    reason: 'metric_error',
    message: show('src/hf.json (measure.read.file) was there before the sample, which did not write it'),
  })
  const other = makeProject({
    spec: spec('auto'),
    files: { 'src/main.sh': 'echo \'{"a": {"b": 5}}\' > "$ASSAY_RESULT"\n' },
  })
  expect(await other.problem('init')).toMatchObject({
    message: show('JSON in the result file has /a/b = 5: name one with measure: { read: { json: "/a/b" } }'),
  })
})

test('criterion: the folder of its results, without those that the sample did not write', async () => {
  const estimates = (mean: number) =>
    JSON.stringify({ mean: { point_estimate: mean }, median: { point_estimate: mean } })
  const writes = (name: string, mean: number) =>
    `mkdir -p 'target/criterion/${name}/new' 'target/criterion/${name}/report'
echo '${estimates(mean)}' > 'target/criterion/${name}/new/estimates.json'
echo '{}' > 'target/criterion/${name}/new/benchmark.json'\n`
  const project = makeProject({
    spec: {
      measure: {
        command: 'sh src/bench.sh',
        read: { preset: 'criterion', file: 'target/criterion' },
      },
      metric: { name: 'median', direction: 'minimize' },
      worktree: { build: { command: writes('old/1', 1) } },
    },
    files: { 'src/bench.sh': writes('parse/small', 900) + writes('sort', 300), '.gitignore': 'target/\n' },
  })
  const { baseline } = await project.data<InitData & { baseline: { unit: string | null } }>(
    'init',
    '--no-canary',
  )
  expect(baseline).toMatchObject({ value: 600, unit: 'ns' })
  expect((await project.data<Shown>('show', 'exp_0000')).tasks).toEqual({ 'parse/small': 900, sort: 300 })
  const faster = { 'src/bench.sh': writes('parse/small', 800) + writes('sort', 200) }
  expect(await project.attempt(faster)).toMatchObject({ status: 'kept', value: 500 })
  for (const [files, message] of [
    [writes('sort', 100), 'its tasks are not those of the baseline'],
    ['true\n', 'holds no results that the sample wrote'],
    [`${writes('sort', 1)}echo '{' > target/criterion/sort/new/estimates.json\n`, 'no output of criterion'],
  ] as const)
    expect(await project.attempt({ 'src/bench.sh': files })).toMatchObject({
      reason: 'metric_error',
      message: show(message),
    })
})
