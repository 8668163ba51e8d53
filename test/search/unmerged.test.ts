import { expect, test } from 'vitest'
import type { Draft, Judged } from '../../cli/ledger/events.ts'
import type { State } from '../../cli/ledger/state.ts'
import { nextMerge } from '../../cli/search/merge.ts'
import { combinable, mergedIn, mergePlan, notIn, unmerged } from '../../cli/search/unmerged.ts'
import { confirmed, created, discarded, judged, keptNode, pruned, sealed, started } from '../ledger/drafts.ts'
import { story } from '../ledger/story.ts'

const ids = (nodes: readonly { id: string }[]): string[] => nodes.map(({ id }) => id)
const next = (state: State, wanted: string[] | null = null) => nextMerge(mergePlan(state, wanted))
const kept = (id: string, value: number, parent = 'exp_0000') => keptNode(id, parent, value)

const attempted = (
  experiment: string,
  parents: string[],
  status: Judged['status'],
  more: Partial<Judged> = {},
): Draft[] => [
  { ...created(experiment, parents[0] ?? null), parents, merge: true },
  sealed(experiment),
  started(experiment),
  judged(experiment, status, more),
]

const three = () => story().given(...kept('exp_0001', 8), ...kept('exp_0002', 6), ...kept('exp_0003', 7))

test('the baseline, what others contain, or what cannot be a parent is merged', () => {
  const { state } = three().given(
    ...kept('exp_0004', 5, 'exp_0001'),
    ...kept('exp_0005', 4),
    pruned('exp_0005'),
    ...kept('exp_0006', 4),
    confirmed('exp_0006', false),
    { ...created('exp_0007', 'exp_0000'), arm: 'baseline' as const },
    ...kept('exp_0007', 4).slice(1),
  )
  expect(ids(unmerged(state))).toEqual(['exp_0004', 'exp_0002', 'exp_0003'])
  expect(next(state)).toEqual(['exp_0004', 'exp_0002', 'exp_0003'])
})

test('an experiment is merged with the smaller diff that an attribution found in it', () => {
  const { state } = three().given(
    { ...created('exp_0004', 'exp_0000'), reduces: { experiment: 'exp_0002', attribution: 1 } },
    ...kept('exp_0004', 6).slice(1),
  )
  expect(ids(unmerged(state))).toEqual(['exp_0004', 'exp_0003', 'exp_0001'])
  expect(ids(notIn(state, 'exp_0002'))).toEqual(['exp_0003', 'exp_0001'])
})

test('a merge of a merge of a merge, 10,000 deep, ends with an error', () => {
  const told = story()
  for (let n = 1; n <= 10_000; n++) {
    const parents = n < 3 ? ['exp_0000'] : [idOf(n - 1), idOf(2 - (n % 2))]
    const draft = created(idOf(n), parents[0] ?? null)
    told.given(n < 3 ? draft : { ...draft, parents, merge: true }, ...kept(idOf(n), 9 - n / 1e5).slice(1))
  }
  expect(mergedIn(told.state, idOf(10_000))).toEqual(['exp_0002', 'exp_0001'])
})

const idOf = (n: number): string => `exp_${String(n).padStart(4, '0')}`

test('two experiments with the same files are merged, or the second one counts as left over', () => {
  const { state } = three().given(
    created('exp_0004', 'exp_0000'),
    sealed('exp_0004', 1, 'exp_0002/1'),
    started('exp_0004'),
    judged('exp_0004', 'kept', { value: 6 }),
  )
  expect(ids(unmerged(state))).toEqual(['exp_0002', 'exp_0003', 'exp_0001'])
  expect(ids(notIn(state, 'exp_0004'))).toEqual(['exp_0003', 'exp_0001'])
})

test('what was merged is merged again, or a new sibling is not added to it', () => {
  const told = three().given(
    ...attempted('exp_0004', ['exp_0002', 'exp_0003', 'exp_0001'], 'kept', { value: 3 }),
  )
  expect(ids(unmerged(told.state))).toEqual(['exp_0004'])
  expect(next(told.state)).toBeNull()
  told.given(...kept('exp_0005', 9))
  expect(next(told.state)).toEqual(['exp_0004', 'exp_0005'])
})

test('a set is tried again that was refused, or one that a broken machine spoilt is not', () => {
  const set = ['exp_0002', 'exp_0003', 'exp_0001']
  expect(next(three().given(...attempted('exp_0004', set, 'rejected')).state)).toEqual([
    'exp_0002',
    'exp_0003',
  ])
  const spoilt = attempted('exp_0004', set, 'failed', { failure_class: 'environment' })
  expect(next(three().given(...spoilt).state)).toEqual(set)
})

