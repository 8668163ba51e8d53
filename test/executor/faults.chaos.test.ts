import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { execa } from 'execa'
import { afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { hook, ms, type Project, type RunData, writeFiles } from '../e2e/project.ts'
import { isAlive } from '../rig/alive.ts'
import { dataOf, startAssay } from '../rig/assay.ts'
import { makeClock } from '../rig/clock.ts'
import { type Cluster, noSlurm, startCluster } from '../rig/slurm.ts'
import { until } from '../rig/until.ts'
import { eventsOf, jobFolderOf, projectOnCluster } from './scene.ts'

const missing = noSlurm()
const releases: string[] = []
afterEach(() => {
  for (const go of releases.splice(0)) writeFileSync(go, '')
})

describe('what befalls a job of Slurm', () => {
  let cluster: Cluster
  let project: Project
  let made = 0
  const better = () => ms(99 - ++made / 8)

  beforeEach((context) => {
    if (missing !== null) context.skip(missing)
  })

  beforeAll(async () => {
    if (missing !== null) return
    cluster = await startCluster()
    project = projectOnCluster(cluster, {
      spec: { worktree: { build: { command: ['sh', 'src/build.sh'], timeout: '10m' } } },
      files: { 'src/build.sh': 'true\n' },
    })
    await project.data('init', '--no-canary')
  })

  /** Text of a hook that waits, at its first start, until the test lets it go on. */
  const holding = (name: string) => {
    const [begun, go] = [`${project.control}/${name}.begun`, `${project.control}/${name}.go`]
    releases.push(go)
    return `if [ ! -e ${begun} ]; then echo $$ > ${begun}.new; mv ${begun}.new ${begun}; until [ -e ${go} ]; do sleep 0.1; done; fi`
  }
  const begun = (name: string) =>
    until(() => existsSync(join(project.control, `${name}.begun`)), { what: `the start of ${name}` })
  const release = (name: string) => writeFileSync(join(project.control, `${name}.go`), '')
  const pidIn = (name: string) => Number(readFileSync(join(project.control, name), 'utf8'))
  const gone = (name: string) => until(() => !isAlive(pidIn(name)), { what: `the end of ${name}` })
  const run = (experiment: string, env: Record<string, string> = {}) =>
    startAssay<RunData>(['run', experiment, '--json'], {
      cwd: project.repo.dir,
      env: { ...cluster.env, ...env },
    })
  const jobOf = (experiment: string): string =>
    String(eventsOf(project).find((one) => one.type === 'dispatched' && one.experiment === experiment)?.job)
  const restore = () => {
    for (const program of ['squeue', 'scontrol']) cluster.plant(program, 'exec $REAL "$@"')
  }

  test('a job that Slurm does not know, and is too young to be forgotten, is lost', async () => {
    const { experiment } = await project.open({ ...better(), ...hook(holding('young')) })
    const clock = makeClock()
    const running = run(experiment, clock.env)
    await begun('young')
    await running.said('measured on')
    cluster.plant('squeue', `case "$*" in *--name*) exec $REAL "$@";; esac\nexit 0`)
    cluster.plant(
      'scontrol',
      // Asked for the job of the baseline as well.
      `case "$*" in *"show job"*) echo "$*" >> ${cluster.folder}/looks; echo 'slurm_load_jobs error: Invalid job id specified' >&2; exit 1;; esac\nexec $REAL "$@"`,
    )
    let over = false
    void running.ended.then(() => {
      over = true
    })
    const id = jobOf(experiment)
    const looks = () => {
      const file = join(cluster.folder, 'looks')
      const lines = existsSync(file) ? readFileSync(file, 'utf8').split('\n') : []
      return lines.filter((line) => line.endsWith(` ${id}`)).length
    }
    const looked = (times: number) => {
      const before = looks()
      return until(() => over || looks() >= before + times, { what: `${times} looks at the job` })
    }
    await looked(4)
    clock.ahead(2)
    await looked(1)
    release('young')
    const verdict = dataOf(await running.ended)
    restore()
    expect(verdict).toMatchObject({ status: 'kept' })
  })

  test('a job that runs into its limit costs the candidate its idea, or leaves a process', async () => {
    const { experiment } = await project.open({ ...better(), ...hook(holding('limit')) })
    const clock = makeClock()
    const running = run(experiment, clock.env)
    await begun('limit')
    await running.said('measured on')
    const timeout = (pattern: string) => `$REAL "$@" | sed 's/${pattern}/g'`
    // As Slurm says it after the limit, which is a minute at least.
    cluster.plant('squeue', timeout('|\\(CANCELLED\\|FAILED\\)|/|TIMEOUT|'))
    cluster.plant('scontrol', timeout('JobState=\\(CANCELLED\\|FAILED\\)/JobState=TIMEOUT'))
    const { stdout } = await execa('pgrep', ['-f', `worker ${jobFolderOf(project, experiment)}`])
    for (const pid of stdout.split('\n')) process.kill(Number(pid), 'SIGKILL')
    await cluster.run('scancel', [jobOf(experiment)])
    await running.said('which has ended')
    clock.ahead(2)
    const verdict = dataOf(await running.ended)
    restore()
    expect(verdict).toMatchObject({ status: 'failed', failure_class: 'environment' })
    expect(verdict.message).toContain('it ran into executor.limit')
    release('limit')
    expect(await project.data<RunData>('run', experiment)).toMatchObject({ status: 'kept', attempt: 2 })
  })

  /** A process that its session does not know, and that does not end when it is asked to. */
  const daemon = (name: string) =>
    `(setsid sh -c 'trap "touch ${project.control}/${name}.asked" TERM; echo $$ > ${project.control}/${name}.new; mv ${project.control}/${name}.new ${project.control}/${name}; while :; do sleep 0.1; done' < /dev/null > /dev/null 2>&1 &); until [ -e ${project.control}/${name} ]; do sleep 0.05; done`

  test.each([
    ['builds', 'src/build.sh'],
    ['measures', 'src/hook.sh'],
  ])('a job that is cancelled while it %s leaves a daemon', async (what, file) => {
    const text = `[ -s src/metrics.txt ] || exit 0\n${daemon(`${what}.daemon`)}\n${holding(what)}\n`
    const { experiment } = await project.open({ ...better(), [file]: text })
    const running = run(experiment)
    await begun(what)
    await running.said('measured on')
    await cluster.run('scancel', [jobOf(experiment)])
    expect(dataOf(await running.ended)).toMatchObject({ status: 'failed', failure_class: 'environment' })
    await gone(`${what}.begun`)
    await gone(`${what}.daemon`)
  })

  test('a job that is cancelled while it sweeps after a sample leaves a daemon', async () => {
    const { experiment, worktree } = await project.open(better())
    const file = (name: string) => join(project.control, `sweeps.${name}`)
    // The candidate stops the process that measures it, and ends: what comes next there is the sweep.
    const text = `[ ! -e ${file('sample')} ] || return 0
${daemon('sweeps.daemon')}
kill -STOP $(pgrep -f 'worker ${jobFolderOf(project, experiment)}')
echo $$ > ${file('sample')}.new; mv ${file('sample')}.new ${file('sample')}`
    writeFiles(worktree, hook(text))
    const running = run(experiment)
    await running.said('measured on')
    await until(() => existsSync(file('sample')), { what: 'the sample' })
    await gone('sweeps.sample')
    expect(isAlive(pidIn('sweeps.daemon'))).toBe(true)
    await cluster.run('scancel', [jobOf(experiment)])
    expect(dataOf(await running.ended)).toMatchObject({ status: 'failed', failure_class: 'environment' })
    await gone('sweeps.daemon')
  })

  test('a node without space fails the candidate, or measures nothing any more once there is space', async (context) => {
    const nodes = (['n1', 'n2'] as const).map((node) => cluster.temporary(node))
    const { experiment } = await project.open(better())
    const mounted: string[] = []
    let verdict: RunData
    try {
      for (const folder of nodes) {
        const done = await execa('mount', ['-t', 'tmpfs', '-o', 'size=64k', 'tmpfs', folder], {
          reject: false,
        })
        if (done.failed) context.skip('this user may not mount')
        mounted.push(folder)
      }
      verdict = await project.data<RunData>('run', experiment)
    } finally {
      for (const folder of mounted) await execa('umount', ['--lazy', folder])
    }
    expect(verdict).toMatchObject({ status: 'failed', failure_class: 'environment' })
    expect(verdict.message).toMatch(/no space left/i)
    expect(await project.data<RunData>('run', experiment)).toMatchObject({ status: 'kept', attempt: 2 })
  })

  test('the driver of a job dies beside another one, and the candidate is paid for twice', async () => {
    const one = await project.open({ ...better(), ...hook(holding('two')) })
    const driving = [run(one.experiment), run(one.experiment)]
    await begun('two')
    const follows = ({ output }: (typeof driving)[number]) => output().stderr.includes('measured on')
    await until(() => driving.some(follows), { what: 'a driver that follows the job' })
    const first = driving.findIndex(follows)
    driving[first]?.kill('SIGKILL')
    await driving[first]?.ended
    const third = run(one.experiment)
    release('two')
    const [other, last] = [dataOf(await (driving[1 - first] ?? third).ended), dataOf(await third.ended)]
    expect([other.attempt, last.attempt, other.status, last.status]).toEqual([1, 1, 'kept', 'kept'])
    const jobs = eventsOf(project).filter(
      ({ type, experiment }) => type === 'dispatched' && experiment === one.experiment,
    )
    expect(jobs).toHaveLength(1)
  })
})
