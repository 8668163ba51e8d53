import { describe, expect, test } from 'vitest'
import { stopCause, stopReason } from '../../cli/run/budget.ts'
import { History } from './history.ts'

const stop = (history: History) => stopReason(history.state)

test('target: it is not met exactly at the number, or a flagged best meets it', () => {
  const history = new History({ target: 80 }).experiment('exp_0001', { value: 80.5 })
  expect(stop(history)).toBeNull()
  history.experiment('exp_0002', { value: 80 })
  expect(stop(history)).toBe('target')
  history.add({ type: 'audited', experiment: 'exp_0002', attempt: 1, outcome: 'flagged', findings: [] })
  expect(stop(history)).toBeNull()
})

describe('failures', () => {
  const failing = (history: History, signatures: string[]) => {
    for (const [index, signature] of signatures.entries())
      history.experiment(`exp_001${index}`, { value: null, signature })
    return history
  }
  test('two alike are enough, three alike are not, or different ones are taken for alike', () => {
    expect(stop(failing(new History(), ['a', 'a']))).toBeNull()
    expect(stop(failing(new History(), ['a', 'a', 'b', 'a']))).toBeNull()
    expect(stop(failing(new History(), ['b', 'a', 'a', 'a']))).toBe('failures')
  })
  test('the cause is not named, or one is named that did not stop it', () => {
    expect(stopCause(failing(new History(), ['a', 'a']).state)).toBeNull()
    expect(stopCause(failing(new History(), ['a', 'a', 'a']).state)).toMatch(
      /^3 identical failures in a row: /,
    )
    expect(stopCause(failing(new History({ knobs: { failures: 1 } }), ['a']).state)).toBeNull()
    expect(stopCause(new History().add({ type: 'stopped', why: 'enough' }).state)).toBe('enough')
  })
  test('a result in between does not break the row', () => {
    const history = failing(new History(), ['a', 'a']).experiment('exp_0001', {
      value: 120,
      status: 'rejected',
    })
    history.experiment('exp_0002', { value: null, signature: 'a' })
    expect(stop(history)).toBeNull()
  })
  test('the cap of the budget is not kept', () => {
    expect(stop(failing(new History({ knobs: { failures: 2 } }), ['a']))).toBeNull()
    expect(stop(failing(new History({ knobs: { failures: 2 } }), ['a', 'b']))).toBe('failures')
  })
})

test('budget: experiments or hours are not counted, the baseline is, or raising the limit does not lift it', () => {
  const history = new History({ knobs: { experiments: 2, hours: 1 } }).experiment('exp_0001', { value: 90 })
  expect(stop(history)).toBeNull()
  history.experiment('exp_0002', { value: 95, status: 'rejected' })
  expect(stop(history)).toBe('budget')
  history.add({ type: 'configured', changes: { experiments: 3 }, why: 'more' })
  expect(stop(history)).toBeNull()
  const owner = { pid: 1, started: '1', host: 'here' }
  const drove = { type: 'drove' as const, driver: 'assay loop', owner, phase: 'beat' as const }
  history.add({ ...drove, active_ms: 3_590_000 })
  expect(stop(history)).toBeNull()
  history.add({ ...drove, active_ms: 10_000 })
  expect(stop(history)).toBe('budget')
})

test('stall: it counts from the last improvement, and an open round does not count', () => {
  const history = new History({ knobs: { stall: 2 } })
  history.open().briefed('a').closed(1).open().briefed('b')
  expect(stop(history)).toBeNull()
  history.closed(2)
  expect(stop(history)).toBe('stall')
})

test('no_hypothesis: a round without lanes does not end the loop, or one with a lane does', () => {
  expect(stop(new History().open().briefed('a').closed(1))).toBeNull()
  expect(stop(new History().open().briefed().closed(1))).toBe('no_hypothesis')
  expect(stop(new History().open().closed(1))).toBe('no_hypothesis')
})

test('a new start does not lift a round without lanes or a row of failures, or lifts what comes after it', () => {
  const resumed = { type: 'resumed' as const, why: 'mended' }
  const history = new History().open().briefed().closed(1).add(resumed)
  expect(stop(history)).toBeNull()
  history.open().briefed()
  expect(stop(history)).toBeNull()
  history.closed(2)
  expect(stop(history)).toBe('no_hypothesis')
  const fail = (experiment: string) => history.experiment(experiment, { value: null, signature: 'a' })
  fail('exp_0001')
  fail('exp_0002')
  fail('exp_0003')
  expect(stop(history)).toBe('failures')
  history.add(resumed)
  expect(stop(history)).toBeNull()
  fail('exp_0004')
  expect(stop(history)).toBeNull()
})

test('user: a stop by hand is weaker than a different reason, or cannot be lifted', () => {
  const history = new History({ target: 100 }).add({ type: 'stopped', why: 'enough' })
  expect(stop(history)).toBe('user')
  history.add({ type: 'resumed', why: 'more' })
  expect(stop(history)).toBe('target')
})

describe('stall', () => {
  const SPOILT = {
    value: 90,
    status: 'rejected',
    reason: 'inconclusive',
    failureClass: 'environment',
  } as const
  const WORSE = { value: 110, status: 'rejected' } as const
  /** One round for each list, none of which brought a new best. */
  const rounds = (...lists: (typeof SPOILT | typeof WORSE)[][]) => {
    const history = new History({ knobs: { stall: lists.length } })
    for (const [at, list] of lists.entries()) {
      history.open()
      for (const [lane, one] of list.entries())
        history.experiment(`exp_1${at}${lane}0`, { ...one, round: at + 1, lane })
      history.closed(at + 1)
    }
    return history
  }
  test('the stop does not say that a busy machine spoilt most results, or says so for one of many', () => {
    expect(stop(rounds([SPOILT], [WORSE]))).toBe('stall')
    expect(stopCause(rounds([SPOILT], [WORSE]).state)).toMatch(
      /^1 of the last 2 candidates looked better while/,
    )
    expect(stopCause(rounds([SPOILT, WORSE], [WORSE]).state)).toBeNull()
    expect(stopCause(rounds([WORSE], [WORSE]).state)).toBeNull()
  })
  test('what a busy machine spoilt before the last new best is blamed', () => {
    const history = new History({ knobs: { stall: 1 } })
    history
      .open()
      .experiment('exp_1000', { ...SPOILT, round: 1 })
      .closed(0)
    history
      .open()
      .experiment('exp_1100', { ...WORSE, round: 2 })
      .closed(1)
    expect(stop(history)).toBe('stall')
    expect(stopCause(history.state)).toBeNull()
  })
})
