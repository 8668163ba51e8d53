import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { hook, makeProject, ms, projectIn, type RunData, specText } from '../e2e/project.ts'
import { dataOf, startAssay } from '../rig/assay.ts'
import { makeClock } from '../rig/clock.ts'
import { missingProgram } from '../rig/needs.ts'
import { makeRepo, repoAt } from '../rig/repo.ts'
import { makeTemp } from '../rig/temp.ts'
import { until } from '../rig/until.ts'
import { eventsOf, jobFolderOf, stepsOf, waitedFor } from './scene.ts'

const textOf = (file: string): string => (existsSync(file) ? readFileSync(file, 'utf8') : '')

/** A run whose baseline is measured; then the job of the next attempt does something else. */
async function begun(then: string) {
  const project = makeProject({ spec: { executor: waitedFor() } })
  await project.data('init', '--no-canary')
  const set = ['executor.submit', JSON.stringify((waitedFor(then) as { submit: string[] }).submit)]
  await project.data('config', 'set', ...set, '--reason', 'a test')
  const { experiment } = await project.open(ms(90))
  return { project, experiment }
}

/** After a minute, as the CLI counts it. */
async function verdictLater({ project, experiment }: Awaited<ReturnType<typeof begun>>): Promise<RunData> {
  const clock = makeClock()
  const running = startAssay<RunData>(['run', experiment, '--json'], {
    cwd: project.repo.dir,
    env: clock.env,
  })
  await running.said('which has ended')
  clock.ahead(2)
  return dataOf(await running.ended)
}

