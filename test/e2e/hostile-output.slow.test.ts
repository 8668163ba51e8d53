import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { alive } from '../process/scene.ts'
import { assay, dataOf, startAssay } from '../rig/assay.ts'
import { until } from '../rig/until.ts'
import {
  hook,
  makeProject,
  metrics,
  ms,
  type RunData,
  type StatusData,
  specText,
  writeFiles,
} from './project.ts'

const show = (message: string) => expect.stringContaining(message)

/** What a candidate's benchmark writes as its result. */
const result = (value: unknown) => ({
  'src/metrics.txt': '',
  ...hook(`cat > "$ASSAY_RESULT" <<'END'\n${typeof value === 'string' ? value : JSON.stringify(value)}\nEND`),
})
const scores = (...all: number[]) =>
  Object.fromEntries(all.map((score, index) => [`case-${index + 1}`, { score }]))

describe('values that are none', () => {
  test.each([
    ['minimize', [ms('NaN'), ms('-Infinity'), result('{"score": NaN}')]],
    ['maximize', [ms('NaN'), ms('inf'), ms('1e999'), result('{"score": Infinity}')]],
  ])('NaN or an infinity compares as better: %s', async (direction, tries) => {
    const project = makeProject({ spec: { metric: { name: 'ms', direction } } })
    await project.data('init')
    for (const files of tries)
      expect(await project.attempt(files)).toMatchObject({
        status: 'failed',
        reason: 'metric_error',
        value: null,
      })
    expect(await project.data<StatusData>('status')).toMatchObject({
      best: { experiment: 'exp_0000', value: 100 },
    })
  })

  test.each<[string, object]>([
    ['METRIC ms=NaN', ms('NaN')],
    ['{"score": NaN}', result('{"score": NaN}')],
  ])('the baseline is %s, and every number is better than that', async (_, files) => {
    const project = makeProject({ files: files as Record<string, string> })
    expect(await project.problem('init')).toMatchObject({ exit: 2, message: show('NaN') })
    expect(await project.problem('status')).toMatchObject({ code: 'no_run' })
  })

  test('a first run that crashes is the best for ever or a 0 to divide by, or a later crash keeps what it printed', async () => {
    const project = makeProject({ files: hook('echo METRIC ms=0; exit 1') })
    expect(await project.problem('init')).toMatchObject({ exit: 2 })
    project.repo.commit('mended', { ...ms('5.0'), ...hook('true') })
    await project.data('init')
    expect(await project.data('status')).toMatchObject({ best: { experiment: 'exp_0000', value: 5 } })
    expect(await project.attempt(ms(4))).toMatchObject({ status: 'kept', improvement: 0.2 })
    const crashed = await project.attempt(hook('echo METRIC ms=0.001; exit 3'))
    expect(crashed).toMatchObject({ status: 'failed', reason: 'crash', value: null, improvement: null })
    expect(await project.data('status')).toMatchObject({ best: { experiment: 'exp_0001', value: 4 } })
  })

  test('one candidate that prints nothing, or has a failed task, ends the run', async () => {
    const project = makeProject({ files: result({ score: 2, tasks: scores(1, 3) }) })
    await project.data('init')
    for (const [files, words] of [
      [{ 'src/metrics.txt': '', ...hook('') }, 'no metric was found'],
      [
        result({ score: 2, tasks: { 'case-1': { score: 1 }, 'case-2': { score: null } } }),
        'the score of task case-2 is null',
      ],
      [result({ tasks: scores(1) }), 'missing: case-2'],
      [result({ tasks: scores(1, 2, 3) }), 'new: case-3'],
      [result({ score: 2 }), 'missing: case-1, case-2'],
    ] as const)
      expect(await project.attempt(files)).toMatchObject({
        status: 'failed',
        reason: 'metric_error',
        message: show(words),
      })
    expect(await project.attempt(result({ score: 1.5, tasks: scores(1, 2) }))).toMatchObject({
      status: 'kept',
      value: 1.5,
    })
  })
})

