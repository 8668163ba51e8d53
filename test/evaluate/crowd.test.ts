import { expect, test } from 'vitest'
import { inCrowd, isSpoiltByCrowd, spoils } from '../../cli/evaluate/crowd.ts'

test.each([
  ['others take what the machine has', { others: 0.67, idle: 0 }, true],
  ['a processor in ten, and a tenth of them idle, is the border', { others: 0.1, idle: 0.1 }, true],
  ['a processor is left', { others: 0.5, idle: 0.11 }, false],
  ['the benchmark itself takes all', { others: 0.09, idle: 0 }, false],
  ['the system does not tell', null, false],
  ['a record of an earlier version', undefined, false],
])('a crowd is not told from its absence: %s', (_, processors, crowd) => {
  expect(inCrowd(processors === undefined ? {} : { processors })).toBe(crowd)
})

test('a time that a benchmark prints, or of the processor, is held to be the wall clock', () => {
  expect(['wall_ms', 'ms', 'cpu_ms', 'peak_mb'].filter(isSpoiltByCrowd)).toEqual(['wall_ms'])
})

test('one crowded pair of many spoils a gain, or no sample at all does', () => {
  expect([spoils(1, 25), spoils(12, 25), spoils(13, 25), spoils(0, 0)]).toEqual([false, false, true, false])
})
