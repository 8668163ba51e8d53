import { expect, test } from 'vitest'
import { belowZeroIsNone, doubt, type MetricClaim } from '../../cli/evaluate/plausible.ts'

type Three = [value: number | null, wall: number, cpu: number | null]

const of = ([value, wall_ms, cpu_ms]: Three) => ({ value, wall_ms, cpu_ms })

/** Pairs around the two samples, with a little of noise in the wall time. */
function claim(
  parent: Three,
  candidate: Three,
  more: Partial<MetricClaim> & { noise?: number[] } = {},
): MetricClaim {
  const { noise = [0, 2, -2, 1, -1], ...rest } = more
  const pairs = noise.map((by) => ({
    parent: of([parent[0], parent[1] + by, parent[2]]),
    candidate: of(candidate),
  }))
  return { direction: 'minimize', metricName: 'ms', unit: null, pairs, ...rest }
}

const FORGED = claim([100, 160, 120], [60, 159, 120])

test('a gain that only the benchmark’s own clock saw is believed', () => {
  expect(doubt(FORGED)).toBe(
    'ms fell by 40 ms, but wall time fell by 1 ms and CPU time fell by 0 ms: does the benchmark time itself?',
  )
  expect(doubt(claim([100, 160, 120], [60, 163, 120]))).toContain('wall time rose by 3 ms')
})

test('a true gain is doubted: less wall time, less CPU time, or inner runs', () => {
  expect(doubt(claim([100, 160, 120], [60, 121, 80]))).toBeNull()
  expect(doubt(claim([100, 160, 120], [60, 120, 125]))).toBeNull()
  expect(doubt(claim([100, 160, 120], [60, 161, 80]))).toBeNull()
  expect(doubt(claim([100, 560, 520], [60, 361, 320]))).toBeNull()
  // A quarter of it is enough: the rest may have moved elsewhere.
  expect(doubt(claim([100, 160, 120], [60, 149, 120]))).toBeNull()
})

test('CPU time that fell because something else did the work is believed', () => {
  const cpu = (parent: Three, candidate: Three, more = {}) =>
    doubt(claim(parent, candidate, { metricName: 'cpu_ms', ...more }))
  expect(cpu([510, 530, 510], [95, 533, 95])).toBe(
    'CPU time fell by 420 ms, but wall time rose by 3 ms: does something else do the work?',
  )
  // Two threads.
  expect(cpu([1000, 520, 1000], [600, 519, 600])).not.toBeNull()
  expect(cpu([1000, 520, 1000], [600, 320, 600])).toBeNull()
  expect(cpu([510, 530, 510], [95, 115, 95])).toBeNull()
  // It waits, or it shares the processors: less is computed in the same time.
  expect(cpu([300, 1000, 300], [100, 1001, 100])).toBeNull()
  expect(cpu([300, 600, 300], [285, 601, 285])).toBeNull()
  expect(cpu([510, 530, 510], [400, 533, 400], { noise: [0, 120, -120, 60, -60] })).toBeNull()
  expect(cpu([510, 530, 510], [95, 533, 95], { asBefore: true })).toBeNull()
})

test('a benchmark that repeats its work for a fixed time is doubted for every gain', () => {
  expect(doubt(claim([100, 1000, 900], [60, 999, 900]))).toBeNull()
  expect(doubt(claim([100, 199, 150], [60, 198, 150]))).not.toBeNull()
})

test('noise of the wall time, a single pair or a small gain is enough to doubt a candidate', () => {
  expect(
    doubt({ ...FORGED, ...claim([100, 160, 120], [60, 159, 120], { noise: [40, -40, 30, -30, 0] }) }),
  ).toBe(null)
  expect(doubt({ ...FORGED, pairs: FORGED.pairs.slice(0, 1) })).toBeNull()
  expect(doubt(claim([4, 160, 120], [0.1, 160, 120]))).toBeNull()
  expect(doubt(claim([100, 160, 120], [96.5, 160, 120], { noise: [0, 0, 0] }))).toBeNull()
})

test('simulated time is doubted, although no clock of the run could show it', () => {
  const simulated = FORGED.pairs.map(({ parent, candidate }) => ({
    parent: { ...parent, value: 300 * parent.wall_ms },
    candidate: { ...candidate, value: 250 * candidate.wall_ms },
  }))
  const claim = { ...FORGED, metricName: 'makespan', unit: 's', pairs: simulated }
  expect(doubt(claim)).toBeNull()
  expect(doubt({ ...claim, unit: 'ms' })).not.toBeNull()
})

test('what is not known counts as 0', () => {
  expect(doubt(claim([100, 160, null], [60, 159, null]))).toBeNull()
  expect(doubt(claim([null, 160, 120], [60, 159, 120]))).toBeNull()
  expect(doubt({ ...FORGED, pairs: [] })).toBeNull()
})

const NAMES: [string, string | null, boolean][] = [
  ['ms', null, true],
  ['parse_ms', null, true],
  ['parseMs', null, true],
  ['ms_per_op', null, true],
  ['t', 'ms', true],
  ['t', null, false],
  ['ms', '%', false],
  ['mb', 'MB', false],
  ['items', null, false],
  ['constructor', null, false],
  ['t', 'toString', false],
  ...['elapsed', 'duration', 'latency', 'took', 'time', 'runtime', 'latency_ms'].map(
    (name): [string, string | null, boolean] => [name, null, true],
  ),
  ['elapsed', '%', false],
  ['p99_latency', null, false],
  ['time_per_op', null, false],
  // Assay's own.
  ['wall_ms', null, false],
  ['cpu_ms', null, false],
  // A part of the run, and rates.
  ['p99_ms', null, false],
  ['ops_per_ms', null, false],
  ['min', null, false],
  ['s_rate', null, false],
  ['t', 'ops/ms', false],
]

test.each(NAMES)(
  '%s in %s: a time of the whole run is not recognised, or a different one counts as such',
  (name, unit, is) => {
    expect(doubt({ ...FORGED, metricName: name, unit }) !== null).toBe(is)
  },
)

test('seconds are compared with milliseconds as they are', () => {
  expect(doubt(claim([0.1, 160, 120], [0.06, 159, 120], { metricName: 'seconds' }))).toContain(
    'fell by 40 ms',
  )
  expect(doubt(claim([1e5, 160, 120], [6e4, 159, 120], { unit: 'µs' }))).toContain('ms (µs) fell by 40 ms')
  expect(doubt(claim([1, 70_000, 60_000], [0.5, 69_999, 60_000], { unit: 'min' }))).toContain('by 30000 ms')
})

test('a metric that is to grow is doubted', () => {
  expect(doubt({ ...FORGED, direction: 'maximize' })).toBeNull()
})

test.each<[string, string | null, boolean]>([
  ['ms', null, true],
  ['latency', null, true],
  ['total_time', null, true],
  ['x', 's', true],
  ['x', 'ns/op', true],
  ['error', null, false],
  ['h_index', null, false],
  ['time', 'MB', false],
  ['ops_per_s', null, false],
])('%s in %s below 0 is impossible, or it is not', (name, unit, impossible) => {
  expect(belowZeroIsNone(name, unit)).toBe(impossible)
})
