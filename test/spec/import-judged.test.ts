import { expect, test } from 'vitest'
import { parse } from 'yaml'
import { importSpec } from '../../cli/spec/import/import.ts'

const JUDGED = `
name: clearer-summaries
description: Summarise support threads so that an agent need not read them.
metric:
  primary: { type: judge, name: clarity, direction: maximize, target: 4.5 }
  degenerate_gates:
    - { name: empty_share, check: "<= 0.05" }
  judge:
    rubric: |
      Grade the summary from 1 to 5. Answer as JSON: {"clarity": N}
      5: a reader knows what to do next. 1: it misleads.
    scoring: { primary: clarity, secondary: [tone] }
    model: sonnet
    sample_size: 12
    stratification:
      - { bucket: long, count: 8 }
      - { bucket: short, count: 4 }
    singleton_sample: 2
    singleton_rubric: Is it fine?
    batch_size: 4
    minimum_improvement: 0.25
    max_total_cost_usd: 3
measurement: { command: node summarise.mjs }
scope: { mutable: [src/], immutable: [bench/] }
stopping: { max_iterations: 20 }
execution: { mode: serial }
`

function imported(text: string) {
  const place = { file: 'spec.yaml', has: () => false, isFolder: () => false }
  const read = importSpec({ text, file: 'spec.yaml' }, { folder: place, root: place })
  if (!read.ok)
    throw new Error([read.problem, ...(read.problem.more ?? [])].map(({ message }) => message).join('; '))
  return { spec: parse(read.value.yaml), lines: read.value.lines }
}

test('a judged spec with a backlog loses its rubric, its strata, its least gain or its cap', () => {
  const { spec } = imported(JUDGED)
  expect(spec.metric).toEqual({ name: 'clarity', direction: 'maximize', min_improvement: 0.25 })
  expect(spec.judge).toMatchObject({
    ...{ host: 'claude-code', model: 'sonnet', mode: 'rubric', items: 'items.jsonl', batch: 12, seed: 42 },
    strata: [
      { stratum: 'long', count: 32 },
      { stratum: 'short', count: 16 },
    ],
  })
  expect(spec.judge.rubric).toContain('5: a reader knows what to do next')
  expect(spec.budget).toEqual({ experiments: 20, hours: 8, judge_usd: 3 })
  expect(spec.scope.immutable).toEqual(['bench/**', 'items.jsonl'])
})

test('a key of the judge that has no equal is dropped without a word', () => {
  const { lines } = imported(JUDGED)
  const without = lines.filter(({ to }) => to === null).map(({ from }) => from)
  expect(without).toEqual(
    expect.arrayContaining([
      'metric.judge.scoring.secondary',
      'metric.judge.singleton_sample',
      'metric.judge.batch_size',
      'metric.primary.target',
    ]),
  )
  expect(lines.filter(({ to, why }) => to === null && why === null)).toEqual([])
})

test.each([
  ['a judge beside a measured metric', 'type: judge', 'type: hard', 'has no effect with `type: hard`'],
  [
    'a rubric without grades',
    /rubric: \|[\s\S]*?scoring/,
    'rubric: Is it clear?\n    scoring',
    'does not say what the grades 1 and 5',
  ],
  ['a model of another kind', 'model: sonnet', 'model: gpt', 'cannot be "gpt"'],
  ['a metric to minimise', 'direction: maximize', 'direction: minimize', 'more is better'],
])('%s is read', (_, from, to, message) => {
  expect(() => imported(JUDGED.replace(from, to))).toThrow(message)
})
