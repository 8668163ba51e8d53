import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeEach, describe, expect, test } from 'vitest'
import { hook, makeProject, metrics, ms, type Project } from '../e2e/project.ts'
import { dataOf, problemOf, startAssay } from '../rig/assay.ts'
import { crash } from '../rig/crash.ts'
import { noSlurm, startCluster } from '../rig/slurm.ts'
import { until } from '../rig/until.ts'
import { eventsOf, projectOnCluster, projectOnNode, textBelow, typesOf, waitedFor } from './scene.ts'

interface ConfirmData {
  experiment: string
  passed: boolean
  status: string
  value: number | null
  against: string
  samples: number
  message: string
  repeated?: true
}

const LOCAL = { kind: 'local', jobs: 2 }
const BY_JOB = ['confirmation_started', 'dispatched', 'placed', 'confirmed']

/** Types of the events about it since it was kept. */
const since = (project: Project, experiment: string): string[] => {
  const types = typesOf(project, experiment)
  return types.slice(types.indexOf('judged') + 1)
}

async function kept(project: Project, parts = {}): Promise<string> {
  await project.data('init', '--no-canary')
  const verdict = await project.attempt({ ...ms(90), ...parts })
  expect(verdict.status).toBe('kept')
  return verdict.experiment
}

/** Code that waits, once `hold` is there, until the test lets it go on. */
const holding = (control: string) =>
  hook(
    `if [ -e ${control}/hold ]; then echo $$ > ${control}/begun; while [ ! -e ${control}/go ]; do sleep 0.1; done; fi`,
  )

/** A confirmation that has begun on its node, and waits there. */
async function held(project: Project, env: Record<string, string>) {
  const experiment = await kept(project, holding(project.control))
  writeFileSync(join(project.control, 'hold'), '')
  const running = startAssay<ConfirmData>(['confirm', experiment, '--json'], { cwd: project.repo.dir, env })
  await until(() => existsSync(join(project.control, 'begun')), {
    what: 'the first sample of the confirmation',
  })
  return { experiment, running, go: () => writeFileSync(join(project.control, 'go'), '') }
}

