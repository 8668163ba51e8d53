/** What must hold for every order in which writers' lines may stand in the file. */
import { appendFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import fc from 'fast-check'
import { beforeAll, describe, expect, test } from 'vitest'
import { type Draft, type Event, STATUSES } from '../../cli/ledger/events.ts'
import { fold } from '../../cli/ledger/fold.ts'
import { Ledger } from '../../cli/ledger/ledger.ts'
import { bestOf, emptyState, type State } from '../../cli/ledger/state.ts'
import { makeTemp } from '../rig/temp.ts'
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

const CAPS = { experiments: 5, max_attempts: 2, failures: 3 }

const node = fc.constantFrom('exp_0000', 'exp_0001', 'exp_0002', 'exp_0003', 'exp_0004')
const attempt = fc.integer({ min: 1, max: 4 })
const key = fc.option(fc.constantFrom('k1', 'k2', 'k3'), { nil: undefined, freq: 6 })

/** Writers choose blindly, so most of what they propose is void. A value decides by its weight how often. */
const move: fc.Arbitrary<Draft> = fc.oneof(
  { weight: 3, arbitrary: fc.tuple(node, node).map(([id, parent]) => created(id, parent)) },
  { weight: 5, arbitrary: fc.tuple(node, attempt).map(([id, n]) => sealed(id, n)) },
  { weight: 8, arbitrary: fc.tuple(node, attempt).map(([id, n]) => started(id, n)) },
  {
    weight: 2,
    arbitrary: fc.tuple(node, attempt, fc.nat(200)).map(([id, n, by]) => started(id, n, `w${by}`)),
  },
  {
    weight: 9,
    arbitrary: fc
      .tuple(
        node,
        attempt,
        fc.constantFrom('kept', 'rejected', 'failed'),
        fc.constantFrom('environment', 'eval'),
        fc.integer({ min: -3, max: 12 }),
      )
      .map(([id, n, status, failure, value]) =>
        judged(id, status, {
          attempt: n,
          failure_class: status === 'failed' ? failure : null,
          value: status === 'failed' ? null : value,
          signature: status === 'failed' ? failure : null,
        }),
      ),
  },
  {
    weight: 1,
    arbitrary: fc
      .tuple(node, attempt)
      .map(([id, n]) => judged(id, 'rejected', { attempt: n, reason: 'empty' })),
  },
  { weight: 1, arbitrary: fc.tuple(node, fc.boolean()).map(([id, passed]) => confirmed(id, passed)) },
  {
    weight: 1,
    arbitrary: fc
      .tuple(node, fc.constantFrom('passed', 'flagged', 'revoked'))
      .map(([id, outcome]) => audited(id, outcome)),
  },
  { weight: 1, arbitrary: node.map(discarded) },
  { weight: 1, arbitrary: node.map(pruned) },
  { weight: 3, arbitrary: node.map(restored) },
  { weight: 1, arbitrary: fc.constantFrom('a', 'b').map(noted) },
)

const proposal = fc.tuple(move, key)
const writers = fc.array(fc.array(proposal, { minLength: 5, maxLength: 60 }), { minLength: 1, maxLength: 4 })

/** The run and a kept baseline, then the writers' lines in an order that `turns` chooses. */
const history: fc.Arbitrary<Event[]> = fc
  .tuple(writers, fc.array(fc.nat(1000), { minLength: 1, maxLength: 240 }))
  .map(([queues, turns]) => {
    const left = queues.map((queue) => [...queue])
    const order: Event[] = [runStarted(CAPS), ...keptNode('exp_0000', null, 10)].map((draft, n) =>
      stamped(draft, `b${n}`),
    )
    for (let n = 0; left.some((queue) => queue.length > 0); n++) {
      const waiting = left.filter((queue) => queue.length > 0)
      const [draft, used] = waiting[(turns[n % turns.length] ?? 0) % waiting.length]?.shift() ?? [
        noted('none'),
      ]
      order.push({ ...stamped(draft, `w${n}`), ...(used === undefined ? {} : { key: used }) })
    }
    return order
  })

const runs = { numRuns: 150 }

describe('any order of any proposals', () => {
  test('readers disagree that read line by line, in pieces, or all at once', () => {
    fc.assert(
      fc.property(history, fc.array(fc.nat(50), { minLength: 1, maxLength: 20 }), (events, pieces) => {
        const file = join(makeTemp(), 'ledger.jsonl')
        writeFileSync(file, '')
        const [each, some] = [opened(file), opened(file)]
        const bytes = Buffer.from(events.map((event) => `${JSON.stringify(event)}\n`).join(''))
        let at = 0
        for (let n = 0; at < bytes.length; n++) {
          // Pieces of bytes, not of lines: a reader often sees the beginning of a line.
          const size = 1 + (pieces[n % pieces.length] ?? 0) * 17
          appendFileSync(file, bytes.subarray(at, at + size))
          at += size
          expect(each.refresh().ok).toBe(true)
          if (n % 7 === 0) some.refresh()
        }
        some.refresh()
        const once = opened(file)
        expect(isDeepStrictEqual(each.state, once.state)).toBe(true)
        expect(isDeepStrictEqual(some.state, once.state)).toBe(true)
        expect(isDeepStrictEqual(replayed(events), once.state)).toBe(true)
      }),
      { numRuns: 40 },
    )
  })

  test('an event that is void leaves a trace', () => {
    fc.assert(
      fc.property(history, (events) => {
        const state = emptyState()
        for (const event of events) {
          const before = structuredClone(state)
          const outcome = fold(state, event)
          const same = isDeepStrictEqual(state, before)
          expect([event.type, outcome.accepted, same]).toEqual([
            event.type,
            outcome.accepted,
            !outcome.accepted,
          ])
        }
      }),
      runs,
    )
  })

  test('void events matter to those who read on without them', () => {
    fc.assert(
      fc.property(history, (events) => {
        const state = emptyState()
        const counted = events.filter((event) => fold(state, event).accepted)
        expect(isDeepStrictEqual(replayed(counted), state)).toBe(true)
      }),
      runs,
    )
  })

  test('the events themselves are changed by being read', () => {
    fc.assert(
      fc.property(history, (events) => {
        const before = structuredClone(events)
        const first = replayed(events)
        expect(isDeepStrictEqual(events, before)).toBe(true)
        expect(isDeepStrictEqual(replayed(before), first)).toBe(true)
      }),
      runs,
    )
  })

  test('counts of statuses are not those of the tree', () => {
    fc.assert(
      fc.property(history, (events) => {
        const state = replayed(events)
        const nodes = [...state.experiments.values()]
        const counted = STATUSES.map((status) => nodes.filter((one) => one.status === status).length)
        expect(STATUSES.map((status) => state.counts[status])).toEqual(counted)
        for (const one of nodes) {
          expect(one.children).toEqual(nodes.filter(({ parent }) => parent === one.id).map(({ id }) => id))
        }
      }),
      runs,
    )
  })

  test('more is claimed than the caps allow, or by two at once', () => {
    fc.assert(
      fc.property(history, (events) => {
        const state = emptyState()
        const spent = {
          claims: 0,
          failures: 0,
          attempts: new Map<string, number>(),
          claimed: new Set<string>(),
        }
        for (const event of events) {
          if (!fold(state, event).accepted) continue
          if (event.type === 'started' && event.takes_over === undefined) {
            expect(spent.claimed.has(`${event.experiment}/${event.attempt}`)).toBe(false)
            spent.claimed.add(`${event.experiment}/${event.attempt}`)
            if (event.experiment === 'exp_0000') continue
            expect(spent.failures).toBeLessThan(3)
            spent.claims++
            const used = (spent.attempts.get(event.experiment) ?? 0) + 1
            spent.attempts.set(event.experiment, used)
            expect(used).toBeLessThanOrEqual(2)
          } else if (event.type === 'judged' && event.status === 'failed') {
            if (event.failure_class !== 'environment') spent.failures++
            else spent.attempts.set(event.experiment, (spent.attempts.get(event.experiment) ?? 0) - 1)
          }
        }
        expect(spent.claims).toBeLessThanOrEqual(5)
        expect([state.claims, state.failures]).toEqual([spent.claims, spent.failures])
      }),
      runs,
    )
  })

  test('the best descends from what was revoked, or a better one stands', () => {
    fc.assert(
      fc.property(history, (events) => {
        const state = replayed(events)
        const standing = [...state.experiments.values()].filter(
          (one) =>
            (one.status === 'kept' || one.status === 'pruned') && !one.flagged && isClean(state, one.id),
        )
        const values = standing.map(
          (one) => one.attempts.findLast((a) => a.judged)?.judged?.value ?? Infinity,
        )
        const best = bestOf(state)
        expect(best === null).toBe(standing.length === 0)
        if (best) {
          expect(standing).toContain(best)
          expect(best.attempts.findLast((a) => a.judged)?.judged?.value).toBe(Math.min(...values))
        }
      }),
      runs,
    )
  })
})

describe('the histories above', () => {
  const seen = new Set<string>()
  beforeAll(() => {
    for (const events of fc.sample(history, { numRuns: 200, seed: 7 })) {
      const state = emptyState()
      for (const event of events) {
        const outcome = fold(state, event)
        seen.add(outcome.accepted ? `${event.type} accepted` : outcome.because.code)
      }
      for (const status of STATUSES) if (state.counts[status] > 0) seen.add(status)
      if (state.experiments.get('exp_0001')?.generation === 2) seen.add('grandchild')
    }
  })

  test.each([
    ...STATUSES,
    'grandchild',
    'started accepted',
    'restored accepted',
    'confirmed accepted',
    'audited accepted',
    'max_attempts',
    'budget_experiments',
    'budget_failures',
    'taken_over',
    'repeated',
    'is_running',
    'bad_parent',
    'stale_seal',
  ])('never come to: %s', (what) => {
    expect([...seen]).toContain(what)
  })
})

function opened(file: string): Ledger {
  const ledger = Ledger.open(file)
  if (!ledger.ok) throw new Error(ledger.problem.message)
  return ledger.value
}

function replayed(events: Event[]): State {
  const state = emptyState()
  for (const event of events) fold(state, event)
  return state
}

function isClean(state: State, id: string | null): boolean {
  const one = id === null ? undefined : state.experiments.get(id)
  return one === undefined || (one.status !== 'revoked' && isClean(state, one.parent))
}
