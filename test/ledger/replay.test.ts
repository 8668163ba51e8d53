/** What must hold for every order in which writers' lines may stand in the file. */
import { appendFileSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import fc from 'fast-check'
import { beforeAll, describe, expect, test } from 'vitest'
import { bestAmong, bestOf } from '../../cli/ledger/best.ts'
import { type Event, STATUSES } from '../../cli/ledger/events.ts'
import { fold } from '../../cli/ledger/fold.ts'
import { Ledger } from '../../cli/ledger/ledger.ts'
import { emptyState, type State, tainted } from '../../cli/ledger/state.ts'
import { makeTemp } from '../rig/temp.ts'
import { noted } from './drafts.ts'
import { history, replayed } from './histories.ts'

const runs = { numRuns: 80 }

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

  test('a reader that skips void events comes to a different state', () => {
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
            expect(spent.failures).toBeLessThan(2)
            spent.claims++
            const used = (spent.attempts.get(event.experiment) ?? 0) + 1
            spent.attempts.set(event.experiment, used)
            expect(used).toBeLessThanOrEqual(2)
          } else if (event.type === 'judged' && event.status === 'failed') {
            if (event.failure_class !== 'environment') spent.failures++
            else spent.attempts.set(event.experiment, (spent.attempts.get(event.experiment) ?? 0) - 1)
          }
        }
        expect(spent.claims).toBeLessThanOrEqual(4)
        expect([state.claims, state.failures]).toEqual([spent.claims, spent.failures])
      }),
      runs,
    )
  })

  test('the best that the fold keeps, or what it knows to be below a revoked one, is not what a search of the run finds', () => {
    fc.assert(
      fc.property(history, fc.infiniteStream(fc.nat(30)), (events, details) => {
        const state = emptyState()
        for (const event of events) {
          const detail = details.next().value
          fold(state, withDoubts(event, detail))
          const nodes = [...state.experiments.values()]
          if (detail > 10) expect(bestOf(state)).toBe(bestAmong(state, nodes))
          expect([...tainted(state)].sort()).toEqual(
            nodes.flatMap(({ id }) => (isClean(state, id) ? [] : [id])).sort(),
          )
        }
      }),
      { numRuns: 200 },
    )
  })

  test('the best descends from what was revoked, or a better one stands', () => {
    fc.assert(
      fc.property(history, (events) => {
        const state = replayed(events)
        const standing = [...state.experiments.values()].filter(
          ({ id, status, flagged, epoch, value }) =>
            (status === 'kept' || status === 'pruned') &&
            !flagged &&
            value !== null &&
            epoch === state.epoch &&
            isClean(state, id),
        )
        const values = standing.map(({ value }) => value ?? Number.NaN)
        const best = bestOf(state)
        expect(best === null).toBe(standing.length === 0)
        if (best) {
          expect(standing).toContain(best)
          expect(best.value).toBe(Math.min(...values))
          expect(measuredIn(events, best.id)).toBe(state.epoch)
        }
      }),
      runs,
    )
  })
})

/** Lines of a later minor version: types and fields that nobody here knows, on names that the fold does know. */
const strangers = fc.array(
  fc.record({
    at: fc.nat(300),
    minor: fc.integer({ min: 1, max: 99 }),
    type: fc.stringMatching(/^[a-z_]{1,12}$/).map((name) => `later_${name}`),
    more: fc.dictionary(
      fc.constantFrom('experiment', 'attempt', 'key', 'status', 'value', 'claim', 'round', 'deep'),
      fc.jsonValue({ maxDepth: 2 }),
    ),
  }),
  { minLength: 1, maxLength: 12 },
)

test('an unknown event of a later minor version changes the state, or is lost when others write on', () => {
  fc.assert(
    fc.property(history, strangers, (events, unknown) => {
      const known = events.map((event) => JSON.stringify(event))
      const lines = [...known]
      for (const [n, { at, minor, type, more }] of unknown.entries()) {
        const line = JSON.stringify({ ...more, v: `1.${minor}`, id: `u${n}`, at: '', type })
        lines.splice(at % (lines.length + 1), 0, line)
      }
      const [mixed, plain] = [lines, known].map((all) => {
        const file = join(makeTemp(), 'ledger.jsonl')
        const text = all.map((line) => `${line}\n`).join('')
        writeFileSync(file, text)
        const ledger = opened(file)
        expect(ledger.propose<'noted'>(noted('later'), new Date(0))).toMatchObject({
          value: { accepted: true },
        })
        const written = readFileSync(file, 'utf8')
        expect(written.startsWith(text)).toBe(true)
        expect(written.slice(text.length).split('\n')).toHaveLength(2)
        expect(isDeepStrictEqual(comparable(opened(file).state), comparable(ledger.state))).toBe(true)
        return opened(file).state
      })
      if (!mixed || !plain) throw new Error('two files were written')
      expect(comparable(mixed)).toEqual(comparable(plain))
    }),
    { numRuns: 40 },
  )
})

describe('the histories above', () => {
  const seen = new Set<string>()
  beforeAll(() => {
    for (const events of fc.sample(history, { numRuns: 800, seed: 7 })) {
      const state = emptyState()
      for (const event of events) {
        const outcome = fold(state, event)
        seen.add(outcome.accepted ? `${event.type} accepted` : outcome.because.code)
      }
      for (const status of STATUSES) if (state.counts[status] > 0) seen.add(status)
      if ([...state.experiments.values()].some(({ generation }) => generation === 2)) seen.add('grandchild')
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
    'stale_epoch',
    'epoch_opened accepted',
  ])('never come to: %s', (what) => {
    expect([...seen]).toContain(what)
  })
})

function opened(file: string): Ledger {
  const ledger = Ledger.open(file)
  if (!ledger.ok) throw new Error(ledger.problem.message)
  return ledger.value
}

/** Some verdicts lost to another one, and some show that the metric varies. */
function withDoubts(event: Event, detail: number): Event {
  if (event.type === 'judged' && detail < 12) return { ...event, lost_to: `exp_000${detail % 4}` }
  if (event.type === 'confirmed' && detail === 12) return { ...event, varied: 'two values' }
  return event
}

function isClean(state: State, id: string | null): boolean {
  const one = id === null ? undefined : state.experiments.get(id)
  return one === undefined || (one.status !== 'revoked' && isClean(state, one.parent))
}

/** The epoch in which the last verdict or confirmation of an experiment was begun, by the events that counted. */
function measuredIn(events: Event[], id: string): number | undefined {
  const state = emptyState()
  const claimed = new Map<number, number>()
  let found: number | undefined
  for (const event of events) {
    if (!fold(state, event).accepted || !('experiment' in event) || event.experiment !== id) continue
    if (event.type === 'started' && event.takes_over === undefined) claimed.set(event.attempt, state.epoch)
    if (event.type === 'judged') found = claimed.get(event.attempt)
    if (event.type === 'confirmed') found = state.epoch
  }
  return found
}

/** Without the one thing that is drawn anew: the id of the note that was written on top. */
function comparable(state: State): unknown {
  const notes = Array.from(state.notes, (note) => (note.text === 'later' ? { ...note, id: '' } : note))
  return JSON.parse(
    JSON.stringify({ ...state, notes }, (_, value) => (value instanceof Map ? [...value] : value)),
  )
}
