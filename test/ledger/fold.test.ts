import { describe, expect, test } from 'vitest'
import { bestOf } from '../../cli/ledger/best.ts'
import { type Draft, type Event, FAIL_REASONS, REJECT_REASONS, type Reason } from '../../cli/ledger/events.ts'
import { fold } from '../../cli/ledger/fold.ts'
import {
  addedGates,
  attemptsUsed,
  currentRound,
  emptyState,
  freeRejections,
  lastAttempt,
  nodeValue,
  pathTo,
  repairable,
  stallOf,
  tainted,
} from '../../cli/ledger/state.ts'
import { candidatesOf as eligible } from '../../cli/loop/frontier.ts'
import {
  audited,
  confirmed,
  created,
  discarded,
  judged,
  keptNode,
  noted,
  pruned,
  restored,
  runStarted,
  sealed,
  stamped,
  started,
} from './drafts.ts'
import { codeOf, type Story, story } from './story.ts'

const X = 'exp_0001'
const Y = 'exp_0002'
const open = (knobs: Parameters<typeof runStarted>[0] = {}): Story =>
  story(runStarted(knobs)).given(created(X, 'exp_0000'), sealed(X), created(Y, 'exp_0000'), sealed(Y))
const best = ({ state }: Story) => bestOf(state)?.id

describe('claims', () => {
  test('of many processes that claim one attempt, several get it', () => {
    const { tell, state } = open()
    const said = Array.from({ length: 20 }, (_, n) => tell(started(X), { id: `claim${n}` }))
    expect(said).toEqual(['accepted', ...Array.from({ length: 19 }, () => 'is_running')])
    expect(state.claims).toBe(1)
    expect(lastAttempt(state.experiments.get(X) as never)?.claim?.id).toBe('claim0')
  })

  test('a claim is taken over without naming the one that stands, or twice', () => {
    const { tell, state } = open()
    expect(tell(started(X, 1, 'nobody'))).toBe('taken_over')
    tell(started(X), { id: 'first' })
    expect(tell(started(X, 1, 'other'))).toBe('taken_over')
    expect(tell(started(X, 1, 'first'), { id: 'second' })).toBe('accepted')
    expect(tell(started(X, 1, 'first'), { id: 'third' })).toBe('taken_over')
    expect(tell(started(X, 1, 'second'), { id: 'fourth' })).toBe('accepted')
    expect(state.claims).toBe(1)
    tell(judged(X, 'rejected'))
    expect(tell(started(X, 1, 'fourth'))).toBe('taken_over')
  })

  test('a take-over is refused when the budget is used up', () => {
    const { tell } = open({ experiments: 1, max_attempts: 1 })
    tell(started(X), { id: 'first' })
    expect(tell(started(X, 1, 'first'))).toBe('accepted')
  })

  test('an old seal is started, or one that was judged', () => {
    const { tell, given } = open()
    given(sealed(X, 3))
    expect(tell(started(X, 1))).toBe('stale_seal')
    given(started(X, 3), judged(X, 'rejected', { attempt: 3 }))
    expect(tell(started(X, 3))).toBe('judged')
    expect(tell(sealed(X, 2))).toBe('stale_seal')
    expect(tell(sealed(X, 3))).toBe('stale_seal')
    expect(tell(started('exp_0099'))).toBe('unknown_experiment')
  })

  test('a verdict without a claim, of no seal, or on top of an earlier one', () => {
    const { tell, given } = open()
    expect(tell(judged(X, 'kept'))).toBe('not_claimed')
    expect(tell(judged(X, 'kept', { attempt: 2 }))).toBe('no_seal')
    given(started(X), judged(X, 'rejected'))
    expect(tell(judged(X, 'kept'))).toBe('judged')
    given(sealed(X, 2))
    expect(tell(judged(X, 'kept', { attempt: 2 }))).toBe('not_claimed')
  })

  test('a free rejection of an older seal ends the attempt that runs', () => {
    const { tell, given, statusOf } = open()
    given(sealed(X, 2), started(X, 2))
    expect(tell(judged(X, 'rejected', { attempt: 1, reason: 'empty' }))).toBe('not_claimed')
    expect(statusOf(X)).toBe('running')
  })
})

