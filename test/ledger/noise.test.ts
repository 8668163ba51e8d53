import { describe, expect, test } from 'vitest'
import { bestOf } from '../../cli/ledger/best.ts'
import type { Calibration, Draft, Judged } from '../../cli/ledger/events.ts'
import { confirmed, created, judged, keptNode, pruned, restored, sealed, started } from './drafts.ts'
import { story } from './story.ts'

const calibration = (mode: Calibration['mode'], values = [10, 10]): Calibration => ({
  mode,
  transform: 'log',
  values,
  varied: [],
})

/** A run whose baseline was measured with this result. */
const measured = (mode: Calibration['mode']) => {
  const told = story()
  told.state.noise = { ...calibration(mode), stages: [] }
  return told
}

const VARIED = 'exp_0002 gave 8, then 9'
const PAIRS = { differences: { judge: [0.1, 0.2], confirm: [0.1, 0.3, 0.2] } }

const verdict = (id: string, status: Judged['status'], more: Parameters<typeof judged>[2] = {}) => [
  created(id, 'exp_0000'),
  sealed(id),
  started(id),
  judged(id, status, more),
]

describe('a metric that is seen to vary after all', () => {
  test('a keep from before the metric was seen to vary is not in doubt until its confirmation, or one that showed it or came later is in doubt', () => {
    const { given, state } = measured('deterministic').given(
      ...keptNode('exp_0001', 'exp_0000', 8),
      ...verdict('exp_0002', 'kept', { value: 7, varied: VARIED, ...PAIRS }),
      ...verdict('exp_0003', 'kept', { value: 6, ...PAIRS }),
    )
    expect(state.noise.mode).toBe('paired')
    const flags = () => [...state.experiments.values()].map(({ flagged }) => flagged)
    expect(flags()).toEqual([null, `it was kept before this was seen: ${VARIED}`, null, null])
    given({ ...confirmed('exp_0001', true), ...PAIRS })
    expect(flags()).toEqual([null, null, null, null])
  })

  test('a pruned keep from before the metric was seen to vary stays the best of the run, or its restoration does not clear the doubt', () => {
    const { state, given } = measured('deterministic').given(
      ...keptNode('exp_0001', 'exp_0000', 1),
      pruned('exp_0001'),
      ...verdict('exp_0002', 'rejected', { value: 7, varied: VARIED }),
    )
    expect(bestOf(state)?.id).toBe('exp_0000')
    given(restored('exp_0001'))
    expect(bestOf(state)?.id).toBe('exp_0001')
  })

  test('a keep without pairs that was being measured meanwhile stands without a doubt', () => {
    const { state, tell } = measured('deterministic').given(
      created('exp_0001', 'exp_0000'),
      sealed('exp_0001'),
      started('exp_0001'),
      ...verdict('exp_0002', 'rejected', { value: 7, varied: VARIED }),
    )
    tell(judged('exp_0001', 'kept', { value: 5 }))
    expect(state.experiments.get('exp_0001')?.flagged).toMatch(/without pairs/)
    expect(bestOf(state)?.id).toBe('exp_0000')
  })

  test('the run forgets at the next verdict that a confirmation showed that the metric varies, or doubts what was confirmed', () => {
    const { state } = measured('deterministic').given(
      ...keptNode('exp_0001', 'exp_0000', 8),
      { ...confirmed('exp_0001', true), varied: VARIED, ...PAIRS },
      ...verdict('exp_0002', 'rejected'),
    )
    expect(state.noise.mode).toBe('paired')
    expect(state.experiments.get('exp_0001')?.flagged).toBeNull()
  })

  test('the run forgets in a new epoch with equal samples that the metric varies, or which others varied in an epoch before', () => {
    const { state } = measured('deterministic').given(
      ...verdict('exp_0001', 'rejected', { varied: VARIED }),
      { type: 'epoch_opened', epoch: 2, why: 'another machine' },
      sealed('exp_0000', 2),
      started('exp_0000', 2),
      judged('exp_0000', 'kept', {
        attempt: 2,
        value: 20,
        calibration: { ...calibration('deterministic', [20, 20]), varied: ['mb'] },
      }),
      { type: 'epoch_opened', epoch: 3, why: 'yet another' },
      sealed('exp_0000', 3),
      started('exp_0000', 3),
      judged('exp_0000', 'kept', {
        attempt: 3,
        value: 30,
        calibration: calibration('deterministic', [30, 30]),
      }),
    )
    expect(state.noise).toEqual({
      mode: 'paired',
      transform: 'log',
      values: [30, 30],
      varied: ['mb'],
      stages: [],
    })
  })

  test('each further difference puts what was kept with pairs in doubt again', () => {
    const { state } = measured('paired').given(
      ...verdict('exp_0001', 'kept', { value: 8, ...PAIRS }),
      ...verdict('exp_0002', 'rejected', { varied: VARIED }),
    )
    expect(state.experiments.get('exp_0001')?.flagged).toBeNull()
  })
})

describe('a confirmation under noise', () => {
  const unclear = {
    ...confirmed('exp_0001', false),
    comparison: { ...confirmed('exp_0001', false).comparison, outcome: 'inconclusive' as const },
    message: 'not clear',
  }
  test('a confirmation that is only unclear revokes the experiment, or does not put it in doubt', () => {
    const { state, statusOf } = measured('paired').given(
      ...verdict('exp_0001', 'kept', { value: 8, ...PAIRS }),
      {
        ...unclear,
        ...PAIRS,
      },
    )
    expect(statusOf('exp_0001')).toBe('kept')
    expect(state.experiments.get('exp_0001')?.flagged).toBe('not clear')
  })
  test('an experiment that its confirmation shows not to be better is not revoked', () => {
    const { statusOf } = measured('paired').given(...verdict('exp_0001', 'kept', { value: 8, ...PAIRS }), {
      ...confirmed('exp_0001', false),
      ...PAIRS,
    })
    expect(statusOf('exp_0001')).toBe('revoked')
  })
})

describe('the differences that the scale is learnt from', () => {
  test('the scale is learnt from the differences of one stage alone, from single ones, or from more than are ever read', () => {
    const { state, given } = measured('paired')
    given(...verdict('exp_0001', 'rejected', { differences: { judge: [1, 2], confirm: [3, 4], best: [5] } }))
    expect(state.noise.stages).toEqual([
      [1, 2],
      [3, 4],
    ])
    for (let n = 2; n < 250; n++) {
      const id = `exp_${String(n).padStart(4, '0')}`
      given(...verdict(id, 'rejected', { differences: { judge: [n, n] } }))
    }
    expect(state.noise.stages).toHaveLength(200)
    expect([state.noise.stages[0], state.noise.stages.at(-1)]).toEqual([
      [50, 50],
      [249, 249],
    ])
  })
})

describe('a new epoch', () => {
  test('a new epoch is compared by the noise of the one before, or loses it before its own is measured', () => {
    const { state, given } = measured('paired').given(
      ...verdict('exp_0001', 'rejected', { differences: { judge: [1, 2] } }),
      { type: 'epoch_opened', epoch: 2, why: 'another machine' } as Draft,
      sealed('exp_0000', 2),
      started('exp_0000', 2),
    )
    expect(state.noise.stages).toHaveLength(1)
    given(judged('exp_0000', 'kept', { attempt: 2, value: 5, calibration: calibration('paired', [5, 6]) }))
    expect(state.noise).toEqual({ ...calibration('paired', [5, 6]), stages: [] })
  })
})
