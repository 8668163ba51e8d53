/** Who may drive the run: whoever calls may take the turn, or is told who has it. */
import { sessionAround } from '../hosts/session.ts'
import type { Leased, SessionName } from '../ledger/events.ts'
import { heldAgainst, isOf, LEASE_MS, type Lease } from '../ledger/lease.ts'
import { refusal } from '../ledger/ledger.ts'
import type { Void } from '../ledger/lifecycle.ts'
import type { State } from '../ledger/state.ts'
import { drivenBecause, holds } from '../ledger/turn.ts'
import { identify, isAlive, isElsewhere, type ProcessIdentity } from '../process.ts'
import { fail, ok, type Problem, type Result } from '../result.ts'
import type { OpenRun } from './open.ts'

/** Set for the commands that a driving process starts itself, and for nothing else: whose hand they are. */
const MARK = 'ASSAY_DRIVER'

const nameOf = ({ pid, started }: ProcessIdentity): string => `${pid} ${started}`

/** The environment of a command that this process, as the driver, starts for itself. */
export function environmentOfDriver({ env }: OpenRun): NodeJS.ProcessEnv {
  const self = identify()
  return self === null ? env : { ...env, [MARK]: nameOf(self) }
}

/** The session that calls. null when none says so, and for the hand of a process: what that opens is its own. */
export function callerIn(env: NodeJS.ProcessEnv): SessionName | null {
  const around = env[MARK] ? null : sessionAround(env)
  return around && { host: around.host, session: around.id }
}

/** For the event that a call leaves behind. */
export function saidBy({ env }: OpenRun): { by?: SessionName } {
  const by = callerIn(env)
  return by === null ? {} : { by }
}

/** The process that drives. One of another machine is never proved dead, but it beats: silence is its end. */
export function livingDriver({ ledger, clock }: Pick<OpenRun, 'ledger' | 'clock'>): State['driver'] {
  const { driver } = ledger.state
  if (driver === null || !isAlive(driver.owner)) return null
  const silent = clock().getTime() - Date.parse(driver.since) >= LEASE_MS
  return silent && isElsewhere(driver.owner) ? null : driver
}

/** Whether the holder of the driver's lock drives no more: proved dead, or the silent one of another machine. */
export function hasGone(run: OpenRun, owner: ProcessIdentity): boolean {
  if (!isAlive(owner)) return true
  const { driver } = run.ledger.state
  return driver !== null && nameOf(driver.owner) === nameOf(owner) && livingDriver(run) === null
}

/** Another process than the caller's own drives the run, and lives. There is nothing to take over from it. */
function otherProcess(run: OpenRun): Problem | null {
  const driver = livingDriver(run)
  return driver === null || run.env[MARK] === nameOf(driver.owner) ? null : drivenByProcess(run.run, driver)
}

/** Why the caller must not go on, as far as sessions are concerned. */
export const withheld = ({ env, ledger, clock }: OpenRun): Void | null =>
  drivenBecause(ledger.state, callerIn(env), clock().toISOString())

/** The session that drives, unless it is the caller's own. */
export const otherSession = ({ env, ledger, clock }: OpenRun): Lease | null =>
  heldAgainst(ledger.state.lease, callerIn(env), clock().toISOString())

export function drivenByProcess(run: string, { owner }: { owner: ProcessIdentity }): Problem {
  return {
    kind: 'refused',
    code: 'driven',
    message: `${run} is driven by process ${owner.pid} on ${owner.host}`,
    hint: `wait for it (assay wait --for loop), or end it first: assay loop stop${isElsewhere(owner) ? `; when ${owner.host} is gone, the same command goes on after ${LEASE_MS / 60_000} minutes of silence` : ''}`,
    data: owner,
  }
}

/**
 * Before a round is opened or gone on with. `adopt`: one is open, so its lease is taken by an event of its own; else the
 * `round_opened` takes it. `takeOver`: a person said that whoever has it must give way.
 */
export function takeTurn(run: OpenRun, want: { adopt: boolean; takeOver: boolean }): Result<void> {
  const busy = otherProcess(run)
  if (busy) return fail(busy)
  const other = withheld(run)
  if (other) return want.takeOver ? pass(run, 'taken_over') : refusal(other)
  return want.adopt && callerIn(run.env) !== null && !hasLease(run) ? pass(run, 'taken') : ok(undefined)
}

/** Before something is written into the open round by a caller that has its token. */
export function mayGoOn(run: OpenRun): Result<void> {
  const busy = otherProcess(run)
  if (busy) return fail(busy)
  const other = callerIn(run.env) && withheld(run)
  return other ? refusal(other) : ok(undefined)
}

/**
 * Does what takes long for one experiment. Nothing else is told meanwhile, so when that is of a round, and the caller's
 * session has the lease, it is kept from time to time.
 */
export async function keepingTurn<T>(run: OpenRun, experiment: string, work: () => Promise<T>): Promise<T> {
  const round = run.ledger.state.experiments.get(experiment)?.created.round ?? null
  if (round === null) return work()
  keepLease(run)
  const timer = setInterval(() => keepLease(run), LOOK_MS)
  timer.unref()
  try {
    return await work()
  } finally {
    clearInterval(timer)
  }
}

/** How old the loop's last event is when it is told that the session still works, and how often that is looked at. */
const KEEP_MS = LEASE_MS / 5
const LOOK_MS = KEEP_MS / 3

/** A failure costs a lease at most, and the next look may do better. */
function keepLease(run: OpenRun): void {
  if (!run.ledger.refresh().ok || !hasLease(run)) return
  const last = Date.parse(run.ledger.state.lease?.last ?? '')
  if (run.clock().getTime() - last >= KEEP_MS) pass(run, 'kept')
}

const hasLease = ({ env, ledger, clock }: OpenRun): boolean =>
  holds(ledger.state, callerIn(env), clock().toISOString())

/** For a process that is about to drive, when a person said that a session must give way to it. */
export const takeFromSession = (run: OpenRun): Result<void> =>
  withheld(run) ? pass(run, 'taken_over') : ok(undefined)

/** The loop is over, or another came first: whoever goes on need not wait for this session. */
export function giveUp(run: OpenRun): Result<void> {
  return isOf(run.ledger.state.lease, callerIn(run.env)) ? pass(run, 'given_up') : ok(undefined)
}

function pass(run: OpenRun, how: Leased['how']): Result<void> {
  const done = run.ledger.record<'leased'>({ type: 'leased', by: callerIn(run.env), how }, run.clock())
  return done.ok ? ok(undefined) : done
}
