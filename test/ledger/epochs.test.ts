import { expect, test } from 'vitest'
import { bestOf } from '../../cli/ledger/best.ts'
import type { Draft } from '../../cli/ledger/events.ts'
import { addedGates, repairable } from '../../cli/ledger/state.ts'
import { audited, confirmed, created, discarded, judged, restored, sealed, started } from './drafts.ts'
import { story } from './story.ts'

const X = 'exp_0001'
const Y = 'exp_0002'
const epoch = (n: number): Draft => ({ type: 'epoch_opened', epoch: n, why: 'r' })
const again = (attempt: number, value: number): Draft[] => [
  sealed('exp_0000', attempt),
  started('exp_0000', attempt),
  judged('exp_0000', 'kept', { attempt, value }),
]

test('a verdict on samples of the last epoch counts in this one', () => {
  const { given, state } = story().given(created(X, 'exp_0000'), sealed(X), started(X))
  given(epoch(2), ...again(2, 20), judged(X, 'kept', { value: 5 }))
  expect(state.experiments.get(X)?.epoch).toBe(1)
  expect(bestOf(state)?.id).toBe('exp_0000')
  // Its tree was not judged in this epoch, so another one with it is no duplicate.
  expect(state.trees.size).toBe(1)
})

test('a process that takes a claim over in a new epoch uses the samples of the old one', () => {
  const { given, state } = story().given(created(X, 'exp_0000'), sealed(X), started(X))
  const claim = state.experiments.get(X)?.attempts[0]?.claim?.id ?? ''
  given(epoch(2), started(X, 1, claim), judged(X, 'kept', { value: 5 }))
  expect(state.experiments.get(X)?.epoch).toBe(1)
})

test('a confirmation that was measured in the last epoch counts in this one', () => {
  const { given, tell } = story().given(created(X, 'exp_0000'), sealed(X), started(X), judged(X, 'kept'))
  given(epoch(2))
  expect(tell({ ...confirmed(X, true), epoch: 1 } as Draft)).toBe('stale_epoch')
  expect(tell({ ...confirmed(X, true), epoch: 2 } as Draft)).toBe('accepted')
})

test('an experiment is measured against a parent of a different epoch', () => {
  const { given, tell } = story().given(created(X, 'exp_0000'), sealed(X))
  given(epoch(2))
  expect(tell(created(Y, 'exp_0000'))).toBe('other_epoch')
  expect(tell(started(X))).toBe('other_epoch')
  given(...again(2, 20))
  expect(tell(created(Y, 'exp_0000'))).toBe('accepted')
  expect(tell(started(X))).toBe('accepted')
})

test('a round that was open when the epoch changed is judged by the old scores', () => {
  const { given, state } = story()
  given(
    {
      type: 'round_opened',
      round: 1,
      token: 't',
      width: 1,
      depth: 1,
      parents: [],
      policy: 'argmax',
      seed: 1,
      ideate: null,
    },
    epoch(2),
    ...again(2, 20),
  )
  expect(state.rounds.at(0)?.bestAtOpen).toEqual({ experiment: 'exp_0000', value: 20 })
})

test('a flagged experiment becomes a parent', () => {
  const { given, tell } = story().given(created(X, 'exp_0000'), sealed(X), started(X), judged(X, 'kept'))
  given(audited(X, 'flagged'))
  expect(tell(created(Y, X))).toBe('bad_parent')
  given(restored(X))
  expect(tell(created(Y, X))).toBe('accepted')
})

test('a fix that abort named reaches no later round, or an aborted experiment is resumed', () => {
  const { given, state } = story().given(created(X, 'exp_0000'), sealed(X), started(X))
  const verdict = { reason: 'aborted' as const, failure_class: 'eval' as const, message: 'it hangs' }
  given(judged(X, 'failed', { ...verdict, aborted: { fix: 'bound it' } }))
  expect(state.notes).toMatchObject([
    { kind: 'infrastructure', experiment: X, text: `${X} was stopped: it hangs. Fix: bound it` },
  ])
  expect(repairable(state)).toEqual([])
})

test('a removed gate cannot be added again, or removing it for a child removes it for the parent', () => {
  const gate = (experiment: string): Draft => ({
    type: 'gate_added',
    experiment,
    gate: { name: 'g', command: 'true', phase: 'before', timeoutMs: 1 },
    why: 'r',
  })
  const remove = (experiment: string): Draft => ({ type: 'gate_removed', experiment, name: 'g', why: 'r' })
  const { given, tell, state } = story().given(created(X, 'exp_0000'))
  const names = (id: string) => addedGates(state, id).map(({ name }) => name)
  given(gate('exp_0000'))
  expect([names(X), tell(gate(X))]).toEqual([['g'], 'gate_exists'])
  given(remove(X))
  expect([names('exp_0000'), names(X), tell(remove(X))]).toEqual([['g'], [], 'no_gate'])
  given(gate(X))
  expect(names(X)).toEqual(['g'])
  given(remove(X))
  expect([names('exp_0000'), names(X)]).toEqual([['g'], []])
})

test('a restored experiment keeps the class of its discard', () => {
  const { given, state } = story().given(created(X, 'exp_0000'))
  given({ ...discarded(X), failure_class: 'build' } as Draft, restored(X))
  expect(state.experiments.get(X)?.discard_class).toBe(null)
})