describe('what a job leaves', () => {
  test('a job without a result rejects the candidate, or its verdict cannot be computed again', async () => {
    const scene = await begun('rm result.json')
    const verdict = await verdictLater(scene)
    expect(verdict).toMatchObject({ status: 'failed', reason: 'environment', failure_class: 'environment' })
    expect(verdict.message).toContain('left no result')
    const { project, experiment } = scene
    const shown = await project.data<{ same: boolean }>('show', experiment, '--recompute')
    expect(shown.same).toBe(true)
    // The same candidate, once more.
    const again = ['executor.submit', JSON.stringify((waitedFor() as { submit: string[] }).submit)]
    await project.data('config', 'set', ...again, '--reason', 'a test')
    expect(await project.data<RunData>('run', experiment)).toMatchObject({ status: 'kept', attempt: 2 })
  })

  test('a torn result counts', async () => {
    const verdict = await verdictLater(await begun('head -c 60 result.json > torn; mv torn result.json'))
    expect(verdict).toMatchObject({ status: 'failed', failure_class: 'environment' })
  })

  test('a result of another attempt counts', async () => {
    const verdict = await verdictLater(
      await begun(`sed 's/"attempt":1/"attempt":7/' result.json > other; mv other result.json`),
    )
    expect(verdict).toMatchObject({ status: 'failed', failure_class: 'environment' })
  })

  test('a record that was changed after its job had ended counts', async () => {
    const { project, experiment } = await begun(`sed -i 's/"value":90/"value":10/' record/steps.jsonl`)
    const verdict = await project.data<RunData>('run', experiment)
    expect(verdict).toMatchObject({ status: 'failed', failure_class: 'environment', value: null })
    expect(verdict.message).toContain('is not the one that the result of its job names')
  })

  test('a result that comes late is lost', async () => {
    const { project, experiment } = await begun(
      'mv result.json later; (sleep 3; mv later result.json) > /dev/null 2>&1 &',
    )
    const verdict = await project.data<RunData>('run', experiment)
    expect(verdict).toMatchObject({ status: 'kept', value: 90 })
    const folder = jobFolderOf(project, experiment)
    expect(existsSync(`${folder}/record`)).toBe(false)
    expect(readFileSync(`${folder}/job.out`, 'utf8')).toContain('"ok":true')
  })

  test('a node without space fails the candidate, or says nothing of the place', async () => {
    const { project, experiment } = await begun('true')
    const full = [
      'sh',
      '-c',
      'ASSAY_NODE_CACHE=/dev/null/x sh "$1" > "$2/job.out" 2>&1; echo job-1',
      'sh',
      '{script}',
      '{folder}',
    ]
    await project.data('config', 'set', 'executor.submit', JSON.stringify(full), '--reason', 'a test')
    const verdict = await project.data<RunData>('run', experiment)
    expect(verdict).toMatchObject({ status: 'failed', failure_class: 'environment' })
    expect(verdict.message).toContain('ASSAY_NODE_CACHE')
  })

  test('an isolated sample on a node reads the ledger, or the record of its own job', async (context) => {
    const missing = missingProgram('bubblewrap', ['bwrap', '--version'])
    if (missing !== null) context.skip(missing)
    const shared = makeTemp('shared')
    const project = makeProject({
      spec: {
        executor: { ...waitedFor(), folder: shared },
        measure: { command: 'sh bench/run.sh', timeout: '30s', isolation: 'strict', allow: [shared] },
      },
      files: { 'bench/run.sh': '. ./src/hook.sh\ncat src/metrics.txt\n', 'src/hook.sh': 'true\n' },
    })
    await project.data('init', '--no-canary')
    const files = `$(cat ${project.repo.path('.assay/runs/run_0001/ledger.jsonl')} $(find ${shared} -name steps.jsonl -o -name parcel.json -o -name environment.json) 2> /dev/null | wc -c)`
    const verdict = await project.attempt({ ...ms(90), ...hook(`echo METRIC seen=${files}`) })
    const { metrics } = await project.data<{ metrics: Record<string, number> }>('show', verdict.experiment)
    expect([verdict.status, metrics.seen]).toEqual(['kept', 0])
  })

  test('an isolated sample on a node reads the state of a linked checkout, or the folder of another job', async (context) => {
    const missing = missingProgram('bubblewrap', ['bwrap', '--version'])
    if (missing !== null) context.skip(missing)
    const [shared, cache] = [makeTemp('shared'), makeTemp('cache')]
    for (const other of [`${shared}/assay-0123456789abcdef`, `${cache}/r-0123456789ab`]) {
      mkdirSync(other)
      writeFileSync(`${other}/steps.jsonl`, 'a record')
    }
    const repo = makeRepo({
      files: {
        'bench/run.sh': '. ./src/hook.sh\ncat src/metrics.txt\n',
        'src/hook.sh': 'true\n',
        ...ms(100),
      },
    })
    const submit = `ASSAY_NODE_CACHE=$3 sh "$1" > "$2/job.out" 2>&1; echo job-1`
    const text = specText({
      executor: {
        ...waitedFor(),
        folder: shared,
        submit: ['sh', '-c', submit, 'sh', '{script}', '{folder}', cache],
      },
      measure: {
        command: 'sh bench/run.sh',
        timeout: '30s',
        isolation: 'strict',
        allow: [shared, cache, repo.dir],
      },
    })
    repo.commit('a spec', { 'assay.yaml': text })
    const linked = join(makeTemp('linked'), 'w')
    repo.git('worktree', 'add', '--quiet', '-b', 'side', linked)
    const project = projectIn(repoAt(linked), makeTemp('control'))
    await project.data('init', '--no-canary')
    const ledger = repo.path('.assay/runs/run_0001/ledger.jsonl')
    expect(existsSync(ledger)).toBe(true)
    const bytes = (files: string) => `$(cat ${files} 2> /dev/null | wc -c)`
    const seen = ['ledger', 'jobs', 'cache'].map(
      (name, at) =>
        `echo METRIC ${name}=${bytes([ledger, `$(find ${shared} -name steps.jsonl)`, `$(find ${cache}/r-0* -name steps.jsonl)`][at] ?? '')}`,
    )
    const verdict = await project.attempt({ ...ms(90), ...hook(seen.join('\n')) })
    expect(verdict.message).toContain('better')
    const { metrics } = await project.data<{ metrics: object }>('show', verdict.experiment)
    expect(metrics).toMatchObject({ ledger: 0, jobs: 0, cache: 0 })
  })

  test('nothing can be measured on a node whose disk is not the file system of the folder', async (context) => {
    const memory = '/dev/shm'
    const repository = makeTemp('here')
    if (!existsSync(memory) || statSync(memory).dev === statSync(repository).dev)
      context.skip('there is no second file system')
    const TMPDIR = mkdtempSync(join(memory, 'assay-test-'))
    try {
      const project = makeProject({ env: { TMPDIR }, spec: { executor: { kind: 'local' } } })
      await project.data('init', '--no-canary')
      const traces = hook(
        'echo answer > "$ASSAY_TRACES/one"; mkfifo "$ASSAY_TRACES/pipe"; ln -s /nowhere "$ASSAY_TRACES/link"',
      )
      const { experiment, status } = await project.attempt({ ...ms(90), ...traces })
      expect(status).toBe('kept')
      const samples = join(jobFolderOf(project, experiment), '../samples')
      expect(readFileSync(join(samples, 'judge-0-candidate.out'), 'utf8')).toBe('METRIC ms=90\n')
      expect(readdirSync(join(samples, 'judge-0-b.traces')).sort()).toEqual(['link', 'one'])
      expect(await project.data('show', experiment, '--recompute')).toMatchObject({ same: true })
      expect(await project.data('confirm', experiment)).toMatchObject({ passed: true })
    } finally {
      rmSync(TMPDIR, { recursive: true, force: true })
    }
  })

  test('a pipe among the artifacts is taken for a fault of the node', async () => {
    const project = makeProject({
      spec: {
        executor: { kind: 'local' },
        worktree: {
          build: { command: 'cp src/metrics.txt "$ASSAY_ARTIFACTS"; mkfifo "$ASSAY_ARTIFACTS/pipe"' },
        },
      },
    })
    await project.data('init', '--no-canary')
    expect(await project.attempt(ms(90))).toMatchObject({ status: 'kept', value: 90 })
  })

  test('a worker claims a folder that is no job, or calls that a bug', async () => {
    const folder = makeTemp('folder')
    const project = makeProject()
    for (const wrong of [folder, join(folder, 'missing')]) {
      const { code, message } = await project.problem('worker', wrong)
      expect([code, message]).toEqual(['no_parcel', expect.stringContaining('no folder of a job')])
    }
    expect(readdirSync(folder)).toEqual([])
  })

  test('an executor.folder that cannot be made costs an attempt, or looks like a bug', async () => {
    const file = join(makeTemp('file'), 'file')
    writeFileSync(file, '')
    const project = makeProject({ spec: { executor: { kind: 'local' } } })
    await project.data('init', '--no-canary')
    const set = (folder: string) =>
      project.data('config', 'set', 'executor.folder', folder, '--reason', 'a test')
    await set(join(file, 'jobs'))
    const { experiment } = await project.open(ms(90))
    const { code, message, hint } = await project.problem('run', experiment)
    expect([code, message]).toEqual(['executor_folder', expect.stringContaining('executor.folder')])
    expect(hint).toContain('config set executor.folder')
    await set(makeTemp('jobs'))
    expect(await project.data<RunData>('run', experiment)).toMatchObject({ status: 'kept', attempt: 1 })
  })

  test('half a file in the cache of a node makes each later job there fail', async () => {
    const cache = makeTemp('cache')
    const submit = `ASSAY_NODE_CACHE=$3 sh "$1" > "$2/job.out" 2>&1; echo job-1`
    const executor = {
      ...waitedFor(),
      submit: ['sh', '-c', submit, 'sh', '{script}', '{folder}', cache],
    }
    const project = makeProject({ spec: { executor } })
    await project.data('init', '--no-canary')
    const laid = readdirSync(cache, { recursive: true, encoding: 'utf8' }).filter((name) =>
      /judge\/(.*\/)?(HEAD|config)$/.test(name),
    )
    expect(laid.length).toBeGreaterThan(1)
    for (const name of laid) truncateSync(join(cache, name), 5)
    expect(await project.attempt(ms(90))).toMatchObject({ status: 'kept', value: 90 })
  })

  /** A run that waits for a job which goes on until the file `go` is there. `says`: what its engine answers, with the number of the look in `$n`. */
  async function waitingFor(says: string) {
    const control = makeTemp('engine')
    const status = `n=$(($(cat "$1/looks" 2>/dev/null || echo 0) + 1)); echo $n > "$1/looks.new"; mv "$1/looks.new" "$1/looks"; ${says}`
    const executor = {
      kind: 'command',
      submit: [
        'sh',
        '-c',
        'setsid sh "$1" > "$2/job.out" 2>&1 < /dev/null & echo job-1',
        'sh',
        '{script}',
        '{folder}',
      ],
      status: ['sh', '-c', status, 'sh', control, '{job}'],
      cancel: ['sh', '-c', 'echo "$2" > "$1/cancelled"; touch "$1/go"', 'sh', control, '{job}'],
    }
    const project = makeProject({ spec: { executor: { kind: 'local' } } })
    await project.data('init', '--no-canary')
    await project.data('config', 'set', 'executor', JSON.stringify(executor), '--reason', 'a test')
    const waits = `until [ -e ${control}/go ]; do sleep 0.1; done`
    const { experiment } = await project.open({ ...ms(90), ...hook(waits) })
    const clock = makeClock()
    const { ended } = startAssay<RunData>(['run', experiment, '--json'], {
      cwd: project.repo.dir,
      env: clock.env,
    })
    let over = false
    void ended.then(() => {
      over = true
    })
    const looked = (times: number) =>
      until(() => over || Number(textOf(`${control}/looks`)) >= times, { what: `look ${times} at the job` })
    return { control, clock, ended, looked }
  }

  test('a job of which the engine says no known word is lost', async () => {
    const { control, clock, ended, looked } = await waitingFor('[ $n -le 3 ] || echo 1')
    await looked(4)
    clock.ahead(2)
    await looked(5)
    writeFileSync(`${control}/go`, '')
    expect(dataOf(await ended)).toMatchObject({ status: 'kept', value: 90 })
  })

  test('a job that is taken for lost goes on', async () => {
    const { control, clock, ended, looked } = await waitingFor('true')
    await looked(4)
    clock.ahead(2)
    expect(dataOf(await ended)).toMatchObject({ status: 'failed', failure_class: 'environment' })
    expect(textOf(`${control}/cancelled`)).toBe('job-1\n')
  })

  test('jobs of this machine judge otherwise than its slots', async () => {
    const project = makeProject({ spec: { executor: { kind: 'local' } } })
    await project.data('init', '--no-canary')
    expect(await project.attempt(ms(90))).toMatchObject({ status: 'kept', value: 90, samples: 2 })
    expect(await project.attempt(ms(120))).toMatchObject({ status: 'rejected', reason: 'not_better' })
    const types = eventsOf(project).map(({ type }) => type)
    expect(types.filter((type) => type === 'placed')).toHaveLength(3)
  })

  test('pairs on a node are judged by another context than in a slot', async () => {
    // Not a time, which would be held against that of the samples.
    const loss = (value: number) => ({ 'src/metrics.txt': `METRIC loss=${value}\n` })
    const metric = { name: 'loss', direction: 'minimize' }
    const contexts = async (executor: object) => {
      const spec = { ...executor, metric, noise: { mode: 'paired' } }
      const project = makeProject({ spec, files: loss(100) })
      await project.data('init', '--no-canary')
      await project.attempt(loss(90))
      await project.attempt(loss(80), 'exp_0001')
      await project.data('config', 'set', 'budget.experiments', '40', '--reason', 'a test')
      await project.attempt(loss(70), 'exp_0002')
      return ['exp_0001', 'exp_0002', 'exp_0003'].map((id) =>
        stepsOf(project, id).flatMap(({ detail }) => detail?.context ?? []),
      )
    }
    const ofJobs = await contexts({ executor: { kind: 'local' } })
    expect(ofJobs.map(([first]) => first?.tries)).toEqual([1, 2, 40])
    expect(ofJobs).toEqual(await contexts({}))
  })

  test.each([
    ['is removed', 'none'],
    [
      'names an engine that does not know the job',
      JSON.stringify({ ...waitedFor(), status: ['true', '{job}'] }),
    ],
  ])('a job in flight is measured again, or lost, when the section %s', async (_, executor) => {
    const project = makeProject({ spec: { executor: { kind: 'local' } } })
    await project.data('init', '--no-canary')
    const [begun, go] = [`${project.control}/begun`, `${project.control}/go`]
    const waits = `[ -s src/metrics.txt ] && touch ${begun} && until [ -e ${go} ]; do sleep 0.1; done`
    const { experiment } = await project.open({ ...ms(90), ...hook(waits) })
    const before = project.starts().length
    const run = () => startAssay<RunData>(['run', experiment, '--json'], { cwd: project.repo.dir })
    const died = run()
    await until(() => existsSync(begun), { what: 'the sample of the job' })
    died.kill('SIGKILL')
    await died.ended
    await project.data('config', 'set', 'executor', executor, '--reason', 'a test')
    const running = run()
    await running.said('waiting for job')
    writeFileSync(go, '')
    const verdict = dataOf(await running.ended)
    expect(verdict).toMatchObject({ status: 'kept', value: 90 })
    expect(project.starts().length - before).toBe(verdict.samples)
    expect(await project.data('show', experiment, '--recompute')).toMatchObject({ same: true })
  })

  test('the other side of a pair is built on a node without what it starts from', async () => {
    // Each job is on a node that has had none before.
    const submit = `ASSAY_NODE_CACHE=$(mktemp -d "$3/node.XXXXXX") sh "$1" > "$2/job.out" 2>&1; echo job-1`
    const nodes = makeTemp('nodes')
    const project = makeProject({
      spec: {
        executor: { ...waitedFor(), submit: ['sh', '-c', submit, 'sh', '{script}', '{folder}', nodes] },
        scope: { mutable: ['src/**'], immutable: ['bench/**'] },
        worktree: { build: { command: ['sh', 'bench/build.sh'], timeout: '20s' } },
        metric: { name: 'loss', direction: 'minimize' },
        noise: { mode: 'paired' },
      },
      files: {
        // Each is a tenth less than what it starts from.
        'bench/build.sh': `before=$(cat "$ASSAY_PARENT_ARTIFACTS/model" 2>/dev/null || echo 1000)
echo $((before * 9 / 10)) > "$ASSAY_ARTIFACTS/model"
`,
        'bench/run.sh': `printf '{"metrics":{"loss":%s},"artifacts":{"model":"model"}}' "$(cat "$ASSAY_ARTIFACTS/model")" > "$ASSAY_RESULT"
`,
      },
    })
    await project.data('init', '--no-canary')
    const first = await project.attempt(ms(90))
    const second = await project.attempt(ms(80), first.experiment)
    const third = await project.attempt(ms(70), second.experiment)
    expect([first, second, third].map(({ status, value }) => [status, Math.round(value ?? 0)])).toEqual([
      ['kept', 810],
      ['kept', 729],
      ['kept', 656],
    ])
  })

  test.each([
    ['a slot', {}],
    ['a job', { executor: { kind: 'local' } }],
  ])(
    'after %s, artifacts that a later build removed are still there, and children cannot be measured',
    async (_, executor) => {
      const project = makeProject({
        spec: {
          ...executor,
          worktree: { build: { command: ['sh', 'bench/build.sh'], timeout: '20s' } },
          metric: { name: 'loss', direction: 'minimize' },
        },
        files: {
          'src/name': 'model\n',
          'src/loss': '100\n',
          'bench/build.sh': 'rm -f "$ASSAY_ARTIFACTS"/*; cp src/loss "$ASSAY_ARTIFACTS/$(cat src/name)"\n',
          'bench/run.sh': `loss=$(cat "$ASSAY_ARTIFACTS/model") || exit
printf '{"metrics":{"loss":%s},"artifacts":{"all":"."}}' $loss > "$ASSAY_RESULT"
`,
        },
      })
      await project.data('init', '--no-canary')
      const { experiment, worktree } = await project.open({ 'src/name': 'wrong\n', 'src/loss': '90\n' })
      expect(await project.data<RunData>('run', experiment)).toMatchObject({ status: 'failed' })
      writeFileSync(join(worktree, 'src/name'), 'model\n')
      expect(await project.data<RunData>('run', experiment)).toMatchObject({ status: 'kept', value: 90 })
      expect(readdirSync(project.repo.path('.assay/runs/run_0001/exp/0001/artifacts'))).toEqual(['model'])
      expect(await project.attempt({ 'src/loss': '80\n' }, experiment)).toMatchObject({
        status: 'kept',
        value: 80,
      })
    },
  )
})
