import { expect, it } from 'vitest'
import { incomparable, unitChange } from '../../cli/evaluate/comparable.ts'
import { breakTie } from '../../cli/evaluate/compare.ts'

const answer = (tasks: Record<string, number> | null, units: Record<string, string> = {}) => ({
  metrics: { ms: 1 },
  units,
  tasks: tasks && Object.fromEntries(Object.entries(tasks).map(([task, score]) => [task, { score }])),
})

it('refuses fewer tasks than the baseline answered: narrowing the evaluation is no gain', () => {
  expect(incomparable(answer({ a: 1, b: 2 }), answer({ a: 1 }))).toBe(
    'its tasks are not those of the baseline (missing: b)',
  )
})

it('refuses tasks that the baseline did not have, and none at all', () => {
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

it('refuses a number in another unit, which would look like a gain of a thousand', () => {
  expect(incomparable(answer(null, { ms: 'ms' }), answer(null, { ms: 's' }))).toBe(
    'the unit of ms changed from ms to s',
  )
})

it('refuses what does not fit into one line of the record, before it is written', () => {
  const tasks = Object.fromEntries(
    Array.from({ length: 2000 }, (_, i) => [`a rather long task name ${i}`, i]),
  )
  expect(incomparable(null, answer(tasks))).toContain('report groups of cases as one task')
})

it('lets the same tasks in another order through', () => {
  expect(incomparable(answer({ a: 1, b: 2 }), answer({ b: 3, a: 4 }))).toBe(null)
})

it('breaks a tie by the first tie-breaker that differs, in its own direction', () => {
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

it('refuses a time, a memory that the candidate reports itself when the baseline left it to Assay', () => {
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

it('a changed, lost or gained unit of a metric that both have is named', () => {
  const sample = (metrics: Record<string, number>, units: Record<string, string>) => ({ metrics, units })
  expect(unitChange(sample({ t: 900 }, { t: 'ms' }), sample({ t: 1.1 }, { t: 's' }))).toBe(
    'the unit of t changed from ms to s',
  )
  expect(unitChange(sample({ t: 900 }, { t: 'ms' }), sample({ t: 900 }, {}))).toMatch(/from ms to none/)
  expect(unitChange(sample({ t: 900 }, {}), sample({ t: 900 }, { t: 'ms' }))).toMatch(/from none to ms/)
  expect(unitChange(sample({ t: 1, u: 2 }, { u: 's' }), sample({ t: 1, v: 2 }, { v: 'ms' }))).toBeNull()
})
