/** A disk that is full, and state that may not be written: told by name, and nothing that was acknowledged is lost. */
import { execFileSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { chmodSync, existsSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { sceneOf, tuneFiles, tuneSpec } from '../e2e/loop-scene.ts'
import { makeProject, ms, type NewData, type RunData, type StatusData, specText } from '../e2e/project.ts'
import { dataOf, problemOf, startAssay } from '../rig/assay.ts'
import { type Crash, crash } from '../rig/crash.ts'
import { makeRepo, type Repo } from '../rig/repo.ts'
import { makeTemp } from '../rig/temp.ts'
import { until } from '../rig/until.ts'
import { NOTHING_LOST, takeToll } from './toll.ts'

const isRoot = process.getuid?.() === 0

/** A small disk of its own in place of a folder of the repository. */
function smallDisk(repo: Repo, mebibytes: number): { fill: (leave?: number) => void; free: () => void } {
  return smallDiskAt(repo.path('.assay'), mebibytes)
}

function smallDiskAt(state: string, mebibytes: number): { fill: (leave?: number) => void; free: () => void } {
  execFileSync('mkdir', [state])
  execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${mebibytes}m`, 'tmpfs', state])
  onTestFinished(() => {
    execFileSync('umount', ['--lazy', state])
  })
  const ballast = join(state, 'trash-of-somebody')
  return {
    /** `leave`: MiB. */
    fill: (leave = 0) => {
      execFileSync('sh', ['-c', `dd if=/dev/zero of='${ballast}' bs=4096 2>/dev/null || true`])
      execFileSync('truncate', ['--size', `-${leave}M`, ballast])
    },
    free: () => rmSync(ballast, { force: true }),
  }
}

const canMount = (): boolean => {
  if (!isRoot) return false
  const folder = makeTemp('mount')
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=1m', 'tmpfs', folder], { stdio: 'pipe' })
    execFileSync('umount', [folder])
    return true
  } catch {
    return false
  }
}

test('a full disk loses acknowledged events, counts against the idea, or is not named', async (context) => {
  if (!canMount()) context.skip('needs the right to mount a small disk')
  const project = makeProject({ spec: { noise: { mode: 'deterministic', calibrate: 2 } } })
  const disk = smallDisk(project.repo, 24)
  const crashes: Crash[] = []
  const cli = <T>(...args: string[]) => {
    const traced = crash(null)
    crashes.push(traced)
    return project.cli<T>(args, { env: traced.env })
  }
  await cli('init')
  const { experiment } = await project.open(ms(90))
  const before = await project.data<StatusData>('status')
  disk.fill()
  for (const args of [
    ['new', '-m', 'x'],
    ['note', 'x'.repeat(9000)],
    ['run', experiment],
    ['seal', experiment],
    ['discard', experiment, '--reason', 'x'],
    ['round', 'open'],
  ]) {
    const ran = await cli(...args)
    expect([args, problemOf(ran).code, ran.code]).toEqual([args, 'disk_full', 4])
  }
  // Reading needs no room. What was refused has left nothing behind.
  const { best, budget, counts } = await project.data<StatusData>('status')
  expect({ best, budget, counts }).toEqual({
    best: before.best,
    budget: before.budget,
    counts: before.counts,
  })
  const { findings } = await project.data<{ findings: { code: string; repair: string }[] }>('doctor')
  expect(findings.map(({ code }) => code)).toContain('disk_low')
  disk.free()
  expect(await project.data<RunData>('run', experiment)).toMatchObject({ status: 'kept', value: 90 })
  expect(await project.data('status')).toMatchObject({ counts: { kept: 2, failed: 0, rejected: 0 } })
  expect(await takeToll(context, { repo: project.repo, crashes })).toEqual(NOTHING_LOST)
})

/** That no store can make smaller. */
const big = (mebibytes: number) => ({ 'src/big': randomBytes(mebibytes * 512 * 1024).toString('hex') })

test('new on a disk without room for a worktree leaves an experiment that is open and has none', async (context) => {
  if (!canMount()) context.skip('needs the right to mount a small disk')
  const project = makeProject({ files: big(6) })
  const disk = smallDisk(project.repo, 48)
  await project.data('init')
  disk.fill(3)
  const ran = await project.cli(['new', '-m', 'x', '--key', 'k'])
  expect([problemOf(ran), ran.code]).toEqual([
    expect.objectContaining({ code: 'disk_full', message: expect.stringContaining('is discarded') }),
    4,
  ])
  expect(await project.data('status')).toMatchObject({ counts: { open: 0, discarded: 1 } })
  expect(await project.data('show', 'exp_0001')).toMatchObject({
    status: 'discarded',
    failure_class: 'environment',
    why: 'the disk had no room for its worktree',
  })
  expect(existsSync(project.repo.path('.assay/w/1-0001'))).toBe(false)
  disk.free()
  // The next one is another; the same command goes on with its own.
  const next = await project.attempt(ms(90))
  expect(next).toMatchObject({ experiment: 'exp_0002', status: 'kept' })
  const again = await project.data<NewData>('new', '-m', 'x', '--key', 'k')
  expect(again).toMatchObject({ experiment: 'exp_0001', repeated: true })
  expect(statSync(join(again.worktree, 'src/big')).size).toBe(6 * 1024 * 1024)
  writeFileSync(join(again.worktree, 'src/metrics.txt'), 'METRIC ms=80\n')
  expect(await project.data('run', 'exp_0001')).toMatchObject({ status: 'kept', value: 80 })
  const { findings } = await project.data<{ findings: { code: string; level: string }[] }>('doctor')
  const problems = findings.filter(({ level, code }) => level === 'problem' && code !== 'disk_low')
  expect(problems).toEqual([])
})

test('the warning about a disk that the next round may fill, or about unneeded worktrees, is late, repeated or missing', async (context) => {
  if (!canMount()) context.skip('needs the right to mount a small disk')
  const files = { ...tuneFiles, ...big(2), 'assay.yaml': JSON.stringify(tuneSpec()) }
  const scene = sceneOf(makeRepo({ files }))
  const disk = smallDisk(scene.repo, 64)
  dataOf(await scene.cli(['init']))
  interface Looked {
    findings: { code: string; what: string }[]
  }
  const warnings = async () =>
    dataOf(await scene.cli<Looked>(['doctor'])).findings.flatMap(({ code, what }) =>
      code === 'room_tight' ? [what] : [],
    )
  expect(await warnings()).toEqual([])
  disk.fill(8)
  expect(await warnings()).toEqual([
    expect.stringMatching(/^run_0001: [78].* MiB are free .* may need .* \(4 worktrees, about 2.* assay gc/),
  ])
  // Two lanes open one experiment each: one warning, and the loop goes on.
  const { stderr } = await scene.startLoop('--rounds', '1').ended
  expect(stderr.match(/warning: .*worktrees.*/g)).toHaveLength(1)
  expect(scene.eventsOf('judged').length).toBeGreaterThan(1)
  disk.free()
  for (const { experiment, status } of scene.eventsOf('judged'))
    if (status === 'rejected') await scene.cli(['discard', experiment, '--reason', 'x'])
  disk.fill(4)
  expect(await warnings()).toEqual([expect.stringContaining('of ended experiments hold about')])
  interface Swept {
    deleted: { kind: string; path: string }[]
  }
  const said = dataOf(await scene.cli<Swept>(['gc', '--dry-run']))
  expect(said.deleted.map(({ kind }) => kind)).toContain('worktree')
  dataOf(await scene.cli(['gc']))
  for (const warning of await warnings()) expect(warning).not.toContain('ended')
})

test('a loop without disk space for a worktree runs until it stalls, or does not continue its round later', async (context) => {
  if (!canMount()) context.skip('needs the right to mount a small disk')
  const files = { ...tuneFiles, ...big(6), 'assay.yaml': JSON.stringify(tuneSpec()) }
  const scene = sceneOf(makeRepo({ files }))
  const disk = smallDisk(scene.repo, 64)
  dataOf(await scene.cli(['init']))
  disk.fill(3)
  const ended = await scene.startLoop().ended
  expect([ended.code, ended.stderr]).toEqual([4, expect.stringContaining('the disk is full: exp_000')])
  expect(ended.stderr).toContain('assay gc')
  expect([scene.eventsOf('round_opened'), scene.eventsOf('round_closed')]).toEqual([[expect.anything()], []])
  disk.free()
  expect(dataOf(await scene.loop('--rounds', '1'))).toMatchObject({ rounds: 1 })
  expect(scene.eventsOf('round_closed')).toMatchObject([{ round: 1 }])
  expect(scene.eventsOf('judged').length).toBeGreaterThan(1)
})

test('a disk that fills while a sample is recorded takes the sample, the verdict, or the run with it', async (context) => {
  if (!canMount()) context.skip('needs the right to mount a small disk')
  const project = makeProject()
  const disk = smallDisk(project.repo, 24)
  const control = join(project.control, 'fill')
  const ballast = project.repo.path('.assay', 'trash-of-somebody')
  // The benchmark itself fills the disk, after it measured.
  project.repo.commit('a benchmark that fills the disk', {
    'assay.yaml': specText({ noise: { mode: 'deterministic', calibrate: 2 } }),
    'bench/run.sh': `cat src/metrics.txt; if [ -e '${control}' ]; then dd if=/dev/zero of='${ballast}' bs=4096 2>/dev/null || true; fi\n`,
  })
  await project.data('init')
  const { experiment } = await project.open(ms(90))
  writeFileSync(control, '')
  const traced = crash(null)
  const ran = await project.cli(['run', experiment], { env: traced.env })
  expect([problemOf(ran).code, ran.code]).toEqual(['disk_full', 4])
  expect(await project.data('show', experiment)).toMatchObject({ status: 'running' })
  rmSync(control)
  disk.free()
  expect(await project.data('run', experiment)).toMatchObject({ status: 'kept', value: 90, attempt: 1 })
  expect(await project.data('status')).toMatchObject({ budget: { experiments: { used: 1 } } })
  expect(await takeToll(context, { repo: project.repo, crashes: [traced] })).toEqual(NOTHING_LOST)
})

test('state that may not be written crashes a verb that writes, or one that only reads', async (context) => {
  if (!canMount()) context.skip('root writes everywhere; a read-only mount needs the right to mount')
  const project = makeProject({ spec: { noise: { mode: 'deterministic', calibrate: 2 } } })
  await project.data('init')
  const { experiment } = await project.open(ms(90))
  const state = project.repo.path('.assay')
  execFileSync('mount', ['--bind', state, state])
  execFileSync('mount', ['-o', 'remount,ro,bind', state])
  const release = () => execFileSync('umount', ['--lazy', state])
  try {
    for (const args of [
      ['new', '-m', 'x'],
      ['note', 'x'],
      ['run', experiment],
      ['seal', experiment],
      ['round', 'open'],
    ]) {
      const ran = await project.cli(args)
      expect([args, ran.code, problemOf(ran).message]).toEqual([
        args,
        4,
        expect.stringMatching(/read-only|EROFS/i),
      ])
    }
    for (const args of [['status'], ['tree'], ['report'], ['show', experiment], ['gc', '--dry-run']])
      await project.data(...args)
    const { findings } = await project.data<{ findings: { code: string }[] }>('doctor')
    expect(findings.map(({ code }) => code)).toContain('not_writable')
  } finally {
    release()
  }
  expect(await project.data('run', experiment)).toMatchObject({ status: 'kept', value: 90 })
})

test('a verb that makes folders on a read-only file system is called a bug of Assay', async (context) => {
  if (!canMount()) context.skip('root writes everywhere; a read-only mount needs the right to mount')
  const project = makeProject({ spec: { noise: { mode: 'deterministic', calibrate: 2 } } })
  await project.data('init')
  const { experiment } = await project.attempt(ms(95))
  const state = project.repo.path('.assay')
  execFileSync('mount', ['--bind', state, state])
  execFileSync('mount', ['-o', 'remount,ro,bind', state])
  try {
    for (const args of [['confirm', experiment], ['finish']]) {
      const ran = await project.cli(args)
      expect([args, ran.code, problemOf(ran)]).toMatchObject([args, 4, { code: 'not_written' }])
    }
  } finally {
    execFileSync('umount', ['--lazy', state])
  }
  expect(await project.data('confirm', experiment)).toMatchObject({ passed: true })
})

test('doctor names a damaged ledger without cause or repair, or other commands ignore the damage', async () => {
  const project = makeProject({ spec: { noise: { mode: 'deterministic', calibrate: 2 } } })
  await project.data('init')
  await project.attempt(ms(90))
  const file = project.repo.path('.assay/runs/run_0001/ledger.jsonl')
  const whole = readFileSync(file, 'utf8')
  const lines = whole.split('\n')
  const damages: Record<string, { text: string; code: string; status: string | null }> = {
    'a torn tail': { text: `${whole}{"v":"1.0","id":"torn","ty`, code: 'ledger_torn', status: null },
    'a corrupt line in the middle': {
      text: lines.with(3, 'x\0y').join('\n'),
      code: 'ledger_corrupt',
      status: 'ledger_corrupt',
    },
    'a future version': {
      text: `${whole}{"v":"2.0","id":"a","at":"x","type":"noted"}\n`,
      code: 'ledger_newer',
      status: 'ledger_newer',
    },
    'CR LF': { text: whole.replaceAll('\n', '\r\n'), code: 'ledger_crlf', status: null },
    'its beginning cut off': {
      text: lines.slice(1).join('\n'),
      code: 'ledger_headless',
      status: 'not_started',
    },
  }
  for (const [name, { text, code, status }] of Object.entries(damages)) {
    writeFileSync(file, text)
    const { findings } = await project.data<{
      findings: { code: string; cause?: string; repair?: string }[]
    }>('doctor')
    const found = findings.find((one) => one.code === code)
    expect([name, found]).toEqual([
      name,
      expect.objectContaining({ cause: expect.any(String), repair: expect.any(String) }),
    ])
    const looked = await project.cli<StatusData>(['status'])
    if (status === null)
      expect([name, looked.json]).toMatchObject([name, { ok: true, data: { best: { value: 90 } } }])
    else expect([name, problemOf(looked).code, looked.code]).toEqual([name, status, 3])
    expect([name, readFileSync(file, 'utf8') === text]).toEqual([name, true])
  }
  rmSync(file)
  expect(await project.problem('status')).toMatchObject({ exit: 3, code: 'no_run' })
  const { findings } = await project.data<{ findings: { code: string }[] }>('doctor')
  expect(findings.map(({ code }) => code)).toContain('ledger_missing')
  writeFileSync(file, whole)
  chmodSync(file, 0o644)
  expect(await project.data('status')).toMatchObject({ best: { value: 90 } })
})

test('the file of a candidate that filled the disk stays, so nothing can be judged any more', async (context) => {
  if (!canMount()) context.skip('needs the right to mount a small disk')
  const project = makeProject({
    spec: {
      noise: { mode: 'deterministic', calibrate: 2 },
      worktree: { build: { command: 'sh src/build.sh' } },
      gates: [{ name: 'looks', command: 'sh src/gate.sh' }],
    },
    files: { 'src/build.sh': 'true\n', 'src/gate.sh': 'true\n' },
  })
  smallDisk(project.repo, 12)
  const temporary = join(makeTemp('small'), 'tmp')
  smallDiskAt(temporary, 4)
  const cli = async (...args: string[]) =>
    dataOf(await project.cli<RunData>(args, { env: { TMPDIR: temporary } }))
  await cli('init')
  const fill = (file: string) => `dd if=/dev/zero of="${file}" bs=65536\n`
  const ways: Record<string, { files: Record<string, string>; reason: string; message: string }> = {
    'from its checkout': {
      files: { 'src/hook.sh': `${fill('src/big')} || exit 1` },
      reason: 'crash',
      message: 'it filled the disk',
    },
    'from many files in a folder without rights': {
      files: {
        'src/hook.sh': `mkdir src/d; chmod 700 src/d; ${fill('src/d/big').trim()} || { chmod 0 src/d; exit 1; }`,
      },
      reason: 'crash',
      message: 'it filled the disk',
    },
    'from its temporary folder': {
      files: { 'src/hook.sh': `${fill('$TMPDIR/big').trim()} || exit 1` },
      reason: 'crash',
      message: 'it filled the disk',
    },
    'from its build': {
      files: { 'src/build.sh': fill('src/big') },
      reason: 'crash',
      message: 'it filled the disk',
    },
    'from a gate': {
      files: { 'src/gate.sh': fill('src/big') },
      reason: 'gate',
      message: 'it filled the disk',
    },
  }
  let value = 99
  for (const [name, { files, reason, message }] of Object.entries(ways)) {
    const bad = await project.open({ ...ms(1), ...files })
    const judged = await cli('run', bad.experiment)
    expect([name, judged]).toEqual([
      name,
      expect.objectContaining({ status: expect.stringMatching(/failed|rejected/) }),
    ])
    expect([name, judged.reason, judged.message]).toEqual([name, reason, expect.stringContaining(message)])
    value--
    const good = await project.open(ms(value))
    expect([name, await cli('run', good.experiment)]).toMatchObject([name, { status: 'kept', value }])
  }
})

test('what a killed measurement left on a full disk is not named, and gc does not free it', async (context) => {
  if (!canMount()) context.skip('needs the right to mount a small disk')
  const project = makeProject({ spec: { noise: { mode: 'deterministic', calibrate: 2 } } })
  smallDisk(project.repo, 12)
  await project.data('init')
  const control = join(project.control, 'full')
  const bad = await project.open({
    'src/hook.sh': `dd if=/dev/zero of=src/big bs=65536; touch '${control}'; sleep 60\n`,
  })
  const running = startAssay(['run', bad.experiment], { cwd: project.repo.dir })
  await until(() => existsSync(control), { what: 'the disk to be full' })
  running.kill('SIGKILL')
  await running.ended
  expect(await project.problem('new', '-m', 'x')).toMatchObject({ code: 'disk_full' })
  const { findings } = await project.data<{ findings: { code: string; what: string }[] }>('doctor')
  expect(findings.find(({ code }) => code === 'leftovers')?.what).toContain('src/big')
  const { deleted, bytes } = await project.data<{ deleted: object[]; bytes: number }>('gc')
  expect(deleted).toContainEqual(
    expect.objectContaining({
      kind: 'leftover',
      path: expect.stringMatching(/^\.assay\/m\/0\/[ab]\/src\/big$/),
    }),
  )
  expect(bytes).toBeGreaterThan(1024 * 1024)
  expect(await project.attempt(ms(90))).toMatchObject({ status: 'kept', value: 90 })
})
