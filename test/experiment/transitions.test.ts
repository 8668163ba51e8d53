import { describe, expect, test } from 'vitest'
import { type Draft, STATUSES, type Status } from '../../cli/ledger/events.ts'
import { LIFECYCLE_VERBS, type LifecycleVerb, TRANSITIONS } from '../../cli/ledger/transitions.ts'
import {
  audited,
  confirmed,
  created,
  discarded,
  judged,
  pruned,
  restored,
  sealed,
  started,
} from '../ledger/drafts.ts'
import { type Story, story } from '../ledger/story.ts'

/** `-` is a refusal, `=` leaves the status, `?` is decided by what the verb finds. */
const TABLE = `
          open       running  kept     rejected   failed     discarded  pruned  revoked
  seal    =          -        -        =          =          -          -       -
  run     running    -        -        running    running    -          -       -
  judge   ?          ?        -        ?          ?          -          -       -
  confirm -          -        =        -          -          -          =       -
  audit   -          -        ?        =          =          =          ?       =
  abort   -          failed   -        -          -          -          -       -
  discard discarded  -        -        discarded  discarded  =          -       -
  prune   -          -        pruned   -          -          -          =       -
  restore =          =        =        =          =          ?          ?       ?
  new     -          -        =        -          -          -          -       -
`

const [head = [], ...rows] = TABLE.trim()
  .split('\n')
  .map((line) => line.trim().split(/\s+/))
const cells = rows.flatMap(([verb, ...marks]) =>
  marks.map((mark, at) => ({ verb: verb as LifecycleVerb, status: head[at] as Status, mark })),
)

test('a verb or a status is missing from the table of this test', () => {
  expect(head).toEqual([...STATUSES])
  expect(rows.map(([verb]) => verb)).toEqual([...LIFECYCLE_VERBS])
  expect(cells.length).toBe(80)
})

const markOf = (verb: LifecycleVerb, status: Status): string => {
  const rule = TRANSITIONS[verb][status]
  if ('refused' in rule) return '-'
  return { same: '=', decided: '?' }[rule.to as string] ?? rule.to
}

test('the life cycle differs from the table of this test in some cell', () => {
  const different = cells
    .filter(({ verb, status, mark }) => markOf(verb, status) !== mark)
    .map(
      ({ verb, status, mark }) => `${verb} × ${status}: ${mark} in the test, ${markOf(verb, status)} in code`,
    )
  expect(different).toEqual([])
})

test('a refusal says no reason or no next step', () => {
  const poor = cells.filter(({ verb, status }) => {
    const rule = TRANSITIONS[verb][status]
    return 'refused' in rule && (rule.refused.length < 10 || !/assay \w+|take|only/.test(String(rule.hint)))
  })
  expect(poor).toEqual([])
})

const X = 'exp_0001'

/** What brings a child of the baseline to the status; wherever a seal may be pending, one is. */
const WAY: Record<Status, Draft[]> = {
  open: [sealed(X)],
  running: [sealed(X), started(X)],
  kept: [sealed(X), started(X), judged(X, 'kept')],
  rejected: [sealed(X), started(X), judged(X, 'rejected'), sealed(X, 2)],
  failed: [sealed(X), started(X), judged(X, 'failed'), sealed(X, 2)],
  discarded: [sealed(X), discarded(X)],
  pruned: [sealed(X), started(X), judged(X, 'kept'), pruned(X)],
  revoked: [sealed(X), started(X), judged(X, 'kept'), audited(X, 'revoked')],
}

const at = (status: Status): Story => story().given(created(X, 'exp_0000'), ...WAY[status])
const attemptAt = (status: Status) => (status === 'rejected' || status === 'failed' ? 2 : 1)
const free = (status: Status): Draft =>
  judged(X, 'rejected', { attempt: attemptAt(status), reason: 'over_limit' })

