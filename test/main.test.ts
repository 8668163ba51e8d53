import { spawn, spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { beforeAll, describe, expect, test } from 'vitest'
import { build } from '../scripts/build.mjs'
import { assay, startAssay } from './rig/assay.ts'
import { plantCli } from './rig/planted-cli.ts'
import { isolatedEnv } from './rig/temp.ts'

const answer = (data: string, rest = '') =>
  `export const run = async (context, args) => ({ ok: true, value: { data: ${data}, text: () => ['one', 'two']${rest} } })`

const VERBS = {
  status: answer('{ run: args.run, cwd: context.cwd, colour: context.colour, tty: context.tty }'),
  run: answer('{ status: "failed" }', ', exit: 4'),
  show: `export const run = async () => ({ ok: false, problem: { kind: 'refused', code: 'no_such', message: 'there is no exp_0009', hint: 'assay tree', at: 'a.yaml:1:2\\nbad: \\u001b[31mline', data: { best: 1 }, more: [{ kind: 'usage', code: 'second', message: 'and this' }] } })`,
  tree: `export const run = async () => { throw new TypeError('planted') }`,
  report: `export const run = async () => ({ ok: true, value: { data: null, text: () => 'line\\n'.repeat(400000) } })`,
  round: answer(
    '{ got: await context.stdin(), random: context.random(4).length, clock: context.clock() instanceof Date }',
  ),
  wait: `export const run = async ({ tell, signal }) => {
    tell({ type: 'log', message: 'waiting' })
    const keep = setInterval(() => {}, 1000)
    await new Promise((resolve) => signal.addEventListener('abort', resolve))
    clearInterval(keep)
    return { ok: false, problem: { kind: 'interrupted', code: 'interrupted', message: 'stopped in good order' } }
  }`,
  loop: `export const run = async ({ tell, signal }) => {
    tell({ type: 'log', message: 'deaf' })
    signal.addEventListener('abort', () => tell({ type: 'log', message: 'heard it' }))
    setInterval(() => {}, 1000)
    await new Promise(() => {})
  }`,
  audit: `export const run = async ({ tell }) => {
    tell({ type: 'warning', message: 'careful \\u001b[2J' })
    tell({ type: 'sample', experiment: 'exp_0001', stage: 'judge', pair: 0, side: 'parent', value: 1.5, wall_ms: 20 })
    return { ok: true, value: { data: 1, text: () => 'done' } }
  }`,
}

describe('the edge', () => {
  let bin = ''
  let cwd = ''
  beforeAll(async () => {
    cwd = plantCli(VERBS)
    await build({ root: cwd })
    bin = join(cwd, 'bin', 'assay.cjs')
  })
  const run = (args: string[], more: { input?: string; env?: Record<string, string> } = {}) =>
    assay(args, { cwd, bin, ...more })

  test('an answer that is not one line of JSON, or text and data mixed', async () => {
    const json = await run(['status', '--json', '--run', 'run_0002'])
    expect(json.stdout).toBe(
      `{"ok":true,"data":{"run":"run_0002","cwd":${JSON.stringify(cwd)},"colour":false,"tty":false}}\n`,
    )
    expect(json.stderr).toBe('')
    const text = await run(['status'])
    expect([text.code, text.stdout, text.stderr]).toEqual([0, 'one\ntwo\n', ''])
  })

  test('an attempt that could not be judged ends with 0', async () => {
    expect((await run(['run', 'exp_0001'])).code).toBe(4)
    expect((await run(['run', 'exp_0001', '--json'])).stdout).toBe('{"ok":true,"data":{"status":"failed"}}\n')
  })

  test('a problem is printed without its place, next step, data, or the further problems', async () => {
    const text = await run(['show', 'exp_0009'])
    expect([text.code, text.stdout]).toEqual([3, ''])
    expect(text.stderr).toBe(
      'assay: there is no exp_0009\n  at a.yaml:1:2\n     bad: \\u001b[31mline\n  → assay tree\nassay: and this\n',
    )
    const json = await run(['show', 'exp_0009', '--json'])
    expect([json.code, json.stderr]).toEqual([3, ''])
    expect(json.json).toEqual({
      ok: false,
      problem: {
        code: 'no_such',
        message: 'there is no exp_0009',
        hint: 'assay tree',
        at: 'a.yaml:1:2\nbad: \u001b[31mline',
        more: [{ code: 'second', message: 'and this' }],
        data: { best: 1 },
      },
    })
  })

  test('a thrown error passes for a problem of the user', async () => {
    const text = await run(['tree'])
    expect([text.code, text.stdout]).toEqual([1, ''])
    expect(text.stderr).toContain('this is a bug in Assay')
    expect(text.stderr).toContain('TypeError: planted')
    const json = await run(['tree', '--json'])
    expect(json.code).toBe(1)
    expect(json.json).toMatchObject({ ok: false, problem: { code: 'bug' } })
  })

  test('standard input, clock or randomness does not reach the verb', async () => {
    const ran = await run(['round', 'findings', '--json'], { input: '{"a":"é"}' })
    expect(ran.json).toEqual({ ok: true, data: { got: '{"a":"é"}', random: 8, clock: true } })
  })

  test('a reader that closes the pipe early makes the command fail', () => {
    const ran = spawnSync('/bin/sh', ['-c', `"$0" "$1" report | head -1; true`, process.execPath, bin], {
      cwd,
      env: isolatedEnv(),
      encoding: 'utf8',
    })
    expect([ran.stdout, ran.stderr]).toEqual(['line\n', ''])
  })

  test('a long answer is cut at the end of the process', async () => {
    expect((await run(['report'])).stdout.length).toBe(2_000_000)
  })

  test('a long answer is cut when the pipe was made non-blocking by a different process', async () => {
    const perl = 'fcntl(STDOUT, F_SETFL, fcntl(STDOUT, F_GETFL, 0) | O_NONBLOCK); exec @ARGV'
    const child = spawn('perl', ['-MFcntl', '-e', perl, process.execPath, bin, 'report'], {
      cwd,
      env: isolatedEnv(),
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    let size = 0
    for await (const chunk of child.stdout) size += chunk.length
    expect(size).toBe(2_000_000)
  })

  test('the first Ctrl-C does not reach the verb, or the exit code is not 130', async () => {
    const running = startAssay(['wait', '--for', 'loop', '--json'], { cwd, bin })
    await running.said('waiting')
    running.kill('SIGINT')
    const ran = await running.ended
    expect([ran.code, ran.signal]).toEqual([130, null])
    expect(ran.json).toEqual({
      ok: false,
      problem: { code: 'interrupted', message: 'stopped in good order' },
    })
  })

  test('a verb that does not stop cannot be stopped by a second Ctrl-C', async () => {
    const running = startAssay(['loop'], { cwd, bin })
    await running.said('deaf')
    running.kill('SIGINT')
    await running.said('heard it')
    running.kill('SIGINT')
    expect((await running.ended).code).toBe(130)
  })

  test('progress is noisy for programs, lets foreign text repaint the terminal, or ignores --quiet', async () => {
    const text = await run(['audit', 'exp_0001'])
    expect(text.stdout).toBe('done\n')
    expect(text.stderr).toBe('warning: careful \\u001b[2J\nexp_0001: judge 1, parent: 1.5 (20 ms)\n')
    expect((await run(['audit', 'exp_0001', '--json'])).stderr).toBe('warning: careful \\u001b[2J\n')
    expect((await run(['audit', 'exp_0001', '--quiet'])).stderr).toBe('')
  })

  test('usage problems exit with a code other than 2, or without JSON despite --json', async () => {
    const ran = await run(['stauts', '--json'])
    expect(ran.code).toBe(2)
    expect(ran.json).toEqual({
      ok: false,
      problem: {
        code: 'unknown_verb',
        message: 'there is no verb "stauts"',
        hint: 'did you mean: assay status?',
      },
    })
  })

  test('help needs the module of a verb, or says nothing about its flags', async () => {
    const all = await run([])
    expect(all.code).toBe(0)
    expect(all.stdout).toMatch(/^ {2}frontier +the parents that the next round would offer$/m)
    const one = await run(['discard', '--help'])
    expect(one.code).toBe(0)
    expect(one.stdout).toContain('Usage: assay discard ID [flags]')
    expect(one.stdout).toContain('(build, eval, hypothesis, environment)')
    expect(one.stdout).toContain('Example:\n  assay discard exp_0007')
    expect((await run(['round', 'briefs', '-h'])).stdout).toContain('--token T')
  })

  test('the short way to --version and the long one disagree', async () => {
    const short = await run(['--version'])
    const long = await run(['--quiet', '--version'])
    expect(short.stdout).toMatch(/^assay \d+\.\d+\.\d+\n$/)
    expect(long.stdout).toBe(short.stdout)
  })
})

describe('the launcher', () => {
  test('a copy that was never built fails with a stack instead of the next step', async () => {
    const cwd = plantCli({})
    const ran = await assay(['status'], { cwd, bin: join(cwd, 'bin', 'assay.cjs') })
    expect([ran.code, ran.stdout]).toEqual([2, ''])
    expect(ran.stderr).toBe('assay: Assay is not built yet; in its folder, run: npm run build\n')
  })
})