describe('caps', () => {
  test('more experiments are claimed than the budget has, or the baseline is charged', () => {
    const { tell, state } = open({ experiments: 1 })
    expect(tell(started(X))).toBe('accepted')
    expect(tell(started(Y))).toBe('budget_experiments')
    expect(state.claims).toBe(1)
  })

  test('a budget that was raised does not let the next one pass', () => {
    const { tell } = open({ experiments: 0 })
    expect(tell(started(X))).toBe('budget_experiments')
    tell({ type: 'configured', changes: { experiments: 1 }, why: 'more' })
    expect(tell(started(X))).toBe('accepted')
  })

  test('an experiment gets more attempts than max_attempts', () => {
    const { given, tell, state } = open({ max_attempts: 2 })
    given(started(X), judged(X, 'rejected'), sealed(X, 2), started(X, 2))
    given(judged(X, 'failed', { attempt: 2 }), sealed(X, 3))
    expect(tell(started(X, 3))).toBe('max_attempts')
    expect(repairable(state).map(({ id }) => id)).toEqual([])
  })

  test('a rejection that answers the idea is offered for repair, or one that can be repaired is not', () => {
    const offered = ([...REJECT_REASONS, ...FAIL_REASONS] as const).filter((reason) => {
      const { given, state } = open()
      const status = (FAIL_REASONS as readonly Reason[]).includes(reason) ? 'failed' : 'rejected'
      given(started(X), judged(X, status, { reason }))
      return repairable(state).length === 1
    })
    expect(offered).toEqual([
      ...[
        'empty',
        'out_of_scope',
        'over_limit',
        'secret',
        'dependency',
        'inconclusive',
        'gate',
        'constraint',
      ],
      ...['protected', 'audit', 'metric_error', 'timeout', 'crash', 'environment', 'aborted'],
    ])
  })

  test('a failure by the environment counts as an attempt or in the row of failures, or not against the budget', () => {
    const { given, tell, state } = open({ max_attempts: 1, failures: 1, experiments: 3 })
    const spoilt = { reason: 'environment', failure_class: 'environment' } as const
    given(started(X), judged(X, 'failed', spoilt), sealed(X, 2), started(X, 2))
    given(judged(X, 'failed', { attempt: 2, ...spoilt }), sealed(X, 3))
    expect(state.failures).toBe(0)
    expect(state.claims).toBe(2)
    expect(tell(started(X, 3))).toBe('accepted')
    given(judged(X, 'rejected', { attempt: 3 }))
    expect(tell(started(Y))).toBe('budget_experiments')
  })

  test('the run continues after as many failures as it may have', () => {
    const { given, tell, state } = open({ failures: 1 })
    given(started(X), started(Y), judged(X, 'failed'), sealed(X, 2))
    expect(tell(started(X, 2))).toBe('budget_failures')
    given(judged(Y, 'failed'))
    expect(state.failures).toBe(2)
  })

  test('a rejection that is free of charge is charged', () => {
    const { given, state } = open({ experiments: 1 })
    given(judged(X, 'rejected', { reason: 'empty' }), sealed(X, 2), started(X, 2))
    const node = state.experiments.get(X)
    expect(node && [attemptsUsed(node), freeRejections(node)]).toEqual([1, 1])
    expect(state.claims).toBe(1)
  })
})

