import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, test } from 'vitest'
import type { ExecutorConfig } from '../../cli/executor/config.ts'
import type { Executor, JobSeen } from '../../cli/executor/executor.ts'
import { jobScript } from '../../cli/executor/job-folder.ts'
import { openExecutor } from '../../cli/executor/open.ts'
import { isAlive } from '../rig/alive.ts'
import { type Cluster, noSlurm, startCluster } from '../rig/slurm.ts'
import { isolatedEnv, makeTemp } from '../rig/temp.ts'
import { until } from '../rig/until.ts'

const LOCAL: ExecutorConfig = {
  kind: 'local',
  partition: null,
  cores: 'node',
  limitMs: 300_000,
  constraint: null,
  options: [],
  jobs: 2,
  countQueue: false,
  folder: null,
  commands: null,
}
const SLURM: ExecutorConfig = { ...LOCAL, kind: 'slurm', partition: 'bench' }
/** What the recipe for a second machine does, without ssh. */
const BY_COMMAND: ExecutorConfig = {
  ...LOCAL,
  kind: 'command',
  commands: {
    submit: ['sh', '-c', 'setsid sh "$1" > "$2/job.out" 2>&1 & echo $!', 'sh', '{script}', '{folder}'],
    status: ['sh', '-c', 'if kill -0 "$1" 2> /dev/null; then echo running; fi', 'sh', '{job}'],
    cancel: ['sh', '-c', 'kill "$1" 2> /dev/null || true', 'sh', '{job}'],
  },
}

let cluster: Cluster | null = null
const missing = noSlurm()
beforeAll(async () => {
  if (missing === null) cluster = await startCluster()
})

describe.each([
  ['local', LOCAL],
  ['slurm', SLURM],
  ['command', BY_COMMAND],
])('an executor of kind %s', (kind, config) => {
  const open = (): Executor =>
    openExecutor({ env: { ...isolatedEnv(), ...(kind === 'slurm' ? cluster?.env : {}) }, config })

  /** A job whose shell runs this text. */
  function jobOf(text: string, key = `assay-${Math.random().toString(16).slice(2)}`) {
    const folder = makeTemp('job')
    mkdirSync(folder, { recursive: true })
    writeFileSync(join(folder, 'work.sh'), text)
    const script = jobScript(['/bin/sh', join(folder, 'work.sh')], { PATH: '/usr/bin:/bin', GIVEN: "it's" })
    writeFileSync(join(folder, 'job.sh'), script, { mode: 0o755 })
    return { key, folder, cores: 'node' as const, seconds: 60 }
  }

  async function submitted(executor: Executor, job: ReturnType<typeof jobOf>): Promise<string> {
    const made = await executor.submit(job)
    if (!made.ok) throw new Error(made.problem.message)
    return made.value
  }

  const stateOf = async (executor: Executor, id: string): Promise<JobSeen['state'] | undefined> =>
    (await executor.look([id])).get(id)?.state

  const over = (executor: Executor, id: string) =>
    until(async () => ['ended', 'absent'].includes((await stateOf(executor, id)) ?? ''), { what: 'its end' })

  const skipped = (context: { skip: (why: string) => void }) => {
    if (kind === 'slurm' && missing !== null) context.skip(missing)
  }

  test('two submissions of one key become two jobs', async (context) => {
    skipped(context)
    const executor = open()
    const job = jobOf('echo began >> "$(dirname "$0")/begun"; sleep 2')
    const first = await submitted(executor, job)
    expect(await submitted(open(), job)).toBe(first)
    await over(executor, first)
    expect(readFileSync(join(job.folder, 'begun'), 'utf8')).toBe('began\n')
  })

  test('a job that runs is told as over, or one that is over as running', async (context) => {
    skipped(context)
    const executor = open()
    const job = jobOf(
      'touch "$(dirname "$0")/begun"; while [ ! -e "$(dirname "$0")/go" ]; do sleep 0.1; done',
    )
    const id = await submitted(executor, job)
    await until(() => existsSync(join(job.folder, 'begun')), { what: 'the job to begin' })
    expect(await stateOf(executor, id)).toBe('running')
    writeFileSync(join(job.folder, 'go'), '')
    await over(executor, id)
  })

  test('a cancelled job goes on', async (context) => {
    skipped(context)
    const executor = open()
    const job = jobOf(
      'echo $$ > "$(dirname "$0")/pid.new"; mv "$(dirname "$0")/pid.new" "$(dirname "$0")/pid"; exec sleep 60',
    )
    const id = await submitted(executor, job)
    await until(() => existsSync(join(job.folder, 'pid')), { what: 'the job to begin' })
    expect(await executor.cancel(id)).toEqual({ ok: true, value: undefined })
    await over(executor, id)
    await until(() => !isAlive(Number(readFileSync(join(job.folder, 'pid'), 'utf8'))), {
      what: 'its process',
    })
    // Nothing is left to cancel, and that is no failure.
    expect((await executor.cancel(id)).ok).toBe(true)
  })

  test('a job sees variables that nobody gave it', async (context) => {
    skipped(context)
    const executor = open()
    const job = jobOf('/usr/bin/env > "$(dirname "$0")/env"')
    await over(executor, await submitted(executor, job))
    const names = readFileSync(join(job.folder, 'env'), 'utf8')
      .split('\n')
      .flatMap((line) => /^(\w+)=/.exec(line)?.[1] ?? [])
      .filter((name) => !['PWD', 'OLDPWD', 'SHLVL', '_', 'TMPDIR'].includes(name))
    expect(names.sort()).toEqual(['ASSAY_JOB_NODE', 'ASSAY_JOB_STARTS', 'GIVEN', 'PATH'])
  })

  test('the probe finds fault with what works', async (context) => {
    skipped(context)
    expect((await open().probe('/')).filter(({ problem }) => problem !== null)).toEqual([])
  })
})
