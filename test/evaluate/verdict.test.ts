import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { compareDeterministic, type MinImprovement } from '../../cli/evaluate/compare.ts'
import { type ConstraintConfig, checkConstraints } from '../../cli/evaluate/constraints.ts'
import { aggregate, median, medianDeviation, sum } from '../../cli/evaluate/stats.ts'
import { decideVerdict, failureSignature, type VerdictFacts } from '../../cli/evaluate/verdict.ts'
import type { Comparison, SampleFault } from '../../cli/ledger/events.ts'

describe('statistics', () => {
  test('medians of odd and even numbers, and the spread that an outlier does not move', () => {
    expect([median([3, 1, 2]), median([4, 1, 3, 2]), median([5])]).toEqual([2, 2.5, 5])
    expect(median([1.7e308, 1.7e308])).toBe(1.7e308)
    expect(medianDeviation([1, 2, 3, 4, 1000])).toBe(1)
    expect(() => median([])).toThrow('no median')
  })

  test('a sum does not depend on the order of the tasks', () => {
    expect([sum([1, 1e100, 1, -1e100]), sum([0.1, 0.2, 0.3]), sum([])]).toEqual([2, 0.6, 0])
    expect(sum([1e308, 1e308])).toBe(Number.POSITIVE_INFINITY)
    expect(
      aggregate(
        Array.from({ length: 200_000 }, (_, i) => i),
        'max',
      ),
    ).toBe(199_999)
    expect(() => aggregate([], 'mean')).toThrow('nothing to aggregate')
  })
})

describe('the comparison of a metric without noise', () => {
  const compare = (
    direction: 'minimize' | 'maximize',
    value: number,
    other: number,
    minImprovement: MinImprovement,
  ) => compareDeterministic({ direction, value, other, against: 'exp_0000', minImprovement })
  const ANY = { absolute: 0 }

  test.each<
    ['minimize' | 'maximize', number, number, MinImprovement, Comparison['outcome'], number | null, number]
  >([
    ['minimize', 90, 100, ANY, 'improved', 0.1, 10],
    ['maximize', 90, 100, ANY, 'not_better', -0.1, -10],
    ['minimize', 100, 100, ANY, 'tie', 0, 0],
    ['maximize', 0, 0, { relative: 0.01 }, 'tie', null, 0],
    ['minimize', 99, 100, { relative: 0.01 }, 'improved', 0.01, 1],
    ['minimize', 99.5, 100, { relative: 0.01 }, 'tie', 0.005, 0.5],
    ['minimize', 93, 100, { relative: 0.07 }, 'improved', 0.07, 7],
    ['minimize', 100.0001, 100, { relative: 0.01 }, 'not_better', -0.0001 / 100, -0.0001],
    ['maximize', 5.4, 5, { absolute: 0.5 }, 'tie', 0.08, 0.4],
    ['maximize', 5.5, 5, { absolute: 0.5 }, 'improved', 0.1, 0.5],
    ['maximize', 0.1, 0, { relative: 0.5 }, 'improved', null, 0.1],
    ['maximize', -90, -100, ANY, 'improved', 0.1, 10],
    ['minimize', -110, -100, ANY, 'improved', 0.1, 10],
  ])('%s %d against %d with %o: %s', (direction, value, other, min, outcome, relative, absolute) => {
    const comparison = compare(direction, value, other, min)
    expect(comparison).toMatchObject({ outcome, against: 'exp_0000', interval: null })
    expect(comparison.improvement_abs).toBeCloseTo(absolute, 9)
    if (relative === null) expect(comparison.improvement).toBeNull()
    else expect(comparison.improvement).toBeCloseTo(relative, 9)
  })

  test('two values can never both improve on each other', () => {
    const finite = fc.double({ noNaN: true, noDefaultInfinity: true })
    fc.assert(
      fc.property(finite, finite, (a, b) => {
        const outcomes = [compare('minimize', a, b, ANY).outcome, compare('minimize', b, a, ANY).outcome]
        expect(outcomes.sort()).toEqual(a === b ? ['tie', 'tie'] : ['improved', 'not_better'])
      }),
    )
  })
})