describe('a confirmation where attempts are jobs', () => {
  test('it is measured in a slot of this machine, or its answer is another one than there', async () => {
    const project = projectOnNode({ spec: { executor: LOCAL } })
    const experiment = await kept(project)
    const before = project.starts().length
    const answer = await project.data<ConfirmData>('confirm', experiment)
    expect(answer).toMatchObject({ passed: true, status: 'kept', value: 90, against: 'exp_0000', samples: 3 })
    expect(since(project, experiment)).toEqual(BY_JOB)
    expect(project.starts().length - before).toBe(3)
    const here = makeProject()
    const other = await kept(here)
    expect(await here.data('confirm', other)).toEqual(answer)
  })

  test('what does not hold any more stays kept', async () => {
    const project = projectOnNode({ spec: { executor: LOCAL } })
    const control = project.control
    const experiment = await kept(project, {
      'src/hook.sh': `if [ -e ${control}/worse ]; then echo METRIC ms=95; exit 0; fi\n`,
    })
    writeFileSync(join(control, 'worse'), '')
    const answer = await project.data<ConfirmData>('confirm', experiment)
    expect(answer).toMatchObject({ passed: false, status: 'revoked', value: 95 })
    expect(answer.message).toContain('ms = 95 now, 90 when it was judged')
  })

  test('a fault of the experiment is not told from one of the node', async () => {
    const project = projectOnNode({ spec: { executor: LOCAL } })
    const { control } = project
    const experiment = await kept(project, hook(`if [ -e ${control}/broken ]; then exit 3; fi`))
    writeFileSync(join(control, 'broken'), '')
    const before = project.starts().length
    const answer = await project.data<ConfirmData>('confirm', experiment)
    expect(answer).toMatchObject({ passed: false, status: 'revoked', value: null })
    // The experiment, then what it is compared with.
    expect(project.starts().length - before).toBe(2)
  })

  test('protected metrics that vary are compared by other pairs than were measured', async () => {
    const noisy =
      'echo "METRIC ms=$(cat src/ms)"; echo "METRIC wait_ms=$(( ($(od -An -N1 -tu1 /dev/urandom) % 8) + 20 ))"'
    const project = projectOnNode({
      spec: {
        executor: LOCAL,
        protected: [{ metric: 'wait_ms', direction: 'minimize', max_regression: '200%' }],
      },
      files: { 'src/ms': '100\n', 'src/metrics.txt': '\n', 'src/hook.sh': `${noisy}\n` },
    })
    const experiment = await kept(project, { 'src/ms': '90\n', 'src/metrics.txt': '\n' })
    const answer = await project.data<ConfirmData>('confirm', experiment)
    expect(answer).toMatchObject({ passed: true, status: 'kept' })
    expect(answer.samples).toBeGreaterThan(10)
  })

  test('pairs of a metric that varies are judged by another rule than in a slot', async () => {
    const project = projectOnNode({
      spec: {
        executor: LOCAL,
        noise: { mode: 'paired', calibrate: 4 },
        metric: { name: 'score', direction: 'maximize' },
      },
      files: {
        ...metrics({ other: 1 }),
        'src/level': '100\n',
        'src/hook.sh': 'echo "METRIC score=$(( $(cat src/level) + $(od -An -N1 -tu1 /dev/urandom) % 3 ))"\n',
      },
    })
    await project.data('init', '--no-canary')
    const { experiment, status } = await project.attempt({ 'src/level': '200\n' })
    expect(status).toBe('kept')
    const answer = await project.data<ConfirmData>('confirm', experiment)
    expect(answer).toMatchObject({ passed: true, status: 'kept', against: 'exp_0000' })
    expect(answer.message).toMatch(/^better than exp_0000 in \d+ pairs/)
    expect(since(project, experiment)).toEqual(BY_JOB)
  })

  test('status does not say that a confirmation is measured, or where', async () => {
    const project = projectOnNode({ spec: { executor: LOCAL } })
    const { experiment, running, go } = await held(project, project.env)
    await running.said('measured on')
    const { jobs } = await project.data<{ jobs: object[] }>('status')
    expect(jobs).toMatchObject([
      { experiment, confirms: 'exp_0000', executor: 'local', node: expect.any(String) },
    ])
    go()
    expect(dataOf(await running.ended).passed).toBe(true)
    expect((await project.data<{ jobs?: object[] }>('status')).jobs).toBeUndefined()
  })

  test.each([
    ['confirmation_started', 'after'],
    ['dispatched', 'before'],
    ['dispatched', 'after'],
    ['placed', 'after'],
    ['confirmed', 'before'],
  ] as const)('a command that dies at the event %s (%s) measures twice', async (type, how) => {
    const project = projectOnNode({ spec: { executor: LOCAL } })
    const experiment = await kept(project)
    const before = project.starts().length
    const crashing = crash({ line: `"type":"${type}"`, how, who: 'one' })
    const ran = await project.cli(['confirm', experiment], { env: crashing.env })
    expect([crashing.deaths(), ran.signal]).toEqual([1, 'SIGKILL'])
    const answer = await project.data<ConfirmData>('confirm', experiment)
    expect(answer).toMatchObject({ passed: true, value: 90 })
    expect(project.starts().length - before).toBe(answer.samples)
    expect(since(project, experiment)).toEqual(BY_JOB)
  })

  test('a command with another key takes the answer of the one that was killed', async () => {
    const project = projectOnNode({ spec: { executor: LOCAL } })
    const experiment = await kept(project)
    const crashing = crash({ line: '"type":"placed"', how: 'after', who: 'one' })
    await project.cli(['confirm', experiment, '--key', 'first'], { env: crashing.env })
    const other = await project.data<ConfirmData>('confirm', experiment, '--key', 'second')
    expect(other.repeated).toBeUndefined()
    expect(since(project, experiment)).toEqual([...BY_JOB, ...BY_JOB])
    const first = await project.data<ConfirmData>('confirm', experiment, '--key', 'first')
    expect(first).toMatchObject({ passed: true, repeated: true })
    expect(since(project, experiment)).toHaveLength(8)
  })

  test('two commands at once are one look, or both use the evidence of the first', async () => {
    const project = projectOnNode({ spec: { executor: LOCAL } })
    const experiment = await kept(project)
    const [one, other] = await Promise.all(
      ['a', 'b'].map((key) => project.data<ConfirmData>('confirm', experiment, '--key', key)),
    )
    expect([one?.passed, other?.passed]).toEqual([true, true])
    expect(since(project, experiment)).toEqual([...BY_JOB, ...BY_JOB])
  })

  test('an interruption leaves the job on its node, or a confirmation that nobody waits for', async () => {
    const project = projectOnNode({ spec: { executor: LOCAL } })
    const { experiment, running } = await held(project, project.env)
    await running.said('measured on')
    running.kill('SIGINT')
    expect(problemOf(await running.ended).code).toBe('interrupted')
    expect(since(project, experiment)).toEqual([...BY_JOB.slice(0, 3), 'confirmation_ended'])
    expect((await project.data<{ jobs?: object[] }>('status')).jobs).toBeUndefined()
  })

  test('a new epoch takes the answer that was measured in the old one', async () => {
    const project = projectOnNode({ spec: { executor: LOCAL } })
    const { experiment, running, go } = await held(project, project.env)
    await running.said('measured on')
    await project.data('epoch', 'open', '--reason', 'a test')
    expect(problemOf(await running.ended).message).toContain('epoch')
    go()
    expect(since(project, experiment)).toEqual(BY_JOB.slice(0, 3))
  })

  test('a record that was changed after its job had ended confirms', async () => {
    const project = projectOnNode({ spec: { executor: waitedFor() } })
    const experiment = await kept(project)
    const then = waitedFor(`sed -i 's/"value":90/"value":80/' record/steps.jsonl`) as { submit: string[] }
    await project.data('config', 'set', 'executor.submit', JSON.stringify(then.submit), '--reason', 'a test')
    const refused = await project.problem('confirm', experiment)
    expect(refused.code).toBe('not_measured')
    expect(refused.message).toContain('is not the one that the result of its job names')
    expect(since(project, experiment)).toEqual([...BY_JOB.slice(0, 3), 'confirmation_ended'])
  })

  test('finish measures the winner in a slot', async () => {
    const project = projectOnNode({ spec: { executor: LOCAL } })
    const experiment = await kept(project)
    await project.data('finish')
    expect(since(project, experiment)).toEqual(BY_JOB)
  })
})

