/** The fold keeps the best and does not search for it: what may change it from afar. */
import { expect, test } from 'vitest'
import { bestOf } from '../../cli/ledger/best.ts'
import { audited, confirmed, created, judged, keptNode, restored, sealed, started } from './drafts.ts'
import { type Story, story } from './story.ts'

const [A, B, C] = ['exp_0001', 'exp_0002', 'exp_0003'] as const
const best = ({ state }: Story): string | undefined => bestOf(state)?.id
/** Another chance for the first event to be the one that is asked about. */
const asked = (told: Story, expected: string): Story => {
  expect(best(told)).toBe(expected)
  return told
}

test('a better value is the best although it lost to one that is cleared again', () => {
  const told = story().given(...keptNode(A, 'exp_0000', 9))
  asked(told, A).given(audited(A, 'flagged'))
  const second = [created(B, 'exp_0000'), sealed(B), started(B), judged(B, 'kept', { value: 8, lost_to: A })]
  asked(told.given(...second), B).given(restored(A))
  expect(best(told)).toBe(A)
})

test('an experiment stays the best below one that was in doubt and is revoked now', () => {
  const told = story().given(
    ...keptNode(A, 'exp_0000', 9),
    ...keptNode(B, A, 8),
    ...keptNode(C, 'exp_0000', 9.5),
  )
  asked(told, B).given(audited(A, 'flagged'))
  asked(told, B).given(audited(A, 'revoked'))
  asked(told, C).given(restored(A))
  expect(best(told)).toBe(B)
})

test('what was kept without pairs stays the best when another experiment shows that the metric varies', () => {
  const told = story().given(...keptNode(A, 'exp_0000', 9), ...keptNode(B, 'exp_0000', 8))
  asked(told, B).given({ ...confirmed(A, true), varied: 'two values' })
  expect(best(told)).toBe(A)
})

test('a best of an earlier epoch stays the best', () => {
  const told = story().given(...keptNode(A, 'exp_0000', 9))
  asked(told, A).given({ type: 'epoch_opened', epoch: 2, why: '' })
  expect(best(told)).toBeUndefined()
})
