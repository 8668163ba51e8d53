import { expect, test } from 'vitest'
import type { Pick } from '../../cli/ledger/events.ts'
import { scanBatches } from '../../cli/loop/open.ts'
import { History } from './history.ts'

const from = (...ids: string[]): Pick[] =>
  ids.map((experiment, index) => ({ experiment, value: 1, rank: index + 1, why: '' }))

/** One round whose experiments have these fates, and a second one that scans. */
function scanned(fates: string, knobs: object, parents: Pick[] = []): string[][] {
  const history = new History({ knobs }).experiment('exp_0900', { value: 99 })
  history.open().closed(1).open()
  for (const [index, fate] of [...fates].entries()) {
    const status = fate === 'k' ? 'kept' : 'rejected'
    history.experiment(`exp_000${index + 1}`, { value: 90, status })
  }
  history.closed(2).open()
  const { state } = history
  if (!state.knobs) throw new Error('no knobs')
  return scanBatches(state, state.knobs, parents)
}

test('a scan grows with the history, or what was kept is crowded out by what was not', () => {
  expect(scanned('krrkrr', { scan_batch: 2, scan_max: 3 })).toEqual([['exp_0001', 'exp_0004'], ['exp_0006']])
  expect(scanned('kkkk', { scan_batch: 2, scan_max: 3 })).toEqual([['exp_0002', 'exp_0003'], ['exp_0004']])
})

test('the parents of the round are never read beside their children, cost a batch of their own, or are read twice', () => {
  const size = { scan_batch: 3, scan_max: 6 }
  expect(scanned('rr', size, from('exp_0000', 'exp_0900', 'exp_0002'))).toEqual([
    ['exp_0900', 'exp_0001', 'exp_0002'],
  ])
  expect(scanned('rrr', size, from('exp_0900'))).toEqual([['exp_0001', 'exp_0002', 'exp_0003']])
  expect(scanned('rr', { scan_batch: 3, scan_max: 2 }, from('exp_0900'))).toEqual([['exp_0001', 'exp_0002']])
})

test('a round without new verdicts reads nothing, though its parents are there to be read', () => {
  const size = { scan_batch: 3, scan_max: 6 }
  expect(scanned('', size, from('exp_0000', 'exp_0900'))).toEqual([['exp_0900']])
  expect(scanned('', size, from('exp_0000'))).toEqual([])
})
