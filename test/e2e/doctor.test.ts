import { spawn } from 'node:child_process'
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, describe, expect, test } from 'vitest'
import type { Readiness } from '../../cli/doctor/parallel/readiness.ts'
import { makeToken, ownersOf } from '../../cli/process/identity.ts'
import { belongsTo, endOrphan, findOrphans, identify } from '../../cli/process.ts'
import type { Finding } from '../doctor/patient.ts'
import { alive } from '../process/scene.ts'
import { assay, dataOf, startAssay } from '../rig/assay.ts'
import { makeTemp } from '../rig/temp.ts'
import { until } from '../rig/until.ts'
import { hook, makeProject, ms, type RunData } from './project.ts'

interface DoctorData {
  healthy: boolean
  root: string | null
  counts: Record<string, number>
  findings: Finding[]
  truncated: number
  parallel?: Readiness
}

test('doctor needs a run or a repository', async () => {
  const ran = await assay<DoctorData>(['doctor', '--json'], { cwd: makeTemp() })
  expect(ran).toMatchObject({
    code: 0,
    json: { ok: true, data: { healthy: true, root: null, counts: { problem: 0 }, truncated: 0 } },
  })
  const codes = dataOf(ran).findings.map(({ code }) => code)
  expect(codes).toEqual(expect.arrayContaining(['node', 'platform', 'git', 'disk']))
})

test('a daemon, claim or lease of a killed measurement is not named, or a different repository ends it', async () => {
  const project = makeProject()
  await project.data('init')
  const pidFile = join(project.control, 'daemon')
  const hold = join(project.control, 'hold')
  const { experiment } = await project.open({
    ...ms(90),
    ...hook(
      `if [ ! -f '${hold}' ]; then : > '${hold}'; setsid sh -c 'echo $$ > ${pidFile}; exec sleep 300' & sleep 300; fi`,
    ),
  })
  const running = startAssay(['run', experiment, '--json'], { cwd: project.repo.dir })
  await until(() => existsSync(pidFile) && readFileSync(pidFile, 'utf8').endsWith('\n'), {
    what: 'the daemon',
  })
  const daemon = Number(readFileSync(pidFile, 'utf8'))
  const mine = ({ findings }: DoctorData) =>
    findings.filter(
      ({ level, code, data }) =>
        level !== 'ok' &&
        code !== 'isolation_missing' &&
        (code !== 'orphan' || (data as { pid: number }).pid === daemon),
    )
  expect(mine(await project.data<DoctorData>('doctor'))).toEqual([])
  expect(alive(daemon)).toBe(true)

  running.kill('SIGKILL')
  await running.ended
  const before = mine(await project.data<DoctorData>('doctor'))
  expect(before.map(({ code }) => code)).toEqual(['claim_dead', 'lock_dead', 'lease_dead', 'orphan'])
  expect(before[0]?.repair).toBe(`continue it: assay run ${experiment} --run run_0001`)
  // The slots are the machine's, so their leases are everyone's to clear away.
  const elsewhere = mine(await makeProject().data<DoctorData>('doctor', '--fix'))
  expect(elsewhere).toMatchObject([
    { code: 'lease_dead', fixed: 'removed 1 leases of dead processes' },
    { code: 'orphan', what: expect.stringContaining('in another repository'), fixable: false },
  ])
  expect(alive(daemon)).toBe(true)
  const mended = mine(await project.data<DoctorData>('doctor', '--fix'))
  expect(mended.map(({ code, fixed }) => [code, fixed])).toEqual([
    ['claim_dead', undefined],
    ['lock_dead', `removed ${project.repo.path('.assay/m/0.lock')}`],
    ['orphan', `ended process ${daemon}`],
  ])
  await until(() => !alive(daemon), { what: 'the daemon to end' })
  expect(await project.data<RunData>('run', experiment)).toMatchObject({ status: 'kept', value: 90 })
  expect(mine(await project.data<DoctorData>('doctor'))).toEqual([])
})

test('text for people lacks the cause, the repair or what --fix did', async () => {
  const project = makeProject()
  await project.data('init')
  rmSync(join(project.repo.dir, '.git/info/exclude'))
  const said = await assay(['doctor'], { cwd: project.repo.dir })
  expect(said.stdout).toContain(
    "warning  exclude_missing: the line /.assay/ is not in git's exclude file\n         at: ",
  )
  expect(said.stdout).toContain('         cause: something rewrote .git/info/exclude')
  expect(said.stdout).toMatch(
    /^0 problems, \d+ warnings?; Assay can repair \d+ of them: assay doctor --fix$/m,
  )
  const fixed = await assay(['doctor', '--fix'], { cwd: project.repo.dir })
  expect(fixed.stdout).toContain('fixed: added the line /.assay/ to .git/info/exclude')
  expect(fixed.stdout).toMatch(/^0 problems, [01] warnings?, \d+ fixed$/m)
})

