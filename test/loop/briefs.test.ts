import { describe, expect, test } from 'vitest'
import type { Brief } from '../../cli/ledger/events.ts'
import { sift } from '../../cli/loop/briefs.ts'
import { History } from './history.ts'

const brief = (objective: string, { parent = 'exp_0000', kind = 'edit' } = {}): Brief => ({
  parent,
  kind,
  objective,
  boundaries: [],
  pointers: [],
  hard: false,
})

function sifted(history: History, briefs: Brief[]) {
  const { accepted, refused } = sift(briefs, history.round, history.state)
  return {
    accepted: accepted.map(({ objective }) => objective),
    refused: refused.map(({ index, reason }) => [index, reason]),
  }
}

test('the width counts refused briefs, or is not kept', () => {
  const history = new History().open(2)
  const briefs = [
    brief('alpha', { parent: 'exp_0404' }),
    brief('beta'),
    brief('BETA!'),
    brief('gamma'),
    brief('delta'),
  ]
  expect(sifted(history, briefs)).toEqual({
    accepted: ['beta', 'gamma'],
    refused: [
      [0, 'parent'],
      [2, 'duplicate'],
      [4, 'width'],
    ],
  })
})

test('a parent is taken that is rejected, open, flagged, pruned, or below a revoked one', () => {
  const history = new History()
    .experiment('exp_0001', { value: 90 })
    .experiment('exp_0002', { value: 80, parent: 'exp_0001' })
    .experiment('exp_0003', { value: 110, status: 'rejected' })
    .experiment('exp_0004', { value: 70 })
    .experiment('exp_0005', { value: 60 })
    .created('exp_0006')
    .add({ type: 'pruned', experiment: 'exp_0004', why: 'spent' })
    .open(9)
  const ask = () =>
    sifted(
      history,
      [0, 1, 2, 3, 4, 5, 6].map((n) => brief(`from ${n}`, { parent: `exp_000${n}` })),
    ).accepted
  expect(ask()).toEqual(['from 0', 'from 1', 'from 2', 'from 5'])
  const audited = {
    type: 'audited' as const,
    attempt: 1,
    findings: [{ code: 'opinion' as const, message: 'no' }],
  }
  history.add({ ...audited, experiment: 'exp_0001', outcome: 'revoked' })
  history.add({ ...audited, experiment: 'exp_0005', outcome: 'flagged' })
  expect(ask()).toEqual(['from 0'])
})

test('after a plateau a brief goes to the usual model, or before one to the stronger', () => {
  const hard = (history: History) =>
    sift([brief('one')], history.round, history.state).accepted.map(({ hard }) => hard)
  expect(hard(new History().open(1))).toEqual([false])
  const direction = { change: { parent: null, kinds: [], hard: true }, why: 'a plateau' }
  expect(hard(new History().open(1, direction))).toEqual([true])
})

describe('when an axis is exhausted', () => {
  const exhausted = () => {
    const history = new History().open(3).briefed('cache')
    for (const [index, word] of ['hash', 'intern', 'memoise'].entries()) {
      const place = { round: 1, lane: 1, hypothesis: `${word} everything` }
      history.experiment(`exp_000${index + 1}`, { value: 120 + index, status: 'rejected', ...place })
    }
    return history.closed(1).open(3)
  }

  test('all lanes may continue in it', () => {
    const history = exhausted()
    const more = ['one', 'two', 'three'].map((text) => brief(text, { kind: 'cache' }))
    expect(sifted(history, more)).toEqual({ accepted: ['one', 'two'], refused: [[2, 'axis']] })
    expect(sifted(history, [...more, brief('four', { kind: 'layout' })])).toEqual({
      accepted: ['one', 'two', 'four'],
      refused: [[2, 'axis']],
    })
  })

  test('a lane of a different kind does not free the others', () => {
    const history = exhausted()
    const briefs = [
      brief('one', { kind: 'layout' }),
      brief('two', { kind: 'cache' }),
      brief('three', { kind: 'cache' }),
    ]
    expect(sifted(history, briefs)).toEqual({ accepted: ['one', 'two', 'three'], refused: [] })
  })

  test('a single brief is refused, which would end the loop', () => {
    const history = exhausted()
    expect(sifted(history, [brief('one', { kind: 'cache' })]).accepted).toEqual(['one'])
  })
})
