import { describe, expect, test } from 'vitest'
import type { Draft, SessionName } from '../../cli/ledger/events.ts'
import { fold } from '../../cli/ledger/fold.ts'
import { created, judged, OWNER, sealed, stamped, started } from './drafts.ts'
import { codeOf, story } from './story.ts'

const ME: SessionName = { host: 'claude-code', session: 'me' }
const YOU: SessionName = { host: 'codex', session: 'you' }
const by = (who: SessionName | null) => (who === null ? {} : { by: who })

const opening = (round: number, who: SessionName | null): Draft => ({
  type: 'round_opened',
  round,
  token: `t${round}`,
  width: 1,
  depth: 1,
  parents: [],
  policy: 'argmax',
  seed: 1,
  ideate: null,
  ...by(who),
})
const briefing = (round: number, who: SessionName | null): Draft => ({
  type: 'round_briefed',
  round,
  token: `t${round}`,
  lanes: [],
  refused: [],
  ...by(who),
})
const closing = (round: number, who: SessionName | null): Draft => ({
  type: 'round_closed',
  round,
  token: `t${round}`,
  improved: false,
  best: 'exp_0000',
  stall: 1,
  learnings: [],
  suggestions: [],
  prune: [],
  ...by(who),
})
const leased = (who: SessionName | null, how: 'taken' | 'taken_over' | 'given_up' | 'kept'): Draft => ({
  type: 'leased',
  by: who,
  how,
})
const drove = (phase: 'start' | 'beat' | 'stop', who: SessionName | null = null): Draft => ({
  type: 'drove',
  driver: 'assay loop',
  owner: OWNER,
  phase,
  active_ms: 0,
  ...by(who),
})

/** A run whose events have times, in minutes. */
function clocked() {
  const { state } = story()
  let next = 0
  const tell = (minutes: number, draft: Draft): string => {
    next += 1
    const at = new Date(Date.UTC(2026, 0, 2) + minutes * 60_000).toISOString()
    return codeOf(fold(state, { ...stamped(draft, `l${next}`), at }))
  }
  return { state, tell, last: () => state.driver.session?.last.slice(11, 16) ?? null }
}

describe('the lease of a session', () => {
  test('two sessions that open a round at the same moment both get it, or the later one does', () => {
    const { tell, state } = clocked()
    expect(tell(0, opening(1, ME))).toBe('accepted')
    expect(tell(0, opening(1, YOU))).toBe('driven')
    expect(tell(0, opening(1, null))).toBe('driven')
    expect(tell(0, opening(1, ME))).toBe('round_open')
    expect(state.driver.session).toMatchObject(ME)
  })

  test('it ends a moment too early or too late, or not at all', () => {
    const { tell, state } = clocked()
    tell(0, opening(1, ME))
    tell(1, closing(1, ME))
    expect(tell(15.999, opening(2, YOU))).toBe('driven')
    expect(tell(16, opening(2, YOU))).toBe('accepted')
    expect(state.driver.session).toMatchObject({ ...YOU, since: state.driver.session?.last })
    expect(tell(16, briefing(2, ME))).toBe('driven')
  })

  test('a working session loses it, or one keeps it by what others do', () => {
    const { tell, last } = clocked()
    tell(0, opening(1, ME))
    tell(1, briefing(1, ME))
    expect(last()).toBe('00:01')
    tell(2, created('exp_0001', 'exp_0000', { round: 1, lane: 1, depth: 1 }))
    tell(3, sealed('exp_0001'))
    tell(4, started('exp_0001'))
    expect(last()).toBe('00:04')
    tell(9, judged('exp_0001', 'rejected'))
    expect(last()).toBe('00:09')
    tell(10, created('exp_0002', 'exp_0000'))
    tell(10, sealed('exp_0002'))
    tell(10, { type: 'steered', experiment: null, text: 'go left' })
    expect(tell(10, opening(2, YOU))).toBe('driven')
    expect(last()).toBe('00:09')
    // Late, but nobody else came.
    expect(tell(40, closing(1, ME))).toBe('accepted')
    expect(tell(41, opening(2, YOU))).toBe('driven')
  })

  test('a different session writes into the round, or one that nobody can name is kept out of its own', () => {
    const { tell } = clocked()
    tell(0, opening(1, ME))
    expect([tell(1, briefing(1, YOU)), tell(1, closing(1, YOU))]).toEqual(['driven', 'driven'])
    // The same id in another program is another session.
    expect(tell(1, closing(1, { ...ME, host: 'codex' }))).toBe('driven')
    expect([tell(1, briefing(1, null)), tell(2, closing(1, ME))]).toEqual(['accepted', 'accepted'])
  })

  test('a ledger that names no session has a lease', () => {
    const { tell, state } = clocked()
    expect([tell(0, opening(1, null)), state.driver.session]).toEqual(['accepted', null])
    expect([tell(0, closing(1, null)), tell(0, opening(2, null))]).toEqual(['accepted', 'accepted'])
  })
})

