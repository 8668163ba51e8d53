import { describe, expect, test } from 'vitest'
import { openIdeas, siftIdeas } from '../../cli/loop/ideas.ts'
import { History } from './history.ts'

const judge = (history: History, hypotheses: string[], parent?: string) => {
  const ideas = hypotheses.map((hypothesis) => ({ hypothesis, ...(parent === undefined ? {} : { parent }) }))
  const { accepted, refused } = siftIdeas(ideas, history.state)
  return {
    accepted: accepted.map(({ hypothesis }) => hypothesis),
    refused: refused.map(({ index, reason }) => [index, reason]),
  }
}

test('an idea that repeats another, an experiment, or an earlier proposal is accepted', () => {
  const history = new History()
    .experiment('exp_0001', { value: 90, hypothesis: 'Intern the keys' })
    .add({ type: 'proposed', round: null, accepted: [{ hypothesis: 'Skip the checksum' }], refused: [] })
  expect(
    judge(history, [
      'intern the keys',
      'skip the CHECKSUM',
      'Read in one go',
      'in one go: read',
      ' ',
      'exp_0000',
    ]),
  ).toEqual({
    accepted: ['Read in one go'],
    refused: [
      [0, 'tried'],
      [1, 'duplicate'],
      [3, 'duplicate'],
      [4, 'empty'],
      [5, 'tried'],
    ],
  })
})

test('a parent that does not exist is taken', () => {
  expect(judge(new History(), ['one'], 'exp_0404')).toEqual({ accepted: [], refused: [[0, 'parent']] })
  expect(judge(new History(), ['one'], 'exp_0000')).toEqual({ accepted: ['one'], refused: [] })
})

test('one call can fill the ledger: too many ideas, or too long ones', () => {
  const many = Array.from({ length: 22 }, (_, n) => `idea number${n}`)
  expect(judge(new History(), many).refused).toEqual([
    [20, 'too_many'],
    [21, 'too_many'],
  ])
  expect(judge(new History(), ['x'.repeat(5000)]).accepted[0]).toHaveLength(500)
})

describe('by uplift × confidence', () => {
  const idea = (hypothesis: string, uplift?: number, confidence?: number) => ({
    hypothesis,
    ...(uplift === undefined ? {} : { uplift }),
    ...(confidence === undefined ? {} : { confidence }),
  })
  const named = (ideas: { hypothesis: string }[]) => ideas.map(({ hypothesis }) => hypothesis)

  test('ideas are not ordered by uplift × confidence, one without numbers comes before others, or equal ones change places', () => {
    const ideas = [
      idea('says nothing'),
      idea('loud', 0.9, 0.1),
      idea('likely', 0.3, 0.9),
      idea('surer than sure', 0.2, 50),
      idea('only hopes', 5),
      idea('harms', -0.5, 1),
    ]
    const { accepted, refused } = siftIdeas(ideas, new History().state)
    expect([accepted, refused]).toEqual([ideas, []])
    const { state } = new History().add({ type: 'proposed', round: null, accepted, refused })
    expect(named(openIdeas(state, 20))).toEqual([
      'likely',
      'surer than sure',
      'loud',
      'harms',
      'says nothing',
      'only hopes',
    ])
  })

  test('of two that say the same the weaker one is kept, or the better ones of too many are refused', () => {
    const twins = [idea('Cache the header', 0.1, 0.5), idea('cache the header!', 0.2, 0.5)]
    const { accepted, refused } = siftIdeas(twins, new History().state)
    expect([accepted, refused.map(({ index, reason }) => [index, reason])]).toEqual([
      [twins[1]],
      [[0, 'duplicate']],
    ])
    const many = Array.from({ length: 21 }, (_, n) => idea(`idea number${n}`, n, 1))
    expect(siftIdeas(many, new History().state).refused).toEqual([
      expect.objectContaining({ index: 0, reason: 'too_many' }),
    ])
  })

  test('an idea that was tried since is still offered to the next rounds, or the best new ones come last', () => {
    const accepted = [
      idea('too old', 9, 1),
      idea('weak', 0.1, 0.1),
      idea('strong', 1, 1),
      idea('tried', 2, 1),
    ]
    const history = new History()
      .add({ type: 'proposed', round: null, accepted, refused: [] })
      .experiment('exp_0001', { value: 120, status: 'rejected', hypothesis: 'Tried!' })
    expect(named(openIdeas(history.state, 2))).toEqual(['strong', 'weak'])
  })
})
