import { expect, test } from 'vitest'
import { frozenHash, specHash } from '../../cli/spec/hash.ts'
import { LEAST, problemsIn, specOf } from './source.ts'

const JUDGED = LEAST.replace('{ name: ms, direction: minimize }', '{ name: quality, direction: maximize }')
const judge = (more: object = {}) =>
  `${JUDGED}judge: ${JSON.stringify({
    ...{ host: 'command', command: 'judge', items: 'items.jsonl', task: 'Say it.' },
    ...{ criteria: [{ name: 'right', ask: 'Which is right?' }] },
    ...more,
  })}\n`
const weighted = (...weights: (number | undefined)[]) =>
  weights.map((weight, at) => ({
    name: `c${at}`,
    ask: 'Which?',
    ...(weight === undefined ? {} : { weight }),
  }))

test.each([
  [
    'weights that sum to more than 1',
    { criteria: weighted(0.5, 0.6) },
    'the weights of the criteria sum to 1.1, not to 1',
  ],
  [
    'a weight for some criteria only',
    { criteria: weighted(1, undefined) },
    'some criteria have a weight and some have none',
  ],
  ['no criteria', { criteria: [] }, '`mode: criteria` has no criteria'],
  ['one name twice', { criteria: [...weighted(0.5), ...weighted(0.5)] }, 'c0'],
  ['no rubric', { mode: 'rubric' }, '`mode: rubric` has no rubric'],
  [
    'a rubric that asks for no grades',
    { mode: 'rubric', rubric: 'Is it nice?' },
    'the rubric does not say what the grades 1 and 5 stand for',
  ],
  ['a command that is missing', { command: undefined }, '`host: command` has no command'],
  ['the host that asks no model', { host: 'tune' }, 'tune'],
  [
    'a writer that judges itself',
    { model: 'small', writer: 'small' },
    'small would judge the answers that it writes',
  ],
  ['a path out of the folder', { items: '../items.jsonl' }, 'relative'],
  ['a batch of one', { batch: 1 }, '2'],
])('a spec with %s is read', (_, more, message) => {
  expect(problemsIn(judge(more)).join('\n')).toContain(message)
})

test.each([
  ['a metric to minimise', judge().replace('maximize', 'minimize'), 'more is better'],
  [
    'a least gain in percent',
    judge().replace('direction: maximize', 'direction: maximize, min_improvement: 2%'),
    'has no value of which a percentage',
  ],
  [
    'one sample for a verdict',
    `${judge()}noise: { mode: deterministic }\n`,
    'a judge is never the same twice',
  ],
])('a judge beside %s is read', (_, text, message) => {
  expect(problemsIn(text).join('\n')).toContain(message)
})

test('a writer that may judge itself, and a judge in words, are refused', () => {
  expect(problemsIn(judge({ model: 'small', writer: 'small', same_model: 'allow' }))).toEqual([])
  expect(problemsIn(judge({ mode: 'rubric', rubric: '5: right. 1: wrong.', criteria: [] }))).toEqual([])
})

test('the judge is no part of what is measured, or changes the hash of a spec without one', () => {
  const [one, other] = [specOf(judge()), specOf(judge({ model: 'large' }))]
  expect(frozenHash(one)).not.toBe(frozenHash(other))
  expect(frozenHash(specOf(`${judge()}budget: { judge_usd: 2 }\n`))).toBe(frozenHash(one))
  expect(specHash(specOf(LEAST))).toBe(specHash(specOf(LEAST)))
  expect(Object.keys(specOf(LEAST))).not.toContain('judge')
  expect(specOf(LEAST).budget).not.toHaveProperty('judge_usd')
})

test('a judge has no cap when the spec names none, or its criteria no weight', () => {
  const spec = specOf(judge({ criteria: weighted(undefined, undefined) }))
  expect(spec.budget.judge_usd).toBe(5)
  expect(spec.judge?.scoring).toMatchObject({ criteria: [{ weight: 0.5 }, { weight: 0.5 }] })
  expect(spec.noise.mode).toBe('paired')
})
