import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { faultOfEnding, tailOf } from '../../cli/evaluate/command.ts'
import { WEIGHTS } from '../../cli/suite/loss.ts'
import { readLeft } from '../../cli/suite/read.ts'
import { runSuite } from '../../cli/suite/run.ts'
import { makeTemp } from '../rig/temp.ts'

const NO_BUDGET = {
  ...{ max_loops: null, max_total_workers: null, max_total_tokens: null },
  ...{ max_tool_calls: null, max_depth: null, max_wall_time: null },
}
const task = (name: string, seconds: number | null = null) => ({
  ...{ name, task: name, workflow: null, model: null, worker_model: null, extra: {} },
  budget: { ...NO_BUDGET, max_wall_time: seconds },
  weights: WEIGHTS,
})

/** One task of each kind: what the program does is the name of the task. */
const PROGRAM = `
import { mkdirSync, openSync, writeFileSync, ftruncateSync } from 'node:fs'
const { name } = JSON.parse(process.env.ASSAY_TASK)
const result = process.env.ASSAY_RESULT
const all = { eval: 0.2, critique: 0.5, gate_rejections: 0, budget_remaining_pct: 50 }
const acts = {
  honest: () => writeFileSync(result, JSON.stringify({ ...all, status: 'partial' })),
  nan: () => writeFileSync(result, '{"eval": NaN, "critique": 0.5, "gate_rejections": 0, "budget_remaining_pct": 50, "status": "partial"}'),
  hang: () => setInterval(() => {}, 1000),
  crash: () => { throw new Error('broken on purpose') },
  late: () => { writeFileSync(result, JSON.stringify({ ...all, status: 'partial' })); process.exit(3) },
  silent: () => {},
  prints: () => { const line = 'x'.repeat(1 << 20); for (;;) process.stdout.write(line) },
  huge: () => ftruncateSync(openSync(result, 'w'), 2 ** 30),
}
acts[name]()
`

test('a task that hangs, crashes, prints NaN or writes 1 GB leaves no loss, or a better one than an honest try', async () => {
  const folder = makeTemp('suite')
  const at = (name: string) => join(folder, name)
  for (const name of ['desk', 'tmp']) mkdirSync(at(name))
  writeFileSync(at('program.mjs'), PROGRAM)
  const names = ['honest', 'nan', 'hang', 'crash', 'late', 'silent', 'prints', 'huge']
  const run = await runSuite({
    suite: {
      name: 'all kinds',
      artifacts: [],
      concurrency: 3,
      tasks: names.map((name) => task(name, name === 'hang' ? 1 : null)),
    },
    command: [process.execPath, 'program.mjs'],
    cwd: folder,
    env: { PATH: process.env.PATH ?? '' },
    isolation: null,
    desk: at('desk'),
    temporary: at('tmp'),
    stdout: at('out'),
    stderr: at('err'),
    timeoutMs: 20_000,
    outputBytes: 4 << 20,
    folders: [],
    faultOf: faultOfEnding,
    tailOf,
  })
  expect(run.fault).toBeNull()
  const losses = Object.fromEntries(Object.entries(run.tasks).map(([name, { score }]) => [name, score]))
  expect(losses).toEqual({
    honest: expect.closeTo(0.545),
    nan: expect.closeTo(0.425),
    hang: 1,
    crash: 1,
    late: expect.closeTo(0.595),
    silent: 1,
    prints: 1,
    huge: 1,
  })
  expect(run.loss).toBeCloseTo(6.565 / 8, 5)
  expect(
    Object.entries(run.tasks).map(([name, { status, reason }]) => `${name} ${status}: ${reason}`),
  ).toEqual([
    'honest partial: undefined',
    'nan partial: undefined',
    'hang failed: it was ended at its time limit of 1 s',
    expect.stringMatching(/^crash failed: exit 1: .*broken on purpose/),
    expect.stringMatching(/^late failed: exit 3/),
    'silent failed: it wrote no result',
    'prints failed: output limit: it printed more than it may, and was ended',
    'huge failed: its result has more than 4 MiB',
  ])
  expect(Object.keys(run.tasks)).toEqual(names)
})

test('a link or a pipe is read as a result', () => {
  const folder = makeTemp('left')
  writeFileSync(join(folder, 'real.json'), '{"eval":1}')
  symlinkSync(join(folder, 'real.json'), join(folder, 'link.json'))
  expect(readLeft(join(folder, 'link.json'))).toBe('its result is not a file')
  mkdirSync(join(folder, 'run'))
  expect(readLeft(join(folder, 'run'))).toBe('run_completion.json is not there')
  writeFileSync(join(folder, 'run', 'metrics.jsonl'), '{"kind":"metric.eval","score":0.5}\nnot json\n')
  expect(readLeft(join(folder, 'run'))).toMatchObject({ signals: { eval: 0.5, status: null } })
})