describe('values that are read', () => {
  test('a metric gets a unit from its name, or the time that the command took is compared', async () => {
    const all = { submissions: 7, atoms: 7, items_per_s: 7 }
    const project = makeProject({
      files: metrics(all),
      spec: { metric: { name: 'submissions', direction: 'maximize' } },
    })
    await project.data('init')
    const slow = hook('sleep 0.3')
    const answer = await project.attempt({ ...metrics({ ...all, submissions: 8 }), ...slow })
    expect(answer).toMatchObject({ status: 'kept', value: 8 })
    expect(answer.message).toMatch(/^submissions = 8: 1 better/)
    const steps = project.repo.path('.assay/runs/run_0001/exp/0001/attempts/1/steps.jsonl')
    expect(readFileSync(steps, 'utf8')).toContain('"units":{}')
    const seconds = await project.attempt(metrics({ ...all, items_per_s: '9 s' }))
    expect(seconds.message).toContain('the unit of items_per_s changed from none to s')
  })

  test('a score in a log line is read in place of the last one printed, or a result file in place of both', async () => {
    const project = makeProject({
      spec: { metric: { name: 'score', direction: 'maximize' } },
      files: { 'src/metrics.txt': '{"score":1}\n' },
    })
    await project.data('init')
    const logged = { 'src/metrics.txt': '{"level":"info","score":1}\nworking\n{"score":2}\n' }
    expect(await project.attempt(logged)).toMatchObject({
      reason: 'metric_error',
      message: show('two JSON objects say score = 1 and score = 2'),
    })
    const file = {
      'src/metrics.txt': '{"level":"info"}\nworking\n',
      ...hook('printf \'\\357\\273\\277{"score": 0.5}\' > "$ASSAY_RESULT"'),
    }
    // It begins with a byte order mark.
    expect(await project.attempt(file)).toMatchObject({ status: 'rejected', value: 0.5 })
  })

  test('a line with a unit, or several lines, go straight into the verdict', async () => {
    const project = makeProject({
      spec: { measure: { command: 'sh bench/run.sh', read: { regex: '^(?:p95: )?(\\S+)$' } } },
      files: { 'src/metrics.txt': 'p95: 42ms\n' },
    })
    await project.data('init')
    expect(await project.attempt({ 'src/metrics.txt': '42\n43\n' })).toMatchObject({
      reason: 'metric_error',
      message: show('42 and 43'),
    })
    expect(await project.attempt({ 'src/metrics.txt': '41\n' })).toMatchObject({
      reason: 'metric_error',
      message: show('from ms to none'),
    })
    expect(await project.attempt({ 'src/metrics.txt': 'p95: 41ms\n' })).toMatchObject({
      status: 'kept',
      value: 41,
    })
  })
})

describe('what was decided once', () => {
  test('a changed direction in the spec reverses a running search', async () => {
    const project = makeProject()
    await project.data('init')
    await project.attempt(ms(90))
    project.repo.commit('turned', {
      'assay.yaml': specText({ metric: { name: 'ms', direction: 'maximize' } }),
    })
    expect(await project.problem('init')).toMatchObject({ exit: 3, hint: show('--new') })
    expect(await project.attempt(ms(110), 'exp_0000')).toMatchObject({
      status: 'rejected',
      reason: 'not_better',
    })
    expect(await project.data('status')).toMatchObject({
      metric: { direction: 'minimize' },
      best: { value: 90 },
    })
  })

  test('a candidate that changed by one byte gets the value of the earlier files', async () => {
    const project = makeProject()
    await project.data('init')
    const { experiment, worktree } = await project.open(ms(90))
    await project.data('run', experiment)
    writeFiles(worktree, ms(91))
    expect(await project.problem('run', experiment)).toMatchObject({ exit: 3, code: 'is_kept' })
    expect(await project.data('show', experiment)).toMatchObject({ value: 90 })
  })
})

describe('per task', () => {
  test('a value that does not follow from its tasks is believed', async () => {
    const project = makeProject({ files: result({ score: 2, tasks: scores(1, 3) }) })
    await project.data('init')
    const words = 'ms is 0.5, but the mean of the scores of its 2 tasks is 2'
    for (const files of [
      result({ score: 0.5, tasks: scores(1, 3) }),
      { ...result({ tasks: scores(1, 3) }), ...ms(0.5) },
      { 'src/hook.sh': '', 'src/metrics.txt': `${JSON.stringify({ ms: 0.5, tasks: scores(1, 3) })}\n` },
    ])
      expect(await project.attempt(files)).toMatchObject({
        reason: 'metric_error',
        value: null,
        message: show(words),
      })
    expect(await project.attempt(result({ score: 1.33, tasks: scores(1, 1.6666) }))).toMatchObject({
      status: 'kept',
      value: 1.33,
    })
  })

  test('a candidate with the same score on every task as an earlier one is not reported', async () => {
    const project = makeProject({ files: result({ tasks: scores(5, 5, 5) }) })
    await project.data('init')
    await project.attempt(result({ tasks: scores(4, 5, 5) }))
    const other = { ...result({ tasks: scores(4, 5, 5) }), 'src/other.txt': 'another way\n' }
    const twin = await project.attempt(other)
    expect(twin).toMatchObject({
      status: 'kept',
      message: show('; the same score as exp_0001 on each of the 3 tasks'),
    })
    expect(await project.data('show', twin.experiment)).toMatchObject({ same_as: 'exp_0001' })
    expect(await project.data('show', 'exp_0001')).toMatchObject({ same_as: null })
    expect(await project.data('show', twin.experiment, '--recompute')).toMatchObject({ same: true })
    const idle = await project.attempt({ 'src/other.txt': 'nothing that matters\n' })
    expect(idle).toMatchObject({ reason: 'tie', message: show('same score as exp_0000 on each') })
    const unlike = await project.attempt(result({ tasks: scores(5, 4, 5) }))
    expect(unlike.message).not.toContain('same score')
  })
})