describe('keys', () => {
  test('a key counts twice, or a different event may use it', () => {
    const { tell, state } = open()
    expect(tell(created('exp_0003', 'exp_0000'), { key: 'k' })).toBe('accepted')
    expect(tell(created('exp_0004', 'exp_0000'), { key: 'k' })).toBe('repeated')
    expect(tell(noted('x'), { key: 'k' })).toBe('repeated')
    expect(state.experiments.has('exp_0004')).toBe(false)
    expect(state.keys.get('k')).toMatchObject({ type: 'created', experiment: 'exp_0003' })
  })

  test('a void event uses its key up', () => {
    const { tell } = open()
    expect(tell(created('exp_0003', 'exp_0099'), { key: 'k' })).toBe('unknown_experiment')
    expect(tell(created('exp_0003', 'exp_0000'), { key: 'k' })).toBe('accepted')
  })
})

describe('the tree', () => {
  test('a child of what an audit doubts', () => {
    const { tell } = story().given(...keptNode(X, 'exp_0000', 4), audited(X, 'flagged'))
    expect(tell(created(Y, X))).toBe('bad_parent')
    tell(confirmed(X, true))
    expect(tell(created(Y, X))).toBe('accepted')
  })

  test('a child of what is no parent, or a number twice', () => {
    const { tell } = open()
    expect(tell(created('exp_0003', X))).toBe('bad_parent')
    expect(tell(created('exp_0003', 'exp_0099'))).toBe('unknown_experiment')
    expect(tell(created(X, 'exp_0000'))).toBe('exists')
  })

  test('anything happens before the run has started', () => {
    const early: Draft[] = [
      created(X, null),
      { type: 'configured', changes: { width: 3 }, why: '' },
      sealed(X),
      started(X),
      judged(X, 'kept'),
    ]
    const said = early.map((draft) => codeOf(fold(emptyState(), stamped(draft, 'e'))))
    expect(said).toEqual([
      'not_started',
      'not_started',
      'unknown_experiment',
      'unknown_experiment',
      'unknown_experiment',
    ])
    expect(story().tell(runStarted())).toBe('started')
  })

  test('the first verdict of a repaired experiment counts, not the last', () => {
    const { given, state } = open()
    given(started(X), judged(X, 'rejected', { value: 11 }), sealed(X, 2), started(X, 2))
    given(judged(X, 'kept', { attempt: 2, value: 8 }))
    const node = state.experiments.get(X)
    expect(node && nodeValue(node)).toBe(8)
    expect(node?.judgedSeq).toBe(13)
  })

  test('a sharper hypothesis at the seal is lost', () => {
    const { tell, state } = open()
    tell({ ...sealed(X, 2), hypothesis: 'sharper' } as Draft)
    expect(state.experiments.get(X)?.hypothesis).toBe('sharper')
  })
})

