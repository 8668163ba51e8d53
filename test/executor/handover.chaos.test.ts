import { existsSync, mkdirSync, readdirSync, readFileSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { execa } from 'execa'
import { afterEach, describe, expect, test } from 'vitest'
import { hook, makeProject, ms, type Project, type RunData } from '../e2e/project.ts'
import { isAlive } from '../rig/alive.ts'
import { dataOf, startAssay } from '../rig/assay.ts'
import { type Crash, crash } from '../rig/crash.ts'
import { makeTemp } from '../rig/temp.ts'
import { until } from '../rig/until.ts'
import { eventsOf, jobFolderOf, stepsOf, typesOf, waitedFor } from './scene.ts'

const LOCAL = { kind: 'local' }

/** Files that let jobs go on, which live on when their test fails: a slot of the machine would wait for them. */
const releases: string[] = []
afterEach(() => {
  for (const go of releases.splice(0)) writeFileSync(go, '')
})

/** Jobs of this machine take its slots in turn: these have slots of their own, so that they wait for no other tests. */
const ownSlots = () => ({ TMPDIR: makeTemp('tmp') })

/** Text of a hook that waits, at its first start, until the test lets it go on. */
function waitingIn(control: string) {
  const [begun, go] = [`${control}/begun`, `${control}/go`]
  releases.push(go)
  const text = `if [ ! -e ${begun} ]; then echo $$ > ${begun}.new; mv ${begun}.new ${begun}; until [ -e ${go} ]; do sleep 0.1; done; fi`
  return { begun, go, text }
}

/** A run of which the next attempt can wait in its first sample. */
async function sceneOf(executor: object = LOCAL) {
  const own = ownSlots()
  const project = makeProject({
    env: own,
    // A second job: for what is measured while the first one waits.
    spec: {
      executor: { ...LOCAL, jobs: 2 },
      measure: { command: 'sh bench/run.sh', timeout: '10m', slots: 2 },
    },
  })
  await project.data('init', '--no-canary')
  if (executor !== LOCAL) await setExecutor(project, executor)
  const { begun, go, text } = waitingIn(project.control)
  const { experiment } = await project.open({ ...ms(90), ...hook(text) })
  const before = project.starts().length
  return {
    project,
    experiment,
    run: (env: Record<string, string> = {}) =>
      startAssay<RunData>(['run', experiment, '--json'], { cwd: project.repo.dir, env: { ...own, ...env } }),
    begun: () => until(() => existsSync(begun), { what: 'the sample of the job' }),
    sampler: () => Number(readFileSync(begun, 'utf8')),
    release: () => writeFileSync(go, ''),
    measured: () => project.starts().length - before,
    folder: jobFolderOf(project, experiment),
  }
}

const setExecutor = (project: Project, executor: object | string) =>
  project.data(
    ...['config', 'set', 'executor', typeof executor === 'string' ? executor : JSON.stringify(executor)],
    ...['--reason', 'a test'],
  )

/** An engine whose `submit` does something else before it says the id. */
const engine = (submit: string): object => ({
  ...waitedFor(),
  submit: ['sh', '-c', submit, 'sh', '{script}', '{folder}'],
  status: ['sh', '-c', 'echo running', 'sh', '{job}'],
})

/** Runs until the planned death, which must come. */
async function dies({ run }: Awaited<ReturnType<typeof sceneOf>>, planned: Crash): Promise<void> {
  const ran = await run(planned.env).ended
  expect([planned.deaths(), ran.signal]).toEqual([1, 'SIGKILL'])
}

describe('an attempt that was handed over', () => {
  test('what is recorded while a job runs makes its attempt impossible to judge', async () => {
    const scene = await sceneOf()
    const { project, experiment } = scene
    const running = scene.run()
    await scene.begun()
    await project.data('gate', 'add', 'exp_0000', '--name', 'late', '--command', 'true', '--reason', 'a test')
    scene.release()
    expect(dataOf(await running.ended)).toMatchObject({ status: 'kept', value: 90, gates: [] })
    const again = await project.data('show', experiment, '--recompute')
    expect(again).toMatchObject({ same: true, record: 'intact' })
    const next = await project.attempt(ms(80), experiment)
    expect(next.gates).toEqual([{ name: 'late', phase: 'before', passed: true }])
  })

  test.each([
    ['slot', {}],
    ['job', { executor: { ...LOCAL, jobs: 2 } }],
  ])(
    'a best that is found while a %s measures is not compared with its candidate',
    async (kind, executor) => {
      const loss = (value: number) => ({ 'src/metrics.txt': `METRIC loss=${value}\n` })
      const env = ownSlots()
      const project = makeProject({
        env,
        spec: {
          ...executor,
          metric: { name: 'loss', direction: 'minimize' },
          noise: { mode: 'paired' },
          measure: { command: 'sh bench/run.sh', timeout: '10m', slots: 2 },
        },
        files: loss(100),
      })
      await project.data('init', '--no-canary')
      const { begun, go, text } = waitingIn(project.control)
      const { experiment } = await project.open({ ...loss(70), ...hook(text) })
      const running = startAssay<RunData>(['run', experiment, '--json'], { cwd: project.repo.dir, env })
      await until(() => existsSync(begun), { what: 'the first sample' })
      const other = await project.attempt(loss(80))
      expect(other).toMatchObject({ status: 'kept', best: true })
      if (kind === 'job') await running.said(`${other.experiment} is the best now`)
      writeFileSync(go, '')
      expect(dataOf(await running.ended)).toMatchObject({ status: 'kept', best: true })
      const steps = stepsOf(project, experiment).map(({ detail }) => detail)
      expect(steps).toContainEqual({ best: other.experiment, could: true })
      expect(steps).toContainEqual(expect.objectContaining({ stage: 'best' }))
      expect(await project.data('show', experiment, '--recompute')).toMatchObject({ same: true })
    },
  )

  test('a job of this machine is measured again when its driver dies before it wrote that it began', async () => {
    const scene = await sceneOf()
    await dies(scene, crash({ name: 'spawn .*/job\\.sh', how: 'after', who: 'one' }))
    await scene.begun()
    const running = scene.run()
    await running.said('job of this machine of')
    scene.release()
    const verdict = dataOf(await running.ended)
    expect(verdict).toMatchObject({ status: 'kept', attempt: 1 })
    expect(scene.measured()).toBe(verdict.samples)
    // Else the end of a second process would count as that of the job.
    expect(readFileSync(join(scene.folder, 'job.out'), 'utf8')).not.toContain('claimed')
  })

  test('a job whose submission was interrupted is refused although it measures', async () => {
    const scene = await sceneOf(engine('setsid sh "$1" > "$2/job.out" 2>&1 & sleep 300'))
    const died = scene.run()
    await scene.begun()
    died.kill('SIGKILL')
    await died.ended
    const running = scene.run()
    await running.said('waiting for job')
    scene.release()
    const verdict = dataOf(await running.ended)
    expect(verdict).toMatchObject({ status: 'kept', attempt: 1 })
    expect(scene.measured()).toBe(verdict.samples)
  })

  test('a job of an interrupted submission begins after its attempt was given up', async () => {
    const scene = await sceneOf(engine(`touch "$2/called"; sleep 300`))
    const died = scene.run()
    await until(() => existsSync(join(scene.folder, 'called')), { what: 'the submission' })
    died.kill('SIGKILL')
    await died.ended
    const verdict = dataOf(await scene.run().ended)
    expect(verdict).toMatchObject({ status: 'failed', failure_class: 'environment' })
    expect(verdict.message).toContain('nobody knows whether it began a job')
    const late = await execa('sh', [join(scene.folder, 'job.sh')], { reject: false })
    expect(late.stdout).toContain('"code":"claimed"')
    expect(scene.measured()).toBe(0)
  })

  test.each([
    ['that runs', LOCAL],
    ['without an id', engine('setsid sh "$1" > "$2/job.out" 2>&1 & sleep 300')],
  ])('assay abort leaves a job %s and that was never recorded', async (_, executor) => {
    const scene = await sceneOf(executor)
    const died = scene.run(crash({ line: '"type":"dispatched"', how: 'before', who: 'one' }).env)
    await scene.begun()
    died.kill('SIGKILL')
    await died.ended
    expect(typesOf(scene.project, scene.experiment)).not.toContain('dispatched')
    await scene.project.data('abort', scene.experiment, '--reason', 'enough')
    await until(() => !isAlive(scene.sampler()), { what: 'the end of the job' })
  })

  test('assay abort leaves files of a job that was never recorded and has not begun', async () => {
    const scene = await sceneOf(engine(`touch "$2/called"; sleep 300`))
    const died = scene.run()
    await until(() => existsSync(join(scene.folder, 'called')), { what: 'the submission' })
    died.kill('SIGKILL')
    await died.ended
    await scene.project.data('abort', scene.experiment, '--reason', 'enough')
    expect(readdirSync(scene.folder).sort()).toEqual(['called', 'job.sh', 'submitted.json', 'withdrawn'])
    const late = await execa('sh', [join(scene.folder, 'job.sh')], { reject: false })
    expect(late.stdout).toContain('"code":"claimed"')
  })

  test('gc keeps folders of judged jobs, or takes that of one that runs', async () => {
    const scene = await sceneOf()
    const running = scene.run()
    await scene.begun()
    const baseline = jobFolderOf(scene.project, 'exp_0000')
    expect(existsSync(baseline)).toBe(true)
    const { deleted } = await scene.project.data<{ deleted: { kind: string; experiment: string }[] }>('gc')
    expect(deleted.filter(({ kind }) => kind === 'job')).toMatchObject([{ experiment: 'exp_0000' }])
    expect([existsSync(baseline), existsSync(scene.folder)]).toEqual([false, true])
    scene.release()
    expect(dataOf(await running.ended)).toMatchObject({ status: 'kept' })
    expect(await scene.project.data('show', 'exp_0000', '--recompute')).toMatchObject({ same: true })
  })

  test('a node keeps what no job has used for weeks', async () => {
    const cache = makeTemp('cache')
    const made = (name: string, days: number) => {
      mkdirSync(join(cache, name, 'judge'), { recursive: true })
      const then = new Date(Date.now() - days * 24 * 3600 * 1000)
      utimesSync(join(cache, name), then, then)
    }
    made('r-00000000000a', 15)
    made('r-00000000000b', 0.5)
    made('notes', 100)
    const project = makeProject({
      spec: { executor: LOCAL },
      env: { ...ownSlots(), ASSAY_NODE_CACHE: cache },
    })
    await project.data('init', '--no-canary')
    expect(readdirSync(cache).filter((name) => !/^r-(?!0{8})|README/.test(name))).toEqual([
      'notes',
      'r-00000000000b',
    ])
  })

  test('a node with little space keeps what no job has used since yesterday, or removes what one measures in', async (context) => {
    const cache = makeTemp('cache')
    const mounted = await execa('mount', ['-t', 'tmpfs', '-o', 'size=64m', 'tmpfs', cache], { reject: false })
    if (mounted.failed) context.skip('this user may not mount')
    try {
      const unused = (name: string, days: number) => {
        mkdirSync(join(cache, name), { recursive: true })
        const then = new Date(Date.now() - days * 24 * 3600 * 1000)
        utimesSync(join(cache, name), then, then)
      }
      const places = () => readdirSync(cache).filter((name) => name.startsWith('r-'))
      // It measures for days.
      const env = { ...ownSlots(), ASSAY_NODE_CACHE: cache }
      const long = makeProject({ env, spec: { executor: LOCAL } })
      await long.data('init', '--no-canary')
      const [measured = ''] = places()
      const { begun, go, text } = waitingIn(long.control)
      const { experiment } = await long.open({ ...ms(90), ...hook(text) })
      const running = startAssay<RunData>(['run', experiment, '--json'], { cwd: long.repo.dir, env })
      await until(() => existsSync(begun), { what: 'the sample of the job' })
      unused(measured, 2)
      unused('r-00000000000a', 2)
      unused('r-00000000000b', 0.9)
      const project = makeProject({ env: { ...env, ...ownSlots() }, spec: { executor: LOCAL } })
      await project.data('init', '--no-canary')
      expect(places()).not.toContain('r-00000000000a')
      expect(places()).toEqual(expect.arrayContaining(['r-00000000000b', measured]))
      writeFileSync(go, '')
      expect(dataOf(await running.ended)).toMatchObject({ status: 'kept', value: 90 })
    } finally {
      await execa('umount', ['--lazy', cache])
    }
  })

  test('doctor says nothing of a command that asks for the history that a node lacks', async () => {
    const project = makeProject({
      env: ownSlots(),
      spec: {
        executor: LOCAL,
        gates: [{ name: 'version', command: 'git describe --always || true' }],
      },
    })
    await project.data('init', '--no-canary')
    const { findings } = await project.data<{ findings: { code: string; level: string; what: string }[] }>(
      'doctor',
    )
    expect(findings.filter(({ code }) => code === 'executor')).toMatchObject([
      { level: 'warning', what: expect.stringContaining('git describe') },
    ])
  })

  test.each([
    ['is removed', 'none'],
    ['names another engine', { ...waitedFor(), status: ['true', '{job}'] }],
    ['names another folder', { kind: 'local', folder: '../elsewhere' }],
  ])('a job that was never recorded is measured again when the section %s', async (_, section) => {
    const scene = await sceneOf()
    await dies(scene, crash({ line: '"type":"dispatched"', how: 'before', who: 'one' }))
    await scene.begun()
    await setExecutor(scene.project, section)
    const running = scene.run()
    await running.said('waiting for job')
    scene.release()
    const verdict = dataOf(await running.ended)
    expect(verdict).toMatchObject({ status: 'kept', attempt: 1 })
    expect(scene.measured()).toBe(verdict.samples)
    expect(
      eventsOf(scene.project).find((one) => one.type === 'dispatched' && one.experiment === scene.experiment),
    ).toMatchObject({
      executor: 'local',
    })
  })
})