describe('a confirmation that Slurm measures', () => {
  const missing = noSlurm()
  beforeEach((context) => {
    if (missing !== null) context.skip(missing)
  })

  test('it is measured here, or a node gets words of the experiment', async () => {
    const cluster = await startCluster()
    const project = projectOnCluster(cluster)
    const { experiment, running, go } = await held(project, cluster.env)
    await running.said('measured on')
    const node = eventsOf(project).findLast(({ type }) => type === 'placed')?.node
    expect(['n1', 'n2']).toContain(node)
    const { jobs } = await project.data<{ jobs: object[] }>('status')
    expect(jobs).toMatchObject([{ experiment, confirms: 'exp_0000', executor: 'slurm', node }])
    const folder = project.repo.path('.assay/runs/run_0001/exp', experiment.slice(4), 'confirms/1/job')
    expect(textBelow(folder)).not.toMatch(/an idea|run_started/)
    expect(textBelow(cluster.temporary(node === 'n2' ? 'n2' : 'n1'))).not.toMatch(/an idea|run_started/)
    // The command dies; the job goes on.
    running.kill('SIGKILL')
    await running.ended
    go()
    const before = project.starts().length
    const answer = await project.data<ConfirmData>('confirm', experiment)
    expect(answer).toMatchObject({ passed: true, value: 90, samples: 3 })
    expect(project.starts().length - before).toBeLessThanOrEqual(3)
    expect(since(project, experiment)).toEqual(BY_JOB)
    const key = eventsOf(project).findLast(({ type }) => type === 'dispatched')?.job_key
    expect((await cluster.jobs()).filter(({ name }) => name === key)).toHaveLength(1)
    expect(readFileSync(join(folder, 'job.out'), 'utf8')).toContain('"ok":true')
  })
})