describe('constraints', () => {
  const check = (constraint: ConstraintConfig, ...metrics: Record<string, number | boolean>[]) =>
    checkConstraints(
      [constraint],
      metrics.map((one) => ({ metrics: one })),
    )[0]?.message ?? 'holds'

  test.each<[ConstraintConfig['op'], number, string]>([
    ['>=', 5, 'holds'],
    ['<=', 5, 'holds'],
    ['>', 5, 'm > 5 does not hold: it is 5'],
    ['<', 5, 'm < 5 does not hold: it is 5'],
    ['==', 5, 'holds'],
    ['!=', 5, 'm != 5 does not hold: it is 5'],
    ['==', 4, 'm == 4 does not hold: it is 5'],
  ])('5 %s %d: %s', (op, value, message) => {
    expect(check({ metric: 'm', op, value }, { m: 5 })).toBe(message)
  })

  test('the median of numbers counts, not one bad sample; a boolean must hold in all', () => {
    const limit: ConstraintConfig = { metric: 'm', op: '<=', value: 200 }
    expect(check(limit, { m: 190 }, { m: 900 }, { m: 195 })).toBe('holds')
    expect(check(limit, { m: 210 }, { m: 190 }, { m: 220 })).toMatch(/the median of 3 samples is 210/)
    const flag: ConstraintConfig = { metric: 'ok', op: '==', value: true }
    expect(check(flag, { ok: true }, { ok: true })).toBe('holds')
    expect(check(flag, { ok: true }, { ok: false }, { ok: true })).toMatch(/false in 1 of 3 samples/)
  })

  test('what is missing or of a different type violates, with the reason', () => {
    const limit: ConstraintConfig = { metric: 'm', op: '<=', value: 200 }
    expect(check(limit, { n: 1 })).toMatch(/m is missing; the benchmark reported n$/)
    expect(check(limit, { m: 1 }, {})).toMatch(/m is missing/)
    expect(check(limit)).toMatch(/no metric was reported/)
    expect(check(limit, { m: true })).toMatch(/m is a boolean/)
    expect(check({ metric: 'm', op: '==', value: true }, { m: 1 })).toMatch(/does not hold: it is 1/)
    expect(check({ metric: 'm', op: '<', value: true }, { m: true })).toMatch(/< needs a number/)
    expect(check({ metric: 'constructor', op: '==', value: 1 }, { m: 1 })).toMatch(/is missing/)
  })
})

const CROWD = { rule: 'paired', why: 'crowd', pairs: 8, crowded: 6 }

