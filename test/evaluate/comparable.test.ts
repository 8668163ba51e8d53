import { expect, test } from 'vitest'
import { incomparable, unitChange } from '../../cli/evaluate/comparable.ts'
import { breakTie } from '../../cli/evaluate/compare.ts'

const answer = (tasks: Record<string, number> | null, units: Record<string, string> = {}) => ({
  metrics: { ms: 1 },
  units,
  tasks: tasks && Object.fromEntries(Object.entries(tasks).map(([task, score]) => [task, { score }])),
})

test('an answer without a task of the baseline is compared, so that a narrower evaluation looks like a gain', () => {
  expect(incomparable(answer({ a: 1, b: 2 }), answer({ a: 1 }))).toBe(
    'its tasks are not those of the baseline (missing: b)',
  )
})

test('an answer is compared that has a task which the baseline has not, or has none where the baseline has some', () => {
  expect(incomparable(answer({ a: 1 }), answer({ a: 1, z: 3 }))).toBe(
    'its tasks are not those of the baseline (new: z)',
  )
  expect(incomparable(answer({ a: 1 }), answer(null))).toBe(
    'its tasks are not those of the baseline (missing: a)',
  )
  expect(incomparable(answer(null), answer({ z: 3 }))).toBe(
    'its tasks are not those of the baseline (new: z)',
  )
})

test('a value in another unit is compared, and looks like a gain of a thousand', () => {
  expect(incomparable(answer(null, { ms: 'ms' }), answer(null, { ms: 's' }))).toBe(
    'the unit of ms changed from ms to s',
  )
})

test('an answer that does not fit into one line of the record is not refused before it is written', () => {
  const tasks = Object.fromEntries(
    Array.from({ length: 2000 }, (_, i) => [`a rather long task name ${i}`, i]),
  )
  expect(incomparable(null, answer(tasks))).toContain('report groups of cases as one task')
})

test('the same tasks in another order are refused', () => {
  expect(incomparable(answer({ a: 1, b: 2 }), answer({ b: 3, a: 4 }))).toBe(null)
})

test('a tie is not broken by the first tie-breaker that differs, or not in the direction of that tie-breaker', () => {
  const breakers = [
    { metric: 'size', direction: 'minimize' },
    { metric: 'speed', direction: 'maximize' },
  ] as const
  expect(breakTie(breakers, { size: 3, speed: 9 }, { size: 3, speed: 5 })).toEqual({
    metric: 'speed',
    better: true,
    message: 'speed 5 → 9 breaks the tie',
  })
  expect(breakTie(breakers, { size: 4, speed: 9 }, { size: 3, speed: 5 })?.better).toBe(false)
  expect(breakTie(breakers, { size: 3, speed: 5 }, { size: 3, speed: 5 })).toBe(null)
})

test('a time that only the candidate reports itself is compared, or one is refused that both report or neither does', () => {
  const sample = (reported: number | null, measured: number) => ({
    ...answer(null),
    metrics: reported === null ? {} : { wall_ms: reported },
    wall_ms: measured,
    cpu_ms: 5,
    peak_mb: null,
  })
  expect(incomparable(sample(100, 100), sample(1, 90))).toBe(
    'it reports wall_ms = 1 itself, which the baseline left to Assay: measured were 90',
  )
  expect(incomparable(sample(100, 100), sample(90, 90))).toBe(null)
  // The benchmark's own, by that name, from the start.
  expect(incomparable(sample(50, 100), sample(45, 90))).toBe(null)
  // Unknown then, as the memory of a short run is.
  expect(incomparable(sample(null, 100), sample(45, 90))).toContain('it reports wall_ms = 45 itself')
})

test('a changed, lost or gained unit of a metric that both have is not named, or a unit of a metric that one has is', () => {
  const sample = (metrics: Record<string, number>, units: Record<string, string>) => ({ metrics, units })
  expect(unitChange(sample({ t: 900 }, { t: 'ms' }), sample({ t: 1.1 }, { t: 's' }))).toBe(
    'the unit of t changed from ms to s',
  )
  expect(unitChange(sample({ t: 900 }, { t: 'ms' }), sample({ t: 900 }, {}))).toMatch(/from ms to none/)
  expect(unitChange(sample({ t: 900 }, {}), sample({ t: 900 }, { t: 'ms' }))).toMatch(/from none to ms/)
  expect(unitChange(sample({ t: 1, u: 2 }, { u: 's' }), sample({ t: 1, v: 2 }, { v: 'ms' }))).toBeNull()
})
