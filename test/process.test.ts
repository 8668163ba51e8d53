import { spawn } from 'node:child_process'
import { existsSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { availableParallelism, hostname } from 'node:os'
import { describe, expect, test } from 'vitest'
import { startedByPs } from '../cli/process/identity.ts'
import { parseProcessors, parseStat, processorsBetween } from '../cli/process/proc.ts'
import { execute, identify, isAlive, startDetached, startWithChannel } from '../cli/process.ts'
import { alive, bundle, makeScene, processesWith } from './process/scene.ts'
import { missingProgram } from './rig/needs.ts'
import { until } from './rig/until.ts'

const noPython = missingProgram('Python', ['python3', '-c', ''])

describe('how a job ends', () => {
  test('every fact has its own field: an exit code is no signal, and neither is a success', async () => {
    const { run, text } = makeScene()
    expect(await run('echo out; echo err >&2; exit 3')).toMatchObject({
      code: 3,
      signal: null,
      timedOut: false,
      cancelled: false,
      startError: null,
      outputCut: false,
      escaped: 0,
    })
    expect([text('out'), text('err')]).toEqual(['out\n', 'err\n'])
    expect(await run('kill -9 $$')).toMatchObject({ code: null, signal: 'SIGKILL', timedOut: false })
  })

  test('a list is never given to a shell', async () => {
    const { run, text } = makeScene()
    await run(['printf', '%s|', '$HOME', 'a b', '; exit 9', ''])
    expect(text('out')).toBe('$HOME|a b|; exit 9||')
  })

  test('a missing program is 127, a file that is no program 126, a missing folder or log a start error', async () => {
    const { run, at, text } = makeScene()
    expect(await run(['no-such-program'])).toMatchObject({ code: 127, startError: null })
    expect(text('err')).toContain('no-such-program')
    writeFileSync(at('plain'), 'no program')
    expect(await run([at('plain')])).toMatchObject({ code: 126 })
    expect(await run('true', { cwd: at('nowhere') })).toMatchObject({
      code: null,
      startError: { code: 'ENOENT' },
    })
    expect(await run('true', { stdout: at('nowhere/out') })).toMatchObject({ startError: { code: 'ENOENT' } })
    expect(await run(['true', 'x'.repeat(3_000_000)])).toMatchObject({ startError: { code: 'E2BIG' } })
  })

  test('one file for both streams keeps the order between them', async () => {
    const { run, at, text } = makeScene()
    await run('echo 1; echo 2 >&2; echo 3', { stdout: at('both'), stderr: at('both') })
    expect(text('both')).toBe('1\n2\n3\n')
  })

  test('what was aborted before the start never starts', async () => {
    const { run, at } = makeScene()
    const result = await run('touch started', { signal: AbortSignal.abort() })
    expect(result).toMatchObject({ cancelled: true, code: null, startError: null })
    expect(existsSync(at('started'))).toBe(false)
  })

  test('aborting ends the job and everything it started', async () => {
    const { run, folder, text, at } = makeScene()
    const stop = new AbortController()
    const ending = run('echo $ASSAY_TOKEN > token; sleep 300 & touch ready; wait', { signal: stop.signal })
    await until(() => existsSync(at('ready')), { what: 'the job', dir: folder })
    stop.abort()
    expect(await ending).toMatchObject({ cancelled: true, timedOut: false, signal: 'SIGTERM' })
    expect(processesWith(text('token').trim())).toEqual([])
  })

  test('a limit beyond the longest timer of Node is not "at once"', async () => {
    const { run } = makeScene()
    expect(await run('sleep 0.1', { timeoutMs: 2 ** 40 })).toMatchObject({ code: 0, timedOut: false })
  })

  test('a program that waits for all of its children does not wait for our watcher', async ({ skip }) => {
    skip(noPython !== null, noPython ?? '')
    const { run, at, text } = makeScene()
    const program = 'import os\ntry:\n  os.wait()\nexcept ChildProcessError:\n  print("none")'
    const result = await run(['python3', '-c', program], { stdout: at('out'), timeoutMs: 20_000 })
    expect(result).toMatchObject({ code: 0, timedOut: false })
    expect(text('out')).toBe('none\n')
  })

  test('the job inherits no descriptor but its own three', async () => {
    const { run, text } = makeScene()
    await run(['/bin/sh', '-c', 'for n in 3 4 5 6 7 8 9; do [ -e /proc/$$/fd/$n ] && echo $n; done; true'])
    expect(text('out')).toBe('')
  })
})

describe('nothing outlives a job', () => {
  const survivors = (scene: ReturnType<typeof makeScene>) => processesWith(scene.text('token').trim())
  const MARK = 'echo $ASSAY_TOKEN > token;'

  test('a job that ignores SIGTERM is ended at its limit', async () => {
    const scene = makeScene()
    const result = await scene.run(`${MARK} trap "" TERM; while :; do sleep 0.05; done`, { timeoutMs: 300 })
    expect(result).toMatchObject({ code: null, signal: 'SIGKILL', timedOut: true })
    expect(survivors(scene)).toEqual([])
  })

  test('a job that obeys SIGTERM at its limit may still say so', async () => {
    const scene = makeScene()
    const command = `${MARK} trap "echo bye; exit 7" TERM; while :; do sleep 0.05; done`
    expect(await scene.run(command, { timeoutMs: 300 })).toMatchObject({ code: 7, timedOut: true })
    expect(scene.text('out')).toBe('bye\n')
  })

  test('a child in a different session is ended with a job that runs into its limit', async () => {
    const scene = makeScene()
    const result = await scene.run(`${MARK} setsid sleep 300 & sleep 300`, { timeoutMs: 500 })
    expect(result).toMatchObject({ timedOut: true, signal: 'SIGTERM' })
    expect(survivors(scene)).toEqual([])
  })

  test('a successful job that leaves a daemon holding its output answers, and the daemon is ended', async () => {
    const scene = makeScene()
    const result = await scene.run(`${MARK} echo METRIC t=1.5; setsid sleep 300 &`)
    expect(result).toMatchObject({ code: 0, signal: null, timedOut: false })
    expect(scene.text('out')).toBe('METRIC t=1.5\n')
    expect(survivors(scene)).toEqual([])
  })

  test('a double-forked daemon without our files is found by its token', async () => {
    const scene = makeScene()
    const daemon = "( setsid sh -c 'sleep 300 & touch ready; wait' >/dev/null 2>&1 </dev/null & )"
    const result = await scene.run(`${MARK} ${daemon}; until [ -e ready ]; do sleep 0.01; done`)
    expect(result).toMatchObject({ code: 0, escaped: 2 })
    expect(survivors(scene)).toEqual([])
  })

  test('a daemon that dropped its token is found by the output file it can write to', async () => {
    const scene = makeScene()
    const daemon = "setsid env -i /bin/sh -c 'echo $$ > pid; exec sleep 300' &"
    const result = await scene.run(`${daemon} while [ ! -s pid ]; do sleep 0.01; done`)
    expect(result).toMatchObject({ code: 0, escaped: 1 })
    expect(alive(Number(scene.text('pid')))).toBe(false)
  })

  test('someone who only reads the output file is left alone', async () => {
    const scene = makeScene()
    const job = scene.run('echo hello; until [ -e seen ]; do sleep 0.01; done')
    await until(() => scene.text('out') !== '', { what: 'the job' })
    // Younger than the job, so that only the way it opened the file tells it from a stray.
    const reader = spawn('tail', ['-f', scene.at('out')], { stdio: ['ignore', 'pipe', 'ignore'] })
    try {
      await new Promise((resolve) => reader.stdout.once('data', resolve))
      writeFileSync(scene.at('seen'), '')
      expect(await job).toMatchObject({ code: 0, escaped: 0 })
      expect(alive(reader.pid ?? 0)).toBe(true)
    } finally {
      reader.kill('SIGKILL')
    }
  })

  test('children left in the group are ended, and do not count as escaped', async () => {
    const scene = makeScene()
    expect(await scene.run(`${MARK} sleep 300 & sleep 300 &`)).toMatchObject({ code: 0, escaped: 0 })
    expect(survivors(scene)).toEqual([])
  })

  test('a daemon that forks again while it is ended survives', async () => {
    const scene = makeScene()
    const spread = `spread() { n=$1; while [ $n -gt 0 ]; do setsid sh -c 'sleep 300' & n=$((n-1)); done; }; spread 20`
    expect(await scene.run(`${MARK} ${spread}`)).toMatchObject({ code: 0 })
    expect(survivors(scene)).toEqual([])
  })

  test('the watcher is gone after a normal end', async () => {
    const scene = makeScene()
    await scene.run('echo $$ > group')
    const ids = (await execute({ argv: ['ps', '-eo', 'pgid=,stat='] })).stdout.toString()
    expect(ids).toMatch(/^ *\d+ +[A-Z]/m)
    expect(ids).not.toMatch(new RegExp(`^ *${scene.text('group').trim()} +[^Z]`, 'm'))
  })

  test('a job dies with the process that supervises it, even by SIGKILL, even after its own SIGTERM', async () => {
    const scene = makeScene()
    const program = await bundle(
      `import { supervise } from './process.ts'; await supervise(JSON.parse(process.argv[2]))`,
      scene.folder,
    )
    const job = scene.job(
      'echo $ASSAY_TOKEN > token; trap "" TERM; kill 0; touch ready; while :; do sleep 0.05; done',
    )
    const supervisor = spawn(process.execPath, [program, JSON.stringify(job)], { stdio: 'inherit' })
    await until(() => existsSync(scene.at('ready')), { what: 'the job', dir: scene.folder })
    expect(survivors(scene)).not.toEqual([])
    supervisor.kill('SIGKILL')
    await until(() => survivors(scene).length === 0, { what: 'the end of the job' })
  })

  test('of many jobs that first of all signal their group, one outlives the process that supervises them', async () => {
    const scene = makeScene()
    const program = await bundle(
      `import { supervise } from './process.ts'; await Promise.all(JSON.parse(process.argv[2]).map(supervise))`,
      scene.folder,
    )
    const ids = Array.from({ length: 60 }, (_, n) => n)
    const jobs = ids.map((n) =>
      scene.job(`trap "" TERM; kill 0; echo $$ > ready-${n}; mv ready-${n} pid-${n}; exec sleep 1000`, {
        stdout: scene.at(`out-${n}`),
        stderr: scene.at(`err-${n}`),
      }),
    )
    const supervisor = spawn(process.execPath, [program, JSON.stringify(jobs)], { stdio: 'inherit' })
    await until(() => ids.every((n) => existsSync(scene.at(`pid-${n}`))), {
      what: 'the jobs',
      dir: scene.folder,
    })
    supervisor.kill('SIGKILL')
    const pids = ids.map((n) => Number(scene.text(`pid-${n}`)))
    try {
      await until(() => !pids.some(alive), { what: 'the end of the jobs' })
    } finally {
      for (const pid of pids) if (alive(pid)) process.kill(pid, 'SIGKILL')
    }
  })

  test('the token of an outer run stays visible in an inner one', async () => {
    const scene = makeScene()
    process.env.ASSAY_TOKEN = 'outer'
    try {
      await scene.run(MARK)
    } finally {
      delete process.env.ASSAY_TOKEN
    }
    expect(scene.text('token')).toMatch(/^outer\.[0-9a-f]{32}(:[\w-]+)?\n$/)
  })
})

describe('output and cost', () => {
  test('a flood is ended, and head and tail are kept around a line that counts the rest', async () => {
    const { run, at, text } = makeScene()
    const result = await run('echo first; yes', { outputCap: 1_000_000 })
    expect(result).toMatchObject({ outputCut: true, timedOut: false, signal: 'SIGKILL' })
    const out = text('out')
    expect(out.startsWith('first\ny\n')).toBe(true)
    expect(out).toMatch(/\n\[assay: \d+ bytes cut here\]\n/)
    const line = /\n\[assay: (\d+) bytes cut here\]\n/.exec(out)
    expect(statSync(at('out')).size).toBe(65_536 + 262_144 + (line?.[0].length ?? 0))
    expect(Number(line?.[1])).toBeGreaterThan(1_000_000 - 65_536 - 262_144)
  })

  test('input is lost or cut, or a job that does not read it is an error', async () => {
    const { run, text } = makeScene()
    const input = `ü${'x'.repeat(1_000_000)}\n`
    expect(await run('cat', { input })).toMatchObject({ code: 0 })
    // Not toBe: the difference of two such texts takes minutes.
    expect(text('out') === input).toBe(true)
    expect(await run('exec <&-; echo done', { input })).toMatchObject({ code: 0, startError: null })
    expect(await run('cat; echo end')).toMatchObject({ code: 0 })
    expect(text('out')).toBe('end\n')
  })

  test('a job that falls silent is waited for, or one that continues printing is ended', async () => {
    const { run } = makeScene()
    const silent = await run('echo one; sleep 1000', { quietMs: 300 })
    expect(silent).toMatchObject({ quiet: true, timedOut: false, code: null, signal: 'SIGTERM' })
    const steady = 'for i in 1 2 3 4 5 6 7 8 9; do echo $i; sleep 0.2; done'
    expect(await run(steady, { quietMs: 1500 })).toMatchObject({ quiet: false, code: 0 })
  })

  test('a flood that ended before anyone looked is over the cap all the same', async () => {
    const { run } = makeScene()
    const result = await run('printf %600s x; printf %600s x >&2', { outputCap: 1000 })
    expect(result).toMatchObject({ code: 0, outputCut: true })
    expect(await run('head -c 1000 /dev/zero', { outputCap: 1000 })).toMatchObject({ outputCut: false })
  })

  test('CPU time is that of the job and of the children it waited for, not the time it slept', async () => {
    const { run } = makeScene()
    const busy = 'const e = process.cpuUsage(); while (process.cpuUsage(e).user < 300000);'
    const worked = await run(`${JSON.stringify(process.execPath)} -e '${busy}'; true`)
    expect(worked.cpuMs).toBeGreaterThanOrEqual(290)
    const slept = await run('sleep 0.4')
    expect(slept.cpuMs).toBeLessThan(290)
  })

  // To ask the clock is system time, so both are asked about.
  const BURN = `'${process.execPath}' -e 'do var { user, system } = process.cpuUsage(); while (user + system < 400000);'`
  test.each([
    ['waits for', `${BURN}; true`],
    ['never waits for', `( ${BURN}; touch done ) & while [ ! -e done ]; do sleep 0.01; done`],
    ['forks twice', `( ( ${BURN}; touch done ) & ); while [ ! -e done ]; do sleep 0.01; done`],
    [
      'sends into a session without environment',
      `( setsid env -i /bin/sh -c "${BURN}; touch done" & ); while [ ! -e done ]; do sleep 0.01; done`,
    ],
  ])('the CPU time of a child that a job %s is not counted, or twice', async (_, command) => {
    const { run } = makeScene()
    const { cpuMs } = await run(command)
    expect(cpuMs).toBeGreaterThan(330)
    expect(cpuMs).toBeLessThan(750)
  })

  test('many children that come and go are counted twice when they are waited for', async () => {
    const { run } = makeScene()
    const short = `'${process.execPath}' -e 'do var { user, system } = process.cpuUsage(); while (user + system < 100000);'`
    const job = await run(`/bin/sh -c '${short.replaceAll("'", '"')}; true' & ${`${short}; `.repeat(5)} wait`)
    const plain = await run('true')
    expect(plain.cpuMs).toBeLessThan(60)
    // Six of 100 ms, in ticks of 10 ms, and the shells.
    expect(job.cpuMs).toBeGreaterThan(6 * 80)
    expect(job.cpuMs).toBeLessThan(6 * 150)
  })

  test('CPU time is unknown when a different child lived at the same time', async () => {
    const one = makeScene()
    const two = makeScene()
    const both = await Promise.all([one.run('sleep 0.1'), two.run('sleep 0.1')])
    expect(both.map((result) => result.cpuMs)).toEqual([null, null])
    expect((await one.run('true')).cpuMs).not.toBeNull()
  })

  test('the processors that a job took count as those of others, or the time of the machine is more than there is', async () => {
    const { run } = makeScene()
    const busy = 'while (process.cpuUsage().user < 300000);'
    const { processors, ms, cpuMs } = await run([process.execPath, '-e', busy])
    const own = (cpuMs ?? 0) / (ms * availableParallelism())
    const { others = 2, idle = 2 } = processors ?? {}
    // The clocks of the machine and of the job have ticks of 10 ms each.
    expect(Math.abs(others + idle + own - 1)).toBeLessThan(0.15)
    // Too short for those ticks, unless the machine lets it wait.
    const short = await run('true')
    expect([short.processors === null, short.ms]).toEqual([short.ms < 50, short.ms])
  })

  test.each(['', 'kill $!; '])(
    'a server that a benchmark starts and does not wait for counts among the other programs (%s)',
    async (end) => {
      const { run } = makeScene()
      const busy = `'${process.execPath}' -e "do var { user, system } = process.cpuUsage(); while (user + system < 1000000); console.log(1); setInterval(() => {}, 1e6)"`
      const job = await run(`mkfifo up; ${busy} > up & read -r _ < up; ${end}exit 0`)
      const { others = 2, idle = 2 } = job.processors ?? {}
      // Who looks every 100 ms sees most of its 1,000 ms, even when it is let wait itself.
      expect(others + idle).toBeLessThan(1 - 250 / (job.ms * availableParallelism()))
      // Its time is the benchmark's, though it left it behind.
      expect(job.cpuMs).toBeGreaterThan(700)
    },
  )

  test('processors that a program may not use count, or those that it may do not', () => {
    const busy = 'cpu  900 0 0 0 0 0 0 0 0 0\ncpu0 1 2 3 10 20 4 5 100 1 2\ncpu1 9 0 0 0 0 0 0 0 0 0\n'
    const stat = `${busy}cpu2 10 0 0 0 0 0 0 0 0 0\ncpu12 20 0 0 5 0 0 0 0 0 0\nintr 7 0\n`
    expect(parseProcessors(stat, '0,2-11')).toEqual({ busyMs: 250, idleMs: 300 })
    expect(parseProcessors(stat, '12')).toEqual({ busyMs: 200, idleMs: 50 })
    expect(parseProcessors(stat, '0-12')).toEqual({ busyMs: 540, idleMs: 350 })
  })

  test('a machine that waits for its disk is taken for one without an idle processor', () => {
    const stat = (busy: number, idle: number, disk: number) =>
      parseProcessors(`cpu0 ${busy} 0 0 ${idle} ${disk} 0 0 0 0 0\n`, '0-1')
    const [before, after] = [stat(0, 0, 0), stat(40, 10, 150)]
    expect(processorsBetween(before, after, { ms: 1000, cpuMs: 200 })).toEqual({
      others: 0.1,
      idle: 0.8,
    })
  })

  test('peak memory sees what a grandchild held and gave back', async () => {
    const { run } = makeScene()
    const program = 'let b = Buffer.alloc(200 * 1024 * 1024, 1); setTimeout(() => { b = null }, 250)'
    const { peakMb } = await run(`${JSON.stringify(process.execPath)} -e '${program}'; true`)
    expect(peakMb).toBeGreaterThan(200)
    expect(peakMb).toBeLessThan(1000)
  })

  test('peak memory does not see what a process that forked twice held', async () => {
    const { run } = makeScene()
    const program = 'Buffer.alloc(200 * 1024 * 1024, 1); require("node:fs").writeFileSync("done", "")'
    const holder = `'${process.execPath}' -e '${program}'`
    const job = await run(`( setsid ${holder} & ); while [ ! -e done ]; do sleep 0.01; done`)
    expect(job.peakMb).toBeGreaterThan(200)
    // Our own watcher is none of it.
    const watched = await run(['sleep', '0.1'])
    const alone = await run('sleep 0.1; true')
    expect(alone.peakMb ?? 0).toBeGreaterThan(watched.peakMb ?? 99)
    expect(watched.peakMb).toBeLessThan(3)
  })
})

describe('proof of death', () => {
  test('a live process is itself; a different start time, or none, is dead; a different host is not provable', () => {
    const self = identify()
    if (self === null) throw new Error('no identity')
    expect(self).toMatchObject({ pid: process.pid, host: hostname() })
    expect(isAlive(self)).toBe(true)
    expect(isAlive({ ...self, started: `1${self.started}` })).toBe(false)
    expect(isAlive({ ...self, pid: 2 ** 22 + 1 })).toBe(false)
    expect(isAlive({ ...self, pid: 2 ** 22 + 1, host: 'elsewhere' })).toBe(true)
  })

  test('a zombie is dead', async () => {
    const parent = spawn('/bin/sh', ['-c', 'sleep 301 & echo $!; exec sleep 300'], {
      stdio: ['ignore', 'pipe', 'ignore'],
    })
    try {
      const pid = Number(await new Promise<Buffer>((resolve) => parent.stdout.once('data', resolve)))
      const stat = (of: number | undefined) => readFileSync(`/proc/${of}/stat`, 'utf8')
      // A shell would reap it; `sleep` never does.
      await until(() => stat(parent.pid).includes('(sleep)'), { what: 'the shell to become sleep' })
      process.kill(pid, 'SIGKILL')
      await until(() => stat(pid).includes(') Z'), { what: 'a zombie' })
      expect(identify(pid)).toBeNull()
      expect(isAlive({ pid, started: '1', host: hostname() })).toBe(false)
    } finally {
      parent.kill('SIGKILL')
    }
  })

  test('ps tells the same start for one process, whatever the caller’s zone and language', () => {
    const before = startedByPs(process.pid)
    const zone = process.env.TZ
    process.env.TZ = 'Pacific/Kiritimati'
    try {
      expect(startedByPs(process.pid)).toBe(before)
    } finally {
      if (zone === undefined) delete process.env.TZ
      else process.env.TZ = zone
    }
    expect(before).toMatch(/^\w{3} \w{3} \d+ \d\d:\d\d:\d\d \d{4}$/)
    expect(startedByPs(2 ** 22 + 1)).toBeNull()
  })

  test('a program name with spaces and brackets does not shift the fields', () => {
    const fields = Array.from({ length: 50 }, (_, index) => index + 3)
    const text = `42 (a) b) ${['S', ...fields.slice(1)].join(' ')}`
    expect(parseStat(text)).toEqual({
      state: 'S',
      parent: 4,
      group: 5,
      started: 22,
      kernel: false,
      ownCpuMs: (14 + 15) * 10,
      childrenCpuMs: (16 + 17) * 10,
    })
  })
})

describe('other ways to start', () => {
  test('execute answers although a daemon keeps the pipe open', async () => {
    const scene = makeScene()
    const result = await execute({
      argv: ['/bin/sh', '-c', 'echo hi; sleep 300 & echo $! > pid'],
      cwd: scene.folder,
    })
    process.kill(Number(scene.text('pid')), 'SIGKILL')
    expect({ ...result, stdout: result.stdout.toString() }).toMatchObject({
      code: 0,
      stdout: 'hi\n',
      timedOut: false,
    })
  })

  test('execute never rejects: too long a command, a missing program, an abort before the start', async () => {
    expect(await execute({ argv: ['true', 'x'.repeat(3_000_000)] })).toMatchObject({
      startError: { code: 'E2BIG' },
    })
    expect(await execute({ argv: ['no-such-program'] })).toMatchObject({ startError: { code: 'ENOENT' } })
    expect(await execute({ argv: ['true'], signal: AbortSignal.abort() })).toMatchObject({
      cancelled: true,
      code: null,
    })
  })

  test('execute keeps so much of a stream and says that it cut', async () => {
    const result = await execute({ argv: ['/bin/sh', '-c', 'printf 12345; printf abc >&2'], maxBytes: 4 })
    expect([result.stdout.toString(), result.stderr.toString(), result.cut]).toEqual(['1234', 'abc', true])
  })

  test('a detached worker lives in its own session and writes to its log', async () => {
    const scene = makeScene()
    const { pid } = startDetached({
      argv: ['/bin/sh', '-c', 'echo out; echo err >&2; ps -o sid= -p $$; touch done'],
      cwd: scene.folder,
      env: { PATH: process.env.PATH },
      logFile: scene.at('log'),
    })
    await until(() => existsSync(scene.at('done')), { what: 'the worker', dir: scene.folder })
    expect(scene.text('log').split(/\s+/).filter(Boolean)).toEqual(['out', 'err', String(pid)])
    expect(() => startDetached({ argv: ['/no/such'], cwd: '/', env: {}, logFile: scene.at('log') })).toThrow(
      '/no/such',
    )
  })

  test('a channel delivers every message, in order, before it tells the end', async () => {
    const scene = makeScene()
    writeFileSync(
      scene.at('child.mjs'),
      `process.on('message', (n) => {
         for (let i = 0; i < n; i++) process.send({ i })
         process.send('last', () => process.exit(5))
       })`,
    )
    const channel = startWithChannel({
      argv: [process.execPath, scene.at('child.mjs')],
      cwd: scene.folder,
      env: process.env,
    })
    const got: unknown[] = []
    channel.onMessage((message) => got.push(message))
    channel.send(500)
    expect(await channel.ended).toMatchObject({ code: 5, signal: null, cancelled: false })
    expect([got.length, got[0], got[499], got[500]]).toEqual([501, { i: 0 }, { i: 499 }, 'last'])
    channel.send('nobody hears this')
  })

  test('killing a channel ends the child and what it started', async () => {
    const scene = makeScene()
    symlinkSync(process.execPath, scene.at('node'))
    writeFileSync(
      scene.at('child.mjs'),
      `import { spawn } from 'node:child_process'; const c = spawn('sleep', ['300']); process.send(c.pid); setInterval(() => {}, 1000)`,
    )
    const channel = startWithChannel({
      argv: [scene.at('node'), scene.at('child.mjs')],
      cwd: scene.folder,
      env: process.env,
    })
    const pid = await new Promise<number>((resolve) =>
      channel.onMessage((message) => resolve(message as number)),
    )
    channel.kill()
    expect(await channel.ended).toMatchObject({ code: null, signal: 'SIGKILL', cancelled: true })
    await until(() => !alive(pid), { what: 'the end of the grandchild' })
    const missing = startWithChannel({ argv: ['/no/such'], cwd: '/', env: {} })
    expect(await missing.ended).toMatchObject({ startError: { code: 'ENOENT' } })
  })
})
