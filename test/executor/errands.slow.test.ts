import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeEach, describe, expect, test } from 'vitest'
import { type Found, statesOf, switches } from '../e2e/attribute-scene.ts'
import { isolated } from '../e2e/isolated.ts'
import { makeProject, ms, type Project } from '../e2e/project.ts'
import { problemOf } from '../rig/assay.ts'
import { crash, type NamedDeath } from '../rig/crash.ts'
import type { Files } from '../rig/repo.ts'
import { noSlurm, startCluster } from '../rig/slurm.ts'
import { makeTemp } from '../rig/temp.ts'
import { SLURM } from './scene.ts'

interface Check {
  passed: boolean
  problems: string[]
  value: number | null
  looked_at: string
  output: string
  node?: string
  gates: { name: string; passed: boolean; output: string }[]
}

const LOCAL = { kind: 'local', jobs: 2 }

/** The first line of a command that works in a folder of the node only: there is what it needs. */
const onlyBelow = (folder: string) =>
  `case "$PWD" in ${folder}/*) ;; *) echo "there is no accelerator in $PWD" >&2; exit 7 ;; esac`

/** A project whose setup, gate and benchmark work on the node only. */
function projectForNode({
  executor = LOCAL,
  env = { TMPDIR: makeTemp('node') },
  below = env.TMPDIR ?? '',
  files = {},
}: {
  executor?: object
  env?: Record<string, string>
  below?: string
  files?: Files
} = {}) {
  const control = makeTemp('log')
  const project = makeProject({
    env,
    spec: {
      executor,
      measure: { command: 'sh bench/run.sh', timeout: '30s', slots: 2 },
      gates: [{ name: 'sound', command: 'sh bench/gate.sh' }],
    },
    files: {
      'bench/run.sh': `${onlyBelow(below)}\necho run >> ${control}/starts\nif [ -f src/hook.sh ]; then . ./src/hook.sh; fi\ncat src/metrics.txt\n`,
      'bench/gate.sh': `${onlyBelow(below)}\ntest ! -e src/unsound || { echo it is unsound; exit 1; }\n`,
      ...files,
    },
  })
  const starts = () => {
    const log = join(control, 'starts')
    return existsSync(log) ? readFileSync(log, 'utf8').split('\n').filter(Boolean).length : 0
  }
  return { project, starts }
}

const canaryOf = (project: Project) => project.repo.path('.assay/runs/run_0001/exp/0000/canary')
const factOf = (project: Project): { outcome: string; why: string } =>
  JSON.parse(readFileSync(join(canaryOf(project), 'fact.json'), 'utf8'))

/** The moment at which this file is written. */
const HANDOVER = 'canary/handover\\.json'

