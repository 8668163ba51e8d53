import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { execa } from 'execa'
import { beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { judgeScene } from '../e2e/judge-scene.ts'
import { hook, ms, type Project, type RunData } from '../e2e/project.ts'
import { isAlive } from '../rig/alive.ts'
import { dataOf, problemOf, startAssay } from '../rig/assay.ts'
import { crash } from '../rig/crash.ts'
import { type Cluster, noSlurm, startCluster } from '../rig/slurm.ts'
import { until } from '../rig/until.ts'
import { eventsOf, jobFolderOf, projectOnCluster, SLURM, textBelow, typesOf } from './scene.ts'

const missing = noSlurm()

describe('an attempt that Slurm measures', () => {
  let cluster: Cluster
  let project: Project
  let made = 0
  /** Another number each time, and better than the baseline. */
  const better = () => ms(99 - ++made / 8)

  beforeEach((context) => {
    if (missing !== null) context.skip(missing)
  })

  beforeAll(async () => {
    if (missing !== null) return
    cluster = await startCluster()
    project = projectOnCluster(cluster)
    await project.data('init', '--no-canary')
  })

  const jobsOf = async (experiment: string) => {
    const { job_key: key } = eventsOf(project).find(
      (event) => event.type === 'dispatched' && event.experiment === experiment,
    ) ?? { job_key: '' }
    return (await cluster.jobs()).filter(({ name }) => name === key)
  }

  /** Nothing that the benchmark started is left. */
  const gone = (file: string) =>
    until(() => !isAlive(Number(readFileSync(file, 'utf8'))), { what: 'the process of a cancelled job' })

  test('a verdict is not that of a slot, or cannot be computed again from the record', async () => {
    const verdict = await project.attempt(ms(90))
    expect(verdict).toMatchObject({ status: 'kept', value: 90, samples: 2, best: true })
    expect(typesOf(project, verdict.experiment)).toEqual([
      'created',
      'sealed',
      'started',
      'dispatched',
      'placed',
      'judged',
    ])
    const shown = await project.data<{ same: boolean; record: string }>(
      'show',
      verdict.experiment,
      '--recompute',
    )
    expect(shown).toMatchObject({ same: true, record: 'intact' })
    const worse = await project.attempt(ms(95), verdict.experiment)
    expect(worse).toMatchObject({ status: 'rejected', reason: 'not_better', against: verdict.experiment })
  })

  test('the answer of sbatch is lost, and the attempt is measured twice', async () => {
    cluster.plant(
      'sbatch',
      `case "$*" in *--parsable*) ;; *) exec $REAL "$@";; esac
n=$(cat ${cluster.folder}/lost 2>/dev/null || echo 0)
[ "$n" -ge 2 ] && exec $REAL "$@"
echo $((n + 1)) > ${cluster.folder}/lost
[ "$n" -eq 0 ] || $REAL "$@" > /dev/null
echo 'sbatch: error: Batch job submission failed: Socket timed out on send/recv operation' >&2
exit 1`,
    )
    const before = project.starts().length
    const verdict = await project.attempt(better())
    cluster.plant('sbatch', 'exec $REAL "$@"')
    expect(readFileSync(join(cluster.folder, 'lost'), 'utf8').trim()).toBe('2')
    expect(verdict.status).toBe('kept')
    expect(await jobsOf(verdict.experiment)).toHaveLength(1)
    expect(project.starts().length - before).toBe(verdict.samples)
  })

  test('the controller is down for a while, and an attempt fails or is paid for twice', async () => {
    const { experiment } = await project.open({ ...better(), ...hook(holding('down')) })
    await cluster.stopController()
    const running = startAssay<RunData>(['run', experiment, '--json'], {
      cwd: project.repo.dir,
      env: cluster.env,
    })
    await running.said('waiting for an answer')
    await cluster.startController()
    await begun('down')
    await cluster.stopController()
    release('down')
    // The result is there without an answer of the engine.
    expect(dataOf(await running.ended).status).toBe('kept')
    await cluster.startController()
    expect(await jobsOf(experiment)).toHaveLength(1)
  })

  /** Text of a hook that waits, at its first start, until the test lets it go on. */
  const holding = (name: string) =>
    `if [ ! -e ${project.control}/${name}.begun ]; then echo $$ > ${project.control}/${name}.begun; while [ ! -e ${project.control}/${name}.go ]; do sleep 0.1; done; fi`
  const begun = (name: string) =>
    until(() => existsSync(join(project.control, `${name}.begun`)), { what: `the start of ${name}` })
  const release = (name: string) => writeFileSync(join(project.control, `${name}.go`), '')

  test('an engine that knows nothing of a job for a moment makes it count as lost', async () => {
    const empty = `[ -e ${cluster.folder}/blind ] && exit 0; exec $REAL "$@"`
    cluster.plant('squeue', `case "$*" in *--name*) exec $REAL "$@";; esac\n${empty}`)
    cluster.plant(
      'scontrol',
      `case "$*" in *"show job"*) echo 'slurm_load_jobs error: Unable to contact slurm controller' >&2; exit 1;; esac\nexec $REAL "$@"`,
    )
    writeFileSync(join(cluster.folder, 'blind'), '')
    const verdict = await project.attempt(better())
    cluster.plant('squeue', 'exec $REAL "$@"')
    cluster.plant('scontrol', 'exec $REAL "$@"')
    expect(verdict.status).toBe('kept')
  })

  test('a job that is started again measures again', async () => {
    const { experiment } = await project.open({ ...better(), ...hook(holding('again')) })
    const running = startAssay<RunData>(['run', experiment, '--json'], {
      cwd: project.repo.dir,
      env: cluster.env,
    })
    await begun('again')
    const before = project.starts().length
    const [job] = await jobsOf(experiment)
    // As administrators can: the job itself says --no-requeue.
    await cluster.run('scontrol', ['update', `jobid=${job?.id}`, 'requeue=1'])
    await cluster.run('scontrol', ['requeue', job?.id ?? ''])
    const verdict = dataOf(await running.ended)
    release('again')
    expect(verdict).toMatchObject({ status: 'failed', failure_class: 'environment' })
    expect(project.starts()).toHaveLength(before)
    await gone(join(project.control, 'again.begun'))
    // Slurm begins it in two minutes; this is how.
    const again = await execa('sh', [join(jobFolderOf(project, experiment), 'job.sh')], {
      env: { SLURM_RESTART_COUNT: '1' },
      reject: false,
    })
    expect(again.stdout).toContain('"code":"claimed"')
    expect(project.starts()).toHaveLength(before)
  })

  test('a cancelled job leaves a process, or costs the candidate its idea', async () => {
    const { experiment } = await project.open({
      ...better(),
      ...hook(`setsid sh -c 'sleep 300 & echo $! > ${project.control}/daemon' & ${holding('cancel')}`),
    })
    const running = startAssay<RunData>(['run', experiment, '--json'], {
      cwd: project.repo.dir,
      env: cluster.env,
    })
    await begun('cancel')
    const [job] = await jobsOf(experiment)
    await cluster.run('scancel', [job?.id ?? ''])
    expect(dataOf(await running.ended)).toMatchObject({ status: 'failed', failure_class: 'environment' })
    await gone(join(project.control, 'cancel.begun'))
    await gone(join(project.control, 'daemon'))
  })

  test('assay abort leaves the job on its node', async () => {
    const { experiment } = await project.open({ ...better(), ...hook(holding('abort')) })
    const running = startAssay<RunData>(['run', experiment, '--json'], {
      cwd: project.repo.dir,
      env: cluster.env,
    })
    await begun('abort')
    await project.data('abort', experiment, '--reason', 'enough')
    await running.ended
    await gone(join(project.control, 'abort.begun'))
    await until(
      async () =>
        (await jobsOf(experiment)).every(
          ({ state }) => state === 'CANCELLED' || state === 'FAILED' || state === 'COMPLETED',
        ),
      { what: 'the end of the job' },
    )
  })

  test.each([
    ['dispatched', 'before'],
    ['dispatched', 'after'],
    ['placed', 'after'],
    ['judged', 'before'],
  ] as const)('a driver that dies at the event %s (%s) pays or measures twice', async (type, how) => {
    const { experiment } = await project.open(better())
    const before = project.starts().length
    const crashing = crash({ line: `"type":"${type}"`, how, who: 'one' })
    const ran = await project.cli(['run', experiment], { env: { ...cluster.env, ...crashing.env } })
    expect([crashing.deaths(), ran.signal]).toEqual([1, 'SIGKILL'])
    const verdict = await project.data<RunData>('run', experiment)
    expect(verdict.status).toBe('kept')
    expect(await jobsOf(experiment)).toHaveLength(1)
    expect(project.starts().length - before).toBe(verdict.samples)
    expect(typesOf(project, experiment).filter((one) => one === 'judged')).toHaveLength(1)
  })

  test('a node whose Slurm dies takes a verdict with it that its job still reaches', async () => {
    const { experiment } = await project.open({ ...better(), ...hook(holding('dead')) })
    const running = startAssay<RunData>(['run', experiment, '--json'], {
      cwd: project.repo.dir,
      env: cluster.env,
    })
    await begun('dead')
    const node = (await jobsOf(experiment))[0]?.node === 'n2' ? 'n2' : 'n1'
    await cluster.killNode(node)
    await running.said('which has ended')
    release('dead')
    expect(dataOf(await running.ended).status).toBe('kept')
    await cluster.startNode(node)
  })

  test('what a killed job left on a node runs beside the next measurement', async () => {
    const { experiment } = await project.open({ ...better(), ...hook(holding('orphan')) })
    const running = startAssay<RunData>(['run', experiment, '--json'], {
      cwd: project.repo.dir,
      env: cluster.env,
    })
    await begun('orphan')
    const [job] = await jobsOf(experiment)
    const folder = jobFolderOf(project, experiment)
    running.kill('SIGKILL')
    await running.ended
    const { stdout } = await execa('pgrep', ['-f', `worker ${folder}`])
    const left = Number(readFileSync(join(project.control, 'orphan.begun'), 'utf8'))
    for (const pid of stdout.split('\n')) process.kill(Number(pid), 'SIGKILL')
    const other = job?.node === 'n1' ? 'n2' : 'n1'
    await cluster.run('scontrol', ['update', `nodename=${other}`, 'state=drain', 'reason=test'])
    const next = await project.attempt(better())
    await cluster.run('scontrol', ['update', `nodename=${other}`, 'state=resume'])
    expect(next.status).toBe('kept')
    expect(isAlive(left)).toBe(false)
  })

  test('two commands at once make two jobs of one attempt', async () => {
    const { experiment } = await project.open(better())
    const [one, other] = await Promise.all([1, 2].map(() => project.data<RunData>('run', experiment)))
    expect([one?.value, one?.attempt, one?.status]).toEqual([other?.value, other?.attempt, other?.status])
    expect(await jobsOf(experiment)).toHaveLength(1)
  })

  test('status or report does not say where an attempt is', async () => {
    const { experiment } = await project.open({ ...better(), ...hook(holding('where')) })
    const running = startAssay<RunData>(['run', experiment, '--json'], {
      cwd: project.repo.dir,
      env: cluster.env,
    })
    await begun('where')
    const [job] = await jobsOf(experiment)
    await running.said('measured on')
    const { jobs } = await project.data<{ jobs: { experiment: string }[] }>('status')
    expect(jobs.find((one) => one.experiment === experiment)).toMatchObject({
      executor: 'slurm',
      job: job?.id,
      node: job?.node,
    })
    release('where')
    await running.ended
    const report = await project.data<{ measured_by_jobs: { jobs: number; nodes: Record<string, number> } }>(
      'report',
    )
    expect(report.measured_by_jobs.nodes[job?.node ?? '']).toBeGreaterThan(0)
    const after = await project.data<{ jobs?: { experiment: string }[] }>('status')
    expect((after.jobs ?? []).map((one) => one.experiment)).not.toContain(experiment)
  })

  test('doctor is silent on a cluster that does not take the jobs of a run', async () => {
    const found = async () =>
      (
        await project.data<{
          findings: { code: string; level: string; what: string; repair: string | null }[]
        }>('doctor')
      ).findings.filter(({ code }) => code === 'executor')
    expect((await found()).map(({ level }) => level)).toEqual(['ok', 'ok', 'ok', 'ok', 'ok'])
    await project.data('config', 'set', 'executor.partition', 'benhc', '--reason', 'a slip')
    const wrong = (await found()).filter(({ level }) => level === 'problem')
    await project.data('config', 'set', 'executor.partition', 'bench', '--reason', 'right again')
    expect(wrong[0]).toMatchObject({ repair: expect.stringContaining('executor.partition') })
  })

  test('a refused option says nothing of the key to change', async () => {
    cluster.plant(
      'sbatch',
      `case "$*" in *--exclusive*) echo 'sbatch: error: Batch job submission failed: exclusive access is not allowed' >&2; exit 1;; esac\nexec $REAL "$@"`,
    )
    const verdict = await project.attempt(better())
    cluster.plant('sbatch', 'exec $REAL "$@"')
    expect(verdict).toMatchObject({ status: 'failed', failure_class: 'environment' })
    expect(verdict.message).toContain('write executor.cores: N')
  })

  test('a node gets the ledger, words of others, or variables of the user', async () => {
    const secret = 'hunter2-of-the-user'
    const { experiment } = await project.open({
      ...better(),
      ...hook(`/usr/bin/env > ${project.control}/env; ${holding('folder')}`),
    })
    const env = { ...cluster.env, MY_PASSWORD: secret }
    const running = startAssay<RunData>(['run', experiment, '--json'], { cwd: project.repo.dir, env })
    await begun('folder')
    const [job] = await jobsOf(experiment)
    const folder = jobFolderOf(project, experiment)
    const there = textBelow(folder)
    expect(there).not.toMatch(/an idea|run_started|hunter2/)
    expect(existsSync(join(folder, 'parcel.json')) || existsSync(join(folder, 'environment.json'))).toBe(
      false,
    )
    expect(readFileSync(join(project.control, 'env'), 'latin1')).not.toMatch(/hunter2|SLURM_/)
    const onNode = textBelow(cluster.temporary(job?.node === 'n2' ? 'n2' : 'n1'))
    expect(onNode).not.toMatch(/an idea|run_started|hunter2/)
    release('folder')
    await running.ended
  })

  test('a run whose metric a model judges is taken to a node', async () => {
    const judged = judgeScene({ spec: { executor: SLURM } })
    const refused = problemOf(await judged.cli(['init', '--no-canary'], { env: { ...cluster.env } }))
    expect(refused.message).toContain('a judge is asked on this machine')
  })
})
