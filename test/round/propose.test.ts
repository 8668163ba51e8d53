import { expect, test } from 'vitest'
import { judgeIdeas } from '../../cli/round/propose.ts'
import { History } from './history.ts'

const judge = (history: History, hypotheses: string[], parent?: string) => {
  const ideas = hypotheses.map((hypothesis) => ({ hypothesis, ...(parent === undefined ? {} : { parent }) }))
  const { accepted, refused } = judgeIdeas(ideas, history.state)
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
