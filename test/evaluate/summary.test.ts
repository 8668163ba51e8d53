import { expect, test } from 'vitest'
import { summaryOfMetrics, summaryOfTasks } from '../../cli/evaluate/stats.ts'

const of = (...metrics: Record<string, number | boolean>[]) =>
  summaryOfMetrics(metrics.map((one) => ({ metrics: one, tasks: null })))

test('a metric of several samples is that of one of them, or their mean', () => {
  expect(of({ a: 1 }, { a: 100 }, { a: 2 })).toEqual({ a: 2 })
  expect(of({ a: 1 }, { a: 2 })).toEqual({ a: 1.5 })
  expect(of()).toEqual({})
})

test('the metric __proto__ is read and lost', () => {
  const named = JSON.parse('{"__proto__": 1, "a": 2}') as Record<string, number>
  expect(Object.entries(of(named, named))).toEqual([
    ['__proto__', 1],
    ['a', 2],
  ])
})

test('a boolean that failed once passes for one that holds', () => {
  expect(of({ ok: true }, { ok: false }, { ok: true })).toEqual({ ok: false })
  expect(of({ ok: true }, { ok: true })).toEqual({ ok: true })
})

test('a metric that some sample lacks, or that changes its type, is summed up all the same', () => {
  expect(of({ a: 1, b: 2, c: true }, { a: 1, c: 1 })).toEqual({ a: 1 })
  expect(of({ a: 1 }, { a: 1, b: 2 })).toEqual({ a: 1 })
})

test('scores of tasks are lost, or the mean of equal scores differs in the last digit', () => {
  const tasks = (a: number, b: number) => ({ metrics: {}, tasks: { a: { score: a }, b: { score: b } } })
  expect(summaryOfTasks([tasks(0, 0.1), tasks(1, 0.1), tasks(1, 0.1)])).toEqual({ a: 2 / 3, b: 0.1 })
  expect(summaryOfTasks([{ metrics: {}, tasks: null }])).toBeNull()
  expect(summaryOfTasks([])).toBeNull()
})
