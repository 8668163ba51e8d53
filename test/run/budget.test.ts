import { describe, expect, test } from 'vitest'
import type { Draft, Usage } from '../../cli/ledger/events.ts'
import {
  experimentsLeft,
  isUncapped,
  marksOf,
  moneyIsSpent,
  stopReason,
  unaffordable,
} from '../../cli/run/budget.ts'
import { History } from '../loop/history.ts'

const NOTHING = { tokens: 0, usd: 0 }
const usage = (role: string, told: Partial<Usage>): Draft => ({
  type: 'usage',
  role,
  host: 'h',
  experiment: null,
  round: null,
  ms: 1,
  outcome: 'ok',
  usage: { tokens_in: null, tokens_out: null, usd: null, ...told },
})
const tokens = (role: string, sum: number) => usage(role, { tokens_in: sum - 1, tokens_out: 1 })

describe('money', () => {
  test('calls at once pass the last place together', () => {
    const { state } = new History({ knobs: { usd: 3 } }).add(usage('implement', { usd: 1 }))
    expect(unaffordable(state, 'implement', { tokens: 0, usd: 1 })).toBeNull()
    expect(unaffordable(state, 'implement', { tokens: 0, usd: 1.01 })).toBe(
      'budget.usd: $2.01 of $3 is used or reserved, and the most expensive implement call took $1',
    )
    // A role whose price nobody knows is bounded by what is used.
    expect(unaffordable(state, 'audit', { tokens: 0, usd: 1.9 })).toBeNull()
    expect(unaffordable(state, 'audit', { tokens: 0, usd: 2 })).not.toBeNull()
  })

  test('a call with unknown cost counts as free', () => {
    const history = new History({ knobs: { tokens: 100 } })
      .add(tokens('brief', 10))
      .add(tokens('implement', 40))
    expect(unaffordable(history.state, 'implement', NOTHING)).toBeNull()
    history.add(usage('implement', {}))
    expect(unaffordable(history.state, 'implement', NOTHING)).toMatch(/^budget\.tokens: 90 of 100 /)
    expect(unaffordable(history.state, 'brief', NOTHING)).toBeNull()
  })

  test('rounds open in which no call fits, or raising the cap does not lift the stop', () => {
    const history = new History({ knobs: { tokens: 100 } }).add(tokens('implement', 50))
    expect([moneyIsSpent(history.state), stopReason(history.state)]).toEqual([false, null])
    history.add(tokens('brief', 1))
    expect([moneyIsSpent(history.state), stopReason(history.state)]).toEqual([true, 'budget'])
    history.add({ type: 'configured', changes: { tokens: 102 }, why: 'more' })
    expect(stopReason(history.state)).toBeNull()
  })
})

test('a cap is passed without a warning, or an uncapped one is warned of', () => {
  const history = new History({ knobs: { usd: 10 } }).add(usage('a', { usd: 4.99 }))
  const marks = () => marksOf(history.state).map(({ cap, mark }) => [cap, mark])
  expect(marks()).toEqual([])
  history.add(usage('a', { usd: 0.01 }))
  expect(marks()).toEqual([['usd', 50]])
  history.add(usage('a', { usd: 3 }))
  expect(marks()).toEqual([['usd', 80]])
})

test('the number of experiments that the budget pays for ignores its tightest cap', () => {
  const history = new History({ knobs: { experiments: 9, tokens: 1000 } })
  expect(experimentsLeft(history.state)).toEqual({ cap: 'experiments', count: 9 })
  history.experiment('exp_0001', { value: 90 }).add(tokens('implement', 300))
  expect(experimentsLeft(history.state)).toEqual({ cap: 'tokens', count: 2 })
})

test.each([
  [{}, true],
  [{ failures: 3 }, true],
  [{ hours: 1 }, false],
  [{ usd: 1 }, false],
])('%j is taken for the wrong side of uncapped', (knobs, uncapped) => {
  expect(isUncapped(new History({ knobs }).state)).toBe(uncapped)
})
