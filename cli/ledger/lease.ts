/**
 * Which session of an agent program drives the loop. It has no process that could be proved dead, so its lease ends by
 * the times in the ledger: at its own word, or when its loop has done nothing for so long. Pure.
 */
import { call, next, type Said } from '../next.ts'
import type { Leased, SessionName } from './events.ts'

export interface SessionLease extends SessionName {
  since: string
  /** When its loop last did something. */
  last: string
}

/** From this age on anybody may go on. Longer than most candidates take; whoever must wait for it can ask the user. */
export const LEASE_MS = 15 * 60_000

const freeAt = ({ last }: SessionLease): number => Date.parse(last) + LEASE_MS

export const isLive = (lease: SessionLease, at: string): boolean => Date.parse(at) < freeAt(lease)

/** Whether what a session has is the caller's. null as the caller = no session at all. */
export const isOf = (held: SessionName | null, by: SessionName | null): boolean =>
  held !== null && by !== null && held.session === by.session && held.host === by.host

/** The lease that keeps this caller from driving then; null when none does. */
export const heldAgainst = (
  lease: SessionLease | null,
  by: SessionName | null,
  at: string,
): SessionLease | null => (lease !== null && isLive(lease, at) && !isOf(lease, by) ? lease : null)

/** The lease as it is when this caller has taken the turn. */
export function taken(before: SessionLease | null, by: SessionName | null, at: string): SessionLease | null {
  if (by === null) return null
  return { ...by, since: before && isOf(before, by) ? before.since : at, last: at }
}

/** Whoever is not the holder has nothing to give up. */
export const passOn = (lease: SessionLease | null, { how, by, at }: Leased): SessionLease | null =>
  how === 'given_up' ? (isOf(lease, by) ? null : lease) : taken(lease, by, at)

/** What whoever must not drive is told. */
export function describeLease(lease: SessionLease): {
  code: string
  message: string
  hint: Said
  data: object
} {
  const free = new Date(freeAt(lease)).toISOString()
  return {
    code: 'driven',
    message: `a session of ${lease.host} drives the run: ${lease.session.slice(0, 100)}, since ${short(lease.since)}, last seen ${short(lease.last)}`,
    hint: next`wait for it (${call('wait', '--for', 'loop')}); unless it does something before ${short(free)}, the same command goes on then; at once, when the user says that it is gone or must give way: ${call('round open', '--take-over')}, or ${call('loop', '--take-over')}`,
    data: { ...lease, free_at: free },
  }
}

/** What a session is told that a person took the run from. */
export function describeDisplaced(displaced: SessionLease): ReturnType<typeof describeLease> {
  const free = new Date(freeAt(displaced)).toISOString()
  return {
    code: 'driven',
    message: `the run was taken from this session at ${short(displaced.since)}: a person said that it must give way`,
    hint: next`end your loop; when the user says that this session goes on: ${call('round open', '--take-over')}, or ${call('loop', '--take-over')}`,
    data: { ...displaced, free_at: free },
  }
}

/** Without what is below a second. */
const short = (at: string): string => at.replace(/\.\d+Z$/, 'Z')
