/** Commands in containers that share the repository: the living are not taken over, the vanished are not waited for in silence. */
import { spawn, spawnSync } from 'node:child_process'
import { existsSync, lstatSync, lutimesSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { identify } from '../../cli/process.ts'
import { ASSAY_BIN, dataOf, problemOf, startAssay } from '../rig/assay.ts'
import { isolatedEnv } from '../rig/temp.ts'
import { until } from '../rig/until.ts'
import { hook, makeProject, ms, type Project } from './project.ts'

const canUnshare = (...flags: string[]) => spawnSync('unshare', [...flags, 'true']).status === 0

/** A project whose candidates wait for a file when they say so. */
async function begin(): Promise<Project & { hold: string; waits: Record<string, string> }> {
  const project = makeProject()
  await project.data('init')
  const hold = join(project.control, 'go')
  return {
    ...project,
    hold,
    waits: hook(`touch '${project.control}/waits'; until [ -e '${hold}' ]; do sleep 0.02; done`) as Record<
      string,
      string
    >,
  }
}

/** The CLI in namespaces of its own. Answers when its candidate waits. */
async function inContainer(project: Project, flags: string[], experiment: string) {
  const child = spawn('unshare', [...flags, process.execPath, ASSAY_BIN, 'run', experiment, '--json'], {
    cwd: project.repo.dir,
    env: isolatedEnv(),
    detached: true,
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  let stdout = ''
  child.stdout.on('data', (text) => {
    stdout += text
  })
  const ended = new Promise<string>((resolve) => {
    child.on('close', () => resolve(stdout))
  })
  const kill = () => {
    try {
      process.kill(-(child.pid ?? 0), 'SIGKILL')
    } catch {
      // It ended.
    }
  }
  onTestFinished(kill)
  await until(() => existsSync(join(project.control, 'waits')), { what: 'the candidate in the container' })
  return { ended, kill }
}

interface Doctor {
  healthy: boolean
  findings: { code: string; level: string; what: string }[]
}

test('a judging process in a container counts as dead, and loses its claim, its slot or its lease', async (context) => {
  const flags = ['--pid', '--fork', '--mount-proc']
  if (!canUnshare(...flags)) context.skip('needs the right to make a pid namespace')
  const project = await begin()
  const inside = await project.open({ ...ms(90), ...project.waits })
  const outside = await project.open(ms(80))
  const container = await inContainer(project, flags, inside.experiment)
  expect(await project.problem('run', inside.experiment)).toMatchObject({ code: 'claim_elsewhere' })
  const fixed = await project.data<Doctor>('doctor', '--fix')
  const codes = fixed.findings.filter(({ level }) => level !== 'ok').map(({ code }) => code)
  expect(codes).not.toContain('claim_dead')
  expect(codes).not.toContain('lease_dead')
  const runtime = join(String(isolatedEnv().XDG_RUNTIME_DIR), 'assay', 'slots')
  expect(readdirSync(runtime)).toContain('s-0')
  const waiting = startAssay(['run', outside.experiment, '--json'], { cwd: project.repo.dir })
  await waiting.said('in a container')
  writeFileSync(project.hold, '')
  expect(JSON.parse(await container.ended)).toMatchObject({ data: { status: 'kept', value: 90 } })
  expect(dataOf(await waiting.ended)).toMatchObject({ status: 'kept', value: 80 })
})

test('a command waits for the slot of a killed container silently, for ever, or despite --take-over', async (context) => {
  const flags = ['--uts', '--mount', 'sh', '-c', 'hostname other; exec "$@"', 'sh']
  if (!canUnshare('--uts', '--mount', 'sh', '-c', 'hostname other'))
    context.skip('needs the right to make a namespace')
  const project = await begin()
  const runtime = join(String(isolatedEnv().XDG_RUNTIME_DIR), 'assay', 'slots')
  const lock = project.repo.path('.assay/m/0.lock')
  let value = 99
  const vanish = async () => {
    rmSync(join(project.control, 'waits'), { force: true })
    const { experiment } = await project.open({ ...ms(value--), ...project.waits })
    const container = await inContainer(project, flags, experiment)
    container.kill()
    await container.ended
    expect(lstatSync(lock).isSymbolicLink()).toBe(true)
    return experiment
  }
  const next = async () => (await project.open(ms(value--))).experiment

  // The runtime folder of the new container is empty, and the lock of the slot stands.
  await vanish()
  rmSync(runtime, { recursive: true })
  const waiting = startAssay(['run', await next()], { cwd: project.repo.dir })
  await waiting.said(`on other uses (${lock})`)
  await waiting.said('assay run ID --take-over')
  const before = new Date(Date.now() - 120_000)
  lutimesSync(lock, before, before)
  const looked = await project.data<Doctor>('doctor')
  expect(looked.healthy).toBe(false)
  expect(looked.findings.filter(({ level }) => level === 'problem')).toEqual([
    expect.objectContaining({
      code: 'lock_elsewhere',
      what: expect.stringContaining(`on other holds ${lock}`),
    }),
  ])
  waiting.kill('SIGTERM')
  await waiting.ended
  expect(dataOf(await project.cli(['run', await next(), '--take-over']))).toMatchObject({ status: 'kept' })

  // The lease stands, too; the abort that the hint names is a person's word.
  const aborted = await vanish()
  const behind = startAssay(['run', await next()], { cwd: project.repo.dir })
  await behind.said('a slot, 1 ahead: process ')
  await behind.said('on other')
  behind.kill('SIGTERM')
  await behind.ended
  await project.data('abort', aborted, '--reason', 'the container is gone')
  expect(dataOf(await project.cli(['run', await next()]))).toMatchObject({ status: 'kept' })

  // Nobody says anything: a quarter of an hour of silence does.
  await vanish()
  const then = new Date(Date.now() - 15 * 60_000)
  for (const path of [lock, join(runtime, 's-0')]) lutimesSync(path, then, then)
  expect(dataOf(await project.cli(['run', await next()]))).toMatchObject({ status: 'kept' })
})

test('runs that were killed as they waited for a slot count as identical failures and stop the loop', async () => {
  const project = await begin()
  const lock = project.repo.path('.assay/m/0.lock')
  symlinkSync(JSON.stringify({ ...identify(), nonce: 'x' }), lock)
  for (let round = 0; round < 3; round++) {
    const { experiment } = await project.open(ms(90 - round))
    const waiting = startAssay(['run', experiment, '--json'], { cwd: project.repo.dir })
    await waiting.said('the checkouts of slot 0')
    waiting.kill('SIGTERM')
    expect(problemOf(await waiting.ended).code).toBe('interrupted')
  }
  rmSync(lock)
  const { stop } = await project.data<{ stop: string | null }>('status')
  expect(stop).toBe(null)
})
