/** Lines that people read, where no run is needed to make them. */
import { tmpdir } from 'node:os'
import { expect, test } from 'vitest'
import { ok } from '../../cli/result.ts'
import { renderResult } from '../../cli/terminal/output.ts'
import { progressTo } from '../../cli/terminal/progress.ts'
import { spent } from '../../cli/terminal/summary.ts'
import { withRun } from '../../cli/verbs/run-in-commands.ts'
import { describePlan, type LoopPlan } from '../../cli/view/loop-plan.ts'
import { assay } from '../rig/assay.ts'

const none = { used: 0, limit: null, left: null }
const plan: LoopPlan = {
  run: 'run_0001',
  workflow: 'optimize',
  host: 'tune',
  model: null,
  concurrency: 2,
  stop: 'budget',
  rounds: { limit: null, budgeted: 0, stall: 8, target: null },
  round: { lanes: 0, depth: 0, experiments: 0, agent_calls: 8, judging_ms: [0, 0] },
  budget: {
    experiments: { used: 64, limit: 64, left: 0 },
    hours: none,
    failures: none,
    tokens: none,
    usd: none,
  },
  buys: { count: 0, cap: 'experiments' },
  candidate: null,
}

test('a loop that is over is told to have rounds of no lanes, or nothing to do next', () => {
  expect(describePlan(plan).map(String)).toEqual([
    'run_0001: assay loop would end at once, because of the stop rule budget. Nothing was changed.',
    'Host: tune, at most 2 at once',
    'Budget: experiments 64 of 64 used',
    'Not limited: hours, failures, tokens, usd',
    'Next: assay report, or another limit: assay config get',
  ])
})

test('a terminal breaks a line within a word, or a program gets it broken', () => {
  const lines = (columns: number | null) =>
    renderResult(ok({ data: null, text: () => 'one two three four five', wrap: true }), {
      json: false,
      columns,
      say: String,
    })
      .stdout.trimEnd()
      .split('\n')
  expect(lines(null)).toEqual(['one two three four five'])
  const broken = lines(12)
  expect(broken.length).toBeGreaterThan(1)
  expect(broken.flatMap((line) => line.trim().split(' '))).toEqual(['one', 'two', 'three', 'four', 'five'])
})

test('a run of some minutes shows 0 hours', () => {
  expect(spent({ used: 0.034, limit: null }, 'hours')).toBe('0.03 hours')
  expect(spent({ used: 12.34, limit: 20 }, 'hours')).toBe('12.3 of 20 hours')
})

test('a sample is shown with all the digits of a double, or does not tell whose it is', () => {
  const said: string[] = []
  const { tell } = progressTo((text) => said.push(text), { tty: false, columns: 80, brief: false })
  const sample = { type: 'sample', experiment: 'exp_0001', stage: 'judge', pair: 0 } as const
  tell({ ...sample, side: 'candidate', value: 100 / 3, wall_ms: 12 })
  tell({ ...sample, side: 'parent', value: null, wall_ms: 12 })
  expect(said).toEqual([
    'exp_0001: judge 1: 33.333 (12 ms)\n',
    'exp_0001: judge 1, parent: no value (12 ms)\n',
  ])
})

test('a topic of the guide is listed without a sentence of its own, or with more than one', async () => {
  const { stdout } = await assay(['guide'], { cwd: tmpdir() })
  const lines = stdout.trimEnd().split('\n')
  expect(lines.length).toBeGreaterThan(15)
  expect(lines.filter((line) => !/^assay guide [a-z-]+ {2,}[`A-Z][^|]{30,120}\.$/.test(line))).toEqual([])
  expect(lines.filter((line) => /[.!?] |\*\*/.test(line))).toEqual([])
  expect(lines).toContain(
    'assay guide spec            One file says what to optimise, how it is measured, and what must hold.',
  )
  expect(new Set(lines.map((line) => line.slice(28))).size).toBe(lines.length)
})

test('the run does not stand where its verb takes it, stands twice, or behind a verb that has none', () => {
  const hints = [
    [
      'wait for it (assay wait --for loop), or: assay loop',
      'wait for it (assay wait --run R --for loop), or: assay loop --run R',
    ],
    ['assay round open --take-over', 'assay round open --run R --take-over'],
    ['run it first: assay run exp_0003', 'run it first: assay run --run R exp_0003'],
    ['assay tree lists them', 'assay tree --run R lists them'],
    ['assay loop --run R, assay round open --run R', 'assay loop --run R, assay round open --run R'],
    [
      'assay init --new, assay doctor, assay guide spec, or assay itself',
      'assay init --new, assay doctor, assay guide spec, or assay itself',
    ],
  ]
  for (const [hint = '', told] of hints) expect(withRun(hint, 'R')).toBe(told)
})
