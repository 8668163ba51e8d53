/**
 * Who drives a run, as its events tell it: one record, and one function that every caller is judged by. A process drives until
 * it is dead, which no event tells. A session of an agent program has no process that could be proved dead, so it has a lease,
 * which ends by the times in the ledger: when the session gives it up, or when its loop has done nothing for so long. Pure.
 */
import { call, next, type Said } from '../next.ts'
import type { Drove, Entrusted, Leased, ProcessIdentity, SessionName } from './events.ts'

export interface SessionLease extends SessionName {
  since: string
  /** When its loop last did something. */
  last: string
}

export type DrivingProcess = Pick<Drove, 'driver' | 'owner' | 'waiting'> & { since: string }

/** The session of a host that continues the prose loop by itself. */
export interface Autonomy {
  session: string
  host: string | null
  since: string
}

/**
 * A process that starts ends the lease of a session. A session never replaces a process here, since the ledger cannot tell
 * whether that process is dead. Autonomy outlives a lease: it ends when it is taken back, or when a person gives the run to a
 * different caller.
 */
export interface DriverRecord {
  process: DrivingProcess | null
  /** A lease that has lapsed stays here until a caller takes its place. */
  session: SessionLease | null
  /** The session from which a person took the run for a caller that can hold no lease: refused for as long as a lease lasts. */
  displaced: SessionLease | null
  autonomous: Autonomy | null
}

export const noDriver = (): DriverRecord => ({
  process: null,
  session: null,
  displaced: null,
  autonomous: null,
})

/** From this age of a lease on, any caller may drive. Longer than most candidates take; a caller that must wait can ask the user. */
export const LEASE_MS = 15 * 60_000

const freeAt = ({ last }: SessionLease): number => Date.parse(last) + LEASE_MS

export const isLive = (lease: SessionLease, at: string): boolean => Date.parse(at) < freeAt(lease)

/** Whether what a session has is the caller's. null as the caller = no session at all. */
export const isOf = (held: SessionName | null, by: SessionName | null): boolean =>
  held !== null && by !== null && held.session === by.session && held.host === by.host

// ---------------------------------------------------------------- may this caller drive?

export interface Caller {
  /** null: the call names no session. */
  session: SessionName | null
  /** Whether this process lives and is not the one that the call works for. Absent where that cannot be known: in the fold. */
  mustYieldTo?: (process: DrivingProcess) => boolean
}

export type DriverConflict = { by: 'process'; process: DrivingProcess } | SessionConflict

/** `session`: a different session drives. `person`: a person took the run from this session. */
export interface SessionConflict {
  by: 'session' | 'person'
  lease: SessionLease
}

/** What keeps a caller from driving then; null when it may drive. */
export function mayDrive(
  record: DriverRecord,
  { session, mustYieldTo }: Caller,
  at: string,
): DriverConflict | null {
  const { process: driving } = record
  return driving && mustYieldTo?.(driving)
    ? { by: 'process', process: driving }
    : sessionAgainst(record, session, at)
}

/** The same as far as sessions are concerned: all that the ledger can know. */
export function sessionAgainst(
  { session: lease, displaced }: DriverRecord,
  session: SessionName | null,
  at: string,
): SessionConflict | null {
  if (lease && isLive(lease, at) && !isOf(lease, session)) return { by: 'session', lease }
  if (displaced && isLive(displaced, at) && isOf(displaced, session))
    return { by: 'person', lease: displaced }
  return null
}

/** Whether this session has the lease then: a lapsed lease belongs to no session, even if none took it. */
export const hasLease = (
  { session: lease }: DriverRecord,
  session: SessionName | null,
  at: string,
): boolean => lease !== null && isOf(lease, session) && isLive(lease, at)

/** What the caller reads about the session that keeps it from driving. */
export function describeConflict({ by, lease }: SessionConflict): {
  code: string
  message: string
  hint: Said
  data: object
} {
  const free = new Date(freeAt(lease)).toISOString()
  const takeOver = next`${call('round open', '--take-over')}, or ${call('loop', '--take-over')}`
  const said =
    by === 'session'
      ? {
          message: `a session of ${lease.host} drives the run: ${lease.session.slice(0, 100)}, since ${short(lease.since)}, last seen ${short(lease.last)}`,
          hint: next`wait for it (${call('wait', '--for', 'loop')}); unless it does something before ${short(free)}, the same command continues then; at once, when the user says that it is gone or must give way: ${takeOver}`,
        }
      : {
          message: `the run was taken from this session at ${short(lease.since)}: a person said that it must give way`,
          hint: next`end your loop; when the user says that this session should continue: ${takeOver}`,
        }
  return { code: 'driven', ...said, data: { ...lease, free_at: free } }
}

/** Without what is below a second. */
const short = (at: string): string => at.replace(/\.\d+Z$/, 'Z')

// ---------------------------------------------------------------- what events make of the record

/** `round_opened`: the caller that opened the round has the lease; a caller without a session has none. */
export function takeLease(record: DriverRecord, by: SessionName | null, at: string): void {
  const before = record.session
  record.session = by && { ...by, since: before && isOf(before, by) ? before.since : at, last: at }
}

export function passLease(record: DriverRecord, { by, at, how }: Leased): void {
  if (how === 'kept') return
  if (how === 'given_up') {
    // A caller that is not the holder has nothing to give up.
    if (isOf(record.session, by)) record.session = null
    return
  }
  if (how === 'taken_over') {
    // Of two words of a person, the newer one.
    if (record.autonomous?.session !== by?.session) record.autonomous = null
    record.displaced = by === null && record.session ? { ...record.session, since: at, last: at } : null
  }
  takeLease(record, by, at)
}

/** A process that was given up, and wakes, has its time counted; only a start makes a driver of it again. */
export function driveByProcess(record: DriverRecord, event: Drove): void {
  const { driver, owner, phase, at, waiting } = event
  if (phase === 'start') endLeases(record)
  else if (record.process && !isSame(record.process.owner, owner)) return
  record.process = phase === 'stop' ? null : { driver, owner, since: at, ...(waiting ? { waiting } : {}) }
}

const isSame = (one: ProcessIdentity, other: ProcessIdentity): boolean =>
  one.pid === other.pid && one.started === other.started && one.host === other.host

/** The loop was stopped, or a process drives now: what a process drives, its death sets free at once. */
export function endLeases(record: DriverRecord): void {
  record.session = null
  record.displaced = null
}

/** The loop did something: that renews the lease, and keeps out the session from which the run was taken. */
export function renewLease({ session, displaced }: DriverRecord, at: string): void {
  for (const one of [session, displaced]) if (one) one.last = at
}

export function setAutonomy(record: DriverRecord, { session, host, at }: Entrusted): void {
  record.autonomous = session === null ? null : { session, host, since: at }
}
