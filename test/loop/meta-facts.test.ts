import { describe, expect, test } from 'vitest'
import { recordFacts } from '../../cli/loop/meta/facts.ts'
import { History } from './history.ts'

/** Every event of a history is of this moment. */
const at = (seconds: number) => new Date(Date.parse('2026-01-01T00:00:00.000Z') + seconds * 1000)
const names = ({ state }: History, seconds = 0) => recordFacts(state, at(seconds)).map(({ name }) => name)

/** Peers took one second each. */
function running(): History {
  const history = new History()
  for (const id of ['exp_0001', 'exp_0002']) history.experiment(id, { parent: 'exp_0000', value: 90 })
  return history
    .created('exp_0003')
    .add({
      type: 'sealed',
      experiment: 'exp_0003',
      attempt: 1,
      commit: 'c3',
      tree: 't3',
      diff: { files: 1, added: 1, removed: 1 },
      left_out: [],
      secrets: [],
    })
    .add({
      type: 'started',
      experiment: 'exp_0003',
      attempt: 1,
      owner: { pid: 1, started: '1', host: 'here' },
    })
}

describe('facts of the record', () => {
  test('a loop with nothing to see says something', () => {
    const history = new History().open().experiment('exp_0001', { parent: 'exp_0000', value: 90 }).closed(0)
    expect(names(history, 86_400)).toEqual([])
  })

  test('an experiment is slow after the shortest moment, is told again each second, or never again', () => {
    const history = running()
    expect([30, 31, 100, 192, 400].map((seconds) => names(history, seconds))).toEqual([
      [],
      ['slow_experiment:exp_0003:x24'],
      ['slow_experiment:exp_0003:x96'],
      ['slow_experiment:exp_0003:x192'],
      ['slow_experiment:exp_0003:x384'],
    ])
    expect(names(history, 150)).toEqual(names(history, 100))
    expect(recordFacts(history.state, at(100))[0]).toMatchObject({ experiments: ['exp_0003'] })
  })

  test('one without three peers is called slow', () => {
    const history = new History().experiment('exp_0001', { parent: 'exp_0000', value: 90 })
    history.created('exp_0003')
    expect(names(history, 86_400)).toEqual([])
  })

  test('a round far longer than three others is not seen', () => {
    const history = new History()
    for (const id of ['exp_0001', 'exp_0002', 'exp_0003'])
      history
        .open()
        .briefed('a', 'b', 'c')
        .experiment(id, { parent: 'exp_0000', value: 200, status: 'kept' })
        .closed(0)
    history.open()
    expect(names(history, 29)).toEqual([])
    expect(names(history, 60)[0]).toMatch(/^slow_round:4:x\d+$/)
  })

  test('an exhausted direction is not found, or has a different name each time', () => {
    const history = new History()
    for (const [id, value, hypothesis] of [
      ['exp_0001', 150, 'cache the parsed headers'],
      ['exp_0002', 250, 'unroll the inner loop of the scanner'],
      ['exp_0003', 350, 'allocate buffers once at the start'],
    ] as const)
      history.experiment(id, { parent: 'exp_0000', value, hypothesis, status: 'rejected' })
    expect(names(history)).toEqual(['dead_direction:exp_0003'])
    expect(names(history)).toEqual(['dead_direction:exp_0003'])
  })

  test('a saturated axis is not seen', () => {
    const history = new History()
    for (const [id, hypothesis] of [
      ['exp_0001', 'cache the parsed headers'],
      ['exp_0002', 'unroll the inner loop of the scanner'],
      ['exp_0003', 'allocate buffers once at the start'],
    ] as const)
      history.experiment(id, { parent: 'exp_0000', value: 90, hypothesis })
    expect(names(history)).toEqual(['saturated_axis:exp_0003'])
  })

  test('the last round before the stall is not seen, or every round is', () => {
    const history = new History({ knobs: { stall: 3 } })
    const seen = [1, 2, 3].map((stall) => {
      history.open().briefed('a', 'b', 'c').closed(stall)
      return names(history)
    })
    expect(seen).toEqual([[], ['near_stall:2'], []])
  })

  test('lanes that nobody fills are not seen', () => {
    const history = new History({ knobs: { stall: 50 } })
    const seen = [1, 2, 3].map((stall) => {
      history.open(3).briefed('a').closed(stall)
      return names(history)
    })
    expect(seen).toEqual([[], [], ['idle_lanes:3']])
  })
})
