import { describe, expect, test } from 'vitest'
import { backlogOf, nextBatch } from '../../cli/ledger/backlog.ts'
import type { Bound, Idea } from '../../cli/ledger/events.ts'
import { stopReason, targetsOf } from '../../cli/run/budget.ts'
import { History } from '../loop/history.ts'

const withIdeas = (ideas: Idea[], knobs: object = {}) =>
  new History({ knobs }).add({ type: 'proposed', round: null, accepted: ideas, refused: [] })
const standing = ({ state }: History) =>
  backlogOf(state).map(({ idea, status, experiment, outcome }) => [idea.id, status, experiment, outcome])
const batch = (history: History, most: number) => nextBatch(history.state, most).map(({ id }) => id)
const lane = (idea: string) => ({
  lane: 1,
  parent: 'exp_0000',
  experiment: 'exp_0001',
  brief: {
    parent: 'exp_0000',
    kind: 'edit',
    objective: 'as the idea says',
    boundaries: [],
    pointers: [],
    hard: false,
    idea,
  },
})
const briefed = (history: History, idea: string) =>
  history.open(1).add({
    type: 'round_briefed',
    round: history.state.rounds.length,
    token: `token ${history.state.rounds.length}`,
    lanes: [lane(idea)],
    refused: [],
  })
const closed = (history: History) =>
  history.add({
    type: 'round_closed',
    round: history.state.rounds.length,
    token: `token ${history.state.rounds.length}`,
    improved: false,
    best: 'exp_0000',
    stall: 1,
    learnings: [],
    suggestions: [],
    prune: [],
  })

describe('where an idea stands', () => {
  test('a package without an approval holds no idea back, or one that the spec names does', () => {
    const ideas = [
      { hypothesis: 'one', dependencies: ['zstd'] },
      { hypothesis: 'two', dependencies: ['LZ4'] },
      { hypothesis: 'three', dependencies: ['zstd', 'brotli'] },
    ]
    const history = withIdeas(ideas, { dependencies: ['lz4'] })
    expect(standing(history).map(([, status]) => status)).toEqual(['parked', 'added', 'parked'])
    history.add({ type: 'ideas_approved', ideas: ['idea_0001'] })
    expect(backlogOf(history.state).map(({ status, missing }) => [status, missing])).toEqual([
      ['approved', []],
      ['added', []],
      ['parked', ['brotli']],
    ])
    expect(standing(withIdeas(ideas)).map(([, status]) => status)).toEqual(['added', 'added', 'added'])
  })

  test('an idea is tried twice, or its outcome is lost: a brief that names it, an experiment that says the same', () => {
    const history = briefed(
      withIdeas([{ hypothesis: 'Intern the keys' }, { hypothesis: 'skip it' }]),
      'idea_0001',
    )
    expect(standing(history)[0]).toEqual(['idea_0001', 'taken', null, null])
    history.created('exp_0001', { hypothesis: 'in other words', round: 1, lane: 1 })
    expect(standing(history)[0]).toEqual(['idea_0001', 'taken', 'exp_0001', null])
    history.experiment('exp_0001', { value: 120, status: 'rejected' })
    history.experiment('exp_0002', { value: 90, hypothesis: 'Skip it!' })
    expect(standing(history)).toEqual([
      ['idea_0001', 'done', 'exp_0001', 'rejected (not_better)'],
      ['idea_0002', 'done', 'exp_0002', 'kept'],
    ])
  })

  test('a lane that made no experiment uses an idea up', () => {
    const history = closed(briefed(withIdeas([{ hypothesis: 'one' }]), 'idea_0001'))
    expect(standing(history)).toEqual([['idea_0001', 'added', null, null]])
  })

  test('an idea that an old log tried, or that a person dropped, is tried', () => {
    const history = withIdeas([{ hypothesis: 'one', tried: 'reverted' }, { hypothesis: 'two' }])
    history.add({ type: 'ideas_dropped', ideas: ['idea_0002'], why: 'no' })
    expect(standing(history)).toEqual([
      ['idea_0001', 'done', null, 'reverted'],
      ['idea_0002', 'dropped', null, 'no'],
    ])
    expect(batch(history, 4)).toEqual([])
  })

  test('a person can approve or drop what is not there, what was dropped, or what a lane carries out', () => {
    const history = briefed(withIdeas([{ hypothesis: 'one' }, { hypothesis: 'two' }]), 'idea_0001')
    history.add({ type: 'ideas_dropped', ideas: ['idea_0002'], why: 'no' })
    for (const [id, said] of [
      ['idea_0009', 'there is no idea_0009'],
      ['idea_0002', 'idea_0002 was dropped: no'],
      ['idea_0001', 'lane 1 of round 1 carries out idea_0001'],
    ] as const)
      expect(() => history.add({ type: 'ideas_approved', ideas: [id] })).toThrow(said)
  })
})