test('a merge that failed once, perhaps by chance, is not tried once more, or is tried without end', () => {
  const set = ['exp_0002', 'exp_0003', 'exp_0001']
  const failed = (reason: 'crash' | 'timeout') =>
    attempted('exp_0004', set, 'failed', { reason, failure_class: 'eval', signature: 'same' })
  const told = three().given(...failed('crash'))
  expect(next(told.state)).toEqual(set)
  expect(told.state.streak?.count).toBe(1)
  const again = [sealed('exp_0004', 2), started('exp_0004', 2)]
  told.given(...again)
  expect(next(told.state)).toEqual(set)
  told.given(judged('exp_0004', 'failed', { attempt: 2, reason: 'crash', signature: 'same' }))
  expect(next(told.state)).toEqual(['exp_0002', 'exp_0003'])
  // The same failure of the same files says nothing new of the machine.
  expect(told.state.streak?.count).toBe(1)
  // A time limit may be long.
  expect(next(three().given(...failed('timeout')).state)).toEqual(['exp_0002', 'exp_0003'])
})

test('two whose files were judged as an experiment that no merge contains clash for ever', () => {
  const told = three().given(
    ...attempted('exp_0004', ['exp_0002', 'exp_0003'], 'rejected', { reason: 'duplicate' }),
  )
  expect(next(told.state)).toEqual(['exp_0002', 'exp_0003', 'exp_0001'])
})

test('a merge that a person gave up is made again, or one that was stopped for the sake of the machine is not', () => {
  const set = ['exp_0002', 'exp_0003', 'exp_0001']
  const stopped = (failure_class: 'hypothesis' | 'environment') =>
    attempted('exp_0004', set, 'failed', { reason: 'aborted', failure_class })
  expect(next(three().given(...stopped('hypothesis')).state)).toEqual(['exp_0002', 'exp_0003'])
  expect(next(three().given(...stopped('environment')).state)).toEqual(set)
  expect(next(three().given(...stopped('environment'), discarded('exp_0004')).state)).toEqual([
    'exp_0002',
    'exp_0003',
  ])
})

test('two that were refused together are merged when one of them has a child', () => {
  const told = story().given(
    ...kept('exp_0001', 6),
    ...kept('exp_0002', 7),
    ...attempted('exp_0003', ['exp_0001', 'exp_0002'], 'rejected'),
    ...kept('exp_0004', 5, 'exp_0001'),
  )
  expect(next(told.state)).toBeNull()
})

test('a call for some experiments merges others as well, or does not continue what it merged of these', () => {
  const told = three()
  expect(next(told.state, ['exp_0001', 'exp_0003'])).toEqual(['exp_0003', 'exp_0001'])
  told.given(...attempted('exp_0004', ['exp_0003', 'exp_0001'], 'kept', { value: 5 }))
  expect(next(told.state, ['exp_0001', 'exp_0003'])).toBeNull()
  expect(next(told.state, ['exp_0001', 'exp_0002', 'exp_0003'])).toEqual(['exp_0004', 'exp_0002'])
})

test('the best by value comes first although pairs did not show it to be better', () => {
  const { state } = story().given(
    ...kept('exp_0001', 7),
    ...keptNode('exp_0002', 'exp_0000', 6).slice(0, 3),
    judged('exp_0002', 'kept', { value: 6, lost_to: 'exp_0001' }),
  )
  expect(ids(unmerged(state))).toEqual(['exp_0001', 'exp_0002'])
})

test('a conflict is not offered to an agent, is offered twice, or after one of the two is gone', () => {
  const told = three().given({ type: 'conflicted', experiments: ['exp_0002', 'exp_0001'], files: ['a'] })
  const offer = [{ experiments: ['exp_0002', 'exp_0001'], files: ['a'] }]
  expect(combinable(told.state)).toEqual(offer)
  expect(next(told.state)).toEqual(['exp_0002', 'exp_0003'])
  expect(
    combinable(
      three().given(
        { type: 'conflicted', experiments: ['exp_0002', 'exp_0001'], files: ['a'] },
        confirmed('exp_0001', false),
      ).state,
    ),
  ).toEqual([])
  told.given({ ...created('exp_0004', 'exp_0002'), parents: ['exp_0002', 'exp_0001'] })
  expect(combinable(told.state)).toEqual([])
})