describe('the best', () => {
  /** 0 ← A(8) ← B(6) ← C(4), and beside them D(7). */
  const [A, B, C, D] = ['exp_0001', 'exp_0002', 'exp_0003', 'exp_0004'] as const
  const tree = () =>
    story().given(
      ...keptNode(A, 'exp_0000', 8),
      ...keptNode(B, A, 6),
      ...keptNode(C, B, 4),
      ...keptNode(D, 'exp_0000', 7),
    )

  test('a descendant of what was revoked stays best, or its restoration does not bring it back', () => {
    const self = tree()
    expect(best(self)).toBe(C)
    self.given(audited(A, 'revoked'))
    expect([...tainted(self.state)]).toEqual([A, B, C])
    expect(best(self)).toBe(D)
    expect(eligible(self.state).map(({ id }) => id)).toEqual(['exp_0000', D])
    self.given(restored(A))
    expect(best(self)).toBe(C)
  })

  test('a failed confirmation in the middle leaves what was built on it best', () => {
    const self = tree().given(confirmed(B, false))
    expect(best(self)).toBe(D)
    expect(eligible(self.state).map(({ id }) => id)).toEqual(['exp_0000', A, D])
  })

  test('a pruned node is a parent, or no longer the best', () => {
    const self = tree().given(pruned(C))
    expect(best(self)).toBe(C)
    expect(eligible(self.state).map(({ id }) => id)).toEqual(['exp_0000', A, B, D])
  })

  test('evidence against a pruned node is noted and has no effect', () => {
    expect(best(tree().given(pruned(C), audited(C, 'revoked')))).toBe(B)
    expect(best(tree().given(pruned(C), audited(C, 'flagged')))).toBe(B)
  })

  test('a node in doubt is the best or a parent', () => {
    const self = tree().given(audited(C, 'flagged'))
    expect(best(self)).toBe(B)
    expect(eligible(self.state).map(({ id }) => id)).toEqual(['exp_0000', A, B, D])
  })

  test('what was rejected, discarded or has no value is the best', () => {
    const self = tree().given(created('exp_0005', A), sealed('exp_0005'), started('exp_0005'))
    self.given(judged('exp_0005', 'rejected', { value: 1 }), discarded('exp_0005'))
    self.given(...keptNode('exp_0006', A, 1).slice(0, 3), judged('exp_0006', 'kept', { value: null }))
    expect(best(self)).toBe(C)
  })

  test('the smallest is best when more is better', () => {
    const more = runStarted()
    more.metric = { name: 'rate', direction: 'maximize', target: null }
    const self = story(more).given(...keptNode(A, 'exp_0000', 8), ...keptNode(B, 'exp_0000', 12))
    expect(best(self)).toBe(B)
  })

  test('zero and negative values are taken for none', () => {
    expect(best(story().given(...keptNode(A, 'exp_0000', 0)))).toBe(A)
    expect(best(story().given(...keptNode(A, 'exp_0000', 0), ...keptNode(B, A, -3)))).toBe(B)
  })

  test.each([
    ['round', { round: 2, lane: 1, depth: 1 }, { round: 1, lane: 9, depth: 9 }],
    ['lane', { round: 10, lane: 10, depth: 1 }, { round: 10, lane: 9, depth: 2 }],
    ['depth', { round: 1, lane: 1, depth: 3 }, { round: 1, lane: 1, depth: 2 }],
  ])('a tie goes to the lower id, not to the earlier %s', (_, place, earlier) => {
    const self = story().given(
      ...keptNode(A, 'exp_0000', 5, place),
      ...keptNode(B, 'exp_0000', 5, earlier),
      ...keptNode(C, 'exp_0000', 5, place),
    )
    expect(best(self)).toBe(B)
  })

  test('a tie of one place in the loop goes by the order of verdicts', () => {
    const self = story().given(...keptNode(B, 'exp_0000', 5), ...keptNode(A, 'exp_0000', 5))
    expect(best(self)).toBe(A)
    expect(
      best(story().given(...keptNode('exp_0010', 'exp_0000', 5), ...keptNode('exp_0009', 'exp_0000', 5))),
    ).toBe('exp_0009')
  })
})

test('a chain of ten thousand overflows the stack, or loses its root', () => {
  const self = story()
  const idOf = (n: number) => `exp_${String(n).padStart(4, '0')}`
  for (let n = 1; n <= 10_000; n++) self.given(...keptNode(idOf(n), idOf(n - 1), 10 - n / 2000))
  const path = pathTo(self.state, 'exp_10000')
  expect(path.length).toBe(10_001)
  expect([path[0]?.id, path[9_999]?.id]).toEqual(['exp_0000', 'exp_9999'])
  expect(self.state.experiments.get('exp_10000')?.generation).toBe(10_000)
  expect(best(self)).toBe('exp_10000')
  expect(self.state.counts.kept).toBe(10_001)
  self.given(audited('exp_0002', 'revoked'))
  expect(tainted(self.state).size).toBe(9_999)
  expect(best(self)).toBe('exp_0001')
  expect(pathTo(self.state, 'exp_99999')).toEqual([])
})

