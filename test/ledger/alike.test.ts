import { expect, test } from 'vitest'
import { sameScores } from '../../cli/ledger/best.ts'
import { type Attempt, type Experiment, emptyState, type State } from '../../cli/ledger/state.ts'

type Said = { tasks: Record<string, number> | null; status?: 'kept' | 'rejected' | 'failed'; epoch?: number }

/** The state with these verdicts: of each experiment, those of its attempts. */
function stateOf(experiments: Said[][], epoch = 1): State {
  const state = emptyState()
  state.epoch = epoch
  experiments.forEach((attempts, index) => {
    const id = `exp_${String(index).padStart(4, '0')}`
    const node = {
      id,
      attempts: attempts.map(({ tasks, status = 'rejected', epoch: at = epoch }) => ({
        claim: { epoch: at },
        judged: { tasks, status },
      })) as unknown as Attempt[],
    }
    state.experiments.set(id, node as Experiment)
  })
  return state
}

const ONE = { a: 1, b: 0 }

test('the first with the same scores is not found, in whatever order its tasks stand', () => {
  const state = stateOf([[{ tasks: { a: 1, b: 1 } }], [{ tasks: { b: 0, a: 1 } }], [{ tasks: ONE }]])
  expect(sameScores(state, 'exp_0009', ONE)).toBe('exp_0001')
})

test('an earlier attempt of a different experiment is forgotten, or one of its own counts', () => {
  const state = stateOf([[{ tasks: ONE }, { tasks: { a: 2, b: 2 } }]])
  expect(sameScores(state, 'exp_0001', ONE)).toBe('exp_0000')
  expect(sameScores(state, 'exp_0000', ONE)).toBe(null)
})

test('one task, no task, a larger set, a failure or a different epoch makes a twin', () => {
  expect(sameScores(stateOf([[{ tasks: { a: 1 } }]]), 'exp_0001', { a: 1 })).toBe(null)
  expect(sameScores(stateOf([[{ tasks: null }]]), 'exp_0001', null)).toBe(null)
  expect(sameScores(stateOf([[{ tasks: { ...ONE, c: 1 } }]]), 'exp_0001', ONE)).toBe(null)
  expect(sameScores(stateOf([[{ tasks: { a: 1, c: 0 } }]]), 'exp_0001', ONE)).toBe(null)
  expect(sameScores(stateOf([[{ tasks: ONE, status: 'failed' }]]), 'exp_0001', ONE)).toBe(null)
  expect(sameScores(stateOf([[{ tasks: ONE, epoch: 1 }]], 2), 'exp_0001', ONE)).toBe(null)
})

test('a name of every object is taken for a task', () => {
  const scores = JSON.parse('{"a": 1, "__proto__": 0}')
  expect(sameScores(stateOf([[{ tasks: ONE }]]), 'exp_0001', scores)).toBe(null)
})
