import { expect, test } from 'vitest'
import { candidatesOf } from '../../cli/loop/frontier.ts'
import { newDirection, plateauOf } from '../../cli/loop/open.ts'
import { History } from './history.ts'

const directionOf = (history: History, picked: string[]) =>
  newDirection(history.state, candidatesOf(history.state), picked)

test.each([
  { stall: 9, ideate_stall: 3, plateau: 3 },
  { stall: 3, ideate_stall: 3, plateau: 2 },
  { stall: 2, ideate_stall: 9, plateau: 1 },
  { stall: 1, ideate_stall: 3, plateau: 1 },
])(
  'with stall $stall and ideate $ideate_stall the loop ends before anything else was tried',
  ({ plateau, ...knobs }) => {
    const { state } = new History({ knobs })
    expect(state.knobs && plateauOf(state.knobs)).toBe(plateau)
  },
)

const stalled = () =>
  new History({ knobs: { stall: 4, ideate_stall: 2 } })
    .experiment('exp_0001', { value: 80 })
    .experiment('exp_0002', { value: 90 })
    .experiment('exp_0003', { value: 95 })
    .experiment('exp_0004', { value: 60, status: 'rejected' })

test('the direction changes before the plateau, or not on it', () => {
  const history = stalled().open().briefed('cache').closed(1)
  expect(directionOf(history, ['exp_0001'])).toBeNull()
  history.open().briefed('layout', 'cache').closed(2)
  expect(directionOf(history, ['exp_0001'])).toEqual({
    change: { parent: 'exp_0002', kinds: ['cache', 'layout'], hard: true },
    why: '2 rounds without a new best: start from exp_0002 too, leave what was done (cache, layout), and count every brief as hard',
  })
  expect(directionOf(history.open().briefed('cache').closed(0), ['exp_0001'])).toBeNull()
})

test('it starts again from where the plateau started, or from what is no parent, when nothing else is left', () => {
  // The lanes of the plateau started from the baseline.
  const history = stalled().open().briefed('cache').closed(1).open().briefed('cache').closed(2)
  const all = ['exp_0001', 'exp_0002', 'exp_0003']
  expect(directionOf(history, all.slice(0, 2))?.change.parent).toBe('exp_0003')
  expect(directionOf(history, all)?.change.parent).toBeNull()
  expect(directionOf(history, all)?.why).toContain('no other parent is left')
})