describe('what was judged before', () => {
  const verdict = (...drafts: Draft[]) =>
    open()
      .given(...drafts)
      .state.trees.get(`${X}/1`)

  test('a verdict that says nothing about the candidate makes its tree a duplicate', () => {
    expect(verdict(started(X), judged(X, 'failed'))).toBeUndefined()
    expect(verdict(started(X), judged(X, 'rejected', { reason: 'inconclusive' }))).toBeUndefined()
    expect(verdict(judged(X, 'rejected', { reason: 'over_limit' }))).toBeUndefined()
  })

  test('a verdict on a tree is forgotten, or a later one replaces it', () => {
    const first = [{ experiment: X, attempt: 1 }]
    expect(verdict(started(X), judged(X, 'rejected'))).toEqual(first)
    expect(verdict(started(X), judged(X, 'kept'))).toEqual(first)
    expect(verdict(started(X), judged(X, 'kept'), sealed(Y, 2, `${X}/1`), started(Y, 2))).toEqual(first)
  })
})

describe('epochs', () => {
  const epoch = (n: number): Draft => ({ type: 'epoch_opened', epoch: n, why: 'another machine' })
  const again = (attempt: number, value: number): Draft[] => [
    sealed('exp_0000', attempt),
    started('exp_0000', attempt),
    judged('exp_0000', 'kept', { attempt, value }),
  ]

  test('an epoch is opened twice, or one is left out', () => {
    const { tell, state } = story()
    expect([tell(epoch(3)), tell(epoch(1)), tell(epoch(2)), tell(epoch(2))]).toEqual([
      'stale_epoch',
      'stale_epoch',
      'accepted',
      'stale_epoch',
    ])
    expect(state.epoch).toBe(2)
  })

  test('a score of an earlier epoch is the best, or can never become so again', () => {
    const self = story().given(...keptNode(X, 'exp_0000', 4), epoch(2))
    expect(best(self)).toBeUndefined()
    self.given(...again(2, 20))
    expect(best(self)).toBe('exp_0000')
    self.given({ ...confirmed(X, true), value: 9 } as Draft)
    expect(best(self)).toBe(X)
    expect(self.state.experiments.get(X)?.value).toBe(9)
  })

  test('the baseline is not measured again, is charged for it, or is measured twice', () => {
    const self = open({ experiments: 0, max_attempts: 1 })
    expect(self.tell(sealed('exp_0000', 2))).toBe('is_kept')
    self.given(epoch(2), ...again(2, 20))
    expect(self.state.claims).toBe(0)
    expect(self.tell(sealed('exp_0000', 3))).toBe('is_kept')
  })

  test('a baseline that waits for its measurement in a new epoch allows what a kept experiment does not', () => {
    const { tell, statusOf, given } = story().given(...keptNode(X, 'exp_0000', 4), epoch(2))
    expect(tell(discarded('exp_0000'))).toBe('is_kept')
    expect(statusOf('exp_0000')).toBe('kept')
    expect(tell(sealed(X, 2))).toBe('is_kept')
    given(...again(2, 20))
  })

  test('an attempt that began before an epoch counts as measured in it', () => {
    const self = open().given(started(X), epoch(2), ...again(2, 20), judged(X, 'kept', { value: 4 }))
    expect(best(self)).toBe('exp_0000')
    expect(self.state.experiments.get(X)?.epoch).toBe(1)
    expect(self.state.trees.has(`${X}/1`)).toBe(false)
    self.given({ ...confirmed(X, true), value: 9 } as Draft)
    expect(best(self)).toBe(X)
  })

  test('a take-over makes samples of before count as those of now', () => {
    const self = open()
    self.tell(started(X), { id: 'first' })
    self.given(epoch(2), started(X, 1, 'first'), judged(X, 'kept', { value: 4 }))
    expect(self.state.experiments.get(X)?.epoch).toBe(1)
  })

  test('a tree that was judged before counts as judged now', () => {
    expect(open().given(started(X), judged(X, 'rejected'), epoch(2)).state.trees.size).toBe(0)
  })
})