describe('what no attempt measures, where attempts are jobs', () => {
  test('a part of init measures on the machine that submits', async () => {
    const node = makeTemp('node')
    const log = join(makeTemp('log'), 'folders')
    const folders = () => readFileSync(log, 'utf8').split('\n').filter(Boolean)
    const works = (code: string) => `echo "$PWD" >> ${log}\n${code}\ncat src/metrics.txt\n`
    const made = (code: string) =>
      makeProject({
        env: { TMPDIR: node },
        spec: { executor: LOCAL },
        files: { 'bench/run.sh': works(code) },
      })
    // It finds something above its checkouts, which is looked at in a checkout elsewhere.
    const sound = made('')
    sound.repo.write({ 'node_modules/x/index.js': '' })
    await sound.data('init')
    expect(folders()).toHaveLength(3)
    // It fails as one does that lacks a variable of the user.
    const broken = made('echo "TOKEN is not set" >&2; exit 1')
    const ran = await broken.cli(['init'], { env: { TOKEN: 'here' } })
    expect(problemOf(ran).code).toBe('baseline_failed')
    expect(folders()).toHaveLength(4)
    for (const folder of folders()) expect(folder).toMatch(new RegExp(`^${node}/assay-node-`))
  })

  test('init, check, gates or attribute fail for a benchmark that works on nodes only', async () => {
    const { project } = projectForNode({ files: switches(2) })
    await project.data('init')
    expect(factOf(project)).toMatchObject({ outcome: 'reads' })
    const { experiment } = await project.open({ ...ms(90), ...switches(2, [1]) })
    const check = await project.data<Check>('run', experiment, '--check')
    expect(check).toMatchObject({ passed: true, value: 90, looked_at: 'worktree', node: expect.any(String) })
    const gates = await project.data<Check>('gate', 'check', experiment)
    expect(gates).toMatchObject({ passed: true, node: expect.any(String), gates: [{ name: 'sound' }] })
    const rule = ['--name', 'more', '--command', 'sh bench/gate.sh', '--reason', 'a test']
    expect(await project.data('gate', 'add', 'exp_0000', ...rule)).toMatchObject({ passed_on: 'exp_0000' })
    await project.data('run', experiment)
    const found = await project.data<Found>('attribute', experiment)
    expect(statesOf(found)).toMatchObject({ h1: expect.any(String), h2: expect.any(String) })
    expect(found.reduced).toMatchObject({ status: 'kept', value: 90 })
  })

  test('a benchmark that does not read what candidates change passes on a node', async () => {
    const { project, starts } = projectForNode({
      files: { 'bench/run.sh': 'echo METRIC ms=5\n' },
    })
    const refused = await project.problem('init')
    expect(refused).toMatchObject({ code: 'blind_benchmark', exit: 2 })
    expect(refused.message).toContain('it still says ms = 5')
    expect(starts()).toBe(0)
  })

  test('noise hides on a node less than here what a benchmark reads', async () => {
    const count = join(makeTemp('count'), 'n')
    const project = makeProject({
      env: { TMPDIR: makeTemp('node') },
      spec: { executor: LOCAL, noise: { mode: 'paired', calibrate: 4 } },
      files: {
        'bench/run.sh': `echo >> ${count}\necho "METRIC ms=$(( 10 + 80 * ($(wc -l < ${count}) % 2) ))"\n`,
      },
    })
    await project.data('init')
    expect(factOf(project)).toMatchObject({ outcome: 'skipped', why: expect.stringContaining('noise') })
  })

  test('two checkouts of a node that share what is built pass as apart', async () => {
    const built = makeTemp('built')
    const project = makeProject({
      env: { TMPDIR: makeTemp('node') },
      spec: { executor: LOCAL, worktree: { build: { command: 'sh bench/build.sh' } } },
      files: {
        'bench/run.sh': `cat ${built}/made\n`,
        'bench/build.sh': `cp src/metrics.txt ${built}/made\n`,
      },
    })
    expect((await project.problem('init')).code).toBe('shared_build')
  })

  test.each<[string, NamedDeath]>([
    ['before the job is handed over', { name: HANDOVER, how: 'before', who: 'one' }],
    ['before the engine is called', { name: HANDOVER, how: 'after', who: 'one' }],
    ['once the engine was called', { name: HANDOVER, nth: 2, how: 'before', who: 'one' }],
    ['once the job runs', { name: HANDOVER, nth: 3, how: 'after', who: 'one' }],
  ])('an init that dies %s tries the emptied files twice', async (_, death) => {
    const { project, starts } = projectForNode()
    const crashing = crash(death)
    const ran = await project.cli(['init'], { env: crashing.env })
    expect([crashing.deaths(), ran.signal]).toEqual([1, 'SIGKILL'])
    await project.data('init')
    expect(factOf(project)).toMatchObject({ outcome: 'reads' })
    // Two samples of the baseline, and one with emptied files.
    expect(starts()).toBe(3)
    expect(existsSync(join(canaryOf(project), 'job'))).toBe(false)
  })

  test('a check by a job says less than one here', async () => {
    const candidate = { 'src/unsound': '', ...ms('much'), 'src/hook.sh': 'echo "a hint" >&2\n' }
    const plain = ({ node: _, ...rest }: Check & { tree?: string; wall_ms?: number }) => ({
      ...rest,
      tree: '',
      wall_ms: 0,
      gates: rest.gates.map((gate) => ({ ...gate })),
    })
    const files = {
      'bench/gate.sh': 'test ! -e src/unsound || { echo it is unsound; exit 1; }\n',
      'bench/run.sh': 'if [ -f src/hook.sh ]; then . ./src/hook.sh; fi\ncat src/metrics.txt\n',
    }
    const answers: Check[] = []
    for (const executor of [LOCAL, undefined]) {
      const project = makeProject({
        env: { TMPDIR: makeTemp('node') },
        spec: { ...(executor && { executor }), gates: [{ name: 'sound', command: 'sh bench/gate.sh' }] },
        files,
      })
      await project.data('init', '--no-canary')
      const { experiment } = await project.open(candidate)
      const ran = await project.cli<Check>(['run', experiment, '--check'])
      expect(ran.code).toBe(4)
      answers.push((ran.json as { data: Check }).data)
      const checks = project.repo.path('.assay/runs/run_0001/exp', experiment.slice(4), 'checks/1')
      expect(readdirSync(checks)).toContain('check.json')
      expect(readdirSync(join(checks, 'samples'))).toHaveLength(2)
      const gated = await project.cli<Check>(['gate', 'check', experiment])
      expect(gated.code).toBe(4)
      expect(gated.stdout).toContain('it is unsound')
    }
    const [byJob, here] = answers
    if (!byJob || !here) throw new Error('a check gave no answer')
    expect(plain(byJob)).toEqual(plain(here))
    expect(byJob.problems).toHaveLength(2)
    expect([typeof byJob.node, typeof here.node]).toEqual(['string', 'undefined'])
  })

  test('a gate that fails on the node is added', async () => {
    const { project } = projectForNode()
    await project.data('init', '--no-canary')
    const rule = ['--name', 'more', '--command', 'echo no >&2; exit 3', '--reason', 'a test']
    const refused = await project.problem('gate', 'add', 'exp_0000', ...rule)
    expect(refused).toMatchObject({ code: 'gate_fails', message: expect.stringContaining('exit 3') })
  })

  test('what a failed job leaves stays for ever, or the next call waits for that job', async () => {
    const { project } = projectForNode()
    await project.data('init', '--no-canary')
    const { experiment } = await project.open(ms(90))
    const never = [
      'executor',
      JSON.stringify({
        kind: 'command',
        submit: ['sh', '-c', 'echo no; exit 1', '{script}'],
        status: ['true', '{job}'],
        cancel: ['true', '{job}'],
      }),
    ]
    await project.data('config', 'set', ...never, '--reason', 'a test')
    expect((await project.problem('run', experiment, '--check')).code).toBe('not_measured')
    await project.data('config', 'set', 'executor', JSON.stringify(LOCAL), '--reason', 'a test')
    expect(await project.data('run', experiment, '--check')).toMatchObject({ passed: true })
    const left = project.repo.path('.assay/runs/run_0001/exp', experiment.slice(4), 'checks/1/job')
    expect(existsSync(left)).toBe(true)
    await project.data('gc')
    expect(existsSync(left)).toBe(false)
  })
})

