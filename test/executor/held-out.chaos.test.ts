import { existsSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeEach, describe, expect, test } from 'vitest'
import { ms, type Project, type RunData } from '../e2e/project.ts'
import { crash } from '../rig/crash.ts'
import { noSlurm, startCluster } from '../rig/slurm.ts'
import { makeTemp } from '../rig/temp.ts'
import { eventsOf, jobFolderOf, projectOnCluster, projectOnNode, textBelow } from './scene.ts'

const SECRET = 'kept-from-candidates'
const LOCAL = { kind: 'local', jobs: 2 }

/** The benchmark logs what it sees of held-out data. What lies in `src/held` is the value there. */
const bench = (control: string) => ({
  'bench/run.sh': `echo "$(cat src/metrics.txt) \${ASSAY_HOLDOUT:+held}" >> ${control}/log
if [ -n "$ASSAY_HOLDOUT" ]; then
  [ "$(wc -c < "$ASSAY_HOLDOUT")" -eq ${SECRET.length} ] || exit 9
  cat src/held
else
  if [ -f src/hook.sh ]; then . ./src/hook.sh; fi
  cat src/metrics.txt
fi
`,
  'src/held': 'METRIC ms=100\n',
})

interface Scene {
  project: Project
  file: string
  control: string
  init: () => Promise<unknown>
}

function scene(make: (parts: object) => Project): Scene {
  const control = makeTemp('log')
  writeFileSync(join(control, 'log'), '')
  const file = join(makeTemp('held'), 'cases')
  writeFileSync(file, SECRET)
  const project = make({ files: bench(control) })
  return { project, file, control, init: () => project.data('init', '--no-canary', '--holdout', file) }
}

const onThisMachine = () => scene(projectOnNode)

const held = (value: number) => ({ 'src/held': `METRIC ms=${value}\n` })

/** The jobs of an experiment, in order: whether each got held-out data. */
const jobsOf = (project: Project, experiment: string): boolean[] =>
  eventsOf(project).flatMap((event) =>
    event.type === 'dispatched' && event.experiment === experiment ? [event.held_out === true] : [],
  )

const recomputed = (project: Project, experiment: string) =>
  project.data<{ same: boolean; record: string }>('show', experiment, '--recompute')