describe('gates that are added to a node', () => {
  const add = (experiment: string, name: string): Draft =>
    ({ type: 'gate_added', experiment, gate: { name, phase: 'before' }, why: '' }) as unknown as Draft
  const remove = (experiment: string, name: string): Draft => ({
    type: 'gate_removed',
    experiment,
    name,
    why: '',
  })
  const family = () => story().given(...keptNode(X, 'exp_0000', 8), ...keptNode(Y, X, 6))
  const namesAt = ({ state }: Story, id: string) => addedGates(state, id).map(({ name }) => name)

  test('a gate does not apply to descendants, or applies to siblings and ancestors', () => {
    const self = family().given(created('exp_0003', 'exp_0000'), add(X, 'a'), add(Y, 'b'))
    expect(['exp_0000', X, Y, 'exp_0003'].map((id) => namesAt(self, id))).toEqual([[], ['a'], ['a', 'b'], []])
  })

  test('a gate of one name is added twice, or one that does not exist is removed', () => {
    const { tell } = family().given(add(X, 'a'))
    expect([tell(add(X, 'a')), tell(add(Y, 'a')), tell(remove('exp_0000', 'a'))]).toEqual([
      'gate_exists',
      'gate_exists',
      'no_gate',
    ])
    expect(tell(add('exp_0099', 'a'))).toBe('unknown_experiment')
  })

  test('a removed gate binds below, no longer binds above, or can never bind again', () => {
    const self = family().given(add(X, 'a'), remove(Y, 'a'))
    expect([namesAt(self, X), namesAt(self, Y)]).toEqual([['a'], []])
    self.given(add(Y, 'a'))
    expect(namesAt(self, Y)).toEqual(['a'])
    self.given(remove(Y, 'a'), remove(X, 'a'))
    expect([namesAt(self, X), namesAt(self, Y)]).toEqual([[], []])
    self.given(add(X, 'a'))
    expect([namesAt(self, X), namesAt(self, Y)]).toEqual([['a'], []])
  })
})

describe('failures in a row', () => {
  const failed = (id: string, attempt: number, signature: string | null): Draft[] => [
    ...(attempt === 1 ? [] : [sealed(id, attempt)]),
    started(id, attempt),
    judged(id, 'failed', { attempt, signature, message: `m ${attempt}` }),
  ]

  test('different failures count as one row, or a verdict in between does not end it', () => {
    const self = open({ max_attempts: 9 }).given(
      ...failed(X, 1, 'a'),
      ...failed(X, 2, 'a'),
      ...failed(X, 3, 'a'),
    )
    expect(self.state.streak).toEqual({ signature: 'a', count: 3, message: 'm 3' })
    self.given(...failed(X, 4, 'b'))
    expect(self.state.streak).toEqual({ signature: 'b', count: 1, message: 'm 4' })
    self.given(judged(Y, 'rejected', { reason: 'empty' }))
    expect(self.state.streak?.count).toBe(1)
    self.given(sealed(Y, 2), started(Y, 2), judged(Y, 'rejected', { attempt: 2 }))
    expect(self.state.streak).toBeNull()
  })

  test('failures of unknown kind are taken for identical', () => {
    const self = open({ max_attempts: 9 }).given(...failed(X, 1, null), ...failed(X, 2, null))
    expect(self.state.streak).toBeNull()
  })
})

