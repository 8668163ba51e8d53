/** Who drives a run: one at a time, by a lease that only death or its end gives up; active time goes into the ledger. */
import { mkdirSync } from 'node:fs'
import { dirname } from 'node:path'
import type { Drove } from '../ledger/events.ts'
import { tryHold } from '../lock.ts'
import { identify } from '../process.ts'
import { fail, ok, type Result } from '../result.ts'
import { drivenByProcess, hasGone, saidBy, takeFromSession } from './lease.ts'
import type { OpenRun } from './open.ts'

export interface Driver {
  /** Records for what the loop waits; null = it goes on. */
  wait(waiting: NonNullable<Drove['waiting']> | null): void
  /** Records the last stretch of active time and gives the lease up. */
  stop(): void
}

/** A kill loses at most this much of the hours that are charged. */
const BEAT_MS = 20_000

/** `takeOver`: a person said that the session that drives must give way. A process that does must be ended first. */
export function startDriving(run: OpenRun, name: string, takeOver: boolean): Result<Driver> {
  mkdirSync(dirname(run.paths.driver), { recursive: true })
  const hold = tryHold(run.paths.driver, (owner) => hasGone(run, owner))
  if (!hold.held) return fail(drivenByProcess(run.run, hold))
  const owner = identify()
  if (!owner) throw new Error('this system does not tell when a process started (no /proc, no ps)')
  // The monotonic clock stands still while the machine sleeps: suspended hours are not charged.
  let since = performance.now()
  // Between two beats of a paused loop nothing begins, and that time is not charged.
  let idle = false
  let waiting: Drove['waiting']
  const tell = (phase: Drove['phase']) => {
    const now = performance.now()
    const paused = run.ledger.state.paused !== null
    const told = run.ledger.record<'drove'>(
      {
        type: 'drove',
        driver: name,
        owner,
        phase,
        active_ms: phase === 'start' || (idle && paused) ? 0 : Math.round(now - since),
        ...(phase === 'start' ? saidBy(run) : {}),
        ...(phase === 'beat' && waiting !== undefined ? { waiting } : {}),
      },
      run.clock(),
    )
    since = now
    idle = paused
    return told
  }
  const taken = takeOver ? takeFromSession(run) : ok(undefined)
  const began = taken.ok ? tell('start') : taken
  if (!began.ok) {
    hold.release()
    return began
  }
  const timer = setInterval(() => tell('beat'), BEAT_MS)
  timer.unref()
  return ok({
    wait: (next) => {
      waiting = next ?? undefined
      tell('beat')
    },
    stop: () => {
      clearInterval(timer)
      tell('stop')
      hold.release()
    },
  })
}
