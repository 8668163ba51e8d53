import { describe, expect, test } from 'vitest'
import { calibrate, variedMetrics, variesByNature } from '../../cli/evaluate/calibrate.ts'

const samples = (values: number[], units: Record<string, string> = {}) =>
  values.map((value) => ({ value, metrics: { m: value }, units }))

describe('whether a metric varies by its nature', () => {
  test.each([
    'ms',
    'wall_ms',
    'cpu_ms',
    'latency',
    'p95.latency',
    'elapsedTime',
    'total_seconds',
    'run-time',
    'throughput',
    'requests_qps',
    'peak_mb',
  ])('the metric %s is not taken for one that varies by its nature', (name) =>
    expect(variesByNature(name, undefined)).toBe(true),
  )
  test.each([
    'bytes',
    'cost',
    'score',
    'accuracy',
    'timeouts_seen',
    'items',
    'commands',
    'misses',
    'steps',
    'bins',
  ])('the metric %s is taken for one that varies by its nature', (name) =>
    expect(variesByNature(name, undefined)).toBe(false),
  )
  test.each([
    ['ms', true],
    ['µs', true],
    ['ops/s', true],
    ['MB/s', true],
    ['MB', false],
    ['%', false],
    ['items', false],
  ])('by its unit %s, the answer to whether a metric varies by its nature is not %s', (unit, varies) =>
    expect(variesByNature('m', unit)).toBe(varies),
  )
})

describe('calibration', () => {
  test('equal values of a time count as deterministic, or equal counts do not, or counts that differ do', () => {
    expect(calibrate('auto', 'm', samples([5, 5, 5])).mode).toBe('deterministic')
    expect(calibrate('auto', 'ms', samples([5, 5, 5])).mode).toBe('paired')
    expect(calibrate('auto', 'm', samples([5, 5, 5], { m: 'ms' })).mode).toBe('paired')
    expect(calibrate('auto', 'm', samples([5, 5, 5.0001])).mode).toBe('paired')
  })
  test('calibration overrules the mode of noise that the spec asks for', () => {
    expect(calibrate('deterministic', 'ms', samples([5, 6])).mode).toBe('deterministic')
    expect(calibrate('paired', 'm', samples([5, 5])).mode).toBe('paired')
  })
  test('logarithms are taken of values that are not all positive, or not of values that are', () => {
    expect(calibrate('auto', 'm', samples([5, 6])).transform).toBe('log')
    expect(calibrate('auto', 'm', samples([5, 0])).transform).toBe('linear')
    expect(calibrate('auto', 'm', samples([-5, 6])).transform).toBe('linear')
  })
  test('calibration forgets a value, or invents one for a sample without one', () => {
    const none = { value: null, metrics: {}, units: {} }
    expect(calibrate('auto', 'm', [...samples([5, 6]), none]).values).toEqual([5, 6])
  })
  test('a metric that varies or is not always there is overlooked, or one that stays the same is named', () => {
    const same = { metrics: { a: 1, ok: true, b: 2 } }
    expect(variedMetrics([same, same])).toEqual([])
    expect(variedMetrics([same, { metrics: { a: 2, ok: true, b: 2 } }])).toEqual(['a'])
    expect(variedMetrics([same, { metrics: { a: 1, ok: false, b: 2 } }])).toEqual(['ok'])
    expect(variedMetrics([{ metrics: { a: 1 } }, { metrics: { a: 1, b: 2 } }])).toEqual(['b'])
  })
})