test('a jump to a perfect score passes without a remark, or the last of many small steps gets one', async () => {
  const project = makeProject({ spec: { metric: { name: 'ms', direction: 'minimize', target: 10 } } })
  await project.data('init')
  const leap = await project.attempt(ms(0))
  expect(leap).toMatchObject({
    status: 'kept',
    best: true,
    message: show('; suspiciously perfect in one step'),
  })
  const near = await project.attempt(ms(15), 'exp_0000')
  expect(near.message).not.toContain('suspicious')
  const last: RunData = await project.attempt(ms(10), near.experiment)
  expect(last).toMatchObject({ status: 'kept' })
  expect(last.message).not.toContain('suspicious')
})

test('failures of one cause use up the budget, or the run stops without naming the cause', async () => {
  const project = makeProject({ spec: { budget: { experiments: 20 } } })
  await project.data('init')
  for (const n of [1, 2, 3])
    await project.attempt({ ...ms(n), ...hook('python3 -c "import nope" || exit 1') })
  const { stop, stop_cause: cause } = await project.data<StatusData & { stop_cause: string }>('status')
  expect([stop, cause]).toEqual(['failures', show('3 identical failures in a row')])
  expect(cause).toMatch(/nope|python3/)
})

test('a full disk counts against the idea, its attempts or the budget', async () => {
  const project = makeProject({ spec: { search: { max_attempts: 1 } } })
  await project.data('init')
  const full = join(project.control, 'full')
  writeFileSync(full, '')
  const write = `if [ -f '${full}' ]; then node -e "require('fs').writeFileSync('/dev/full', 'x')" || exit 1; fi`
  const { experiment } = await project.open({ ...ms(90), ...hook(write) })
  expect(await project.data('run', experiment)).toMatchObject({
    status: 'failed',
    reason: 'environment',
    failure_class: 'environment',
  })
  expect(await project.data('status')).toMatchObject({ budget: { failures: { used: 0 } } })
  rmSync(full)
  expect(await project.data('run', experiment)).toMatchObject({ attempt: 2, status: 'kept', value: 90 })
})

test('a daemon or a lock file that a killed run left stands in the way of the next one', async () => {
  const project = makeProject({
    files: {
      'bench/server.mjs': `import { createServer } from 'node:net'
        import { writeFileSync } from 'node:fs'
        const [port, ready] = process.argv.slice(2)
        createServer().listen(Number(port), '127.0.0.1', function () { writeFileSync(ready, String(this.address().port)) })
          .on('error', (error) => { console.error(error.message); process.exit(1) })`,
    },
  })
  await project.data('init')
  const at = (name: string) => join(project.control, name)
  const [first, second, pid] = [at('first'), at('second'), at('pid')]
  const serve = `touch bench/run.lock; setsid node bench/server.mjs 0 '${first}' >/dev/null 2>&1 & echo $! > '${pid}'; exec sleep 60`
  const { experiment } = await project.open({ ...ms(80), ...hook(serve) })
  const killed = startAssay(['run', experiment, '--json'], { cwd: project.repo.dir })
  await until(() => existsSync(first) && readFileSync(first, 'utf8') !== '', {
    what: 'the daemon',
    dir: project.control,
  })
  killed.kill('SIGKILL')
  await killed.ended
  const daemon = Number(readFileSync(pid, 'utf8'))
  onTestFinished(() => {
    if (alive(daemon)) process.kill(daemon, 'SIGKILL')
  })
  expect(alive(daemon)).toBe(true)
  const same = `[ ! -e bench/run.lock ] || exit 8; node bench/server.mjs '${readFileSync(first, 'utf8')}' '${second}' & server=$!
    until [ -s '${second}' ]; do kill -0 $server || exit 9; sleep 0.01; done; kill $server`
  const { experiment: next } = await project.open({ ...ms(90), ...hook(same) })
  const ran = await assay<RunData>(['run', next, '--json'], { cwd: project.repo.dir })
  expect(dataOf(ran)).toMatchObject({ status: 'kept', value: 90 })
  expect(ran.stderr).toContain('a killed run had left a process; Assay ended it')
  expect(alive(daemon)).toBe(false)
})