describe('how it passes on', () => {
  test('it is taken over from a live session without --take-over, or not with it', () => {
    const { tell, state } = clocked()
    tell(0, opening(1, ME))
    tell(0, { type: 'entrusted', ...ME })
    expect(tell(1, leased(YOU, 'taken'))).toBe('driven')
    expect(tell(1, leased(YOU, 'given_up'))).toBe('accepted')
    expect(state.driver.session).toMatchObject(ME)
    expect(tell(2, leased(YOU, 'taken_over'))).toBe('accepted')
    expect(state.driver.session).toMatchObject(YOU)
    // A session that must give way does not go on by itself either.
    expect(state.driver.autonomous).toBeNull()
    expect(tell(3, closing(1, ME))).toBe('driven')
    expect(tell(4, leased(YOU, 'given_up'))).toBe('accepted')
    expect([state.driver.session, tell(5, leased(ME, 'taken'))]).toEqual([null, 'accepted'])
    expect(tell(19, leased(ME, 'taken'))).toBe('accepted')
    expect(state.driver.session?.since.slice(11, 16)).toBe('00:05')
  })

  test('a session that lost it to a caller without a session takes it back at once, or can never get it again', () => {
    const { tell, state } = clocked()
    tell(0, opening(1, ME))
    tell(1, leased(null, 'taken_over'))
    expect(tell(2, leased(ME, 'taken'))).toBe('driven')
    expect([tell(2, briefing(1, ME)), tell(2, briefing(1, null))]).toEqual(['driven', 'accepted'])
    expect(tell(16.9, drove('start', ME))).toBe('driven')
    expect(tell(16.9, leased(YOU, 'taken'))).toBe('accepted')
    expect(tell(16.9, leased(YOU, 'given_up'))).toBe('accepted')
    expect(tell(17, leased(ME, 'taken'))).toBe('accepted')
    for (const end of [leased(ME, 'taken_over'), drove('start'), { type: 'stopped', why: 'x' } as Draft]) {
      tell(17, leased(ME, 'taken_over'))
      tell(17, leased(null, 'taken_over'))
      expect(tell(17, leased(ME, 'taken'))).toBe('driven')
      expect([tell(17, end), tell(17, leased(ME, 'taken'))]).toEqual(['accepted', 'accepted'])
    }
    expect(state.driver.session).toMatchObject(ME)
  })

  test('a renewed lease lapses, or a renewal gives it to a session without one or undoes a takeover', () => {
    const { tell, state, last } = clocked()
    expect([tell(0, leased(ME, 'kept')), state.driver.session]).toEqual(['not_driving', null])
    tell(0, opening(1, ME))
    tell(0, { type: 'entrusted', ...ME })
    expect([tell(14, leased(YOU, 'kept')), last()]).toEqual(['not_driving', '00:00'])
    expect([tell(14, leased(null, 'kept')), last()]).toEqual(['not_driving', '00:00'])
    expect([tell(14, leased(ME, 'kept')), last()]).toEqual(['accepted', '00:14'])
    expect(state.driver.session?.since.slice(11, 16)).toBe('00:00')
    expect(state.driver.autonomous).toMatchObject(ME)
    expect(tell(28.9, leased(YOU, 'taken'))).toBe('driven')
    // One that lapsed is nobody's, though nobody took it.
    expect([tell(29, leased(ME, 'kept')), last()]).toEqual(['not_driving', '00:14'])
    expect(tell(29, leased(YOU, 'taken'))).toBe('accepted')
    expect([tell(30, leased(ME, 'kept')), last()]).toEqual(['not_driving', '00:29'])
    // Whom it was taken from is kept out for as long as the loop goes on.
    tell(30, leased(null, 'taken_over'))
    tell(31, leased(ME, 'taken'))
    tell(44, leased(ME, 'kept'))
    expect([tell(46, leased(ME, 'given_up')), tell(47, leased(YOU, 'taken'))]).toEqual(['accepted', 'driven'])
  })

  test('it does not end with a stop', () => {
    const { tell, state } = clocked()
    tell(0, opening(1, ME))
    tell(1, { type: 'paused', why: 'lunch' })
    expect(state.driver.session).toMatchObject(ME)
    tell(1, { type: 'stopped', why: 'enough' })
    expect(state.driver.session).toBeNull()
  })

  test('a process begins beside a session, waits for its own, or leaves a lease when it dies', () => {
    const { tell, state } = clocked()
    tell(0, opening(1, ME))
    expect([tell(1, drove('start')), tell(1, drove('start', YOU))]).toEqual(['driven', 'driven'])
    expect(state.driver.process).toBeNull()
    expect(tell(1, drove('start', ME))).toBe('accepted')
    expect(state.driver.session).toBeNull()
    // It died without a word, and no time has passed.
    expect(tell(1, leased(YOU, 'taken'))).toBe('accepted')
    expect(tell(1, leased(null, 'taken_over'))).toBe('accepted')
    expect([state.driver.session, tell(1, drove('start'))]).toEqual([null, 'accepted'])
  })

  test('a process that was given up wakes, and drives beside its successor or ends it', () => {
    const { tell, state } = clocked()
    const late = { ...OWNER, host: 'container-1' }
    tell(0, { ...drove('start'), owner: late } as Draft)
    tell(20, drove('start'))
    tell(21, { ...drove('beat'), owner: late, active_ms: 7 } as Draft)
    tell(21, { ...drove('stop'), owner: late } as Draft)
    expect([state.driver.process?.owner, state.driver.process?.since.slice(11, 16), state.activeMs]).toEqual([
      OWNER,
      '00:20',
      5 + 7,
    ])
    tell(22, drove('beat'))
    expect(state.driver.process?.since.slice(11, 16)).toBe('00:22')
    tell(23, drove('stop'))
    expect(state.driver.process).toBeNull()
  })
})