test('a fixed port in a file of the benchmark is not found, or slots are proposed in spite of it', async () => {
  const project = makeProject({
    spec: {
      measure: { command: 'sh bench/run.sh', slots: 4 },
      gates: [{ name: 'smoke', command: 'node test/smoke.js' }],
      metric: { name: 'score', direction: 'maximize' },
    },
    files: {
      'bench/run.sh': 'echo METRIC score=1\n',
      'test/smoke.js': `import './server.js'\n`,
      'test/server.js':
        'import { createServer } from "node:http"\n// a comment: listen(1)\nif (false) createServer().listen(4321)\n',
      'package.json': '{"type":"module"}',
    },
  })
  const ask = async () => (await project.data<DoctorData>('doctor', '--parallel')).parallel
  const asked = await ask()
  expect(asked).toMatchObject({
    truncated: 0,
    slots: {
      proposed: 1,
      current: 4,
      reason: '1 blockers: two measurements at once would disturb each other there',
    },
  })
  expect(asked?.blockers).toEqual([
    {
      path: 'test/server.js',
      line: 3,
      kind: 'port',
      blocks: true,
      text: 'if (false) createServer().listen(4321)',
      advice: 'listen on $ASSAY_PORT: a free one for each sample',
    },
  ])
  await project.data('init', '--no-canary')
  expect(await ask()).toMatchObject({ spec: 'run_0001', blockers: [{ path: 'test/server.js' }] })
})

test('accelerators are not named, a slot that takes its own is a blocker, or what surrounds a sample is not read', async () => {
  const project = makeProject({
    spec: {
      measure: {
        command: 'CUDA_VISIBLE_DEVICES=$ASSAY_SLOT python3 bench/run.py',
        before: 'docker compose up -d',
        environment: { set: { PORT: '8080' } },
      },
      metric: { name: 'score', direction: 'maximize' },
    },
    files: { 'bench/run.py': 'import torch\n' },
  })
  const bin = makeTemp('bin')
  const ask = async (...lines: string[]) => {
    const said = lines.map((line) => `'${line}'`).join(' ')
    writeFileSync(join(bin, 'nvidia-smi'), `#!/bin/sh\nprintf '%s\\n' ${said}\n`, { mode: 0o755 })
    const env = { PATH: `${bin}:${process.env.PATH}` }
    return project.cli<DoctorData>(['doctor', '--parallel'], { env })
  }
  const { parallel } = dataOf(await ask('NVIDIA A100-SXM4-40GB, 40960, 1200', 'Strange, [N/A], 7', 'oops'))
  expect(parallel?.accelerators.slice(0, 2)).toEqual([
    { name: 'NVIDIA A100-SXM4-40GB', mib: 40960, used_mib: 1200 },
    { name: 'Strange', mib: null, used_mib: 7 },
  ])
  expect(parallel?.blockers.map(({ kind, text }) => [kind, text])).toEqual([
    ['service', 'docker compose up -d'],
    ['port', 'PORT=8080'],
  ])
  const env = { PATH: `${bin}:${process.env.PATH}` }
  const said = await assay(['doctor', '--parallel'], { cwd: project.repo.dir, env })
  expect(said.stdout).toContain(
    'accelerators of this machine: NVIDIA A100-SXM4-40GB, 40960 MiB, 1200 MiB in use; ',
  )
})

describe('orphans', () => {
  const children: number[] = []
  afterEach(() => {
    for (const pid of children.splice(0)) if (alive(pid)) process.kill(pid, 'SIGKILL')
  })

  const named = (owner: object) => `00:${Buffer.from(JSON.stringify(owner)).toString('base64url')}`
  const here = () => identify() ?? { pid: 0, started: '', host: '' }
  const dead = () => ({ ...here(), started: '1@00000000' })

  function daemon(token: string, more: Record<string, string> = {}): number {
    const child = spawn('sleep', ['300'], {
      env: { PATH: process.env.PATH, ASSAY_TOKEN: token, ...more },
      stdio: 'ignore',
    })
    const pid = child.pid ?? 0
    children.push(pid)
    return pid
  }

  const isOrphan = (pid: number) => findOrphans().some((orphan) => orphan.process.pid === pid)

  test('a token does not name its owner, or an unnamed part passes for a dead one', () => {
    expect(ownersOf(makeToken('0a'))).toEqual([here()])
    expect(ownersOf(`${makeToken('0a')}.${makeToken('0b')}`)).toEqual([here(), here()])
    expect(ownersOf(`outer.${makeToken('0a')}`)).toBeNull()
    expect(ownersOf('')).toBeNull()
  })

  test('a process is called an orphan while one of its owners may live', async () => {
    const orphan = daemon(named(dead()))
    const others = [
      daemon(makeToken('00')),
      daemon(`${makeToken('00')}.${named(dead())}`),
      daemon(named({ ...dead(), host: 'elsewhere' })),
      daemon(`outer.${named(dead())}`),
    ]
    await until(() => isOrphan(orphan), { what: 'the orphan to show its environment' })
    expect(others.filter(isOrphan)).toEqual([])
  })

  test('an orphan of a repository whose path is not all ASCII is held to be of another', async () => {
    const pid = daemon(named(dead()), { ASSAY_RESULT: '/home/jürgen/数/.assay/runs/1.json' })
    await until(() => isOrphan(pid), { what: 'the orphan' })
    const of = (folder: string) =>
      findOrphans().filter((orphan) => orphan.process.pid === pid && belongsTo(orphan, folder))
    expect(of('/home/jürgen/数/.assay')).toHaveLength(1)
    expect(of('/home/jürgen/.assay')).toEqual([])
  })

  test('a different process than the one that was found is ended', async () => {
    const pid = daemon(named(dead()))
    await until(() => isOrphan(pid), { what: 'the orphan' })
    const [found] = findOrphans().filter((orphan) => orphan.process.pid === pid)
    if (!found) throw new Error('lost it')
    expect(endOrphan({ ...found, process: { ...found.process, started: '1@00000000' } })).toBe(false)
    expect(alive(pid)).toBe(true)
    expect(endOrphan(found)).toBe(true)
    await until(() => !alive(pid), { what: 'the orphan to end' })
  })
})