/** The events by which the verb reaches the record; `?` cells have more than one. */
const EVENTS: Record<LifecycleVerb, (status: Status) => { draft: Draft; decides?: Status }[]> = {
  seal: () => [{ draft: sealed(X, 7) }],
  run: (status) => [{ draft: started(X, attemptAt(status)) }],
  judge: (status) =>
    status === 'running'
      ? [
          { draft: judged(X, 'kept'), decides: 'kept' },
          { draft: judged(X, 'rejected'), decides: 'rejected' },
          { draft: judged(X, 'failed'), decides: 'failed' },
        ]
      : [{ draft: free(status), decides: 'rejected' }],
  confirm: () => [{ draft: confirmed(X, true) }],
  audit: (status) => [
    { draft: audited(X, 'passed'), decides: status },
    { draft: audited(X, 'flagged'), decides: status },
    { draft: audited(X, 'revoked'), decides: 'revoked' },
  ],
  abort: (status) => [
    {
      draft: judged(X, 'failed', {
        attempt: attemptAt(status),
        reason: 'aborted',
        failure_class: 'environment',
      }),
    },
  ],
  discard: () => [{ draft: discarded(X) }],
  prune: () => [{ draft: pruned(X) }],
  restore: (status) => [{ draft: restored(X), decides: status === 'discarded' ? 'open' : 'kept' }],
  new: () => [{ draft: created('exp_0002', X) }],
}

describe('the fold obeys a different table', () => {
  test.each(cells)('$verb × $status', ({ verb, status, mark }) => {
    for (const { draft, decides } of EVENTS[verb](status)) {
      const { tell, statusOf, state } = at(status)
      expect(statusOf(X)).toBe(status)
      const said = tell(draft)
      expect(said === 'accepted' ? 'accepted' : '-').toBe(mark === '-' ? '-' : 'accepted')
      const after = mark === '-' || mark === '=' ? status : mark === '?' ? decides : mark
      expect(statusOf(X)).toBe(after)
      expect(Object.values(state.counts).reduce((a, b) => a + b)).toBe(state.experiments.size)
    }
  })
})

test('a confirmation that fails leaves the node kept', () => {
  const { tell, statusOf } = at('kept')
  expect(tell(confirmed(X, false))).toBe('accepted')
  expect(statusOf(X)).toBe('revoked')
})

test('a flag is not lifted by a confirmation or a restoration, or by nothing at all', () => {
  for (const lift of [confirmed(X, true), restored(X)]) {
    const { tell, state } = at('kept')
    tell(audited(X, 'flagged'))
    expect(state.experiments.get(X)?.flagged).toBe('an audit flagged it: it looks odd')
    tell(audited(X, 'passed'))
    expect(state.experiments.get(X)?.flagged).toBe('an audit flagged it: it looks odd')
    tell(lift)
    expect(state.experiments.get(X)?.flagged).toBeNull()
  }
})

test.each<[string, Draft[], Status]>([
  ['open, then discarded', [discarded(X)], 'open'],
  ['rejected, then discarded', [...WAY.rejected, discarded(X)], 'rejected'],
  ['failed, then discarded', [...WAY.failed, discarded(X)], 'failed'],
  ['kept, then pruned', WAY.pruned, 'kept'],
  ['kept, then revoked', WAY.revoked, 'kept'],
  ['pruned, then revoked', [...WAY.pruned, audited(X, 'revoked')], 'kept'],
])('restore does not bring back what was there before: %s', (_, way, before) => {
  const { given, statusOf, state } = story().given(created(X, 'exp_0000'))
  given(...way, restored(X))
  expect(statusOf(X)).toBe(before)
  expect(state.experiments.get(X)?.why).toBeNull()
})

test('a restore of what runs throws its verdict away', () => {
  const { given, statusOf } = at('running')
  given(restored(X), judged(X, 'kept', { value: 5 }))
  expect(statusOf(X)).toBe('kept')
})
