import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { all, type Found, statesOf, switches, switchProject } from '../e2e/attribute-scene.ts'
import { makeProject, type Project } from '../e2e/project.ts'
import { dataOf, problemOf, startAssay } from '../rig/assay.ts'
import { crash, type LineDeath, type NamedDeath } from '../rig/crash.ts'
import { noSlurm, startCluster } from '../rig/slurm.ts'
import { makeTemp } from '../rig/temp.ts'
import { until } from '../rig/until.ts'
import { eventsOf, projectOnNode, SLURM, textBelow, waitedFor } from './scene.ts'

const LOCAL = { kind: 'local', jobs: 2 }

/** Files that let jobs go on, which live on when their test fails. */
const releases: string[] = []
afterEach(() => {
  for (const go of releases.splice(0)) writeFileSync(go, '')
})

/** Three parts: the first pays, the second does not, the third is needed. */
function project(executor: object | null, env: Record<string, string> = { TMPDIR: makeTemp('node') }) {
  const spec = executor === null ? {} : { executor }
  return switchProject(3, '10 * p[1]', { spec, env, breaks: 'p[3] != p[1] && p[1] == 1' })
}

async function winner(made: Project, parts = 3): Promise<string> {
  await made.data('init', '--no-canary')
  const { experiment, status } = await made.attempt(switches(parts, all(parts)))
  expect(status).toBe('kept')
  return experiment
}

const testsOf = (made: Project) => eventsOf(made).filter(({ type }) => type === 'attributed')

const folderOf = (made: Project, experiment: string, test: number) =>
  made.repo.path('.assay/runs/run_0001/exp', experiment.slice(4), 'attributions/1', String(test))

/** The moment at which its file is written, and a line of the ledger. */
const HANDOVER = 'attributions/1/1/handover\\.json'
const ANSWER = '"type":"attributed"'

/** What an answer says without times and names. */
const plain = ({ reduced, summary: _, ...found }: Found) => ({ ...found, reduced: reduced?.status })

/** A test of a part that waits in its first sample until the test lets it go on. */
async function held(executor: object, env: Record<string, string>) {
  const control = makeTemp('held')
  const made = makeProject({
    env,
    // A second slot: for what is measured while the test waits.
    spec: { executor, measure: { command: 'sh bench/run.sh', timeout: '10m', slots: 2 } },
    files: {
      ...switches(2),
      'src/hook.sh': `if [ -e ${control}/hold ] && grep -q '^part 2 1' src/parts.txt; then echo $$ > ${control}/begun; until [ -e ${control}/go ]; do sleep 0.1; done; fi\nawk '$1 == "part" && $2 == 1 { print "METRIC ms=" 100 - $3 }' src/parts.txt; exit 0\n`,
    },
  })
  releases.push(`${control}/go`)
  await made.data('init', '--no-canary')
  const { experiment, status } = await made.attempt(switches(2, all(2)))
  expect(status).toBe('kept')
  writeFileSync(join(control, 'hold'), '')
  const before = made.starts().length
  const running = startAssay<Found>(['attribute', experiment, '--json'], { cwd: made.repo.dir, env })
  await until(() => existsSync(join(control, 'begun')), { what: 'the first sample of the test' })
  const go = () => writeFileSync(join(control, 'go'), '')
  return { made, experiment, running, go, measured: () => made.starts().length - before }
}

