/** Who drives a run: one at a time, by a lease that only death or its end gives up; active time goes into the ledger. */
import { mkdirSync } from 'node:fs'
import { dirname } from 'node:path'
import type { Drove } from '../ledger/events.ts'
import { tryHold } from '../lock.ts'
import { identify } from '../process.ts'
import { fail, ok, type Result } from '../result.ts'
import type { OpenRun } from './open.ts'

export interface Driver {
  /** Records the last stretch of active time and gives the lease up. */
  stop(): void
}

/** A kill loses at most this much of the hours that are charged. */
const BEAT_MS = 20_000

export function startDriving(run: OpenRun, name: string): Result<Driver> {
  mkdirSync(dirname(run.paths.driver), { recursive: true })
  const hold = tryHold(run.paths.driver)
  if (!hold.held) {
    const { pid, host } = hold.owner
    return fail({
      kind: 'refused',
      code: 'driven',
      message: `${run.run} is driven by process ${pid} on ${host}`,
      hint: 'wait for it (assay wait --for loop), or stop that process first',
      data: hold.owner,
    })
  }
  const owner = identify()
  if (!owner) throw new Error('this system does not tell when a process started (no /proc, no ps)')
  // The monotonic clock stands still while the machine sleeps: suspended hours are not charged.
  let since = performance.now()
  // Between two beats of a paused loop nothing begins, and that time is not charged.
  let idle = false
  const tell = (phase: Drove['phase']) => {
    const now = performance.now()
    const paused = run.ledger.state.paused !== null
    run.ledger.propose<'drove'>(
      {
        type: 'drove',
        driver: name,
        owner,
        phase,
        active_ms: phase === 'start' || (idle && paused) ? 0 : Math.round(now - since),
      },
      run.clock(),
    )
    since = now
    idle = paused
  }
  tell('start')
  const timer = setInterval(() => tell('beat'), BEAT_MS)
  timer.unref()
  return ok({
    stop: () => {
      clearInterval(timer)
      tell('stop')
      hold.release()
    },
  })
}