describe('held-out data where attempts are jobs', () => {
  test('gc keeps what a job on held-out data or a confirmation left, or a verdict rests on it', async () => {
    const { project, init } = onThisMachine()
    await init()
    const { experiment, status } = await project.attempt({ ...ms(80), ...held(90) })
    expect(status).toBe('kept')
    expect(await project.data('confirm', experiment)).toMatchObject({ passed: true })
    const { deleted } = await project.data<{ deleted: { kind: string; experiment: string; path: string }[] }>(
      'gc',
    )
    const jobs = deleted.flatMap((one) =>
      one.kind === 'job' && one.experiment === experiment ? [one.path] : [],
    )
    expect(jobs.map((path) => path.replace(/.*exp\/\d+\//, '')).sort()).toEqual([
      'attempts/1/job',
      'attempts/1/job-held-out',
      'confirms/1/job',
    ])
    expect(jobs.filter((path) => existsSync(project.repo.path(path)))).toEqual([])
    expect(await recomputed(project, experiment)).toMatchObject({ same: true })
  })

  test('a candidate that is worse there is kept, or a real gain is not', async () => {
    const { project, init } = onThisMachine()
    await init()
    const cheat = await project.attempt({ ...ms(80), ...held(130) })
    expect(cheat).toMatchObject({ status: 'rejected', reason: 'holdout' })
    const gain = await project.attempt({ ...ms(90), ...held(90) })
    expect(gain).toMatchObject({ status: 'kept', best: true, value: 90 })
    for (const experiment of ['exp_0000', cheat.experiment, gain.experiment]) {
      expect(jobsOf(project, experiment)).toEqual([false, true])
      expect(await recomputed(project, experiment)).toMatchObject({ same: true, record: 'intact' })
    }
    const { measured_by_jobs: jobs } = await project.data<{ measured_by_jobs: { jobs: number } }>('report')
    expect(jobs.jobs).toBe(6)
  })

  test('the job of a candidate that is no better gets held-out data', async () => {
    const { project, init } = onThisMachine()
    await init()
    const verdict = await project.attempt({ ...ms(110), ...held(90) })
    expect(verdict).toMatchObject({ status: 'rejected', reason: 'not_better' })
    expect(jobsOf(project, verdict.experiment)).toEqual([false])
    expect(existsSync(`${jobFolderOf(project, verdict.experiment)}-held-out`)).toBe(false)
  })

  test('under noise the second job compares by a single sample', async () => {
    const control = makeTemp('log')
    const file = join(makeTemp('held'), 'cases')
    writeFileSync(file, SECRET)
    const noisy = (level: string) => `echo METRIC score=$((${level} + $(od -An -N1 -tu1 /dev/urandom) % 3))\n`
    const project = projectOnNode({
      spec: {
        executor: LOCAL,
        metric: { name: 'score', direction: 'maximize' },
        noise: { mode: 'paired', calibrate: 4 },
      },
      files: {
        'bench/run.sh': `if [ -n "$ASSAY_HOLDOUT" ]; then echo x >> ${control}/held; . src/held; else . src/seen; fi\n`,
        'src/seen': noisy('100'),
        'src/held': noisy('100'),
      },
    })
    await project.data('init', '--no-canary', '--holdout', file)
    const gain = await project.attempt({ 'src/seen': noisy('200'), 'src/held': noisy('150') })
    expect(gain).toMatchObject({ status: 'kept', best: true })
    const cheat = await project.attempt(
      { 'src/seen': noisy('300'), 'src/held': noisy('50') },
      gain.experiment,
    )
    expect(cheat).toMatchObject({ status: 'rejected', reason: 'holdout' })
    for (const { experiment } of [gain, cheat])
      expect(await recomputed(project, experiment)).toMatchObject({ same: true, record: 'intact' })
  })

  test('a folder of a job has the data in plain, or a value that was measured on them', async () => {
    const { project, init } = onThisMachine()
    await init()
    // Code of the candidate that looks into the folders of its jobs while it is measured on them.
    const folders = project.repo.path('.assay/runs/run_0001/exp')
    const seen = join(project.control, 'seen')
    const gain = await project.attempt({
      ...ms(90),
      'src/held': 'METRIC ms=91.5\n',
      'src/hook.sh': `grep -rl ${SECRET} ${folders} >> ${seen}; true\n`,
    })
    expect(gain.status).toBe('kept')
    expect(textBelow(folders)).not.toContain(SECRET)
    expect(textBelow(folders)).not.toContain('91.5')
    expect(existsSync(seen) ? textBelow(project.control) : '').not.toContain('held-out')
  })

  test.each([
    ['"held_out":true', 'before'],
    ['"held_out":true', 'after'],
    ['"type":"judged"', 'before'],
  ] as const)('a driver that dies at %s (%s) measures twice', async (line, how) => {
    const { project, control, init } = onThisMachine()
    await init()
    const { experiment } = await project.open({ ...ms(90), ...held(90) })
    const before = textBelow(control).split('\n').length
    const crashing = crash({ line, how, who: 'one' })
    const ran = await project.cli(['run', experiment], { env: crashing.env })
    expect([crashing.deaths(), ran.signal]).toEqual([1, 'SIGKILL'])
    const verdict = await project.data<RunData>('run', experiment)
    expect(verdict).toMatchObject({ status: 'kept', value: 90 })
    // Twice; then the candidate and the baseline on the held-out data.
    expect(textBelow(control).split('\n').length - before).toBe(4)
    expect(jobsOf(project, experiment)).toEqual([false, true])
    expect(await recomputed(project, experiment)).toMatchObject({ same: true, record: 'intact' })
  })

  test('data that changed are measured on, or count against the candidate', async () => {
    const { project, file, init } = onThisMachine()
    await init()
    const { experiment } = await project.open({ ...ms(90), ...held(90) })
    writeFileSync(file, 'other cases')
    const first = await project.data('run', experiment)
    expect(first).toMatchObject({ status: 'failed', reason: 'environment', failure_class: 'environment' })
    expect(jobsOf(project, experiment)).toEqual([false])
    expect(await recomputed(project, experiment)).toMatchObject({ same: true, record: 'intact' })
    writeFileSync(file, SECRET)
    expect(await project.data('run', experiment)).toMatchObject({ status: 'kept', best: true })
  })

  test('what a build made is gone when its candidate is measured on held-out data', async () => {
    const control = makeTemp('log')
    const file = join(makeTemp('held'), 'cases')
    writeFileSync(file, SECRET)
    const project = projectOnNode({
      spec: {
        executor: LOCAL,
        worktree: { build: { command: 'cp src/metrics.txt "$ASSAY_ARTIFACTS/model"' } },
      },
      files: {
        'bench/run.sh': `if [ -n "$ASSAY_HOLDOUT" ]; then echo x >> ${control}/held; fi; cat "$ASSAY_ARTIFACTS/model"\n`,
      },
    })
    await project.data('init', '--no-canary', '--holdout', file)
    const { experiment, status } = await project.attempt(ms(90))
    expect(status).toBe('kept')
    expect(await recomputed(project, experiment)).toMatchObject({ same: true, record: 'intact' })
    expect(await project.attempt(ms(80), experiment)).toMatchObject({ status: 'kept', value: 80 })
  })
})

describe('held-out data on nodes of Slurm', () => {
  const missing = noSlurm()
  beforeEach((context) => {
    if (missing !== null) context.skip(missing)
  })

  test('an ordinary node gets held-out data, or something of them is left on a node', async () => {
    const cluster = await startCluster()
    const nodes = () =>
      ['n1', 'n2'].map((node) => textBelow(cluster.temporary(node as 'n1' | 'n2'))).join('\n')
    const { project, init } = scene((parts) => projectOnCluster(cluster, parts))
    await init()
    const worse = await project.attempt({ ...ms(110), ...held(90) })
    expect(worse.status).toBe('rejected')
    expect(jobsOf(project, worse.experiment)).toEqual([false])
    const gain = await project.attempt({ ...ms(90), ...held(90) })
    expect(gain).toMatchObject({ status: 'kept', best: true })
    expect(jobsOf(project, gain.experiment)).toEqual([false, true])
    expect(nodes()).not.toContain(SECRET)
    for (const node of ['n1', 'n2'] as const)
      expect(
        readdirSync(cluster.temporary(node), { recursive: true }).filter((name) =>
          String(name).includes('held-out'),
        ),
      ).toEqual([])
    expect(textBelow(project.repo.path('.assay/runs'))).not.toContain(SECRET)
    expect(existsSync(`${jobFolderOf(project, gain.experiment)}-held-out/held-out`)).toBe(false)
    expect(await recomputed(project, gain.experiment)).toMatchObject({ same: true, record: 'intact' })
  })
})
