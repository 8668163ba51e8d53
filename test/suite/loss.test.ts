import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { meanLoss, NO_SIGNALS, normalised, type Signals, taskLoss, WEIGHTS } from '../../cli/suite/loss.ts'
import { parseLenient, signalsIn } from '../../cli/suite/signals.ts'

const RAN = { crashed: false }
const loss = (signals: Partial<Signals>, ended = RAN, weights = WEIGHTS) =>
  taskLoss({ ...NO_SIGNALS, ...signals }, weights, ended).loss
const FULL: Signals = {
  eval: 0.8,
  critique: 0.6,
  gate_rejections: 1,
  max_rejections: 4,
  budget_remaining_pct: 30,
  status: 'partial',
}

describe('the loss of a task', () => {
  test('is the weighted sum of its five parts', () => {
    expect(loss(FULL)).toBeCloseTo(0.4 * 0.2 + 0.3 * 0.4 + 0.15 * 0.25 + 0.05 * 0.7 + 0.1 * 0.5, 10)
    expect(taskLoss(FULL, WEIGHTS, RAN).parts).toEqual({
      eval: expect.closeTo(0.2),
      critique: 0.4,
      gate_rejections: 0.25,
      budget: 0.7,
      status: 0.5,
    })
    expect([loss({ status: 'complete' }), loss({ status: 'partial' })]).toEqual([
      expect.closeTo(0.45),
      expect.closeTo(0.5),
    ])
  })

  test('a missing signal counts as something else than 0.5', () => {
    expect(loss({})).toBeCloseTo(0.5, 10)
    for (const part of ['eval', 'critique', 'gate_rejections', 'budget_remaining_pct', 'status'] as const)
      expect(loss({ ...FULL, [part]: null }), part).toBeGreaterThan(0)
    expect(loss({ ...FULL, budget_remaining_pct: null })).toBeCloseTo(loss(FULL) - 0.05 * 0.2, 10)
    expect(loss({ ...FULL, gate_rejections: null })).toBeCloseTo(loss(FULL) + 0.15 * 0.25, 10)
  })

  test('a part is not clamped', () => {
    expect(loss({ ...FULL, eval: 7 })).toBe(loss({ ...FULL, eval: 1 }))
    expect(loss({ ...FULL, critique: -7 })).toBe(loss({ ...FULL, critique: 0 }))
    expect(loss({ ...FULL, gate_rejections: 40 })).toBe(loss({ ...FULL, gate_rejections: 4 }))
    expect(loss({ ...FULL, budget_remaining_pct: 400 })).toBe(loss({ ...FULL, budget_remaining_pct: 100 }))
    expect(loss({ ...FULL, max_rejections: 0 })).toBe(loss({ ...FULL, max_rejections: 2 }))
  })

  test('NaN is a perfect score', () => {
    for (const bad of [Number.NaN, Number.POSITIVE_INFINITY])
      expect(loss({ ...FULL, eval: bad })).toBe(loss({ ...FULL, eval: null }))
    const { signals } = signalsIn(
      parseLenient('{"eval":{"score":NaN},"critique":Infinity,"note":"a NaN, b"}'),
    )
    expect([signals.eval, signals.critique]).toEqual([null, null])
    expect(signalsIn({ eval: '0.9' }).signals.eval).toBeNull()
  })

  test('weights that do not sum to 1 give a loss above 1', () => {
    const heavy = { eval: 4, critique: 4, gate_rejections: 4, budget: 4, status: 4 }
    expect(loss({}, { crashed: true }, heavy)).toBe(1)
    expect(normalised({ ...WEIGHTS, eval: 0, critique: 0 })).toEqual({
      eval: 0,
      critique: 0,
      gate_rejections: expect.closeTo(0.5),
      budget: expect.closeTo(1 / 6),
      status: expect.closeTo(1 / 3),
    })
  })

  test('a crash without a trace is better than an honest try', () => {
    expect(loss({}, { crashed: true })).toBe(1)
    expect(loss({ status: 'failed' })).toBe(1)
    expect(loss({ status: 'aborted', eval: 0.2 })).toBeCloseTo(0.92, 10)
    expect(loss({ status: 'partial', eval: 0.2 })).toBeLessThan(loss({}, { crashed: true }))
  })

  const score = fc.option(fc.double({ min: 0, max: 1, noNaN: true }))
  const some = fc.record({
    eval: score,
    critique: score,
    gate_rejections: fc.option(fc.nat(5)),
    max_rejections: fc.option(fc.nat(5)),
    budget_remaining_pct: fc.option(fc.double({ min: 0, max: 100, noNaN: true })),
    status: fc.constant(null),
  })
  test('with the same signals, a crash is better than a partial run, or a loss is not from 0 to 1', () => {
    fc.assert(
      fc.property(some, (signals) => {
        const crashed = loss(signals, { crashed: true })
        expect(crashed).toBeGreaterThanOrEqual(loss({ ...signals, status: 'partial' }) - 1e-12)
        expect(crashed).toBeLessThanOrEqual(1)
        expect(loss(signals)).toBeGreaterThanOrEqual(0)
      }),
    )
  })

  test('the mean of the worked example', () => {
    expect(meanLoss([0.4, 0.53, 0.31])).toBeCloseTo(0.4133, 4)
    expect(meanLoss([0.045, 0.62, 0.365])).toBeCloseTo(0.3433, 4)
  })
})

describe('what a run left', () => {
  test('a folder of a run is read otherwise', () => {
    const completion = {
      status: 'COMPLETE',
      final_budget: { budget_remaining_pct: 80 },
      config_used: { max_rejected_completions: 4 },
      critique_score: 0.7,
    }
    const lines = [
      { kind: 'metric.eval', score: 0.5 },
      { kind: 'metric.eval', score: 0.7 },
      { kind: 'metric.gate', verdict: 'Rejected' },
      { kind: 'metric.gate', verdict: 'pass' },
      undefined,
    ]
    expect(signalsIn(completion, lines).signals).toEqual({
      eval: expect.closeTo(0.6),
      critique: 0.7,
      gate_rejections: 1,
      max_rejections: 4,
      budget_remaining_pct: 80,
      status: 'complete',
    })
  })

  test('no gate was asked: that is no pass', () => {
    expect(signalsIn({}, [{ kind: 'metric.eval', score: 1 }]).signals.gate_rejections).toBeNull()
  })

  test('a brace in a text hides an answer', () => {
    expect(parseLenient('{"proposed_content":"a } b NaN \\" {"}')).toEqual({
      proposed_content: 'a } b NaN " {',
    })
    expect(parseLenient('nothing')).toBeUndefined()
  })
})