describe('the parts of a winner where attempts are jobs', () => {
  test('they are tested in a slot of this machine, or the answer is another one than there', async () => {
    const here = project(null)
    const own = await winner(here)
    const begun = here.starts().length
    const wanted = await here.data<Found>('attribute', own)
    const paid = here.starts().length - begun
    const made = project(LOCAL)
    const experiment = await winner(made)
    const before = made.starts().length
    const found = await made.data<Found>('attribute', experiment)
    expect(plain(found)).toEqual(plain(wanted))
    expect(statesOf(found)).toEqual({ h1: 'pays', h2: 'dead_weight', h3: 'needed' })
    expect(made.starts().length - before).toBe(paid)
    const measured = testsOf(made).filter(({ steps }) => steps !== null)
    expect(measured.length).toBeGreaterThan(1)
    for (const { placed } of measured)
      expect(placed).toMatchObject({ node: expect.any(String), as_of: expect.any(String) })
    expect(await made.data('show', experiment, '--recompute')).toMatchObject({ same: true })
    // A second call asks no engine.
    expect(await made.data('attribute', experiment)).toEqual(found)
    expect(made.starts().length - before).toBe(paid)
    // What the node was sent is gone, and what its job printed stays.
    expect(existsSync(join(folderOf(made, experiment, 1), 'job'))).toBe(false)
    expect(existsSync(join(folderOf(made, experiment, 1), 'job.out'))).toBe(true)
  })

  test.each<[string, LineDeath | NamedDeath]>([
    ['once it has begun', { line: '"type":"attribution_started"', how: 'after', who: 'one' }],
    ['before a job is handed over', { name: HANDOVER, how: 'before', who: 'one' }],
    ['before the engine is called', { name: HANDOVER, how: 'after', who: 'one' }],
    ['once the engine was called', { name: HANDOVER, nth: 2, how: 'before', who: 'one' }],
    ['once its job runs', { name: HANDOVER, nth: 3, how: 'after', who: 'one' }],
    ['before the first answer is recorded', { line: ANSWER, how: 'before', who: 'one' }],
    ['before the second answer is recorded', { line: ANSWER, nth: 2, how: 'before', who: 'one' }],
    ['once an answer is recorded', { line: ANSWER, how: 'after', who: 'one' }],
  ])('a command that dies %s measures a part twice', async (_, death) => {
    const made = project(LOCAL)
    const experiment = await winner(made)
    const before = made.starts().length
    const crashing = crash(death)
    const ran = await made.cli(['attribute', experiment], { env: crashing.env })
    expect([crashing.deaths(), ran.signal]).toEqual([1, 'SIGKILL'])
    const found = await made.data<Found>('attribute', experiment)
    expect(statesOf(found)).toEqual({ h1: 'pays', h2: 'dead_weight', h3: 'needed' })
    const taken = testsOf(made).reduce((sum, { samples }) => sum + Number(samples), 0)
    // Two more are of the verdict on what is left.
    expect(made.starts().length - before).toBe(taken + 2)
    expect(await made.data('show', experiment, '--recompute')).toMatchObject({ same: true })
  })

  test('parts of a metric that varies are told apart by another rule than in a slot', async () => {
    const noise =
      'echo "METRIC score=$(( $(awk \'$1 == "part" && $2 == 2 { print 100 + 100 * $3 }\' src/parts.txt) + $(od -An -N1 -tu1 /dev/urandom) % 3 ))"; exit 0'
    const made = projectOnNode({
      spec: {
        executor: LOCAL,
        metric: { name: 'score', direction: 'maximize' },
        noise: { mode: 'paired', calibrate: 4 },
      },
      files: { ...switches(2), 'src/hook.sh': `${noise}\n` },
    })
    const experiment = await winner(made, 2)
    const found = await made.data<Found>('attribute', experiment)
    expect(statesOf(found)).toEqual({ h1: 'dead_weight', h2: 'pays' })
    expect(testsOf(made)[0]).toMatchObject({ placed: { node: expect.any(String) } })
    expect(await made.data('show', experiment, '--recompute')).toMatchObject({ same: true })
  })

  test('a gate that is added while a part is tested makes its answer another one when it is computed again', async () => {
    const env = { TMPDIR: makeTemp('node') }
    const { made, experiment, running, go } = await held(LOCAL, env)
    await running.said('measured on')
    const late = ['--name', 'late', '--command', 'true', '--reason', 'a test']
    await made.data('gate', 'add', 'exp_0000', ...late)
    go()
    expect(dataOf(await running.ended).ended).toBe(true)
    expect(await made.data('show', experiment, '--recompute')).toMatchObject({ same: true })
  })

  test('a new epoch takes the answer to a test of the old one, or leaves its job on the node', async () => {
    const env = { TMPDIR: makeTemp('node') }
    const { made, experiment, running } = await held(LOCAL, env)
    await running.said('measured on')
    await made.data('epoch', 'open', '--reason', 'a test')
    expect(problemOf(await running.ended).code).toBe('overtaken')
    expect(testsOf(made)).toEqual([])
    expect(existsSync(join(folderOf(made, experiment, 1), 'job/withdrawn'))).toBe(true)
  })

  test('an interruption leaves the job on its node, or the next call waits for that job', async () => {
    const env = { TMPDIR: makeTemp('node') }
    const { made, experiment, running, go, measured } = await held(LOCAL, env)
    await running.said('measured on')
    running.kill('SIGINT')
    await running.said('stops after this test')
    running.kill('SIGINT')
    expect(problemOf(await running.ended).code).toBe('interrupted')
    expect(existsSync(join(folderOf(made, experiment, 1), 'job/withdrawn'))).toBe(true)
    go()
    const found = await made.data<Found>('attribute', experiment)
    expect(statesOf(found)).toEqual({ h1: 'pays', h2: 'dead_weight' })
    // The sample that was cut off was paid as well.
    expect(measured()).toBeGreaterThan(4)
  })

  test('a record that was changed after its job had ended decides about a part', async () => {
    const made = project(waitedFor())
    const experiment = await winner(made)
    const set = (then: string) =>
      made.data(
        ...['config', 'set', 'executor.submit'],
        ...[JSON.stringify((waitedFor(then) as { submit: string[] }).submit), '--reason', 'a test'],
      )
    await set(`sed -i 's/"value":100/"value":80/' record/steps.jsonl`)
    const refused = await made.problem('attribute', experiment)
    expect(refused.code).toBe('not_measured')
    expect(refused.message).toContain('is not the one that the result of its job names')
    expect(testsOf(made)).toEqual([])
    // The next call has a job of its own.
    await set('')
    expect(statesOf(await made.data<Found>('attribute', experiment)).h1).toBe('pays')
  })

  test('the answer that a job gives counts more than its record', async () => {
    const made = project(waitedFor(`sed -i 's/"outcome":"[a-z_]*"/"outcome":"worse"/' result.json`))
    const experiment = await winner(made)
    expect(statesOf(await made.data<Found>('attribute', experiment))).toEqual({
      h1: 'pays',
      h2: 'dead_weight',
      h3: 'needed',
    })
  })
})

describe('the parts of a winner that Slurm measures', () => {
  const missing = noSlurm()
  beforeEach((context) => {
    if (missing !== null) context.skip(missing)
  })

  test('they are tested here, a node gets words of the experiment, or a killed command pays twice', async () => {
    const cluster = await startCluster()
    const { made, experiment, running, go, measured } = await held(SLURM, { ...cluster.env })
    await running.said('measured on')
    expect(textBelow(folderOf(made, experiment, 1))).not.toMatch(/an idea|run_started/)
    // The command dies; the job goes on.
    running.kill('SIGKILL')
    await running.ended
    go()
    const found = await made.data<Found>('attribute', experiment)
    expect(statesOf(found)).toEqual({ h1: 'pays', h2: 'dead_weight' })
    const tests = testsOf(made)
    for (const { placed } of tests) expect(['n1', 'n2']).toContain((placed as { node: string }).node)
    const taken = tests.reduce((sum, { samples }) => sum + Number(samples), 0)
    expect(measured()).toBe(taken + 2)
    expect(await made.data('show', experiment, '--recompute')).toMatchObject({ same: true })
  })
})
