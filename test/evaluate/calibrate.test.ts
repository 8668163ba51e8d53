import { describe, expect, it } from 'vitest'
import { calibrate, variedMetrics, variesByNature } from '../../cli/evaluate/calibrate.ts'

const samples = (values: number[], units: Record<string, string> = {}) =>
  values.map((value) => ({ value, metrics: { m: value }, units }))

describe('a metric that no two runs share is not taken for free of noise', () => {
  it.each([
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
  ])('%s', (name) => expect(variesByNature(name, undefined)).toBe(true))
  it.each([
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
  ])('%s counts', (name) => expect(variesByNature(name, undefined)).toBe(false))
  it.each([
    ['ms', true],
    ['µs', true],
    ['ops/s', true],
    ['MB/s', true],
    ['MB', false],
    ['%', false],
    ['items', false],
  ])('by its unit %s: %s', (unit, varies) => expect(variesByNature('m', unit)).toBe(varies))
})

describe('calibration', () => {
  it('trusts equal values of a time, or doubts equal counts', () => {
    expect(calibrate('auto', 'm', samples([5, 5, 5])).mode).toBe('deterministic')
    expect(calibrate('auto', 'ms', samples([5, 5, 5])).mode).toBe('paired')
    expect(calibrate('auto', 'm', samples([5, 5, 5], { m: 'ms' })).mode).toBe('paired')
    expect(calibrate('auto', 'm', samples([5, 5, 5.0001])).mode).toBe('paired')
  })
  it('puts in question what the spec asks for', () => {
    expect(calibrate('deterministic', 'ms', samples([5, 6])).mode).toBe('deterministic')
    expect(calibrate('paired', 'm', samples([5, 5])).mode).toBe('paired')
  })
  it('takes logarithms of what is not positive', () => {
    expect(calibrate('auto', 'm', samples([5, 6])).transform).toBe('log')
    expect(calibrate('auto', 'm', samples([5, 0])).transform).toBe('linear')
    expect(calibrate('auto', 'm', samples([-5, 6])).transform).toBe('linear')
  })
  it('forgets values, or invents one where there is none', () => {
    const none = { value: null, metrics: {}, units: {} }
    expect(calibrate('auto', 'm', [...samples([5, 6]), none]).values).toEqual([5, 6])
  })
  it('overlooks another metric that varies, or one that is not always there', () => {
    const same = { metrics: { a: 1, ok: true, b: 2 } }
    expect(variedMetrics([same, same])).toEqual([])
    expect(variedMetrics([same, { metrics: { a: 2, ok: true, b: 2 } }])).toEqual(['a'])
    expect(variedMetrics([same, { metrics: { a: 1, ok: false, b: 2 } }])).toEqual(['ok'])
    expect(variedMetrics([{ metrics: { a: 1 } }, { metrics: { a: 1, b: 2 } }])).toEqual(['b'])
  })
})
