import { existsSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { Readiness } from '../../cli/doctor/parallel/readiness.ts'
import type { Finding } from '../doctor/patient.ts'
import { alive } from '../process/scene.ts'
import { assay, startAssay } from '../rig/assay.ts'
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
    json: { ok: true, data: { healthy: true, root: null, counts: { problem: 0, warning: 1 }, truncated: 0 } },
  })
})

test('a killed measurement leaves a daemon, a claim and a lease that nobody names or ends', async () => {
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
        level !== 'ok' && (code !== 'orphan' || (data as { pid: number }).pid === daemon),
    )
  expect(mine(await project.data<DoctorData>('doctor'))).toEqual([])
  expect(alive(daemon)).toBe(true)

  running.kill('SIGKILL')
  await running.ended
  const before = mine(await project.data<DoctorData>('doctor'))
  expect(before.map(({ code }) => code)).toEqual(['claim_dead', 'lease_dead', 'orphan'])
  expect(before[0]?.repair).toBe(`go on with it: assay run ${experiment} --run run_0001`)
  const mended = mine(await project.data<DoctorData>('doctor', '--fix'))
  expect(mended.map(({ fixed }) => fixed)).toEqual([
    undefined,
    'removed 1 leases of dead processes',
    `ended process ${daemon}`,
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
  expect(said.stdout).toMatch(/^0 problems, 1 warnings; 1 of them can be mended: assay doctor --fix$/m)
  const fixed = await assay(['doctor', '--fix'], { cwd: project.repo.dir })
  expect(fixed.stdout).toContain('fixed: added the line /.assay/ to .git/info/exclude')
  expect(fixed.stdout).toMatch(/^0 problems, 0 warnings, 1 fixed$/m)
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
    slots: { proposed: 1, current: 4, reason: '1 blockers: two measurements at once would meet in them' },
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
  await project.data('init')
  expect(await ask()).toMatchObject({ spec: 'run_0001', blockers: [{ path: 'test/server.js' }] })
})
