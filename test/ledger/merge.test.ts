import { expect, test } from 'vitest'
import type { Draft } from '../../cli/ledger/events.ts'
import { addedGates, lineageOf, tainted, undermined } from '../../cli/ledger/state.ts'
import { confirmed, created, discarded, judged, keptNode, sealed, started } from './drafts.ts'
import { story } from './story.ts'

const merge = (experiment: string, parents: string[]): Draft => ({
  ...created(experiment, parents[0] ?? null),
  parents,
  merge: true,
})

const two = () =>
  story().given(...keptNode('exp_0001', 'exp_0000', 8), ...keptNode('exp_0002', 'exp_0000', 9))

test('a ledger without the field of parents reads as if its experiments had none', () => {
  const { state } = two()
  expect(state.experiments.get('exp_0000')?.parents).toEqual([])
  expect(state.experiments.get('exp_0001')?.parents).toEqual(['exp_0000'])
})

test('a merge is not a child of each parent, or does not stand below all of them', () => {
  const { state } = two().given(
    ...keptNode('exp_0003', 'exp_0002', 7),
    merge('exp_0004', ['exp_0003', 'exp_0001']),
  )
  expect(state.experiments.get('exp_0004')).toMatchObject({
    parent: 'exp_0003',
    parents: ['exp_0003', 'exp_0001'],
    generation: 3,
  })
  expect(state.experiments.get('exp_0001')?.children).toEqual(['exp_0004'])
  expect(lineageOf(state, 'exp_0004').map(({ id }) => id)).toEqual([
    'exp_0000',
    'exp_0002',
    'exp_0001',
    'exp_0003',
    'exp_0004',
  ])
})

test('two processes make two experiments of one set, or a set that was given up stays closed', () => {
  const told = two().given(merge('exp_0003', ['exp_0001', 'exp_0002']))
  expect(told.tell(merge('exp_0004', ['exp_0002', 'exp_0001']))).toBe('merged')
  expect(told.given(discarded('exp_0003')).tell(merge('exp_0004', ['exp_0001', 'exp_0002']))).toBe('accepted')
})

test('something is merged that may not be a parent', () => {
  const told = two().given(confirmed('exp_0002', false))
  expect(told.tell(merge('exp_0003', ['exp_0001', 'exp_0002']))).toBe('bad_parent')
})

test('a merge stands although its second parent was revoked', () => {
  const told = two().given(merge('exp_0003', ['exp_0001', 'exp_0002']), confirmed('exp_0002', false))
  const node = told.state.experiments.get('exp_0003')
  expect(node && undermined(told.state, node)?.message).toBe(
    'exp_0003 is built on exp_0002, which was revoked: a fresh measurement did not confirm it against exp_0000',
  )
  expect([...tainted(told.state)]).toEqual(['exp_0002', 'exp_0003'])
  expect(told.tell(sealed('exp_0003'))).toBe('parent_revoked')
})

test('a gate of one parent does not bind a merge, or the other parent drops it', () => {
  const gate = (experiment: string, name: string) =>
    ({ type: 'gate_added', experiment, gate: { name, phase: 'before' }, why: '' }) as unknown as Draft
  const { state } = story().given(
    gate('exp_0000', 'shared'),
    ...keptNode('exp_0001', 'exp_0000', 8),
    ...keptNode('exp_0002', 'exp_0000', 9),
    gate('exp_0002', 'second'),
    { type: 'gate_removed', experiment: 'exp_0001', name: 'shared', why: '' },
    merge('exp_0003', ['exp_0001', 'exp_0002']),
  )
  expect(addedGates(state, 'exp_0001')).toEqual([])
  expect(addedGates(state, 'exp_0003').map(({ name, from }) => `${name} from ${from}`)).toEqual([
    'shared from exp_0000',
    'second from exp_0002',
  ])
})

test('one conflict is recorded twice, or of an experiment that does not exist', () => {
  const conflict = (...experiments: string[]): Draft => ({ type: 'conflicted', experiments, files: ['a'] })
  const told = two().given(conflict('exp_0001', 'exp_0002'))
  expect(told.tell(conflict('exp_0002', 'exp_0001'))).toBe('conflicted')
  expect(told.tell(conflict('exp_0001', 'exp_0009'))).toBe('unknown_experiment')
  expect(told.state.conflicts).toHaveLength(1)
})

test('a merge that was measured in an earlier epoch cannot be measured again', () => {
  const told = two().given(
    merge('exp_0003', ['exp_0001', 'exp_0002']),
    sealed('exp_0003'),
    started('exp_0003'),
    judged('exp_0003', 'rejected'),
  )
  const again = merge('exp_0004', ['exp_0001', 'exp_0002'])
  expect(told.tell(again)).toBe('merged')
  expect(told.given({ type: 'epoch_opened', epoch: 2, why: '' }).tell(again)).toBe('other_epoch')
})