describe('the next batch', () => {
  test('kinds repeat while others are left, or priority does not decide among those of a kind', () => {
    const ideas: Idea[] = [
      { hypothesis: 'a1', kind: 'a', priority: 'low' },
      { hypothesis: 'a2', kind: 'a', priority: 'high' },
      { hypothesis: 'a3', kind: 'a', priority: 'high', uplift: 0.5, confidence: 1 },
      { hypothesis: 'b1', kind: 'b', priority: 'low' },
      { hypothesis: 'without a kind' },
    ]
    expect(batch(withIdeas(ideas), 3)).toEqual(['idea_0003', 'idea_0005', 'idea_0004'])
    expect(batch(withIdeas(ideas), 9)).toEqual([
      ...['idea_0003', 'idea_0005', 'idea_0004'],
      ...['idea_0002', 'idea_0001'],
    ])
  })

  test('a loop by the backlog goes on without an idea that may be tried, or ends while its lanes work', () => {
    const parked = [{ hypothesis: 'one', dependencies: ['zstd'] }]
    const stop = (history: History) => stopReason(history.state)
    expect(stop(withIdeas(parked, { briefs: 'backlog', dependencies: [] }))).toBe('no_idea')
    expect(stop(withIdeas(parked, { dependencies: [] }))).toBeNull()
    const taken = briefed(withIdeas([{ hypothesis: 'one' }], { briefs: 'backlog' }), 'idea_0001')
    expect(stop(taken)).toBeNull()
  })
})

describe('the targets', () => {
  const standing = (
    metrics: Record<string, number | boolean>,
    target: number | null,
    ...targets: Bound[]
  ) => {
    const history = new History({ target, knobs: targets.length === 0 ? {} : { targets } })
    history.experiment('exp_0001', { value: 50, metrics })
    return [stopReason(history.state), ...targetsOf(history.state).map(({ actual, met }) => [actual, met])]
  }
  const size: Bound = { metric: 'size', op: '<=', value: 10 }

  test('the loop ends before all of them hold, or goes on after that', () => {
    expect(standing({ size: 12 }, 50, size)).toEqual([null, [50, true], [12, false]])
    expect(standing({ size: 10 }, 50, size)).toEqual(['target', [50, true], [10, true]])
    expect(standing({ size: 10 }, 40, size)).toEqual([null, [50, false], [10, true]])
    expect(standing({ size: 10 }, null, size)).toEqual(['target', [10, true]])
    expect(standing({ size: 10 }, null)).toEqual([null])
  })

  test('a metric that is missing, or of another type, counts as reached', () => {
    expect(standing({}, null, size)).toEqual([null, [null, false]])
    expect(standing({ size: true }, null, size)).toEqual([null, [true, false]])
    const whole: Bound = { metric: 'whole', op: '==', value: true }
    expect(standing({ whole: 1 }, null, whole)).toEqual([null, [1, false]])
    expect(standing({ whole: true }, null, whole)).toEqual(['target', [true, true]])
    expect(standing({}, null, { metric: 'ms', op: '<', value: 51 })).toEqual(['target', [50, true]])
  })
})