isolated('what no attempt measures, in isolation on a node', () => {
  test('the isolation that a baseline needs is looked for on the machine that submits', async () => {
    const node = makeTemp('node')
    const outside = makeTemp('outside')
    const project = makeProject({
      env: { TMPDIR: node },
      spec: { executor: LOCAL, measure: { command: 'sh bench/run.sh', isolation: 'auto' } },
      files: {
        'bench/run.sh': `${onlyBelow(node)}\necho x > ${outside}/written || exit 3\ncat src/metrics.txt\n`,
      },
    })
    const { warnings } = await project.data<{ warnings: string[] }>('init')
    expect(warnings.join('\n')).toContain('so Assay allows it in this run')
  })
})

describe('what no attempt measures, by Slurm', () => {
  const missing = noSlurm()
  beforeEach((context) => {
    if (missing !== null) context.skip(missing)
  })

  test('init, check or gates measure on the machine that submits', async () => {
    const cluster = await startCluster()
    const { project } = projectForNode({
      executor: SLURM,
      env: { ...cluster.env },
      below: join(cluster.folder, 'tmp-n[12]'),
    })
    await project.data('init')
    expect(factOf(project)).toMatchObject({ outcome: 'reads' })
    const { experiment } = await project.open(ms(90))
    const check = await project.data<Check>('run', experiment, '--check')
    expect(check).toMatchObject({ passed: true, value: 90, node: expect.stringMatching(/^n[12]$/) })
    const gates = await project.data<Check>('gate', 'check', experiment)
    expect(gates).toMatchObject({ passed: true, node: expect.stringMatching(/^n[12]$/) })
  })
})
