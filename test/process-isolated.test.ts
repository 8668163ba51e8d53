/** A job that is isolated: how it ends, what it leaves, what it sees. */
import { spawn } from 'node:child_process'
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { isolatedArgv } from '../cli/process/isolation.ts'
import { family } from '../cli/process/proc.ts'
import { give, type Isolation, isolationSupport, type Mount, seenAs } from '../cli/process.ts'
import { isolated } from './e2e/isolated.ts'
import { bundle, makeScene, processesWith } from './process/scene.ts'
import { until } from './rig/until.ts'

/** Its folder is writable, and is seen where it is. */
function sceneApart(more: Mount[] = [], network = false) {
  const scene = makeScene()
  const isolation: Isolation = {
    mounts: [{ at: scene.folder, from: scene.folder, write: true }, ...more],
    network,
    root: 'read-only',
  }
  const run: typeof scene.run = (command, options) => scene.run(command, { isolation, ...options })
  return { ...scene, run, isolation }
}

isolated('how an isolated job ends', () => {
  test('its exit code or signal is that of the shell or of bubblewrap', async () => {
    const { run, text } = sceneApart()
    expect(await run('echo out; echo err >&2; exit 3')).toMatchObject({
      code: 3,
      signal: null,
      startError: null,
    })
    expect([text('out'), text('err')]).toEqual(['out\n', 'err\n'])
    expect(await run('exit 1')).toMatchObject({ code: 1, startError: null })
    expect(await run('kill -9 $$')).toMatchObject({ code: null, signal: 'SIGKILL', timedOut: false })
    expect(text('err')).toBe('')
    expect(await run(['no-such-program'])).toMatchObject({ code: 127, startError: null })
    expect(text('err')).toContain('no-such-program')
    await run(['printf', '%s|', '$HOME', 'a b', '; exit 9', ''])
    expect(text('out')).toBe('$HOME|a b|; exit 9||')
  })

  test('a mount that cannot be made is taken for a failure of the job', async () => {
    const { run, at } = sceneApart([{ at: '/nowhere', from: '/no/such/path', write: true }])
    expect(await run('touch ran')).toMatchObject({ startError: { code: 'EISOLATION' } })
    expect(existsSync(at('ran'))).toBe(false)
  })

  test('a job is killed at its time limit without a SIGTERM before', async () => {
    const { run, text } = sceneApart()
    const command = 'trap "echo bye; exit 7" TERM; while :; do sleep 0.05; done'
    expect(await run(command, { timeoutMs: 500 })).toMatchObject({ code: 7, timedOut: true })
    expect(text('out')).toBe('bye\n')
    expect(await run('sleep 300', { timeoutMs: 300 })).toMatchObject({ signal: 'SIGTERM', timedOut: true })
  })

  test('the time of its processors, or its memory, is unknown', async () => {
    const { run } = sceneApart()
    const burn = `node -e "const b = Buffer.alloc(3e7, 1); const t = Date.now(); while (Date.now() - t < 1500) b[0]++"`
    const { cpuMs, peakMb } = await run(burn)
    expect(cpuMs).toBeGreaterThanOrEqual(100)
    expect(peakMb).toBeGreaterThan(40)
  })
})

