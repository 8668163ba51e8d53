import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { makeTemp } from '../rig/temp.ts'
import { scene } from './scene.ts'

describe('what a benchmark gets', () => {
  test('its variables, paths that are ready, a port that can be bound, and nothing of ours', async () => {
    process.env.LEAKED = 'yes'
    const { sample, at, checkout } = scene(['node', 'bench.mjs'])
    writeFileSync(
      join(checkout, 'bench.mjs'),
      `import { existsSync, readdirSync, writeFileSync } from 'node:fs'
       import { createServer } from 'node:net'
       const { ASSAY_RESULT, ASSAY_TRACES, ASSAY_ARTIFACTS, ASSAY_PORT, TMPDIR } = process.env
       writeFileSync('seen.json', JSON.stringify({ env: process.env, result: existsSync(ASSAY_RESULT),
         traces: readdirSync(ASSAY_TRACES), artifacts: readdirSync(ASSAY_ARTIFACTS), tmp: readdirSync(TMPDIR) }))
       writeFileSync(TMPDIR + '/rubbish', '')
       createServer().listen(Number(ASSAY_PORT), '127.0.0.1', function () {
         this.close()
         writeFileSync(ASSAY_RESULT, '{"score": 4}')
       })`,
    )
    const taken = await sample()
    delete process.env.LEAKED
    expect(taken).toMatchObject({ value: 4, fault: null, exit: 0 })
    const seen = JSON.parse(readFileSync(join(checkout, 'seen.json'), 'utf8'))
    expect(seen).toMatchObject({ result: false, traces: [], artifacts: [], tmp: [] })
    expect(seen.env).toMatchObject({
      KEPT: 'yes',
      ASSAY_EXPERIMENT: 'experiment',
      ASSAY_SAMPLE: '0000004d',
      ASSAY_SEED: '77',
      ASSAY_SLOT: '1',
      ASSAY_TRACES: at('desk/traces'),
    })
    expect(Object.keys(seen.env).filter((name) => name === 'LEAKED')).toEqual([])
    expect(existsSync(seen.env.TMPDIR)).toBe(false)
    expect(readdirSync(at('samples')).sort()).toEqual([
      'judge-2-b.json',
      'judge-2-candidate.err',
      'judge-2-candidate.out',
    ])
  })

  test('a variable, a path or an open file that tells the side or the stage', async () => {
    const seen: string[][] = []
    const desk = join(makeTemp('slot'), 'desk')
    const artifacts = makeTemp('artifacts')
    const told = `env | grep '^ASSAY_[^PT]' > told
      open=$(readlink /proc/$$/fd/1 /proc/$$/fd/2); echo "$open" >> told; echo METRIC t=1`
    for (const side of ['parent', 'candidate'] as const) {
      for (const stage of ['judge', 'confirm', 'holdout', 'check'] as const) {
        const { sample, checkout } = scene(told, { side, stage, desk, artifacts })
        expect(await sample()).toMatchObject({ value: 1, fault: null })
        seen.push(readFileSync(join(checkout, 'told'), 'utf8').trim().split('\n').sort())
      }
    }
    const all = [
      ...[`${desk}/err`, `${desk}/out`, `ASSAY_ARTIFACTS=${artifacts}`, 'ASSAY_EXPERIMENT=experiment'],
      ...[`ASSAY_RESULT=${desk}/result.json`, 'ASSAY_SAMPLE=0000004d', 'ASSAY_SEED=77', 'ASSAY_SLOT=1'],
    ]
    expect(seen).toEqual(Array.from({ length: 8 }, () => all))
  })

  test('placeholders quoted for a shell, as they are in a list, in the directory that was asked for', async () => {
    const line = scene(`cd {worktree} && echo '{"score": 1}' > {result}`)
    expect((await line.sample()).value).toBe(1)
    const script = 'cd "$1" && test "$PWD/sub" = "$2" && echo METRIC t=3'
    const list = scene(['/bin/sh', '-c', `here=$PWD; set -- "$1" "$here"; ${script}`, 'sh', '{worktree}'], {
      config: { directory: 'sub' },
    })
    mkdirSync(join(list.checkout, 'sub'))
    expect((await list.sample()).value).toBe(3)
  })

  test('no result file of an earlier sample with the same name', async () => {
    const { sample, at } = scene('true')
    mkdirSync(at('samples'))
    writeFileSync(at('samples/judge-2-b.json'), '{"score": 99}')
    expect(await sample()).toMatchObject({ value: null, fault: { reason: 'metric_error' } })
  })

  test('a folder for traces that is kept when it wrote some', async () => {
    const { sample, at } = scene('echo {} > $ASSAY_TRACES/case.json; echo METRIC t=1')
    await sample()
    expect(readdirSync(at('samples/judge-2-b.traces'))).toEqual(['case.json'])
  })
})