describe('rounds', () => {
  const opening = (round: number, token = `t${round}`): Draft => ({
    type: 'round_opened',
    round,
    token,
    width: 1,
    depth: 1,
    parents: [],
    policy: 'argmax',
    seed: 1,
    ideate: null,
  })
  const brief = {
    parent: 'exp_0000',
    kind: 'edit',
    objective: 'o',
    boundaries: [],
    pointers: [],
    hard: false,
  }
  const lane = { lane: 1, brief, parent: brief.parent, experiment: X }
  const briefing = (token: string, lanes = [lane]): Draft => ({
    type: 'round_briefed',
    round: 1,
    token,
    lanes,
    refused: [],
  })
  const closing = (token: string, stall = 1): Draft => ({
    type: 'round_closed',
    round: 1,
    token,
    improved: false,
    best: 'exp_0000',
    stall,
    learnings: [],
    suggestions: [],
    prune: [],
  })

  test('two rounds are open at once, or one is skipped', () => {
    const { tell, state } = story()
    expect(tell(opening(2))).toBe('stale_round')
    expect(tell(opening(1))).toBe('accepted')
    expect(tell(opening(2))).toBe('round_open')
    expect(tell(closing('t1', 4))).toBe('accepted')
    expect(tell(opening(1))).toBe('stale_round')
    expect(currentRound(state)).toBeNull()
    expect(stallOf(state)).toBe(4)
    expect(tell(opening(2))).toBe('accepted')
    expect(stallOf(state)).toBe(4)
    expect(state.rounds.at(0)?.bestAtOpen).toEqual({ experiment: 'exp_0000', value: 10 })
  })

  test('briefs of which none became a lane cannot be written again', () => {
    const { tell } = story().given(opening(1))
    const told = [briefing('t1', []), briefing('t1', []), briefing('t1'), briefing('t1')].map((event) =>
      tell(event),
    )
    expect(told).toEqual(['accepted', 'accepted', 'accepted', 'repeated'])
  })

  test('a call with the token of a different round counts, or briefs come twice', () => {
    const { tell } = story().given(opening(1))
    expect([tell(briefing('t0')), tell(closing('t0'))]).toEqual(['stale_round', 'stale_round'])
    expect([tell(briefing('t1')), tell(briefing('t1'))]).toEqual(['accepted', 'repeated'])
    expect([tell(closing('t1')), tell(closing('t1'))]).toEqual(['accepted', 'stale_round'])
    expect(tell(briefing('t1'))).toBe('stale_round')
  })
})

describe('what was spent', () => {
  const usage = (usd: number | null): Draft => ({
    type: 'usage',
    role: 'r',
    host: 'h',
    experiment: null,
    round: null,
    ms: 1,
    outcome: 'ok',
    usage: { tokens_in: usd === null ? null : 3, tokens_out: 2, usd },
  })

  test('an unknown cost counts as 0', () => {
    const { state } = story().given(usage(0.5), usage(null), usage(0))
    expect(state.usage).toEqual({ calls: 3, tokensIn: 6, tokensOut: 6, usd: 0.5, unknown: 1 })
  })

  test('time is charged twice while somebody drives', () => {
    const drove = (phase: 'start' | 'beat' | 'stop', active: number): Draft => ({
      type: 'drove',
      driver: 'loop',
      owner: { pid: 1, started: '1', host: 'h' },
      phase,
      active_ms: active,
    })
    const { given, state } = open()
    expect(state.activeMs).toBe(5)
    given(drove('start', 0), started(X), judged(X, 'rejected', { wall_ms: 70 }), drove('beat', 100))
    expect(state.activeMs).toBe(105)
    expect(state.driver.process?.driver).toBe('loop')
    given(drove('stop', 20), started(Y), judged(Y, 'rejected', { wall_ms: 7 }))
    expect([state.driver.process, state.activeMs]).toEqual([null, 132])
  })

  test('a stop by a person has no effect, or cannot be resumed', () => {
    const { given, state } = story().given({ type: 'stopped', why: 'lunch' })
    expect(state.stopped).toBe('lunch')
    given({ type: 'resumed', why: 'back' })
    expect(state.stopped).toBeNull()
  })
})

test('an event of an unknown type is accepted', () => {
  const { tell } = story()
  expect(() => tell({ type: 'unheard_of' } as unknown as Event)).toThrow('unreachable')
})
