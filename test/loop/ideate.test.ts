import { expect, test } from 'vitest'
import { ideateBecause } from '../../cli/loop/open.ts'
import { History } from './history.ts'

const keep = (history: History, from: number, count: number) => {
  for (let n = from; n < from + count; n++) history.experiment(`exp_01${n}`, { value: 90 })
  return history
}

test('a run with many keeps asks for ideas as soon as it is started, or never', () => {
  const history = keep(new History({ knobs: { ideate_keeps: 3 } }), 10, 5)
  expect(ideateBecause(history.state)).toBeNull()
  keep(history.open(), 20, 2)
  expect(ideateBecause(history.closed(0).state)).toBeNull()
  keep(history, 30, 1)
  expect(ideateBecause(history.state)?.why).toContain('3 experiments kept')
})

test('a loop of few rounds ends before ideas were asked for', () => {
  const history = new History({ knobs: { stall: 2, ideate_stall: 3 } }).open().briefed('a').closed(1)
  expect(ideateBecause(history.state)).toEqual({ why: '1 round without a new best' })
})