describe('the verdict', () => {
  const better = compareDeterministic({
    direction: 'minimize',
    value: 90,
    other: 100,
    against: 'exp_0001',
    minImprovement: { absolute: 0 },
  })
  const worse = compareDeterministic({
    direction: 'minimize',
    value: 110,
    other: 100,
    against: 'exp_0001',
    minImprovement: { absolute: 0 },
  })
  const tie = compareDeterministic({
    direction: 'minimize',
    value: 100,
    other: 100,
    against: 'exp_0001',
    minImprovement: { absolute: 0 },
  })
  const facts = (more: Partial<VerdictFacts> = {}): VerdictFacts => ({
    metric: { name: 'ms', direction: 'minimize' },
    baseline: false,
    value: 90,
    parentValue: 100,
    setup: null,
    build: null,
    gates: [],
    faults: [],
    constraints: [],
    comparison: better,
    tieBreak: null,
    confirm: null,
    dependency: null,
    protected: [],
    holdout: null,
    ...more,
  })
  const fault = (reason: SampleFault['reason'], message = 'why'): SampleFault => ({ reason, message })
  const gate = (phase: 'before' | 'after', more: object = {}) => ({
    name: 'unit',
    phase,
    passed: false,
    exit: 1,
    timed_out: false,
    ...more,
  })
  const CROWDED = { message: 'wall_ms <= 5 does not hold', crowd: 'it was busy' }
  const noBreak = { metric: 'source_bytes', better: false, message: 'source_bytes is equal' }

  test.each<[string, Partial<VerdictFacts>, [string, string | null, string | null]]>([
    ['better', {}, ['kept', 'improved', null]],
    ['better and confirmed', { confirm: better }, ['kept', 'improved', null]],
    ['better but not confirmed', { confirm: tie }, ['rejected', 'unconfirmed', 'hypothesis']],
    ['worse', { comparison: worse }, ['rejected', 'not_better', 'hypothesis']],
    ['a tie', { comparison: tie }, ['rejected', 'tie', 'hypothesis']],
    [
      'a tie whose breaker says no',
      { comparison: tie, tieBreak: noBreak },
      ['rejected', 'tie', 'hypothesis'],
    ],
    [
      'a tie whose breaker says yes',
      { comparison: tie, tieBreak: { ...noBreak, better: true } },
      ['kept', 'tie_broken', null],
    ],
    [
      'a broken tie that turns out worse',
      { comparison: tie, tieBreak: { ...noBreak, better: true }, confirm: worse },
      ['rejected', 'unconfirmed', 'hypothesis'],
    ],
    [
      'inconclusive',
      { comparison: { ...better, outcome: 'inconclusive' } },
      ['rejected', 'inconclusive', 'eval'],
    ],
    [
      'a gain that was seen in a crowd',
      { comparison: { ...better, outcome: 'inconclusive', inputs: CROWD } },
      ['rejected', 'inconclusive', 'environment'],
    ],
    [
      'a gain whose confirmation was taken in a crowd',
      { confirm: { ...better, outcome: 'inconclusive', inputs: CROWD } },
      ['rejected', 'inconclusive', 'environment'],
    ],
    ['a baseline', { baseline: true, comparison: null, parentValue: null }, ['kept', null, null]],
    [
      'a baseline that violates a constraint',
      { baseline: true, comparison: null, constraints: [{ message: 'x' }] },
      ['rejected', 'constraint', 'hypothesis'],
    ],
    [
      'a baseline whose last gate fails',
      { baseline: true, comparison: null, gates: [gate('after')] },
      ['rejected', 'gate', 'hypothesis'],
    ],
    ['a constraint', { constraints: [{ message: 'x' }] }, ['rejected', 'constraint', 'hypothesis']],
    ['a gate before', { gates: [gate('before')], comparison: null }, ['rejected', 'gate', 'hypothesis']],
    ['a gate after', { gates: [gate('after')] }, ['rejected', 'gate', 'hypothesis']],
    [
      'a gate after, on what is worse anyway',
      { gates: [gate('after')], comparison: worse },
      ['rejected', 'not_better', 'hypothesis'],
    ],
    [
      'a gate that could not run',
      { gates: [gate('before', { fault: fault('environment') })] },
      ['failed', 'environment', 'environment'],
    ],
    [
      'a bad metric',
      { faults: [{ side: 'candidate', fault: fault('metric_error') }] },
      ['failed', 'metric_error', 'eval'],
    ],
    [
      'a timeout',
      { faults: [{ side: 'candidate', fault: fault('timeout') }] },
      ['failed', 'timeout', 'eval'],
    ],
    ['a crash', { faults: [{ side: 'candidate', fault: fault('crash') }] }, ['failed', 'crash', 'eval']],
    [
      'a full disk',
      { faults: [{ side: 'candidate', fault: fault('environment') }] },
      ['failed', 'environment', 'environment'],
    ],
    [
      'a crash of both sides',
      {
        faults: [
          { side: 'candidate', fault: fault('crash') },
          { side: 'parent', fault: fault('crash') },
        ],
      },
      ['failed', 'environment', 'environment'],
    ],
    [
      'a baseline that crashes',
      { baseline: true, faults: [{ side: 'candidate', fault: fault('crash') }] },
      ['failed', 'crash', 'eval'],
    ],
    [
      'an interruption, whatever else failed',
      { gates: [gate('before')], faults: [{ side: 'candidate', fault: fault('aborted') }] },
      ['failed', 'aborted', 'environment'],
    ],
    ['a setup', { setup: fault('crash') }, ['failed', 'environment', 'environment']],
    ['a build', { build: { fault: fault('crash'), parentToo: false } }, ['failed', 'crash', 'build']],
    [
      'a build that takes too long',
      { build: { fault: fault('timeout'), parentToo: false } },
      ['failed', 'timeout', 'build'],
    ],
    [
      'a build that fails for the parent too',
      { build: { fault: fault('crash'), parentToo: true } },
      ['failed', 'environment', 'environment'],
    ],
    [
      'a build on a full disk',
      { build: { fault: fault('environment'), parentToo: false } },
      ['failed', 'environment', 'environment'],
    ],
    [
      'the first step that fails, not a later one',
      {
        gates: [gate('before')],
        constraints: [{ message: 'x' }],
        faults: [{ side: 'candidate', fault: fault('crash') }],
      },
      ['rejected', 'gate', 'hypothesis'],
    ],
    [
      'a constraint before the comparison',
      { constraints: [{ message: 'x' }], comparison: worse },
      ['rejected', 'constraint', 'hypothesis'],
    ],
    [
      'a constraint that a crowd breaks',
      { constraints: [CROWDED] },
      ['rejected', 'inconclusive', 'environment'],
    ],
    [
      'a constraint that a crowd breaks, beside one that the candidate does',
      { constraints: [CROWDED, { message: 'x' }] },
      ['rejected', 'constraint', 'hypothesis'],
    ],
    [
      'a constraint that a crowd breaks, of what is worse anyway',
      { constraints: [CROWDED], comparison: worse },
      ['rejected', 'not_better', 'hypothesis'],
    ],
    [
      'a constraint that a crowd breaks, of a tie that nothing breaks',
      { constraints: [CROWDED], comparison: tie, tieBreak: noBreak },
      ['rejected', 'tie', 'hypothesis'],
    ],
    [
      'a constraint that a crowd breaks, of a broken tie',
      { constraints: [CROWDED], comparison: tie, tieBreak: { ...noBreak, better: true } },
      ['rejected', 'inconclusive', 'environment'],
    ],
    [
      'a baseline whose constraint a crowd breaks',
      { baseline: true, comparison: null, constraints: [CROWDED] },
      ['rejected', 'inconclusive', 'environment'],
    ],
    ['a loss', { protected: [{ message: 'x' }] }, ['rejected', 'protected', 'hypothesis']],
    ['a loss in a crowd', { protected: [CROWDED] }, ['rejected', 'inconclusive', 'environment']],
    [
      'a loss in a crowd beside one of its own',
      { protected: [CROWDED, { message: 'x' }] },
      ['rejected', 'protected', 'hypothesis'],
    ],
    [
      'held-out data that it fails',
      { holdout: { passed: false, message: 'x' } },
      ['rejected', 'holdout', 'hypothesis'],
    ],
    [
      'held-out data in a crowd',
      { holdout: { ...CROWDED, passed: false, message: '' } },
      ['rejected', 'inconclusive', 'environment'],
    ],
    ['held-out data', { holdout: { passed: true, message: '' } }, ['kept', 'improved', null]],
  ])('on %s', (_, more, [status, reason, failureClass]) => {
    expect(decideVerdict(facts(more))).toMatchObject({ status, reason, failure_class: failureClass })
  })

  test('its message has the numbers', () => {
    const message = (more: Partial<VerdictFacts>) => decideVerdict(facts(more)).message
    expect(message({})).toBe('ms = 90: 10 better (10 %, minimize) against exp_0001 (100)')
    expect(message({ comparison: worse, value: 110 })).toBe(
      'ms = 110: 10 worse (10 %, minimize) against exp_0001 (100)',
    )
    expect(message({ comparison: tie, value: 100 })).toBe('a tie with exp_0001: no change')
    expect(message({ comparison: { ...better, improvement: null, interval: [1.23456, 2] } })).toBe(
      'ms = 90: 10 better (interval 1.235 to 2, minimize) against exp_0001 (100)',
    )
    expect(
      message({
        faults: [{ side: 'candidate', fault: { reason: 'metric_error', message: 'm', raw: 'METRIC ms=x' } }],
      }),
    ).toBe('not measured: m; the line was: METRIC ms=x')
    expect(message({ faults: [{ side: 'parent', fault: fault('crash', 'exit 1: boom') }] })).toBe(
      'not measured: the unchanged parent fails too: exit 1: boom',
    )
    expect(message({ constraints: [CROWDED] })).toBe('constraint wall_ms <= 5 does not hold, but it was busy')
    expect(message({ protected: [CROWDED] })).toBe(
      'it is better; wall_ms <= 5 does not hold, but it was busy',
    )
    expect(message({ holdout: { passed: false, message: '', crowd: 'it was busy' } })).toBe(
      'it is better where it could look, and was tried on held-out data, but it was busy',
    )
    expect(message({ gates: [gate('before', { exit: null, timed_out: true })] })).toBe(
      'gate unit did not pass: ran into its time limit',
    )
  })

  test('a candidate that was measured but not compared is a bug', () => {
    expect(() => decideVerdict(facts({ comparison: null }))).toThrow('not compared')
  })
})

test('failures that differ in digits and spaces only have one signature', () => {
  const of = (line: string, exit: number | null = 1, signal: string | null = null) =>
    failureSignature({ reason: 'crash', exit, signal, line })
  expect(of('bench.js:12  pid 4711')).toBe('crash|1|bench.js: pid')
  expect(of('bench.js:99 pid 1')).toBe(of('bench.js:12  pid 4711'))
  expect(of('x', 2)).not.toBe(of('x', 1))
  expect(of('x', null, 'SIGSEGV')).toBe('crash|SIGSEGV|x')
})