isolated('what an isolated job leaves', () => {
  const MARK = 'echo $ASSAY_TOKEN > token;'

  test.each([
    ['a child in another session', 'setsid sleep 300 & sleep 300', 500],
    [
      'a job that is deaf to SIGTERM',
      `trap "" TERM; setsid sh -c 'trap "" TERM; sleep 300' & while :; do sleep 0.05; done`,
      300,
    ],
    ['a daemon that holds the output', 'setsid sleep 300 & exit 0', 30_000],
    [
      'a daemon without group, folder and output',
      "( setsid sh -c 'cd /; sleep 300' >/dev/null 2>&1 </dev/null & ); exit 0",
      30_000,
    ],
  ])('%s still runs', async (_, command, timeoutMs) => {
    const { run, text } = sceneApart()
    await run(`${MARK} ${command}`, { timeoutMs })
    expect(processesWith(text('token').trim())).toEqual([])
  })

  test.each([
    ...[0, 1, 2, 4, 8].map((ms) => [`${ms} ms after the start`, ms] as const),
    ['when bubblewrap has forked', 'forked'],
    ['when the job runs', 'runs'],
  ] as const)('a job outlives the process that supervises it, killed %s', async (_, moment) => {
    const { folder, job, at, isolation } = sceneApart()
    const program = await bundle(
      `import { supervise } from './process.ts'; await supervise(JSON.parse(process.argv[2]))`,
      folder,
    )
    const command = `touch ready; setsid sh -c 'trap "" TERM; sleep 300' & sleep 300`
    const env = { PATH: process.env.PATH ?? '', MARK: folder }
    const request = JSON.stringify(job(command, { isolation, env }))
    const supervisor = spawn(process.execPath, [program, request], { stdio: 'inherit' })
    // Itself, the watcher, bubblewrap, and what that has forked.
    const started = (count: number) => {
      for (;;) {
        const found = family(supervisor.pid as number)
        if (found.length >= count) return found
      }
    }
    if (moment === 'runs') await until(() => existsSync(at('ready')), { what: 'the job', dir: folder })
    else if (moment === 'forked') process.kill(started(4).at(-1) as number, 'SIGSTOP')
    else {
      started(3)
      for (const began = performance.now(); performance.now() - began < moment; );
    }
    supervisor.kill('SIGKILL')
    // What was forked and has not become bubblewrap yet has the command line of the supervisor.
    const left = () => [...processesWith(folder), ...processesWith(folder, 'cmdline')]
    await until(() => left().length === 0, { what: 'the end of the job' })
  })

  test('a job inherits our descriptors, or makes us signal a process that is not its own', async () => {
    const { run, text } = sceneApart()
    await run('for n in 3 4 5 6 7; do [ ! -e /proc/$$/fd/$n ] || echo $n; done')
    expect(text('out')).toBe('')
    const other = spawn('sleep', ['300'], { detached: true })
    try {
      const forged = `{ "child-pid": ${other.pid} }`
      const ended = await run(`echo '${forged}' > /proc/1/fd/5; sleep 300`, { timeoutMs: 300 })
      expect(ended).toMatchObject({ timedOut: true, signal: 'SIGTERM' })
      expect(other.exitCode ?? other.signalCode).toBeNull()
    } finally {
      other.kill('SIGKILL')
    }
  })

  test.each([
    [true, 'isolated'],
    [false, 'not isolated'],
  ])('what it leaves running is not counted, or what ended is (%s)', async (apart) => {
    const { run } = apart ? sceneApart() : makeScene()
    const left = async (command: string) => (await run(command, { countsLeft: true })).left
    expect(await left('true | cat; sh -c exit')).toBe(0)
    expect(await left('sleep 300 & sleep 300 &')).toBe(2)
    expect(await left('setsid sleep 300 &')).toBe(1)
  })

  test('a job that signals its group ends what isolates it', async () => {
    const { run } = sceneApart()
    expect(await run('trap "" TERM; kill 0; kill -s TERM -- -1; exit 3')).toMatchObject({ code: 3 })
  })

  test('aborting leaves it running', async () => {
    const { run, folder, text, at } = sceneApart()
    const stop = new AbortController()
    const ending = run(`${MARK} sleep 300 & touch ready; wait`, { signal: stop.signal })
    await until(() => existsSync(at('ready')), { what: 'the job', dir: folder })
    stop.abort()
    expect(await ending).toMatchObject({ cancelled: true, timedOut: false, signal: 'SIGTERM' })
    expect(processesWith(text('token').trim())).toEqual([])
  })
})

isolated('what an isolated job sees', () => {
  test('it writes outside of its mounts, sees what is hidden, or reaches the network', async () => {
    const hidden = makeScene()
    writeFileSync(hidden.at('secret'), 'secret')
    const shown = makeScene()
    mkdirSync(shown.at('inside'))
    const { run, text } = sceneApart([
      { at: hidden.folder, from: null },
      { at: hidden.at('seen'), from: shown.folder, write: false },
    ])
    await run(
      `ls '${hidden.folder}'; ls '${hidden.folder}/seen'; for at in / '${hidden.folder}/seen' /etc; do touch "$at/x" 2>/dev/null && echo "wrote $at"; done; grep -c : /proc/net/dev; true`,
    )
    expect(text('out')).toBe('seen\ninside\n1\n')
  })

  test('a job of root may set the clock, undo its mounts or read past them', async (context) => {
    if (process.getuid?.() !== 0) context.skip('needs root')
    const { run, text } = sceneApart()
    await run('grep CapEff /proc/self/status; touch owned && chown 1000 owned && stat -c %u owned')
    const [rights, owner] = text('out').trim().split('\n')
    const bits = BigInt(`0x${rights?.split(/\s+/)[1]}`)
    // DAC_READ_SEARCH, SYS_MODULE, SYS_RAWIO, SYS_CHROOT, SYS_PTRACE, SYS_ADMIN, SYS_BOOT, SYS_TIME, MKNOD
    const forbidden = [2, 16, 17, 18, 19, 21, 22, 25, 27].filter((bit) => (bits >> BigInt(bit)) & 1n)
    expect([forbidden, owner]).toEqual([[], '1000'])
  })

  test('a path has a different name inside, or one that is not shown gets one', () => {
    const isolation: Isolation = {
      mounts: [
        { at: '/tmp', from: '/state/own/tmp', write: true },
        { at: '/home/u/project', from: '/state/m/0/b', write: true },
        { at: '/state', from: null },
      ],
      network: false,
      root: 'read-only',
    }
    expect(seenAs(isolation, '/state/m/0/b/src/a')).toBe('/home/u/project/src/a')
    expect(seenAs(isolation, '/state/m/0/bb')).toBe('/state/m/0/bb')
    expect(seenAs(null, '/state/m/0/b')).toBe('/state/m/0/b')
    const given = give(isolation, 'held-out', '/state/data', { write: false })
    expect(seenAs(given, '/state/data')).toBe('/tmp/assay-held-out')
    const argv = isolatedArgv(given, ['true'], '/state/m/0/b/src', { reports: true })
    expect(argv.slice(argv.indexOf('--chdir'), argv.indexOf('--chdir') + 2)).toEqual([
      '--chdir',
      '/home/u/project/src',
    ])
  })

  test('a machine without bubblewrap is said to have it, or not how to get it', async () => {
    expect(await isolationSupport({ PATH: '/nowhere' })).toMatchObject({ works: false })
    expect(await isolationSupport(process.env)).toEqual({ works: true })
  })
})
