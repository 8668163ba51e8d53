import { Ajv } from 'ajv'
import { expect, test } from 'vitest'
import { specJsonSchema } from '../../cli/spec/json-schema.ts'
import { readSpec } from '../../cli/spec/read.ts'
import { suiteSpec } from '../e2e/suite-scene.ts'

const text = (parts: object = {}, suite: object = {}) => JSON.stringify(suiteSpec(parts, suite), null, 1)

function refusal(parts: object, suite: object = {}): string {
  const read = readSpec(text(parts, suite), 'assay.yaml')
  if (read.ok) throw new Error('it was read')
  return `${String(read.problem.at).split('\n')[0]} ${read.problem.message}`
}

test('a suite does not stand in the place of a benchmark and a metric', () => {
  const read = readSpec(text(), 'assay.yaml')
  if (!read.ok) throw new Error(read.problem.message)
  const { measure, metric } = read.value
  expect(metric).toEqual({
    name: 'loss',
    direction: 'minimize',
    unit: null,
    target: null,
    min_improvement: { absolute: 0 },
  })
  expect(measure.command).toEqual([process.execPath, 'bench/run-task.mjs'])
  expect(measure.suite?.artifacts[0]).toEqual({
    name: 'pitfalls',
    file: 'prompts/pitfalls.md',
    maxChars: 20_000,
  })
  expect(read.value.gradient).toBeUndefined()
})

test('weights of a task do not replace those of the suite one by one; a gradient has no candidates by default', () => {
  const tasks = [{ name: 'one', task: 'Do it.', loss: { critique: 0.5 } }]
  const read = readSpec(text({ gradient: {} }, { tasks }), 'assay.yaml')
  if (!read.ok) throw new Error(read.problem.message)
  expect(read.value.measure.suite?.tasks[0]?.weights).toMatchObject({ eval: 1, critique: 0.5, status: 0 })
  expect(read.value.gradient).toEqual({ learning_rate: 0.5, candidates: ['pitfalls', 'preamble'] })
})

test.each<[string, object, object?]>([
  ['`gradient` needs a `suite`', { suite: undefined, gradient: {}, ...command(), noise: undefined }],
  ['`single` is for a suite: noise would decide what is kept', { suite: undefined, ...command() }],
  ['`suite.run` and `measure.command` both say what is measured', { measure: { command: 'true' } }],
  ['a suite computes its loss itself, so there is no scorer', { measure: { score: { command: 'true' } } }],
  [
    'the metric of a suite is `loss`, with `direction: minimize`',
    { metric: { name: 'ms', direction: 'minimize' } },
  ],
  ['the loss of a suite is the mean of its tasks', { tasks: { aggregate: 'max' } }],
  [
    'prompts/pitfalls.md is not mutable, so pitfalls could not be learnt',
    { scope: { mutable: ['prompts/preamble.md'] } },
  ],
  ['`rubric` is no text of the suite', { gradient: { candidates: ['rubric'] } }],
  ['`learning_rte` is not a key of `gradient`', { gradient: { learning_rte: 0.5 } }],
  ['`weights` is not a key of `suite.tasks[0]`', {}, { tasks: [{ name: 'a', task: 'b', weights: {} }] }],
  [
    '`max_loop` is not a key of `suite.tasks[0].budget`',
    {},
    { tasks: [{ name: 'a', task: 'b', budget: { max_loop: 1 } }] },
  ],
  [
    '`suite.tasks[1].name` is "a" like that of entry 1',
    {},
    {
      tasks: [
        { name: 'a', task: 'b' },
        { name: 'a', task: 'c' },
      ],
    },
  ],
  ['all weights of this task are 0', {}, { tasks: [{ name: 'a', task: 'b', loss: { eval: 0 } }] }],
  [
    'prompts/a.md is the file of two artifacts',
    {},
    {
      artifacts: [
        { name: 'a', file: 'prompts/a.md' },
        { name: 'b', file: 'prompts/a.md' },
      ],
    },
  ],
])('%s: this is not refused, or without its line', (message, parts, suite) => {
  expect(refusal(parts, suite)).toMatch(/^assay\.yaml:\d+:\d+ /)
  expect(refusal(parts, suite)).toContain(message)
})

function command() {
  return { measure: { command: 'true' }, metric: { name: 'ms', direction: 'minimize' } }
}

test('an editor is told that a suite needs a metric, or that a spec without one needs no benchmark', () => {
  const valid = new Ajv({ strict: false }).compile(specJsonSchema())
  expect(valid(suiteSpec({ gradient: {} }))).toBe(true)
  expect(valid({ ...suiteSpec(), suite: undefined })).toBe(false)
  expect(valid({ ...suiteSpec(), suite: undefined, ...command(), noise: {} })).toBe(true)
})