describe('what a sample records', () => {
  test('everything about the execution, unknown as null', async () => {
    const { sample } = scene('echo METRIC t=1.5 ms; echo METRIC ok=true')
    const taken = await sample()
    expect(taken).toMatchObject({
      stage: 'judge',
      side: 'candidate',
      pair: 2,
      seed: 77,
      value: 1.5,
      metrics: { t: 1.5, ok: true, wall_ms: taken.wall_ms },
      units: { t: 'ms' },
      tasks: null,
      artifacts: null,
      exit: 0,
      signal: null,
      timed_out: false,
      output_cut: false,
      fault: null,
      stdout: 'samples/judge-2-candidate.out',
      stderr: 'samples/judge-2-candidate.err',
    })
    expect(Date.parse(taken.ended)).toBeGreaterThanOrEqual(Date.parse(taken.started))
    expect(taken.wall_ms).toBeGreaterThan(0)
  })

  test('metrics of our own by name, also those that the caller knows', async () => {
    const wall = await scene('sleep 0.05', { metric: { name: 'wall_ms' } }).sample()
    expect(wall.value).toBe(wall.wall_ms)
    const bytes = await scene('true', {
      metric: { name: 'source_bytes' },
      known: { source_bytes: 0 },
    }).sample()
    expect(bytes).toMatchObject({ value: 0, fault: null })
    const forged = await scene('echo METRIC t=1; echo METRIC diff_lines=0', {
      known: { diff_lines: 9 },
    }).sample()
    expect(forged).toMatchObject({
      value: null,
      fault: { message: expect.stringContaining('diff_lines = 0') },
    })
  })

  test('what a failed benchmark printed is discarded', async () => {
    expect(await scene('echo METRIC t=0.001; echo boom 1 >&2; exit 3').sample()).toMatchObject({
      value: null,
      metrics: {},
      exit: 3,
      fault: { reason: 'crash', message: 'exit 3: boom 1', raw: 'boom 1' },
    })
  })

  test('a metric that went to stderr is looked for, and said', async () => {
    const { fault } = await scene('echo METRIC t=1 >&2').sample()
    expect(fault?.message).toMatch(/printed to stderr, but only stdout counts/)
  })

  test('all that a benchmark printed stays on the disk, or what it said in the middle is not read', async () => {
    const program = `process.stdout.write('x\\n'.repeat(2e6)); console.log('METRIC t=5'); process.stdout.write('y\\n'.repeat(2e6))`
    const { sample, folder } = scene(['node', '-e', program])
    const { value, stdout } = await sample()
    expect(value).toBe(5)
    const kept = readFileSync(join(folder, stdout), 'utf8')
    expect(kept.length).toBeLessThan(400_000)
    expect(kept).toMatch(/^x\n.*\n\[assay: \d+ bytes cut here\]\n.*y\n$/s)
  })

  test('output in the middle of which a character is split is read whole', async () => {
    const program = `process.stdout.write('é'.repeat(40000)); process.stdout.write('\\nMETRIC é=5\\n')`
    expect((await scene(['node', '-e', program], { metric: { name: 'é' } }).sample()).value).toBe(5)
  })
})

describe('why a sample has no value', () => {
  test.each<[string, string | string[], object, object]>([
    [
      'a signal',
      'kill -SEGV $$',
      { reason: 'crash', message: expect.stringMatching(/SIGSEGV/) },
      { exit: null, signal: 'SIGSEGV' },
    ],
    [
      'a signal that the kernel sends when memory is short',
      'kill -9 $$',
      { message: expect.stringMatching(/out of memory\?/) },
      { signal: 'SIGKILL' },
    ],
    [
      'a missing program',
      ['no-such-program'],
      { reason: 'environment', message: expect.stringMatching(/not found/) },
      { exit: 127 },
    ],
    ['a missing program in a line', 'no-such-program', { reason: 'environment' }, { exit: 127 }],
    [
      'an exit 127 that means something else',
      'echo why >&2; exit 127',
      { reason: 'crash', message: 'exit 127: why' },
      {},
    ],
    [
      'a full disk',
      'echo "write failed: No space left on device" >&2; exit 1',
      { reason: 'environment', message: expect.stringMatching(/No space left|I\/O error/) },
      {},
    ],
    ['a silent failure', 'exit 1', { reason: 'crash', message: 'exit 1, without a word on stderr' }, {}],
  ])('%s', async (_, command, fault, more) => {
    expect(await scene(command).sample()).toMatchObject({ value: null, fault, ...more })
  })

  test('a time limit', async () => {
    expect(await scene('echo METRIC t=1; sleep 300', { config: { timeoutMs: 200 } }).sample()).toMatchObject({
      value: null,
      timed_out: true,
      fault: { reason: 'timeout', message: 'it was ended at its time limit of 0.2 s' },
    })
  })

  test('too much output', async () => {
    const taken = await scene('echo METRIC t=1; yes', { config: { outputBytes: 100_000 } }).sample()
    expect(taken).toMatchObject({
      output_cut: true,
      fault: { reason: 'crash', message: expect.stringMatching(/^output limit/) },
    })
  })

  test('a missing directory, or an interruption', async () => {
    const missing = await scene('true', { config: { directory: 'gone' } }).sample()
    expect(missing).toMatchObject({ exit: null, fault: { reason: 'environment' } })
    expect(await scene('true', { signal: AbortSignal.abort() }).sample()).toMatchObject({
      fault: { reason: 'aborted' },
    })
  })

  test('an attempt folder that cannot be written', async () => {
    const file = join(makeTemp('file'), 'file')
    writeFileSync(file, '')
    const { sample } = scene('true', { folder: file })
    expect(await sample()).toMatchObject({ exit: null, cpu_ms: null, fault: { reason: 'environment' } })
  })

  test('a result that is a folder', async () => {
    expect(await scene('mkdir $ASSAY_RESULT').sample()).toMatchObject({ fault: { reason: 'metric_error' } })
  })
})
