/** Who drives a run: one at a time, by a lease that only death or its end gives up; active time goes into the ledger. */

import { existsSync, mkdirSync, readFileSync, realpathSync, writeFileSync } from 'node:fs'
import { dirname, join, relative, resolve, sep } from 'node:path'
import { HOOKED_HOSTS, type HookCall, sessionAround } from '../hosts/session.ts'
import {
  type Autonomy,
  type DriverConflict,
  type DrivingProcess,
  describeConflict,
  hasLease,
  isOf,
  LEASE_MS,
  mayDrive,
  type SessionConflict,
  type SessionLease,
  sessionAgainst,
} from '../ledger/driver.ts'
import type { Drove, Leased, SessionName } from '../ledger/events.ts'
import { refusal } from '../ledger/ledger.ts'
import { BASELINE } from '../ledger/state.ts'
import { tryHold } from '../lock.ts'
import { call, next } from '../next.ts'
import { findSite, goingOnFile, listRuns, runPaths, type Site, worktreePath } from '../paths.ts'
import { identify, isAlive, isElsewhere, type ProcessIdentity } from '../process.ts'
import { fail, ok, type Problem, type Result } from '../result.ts'
import { IDENTICAL_FAILURES, stopReason } from './budget.ts'
import { type OpenRun, open, type Surroundings } from './open.ts'

// ---------------------------------------------------------------- who may drive the run: a caller takes the lease, or learns who has it

/** Set only for the commands that a driving process starts itself; it names that process. */
const MARK = 'ASSAY_DRIVER'

const nameOf = ({ pid, started }: ProcessIdentity): string => `${pid} ${started}`

/** The environment of a command that this process, as the driver, starts for itself. */
export function environmentOfDriver({ env }: OpenRun): NodeJS.ProcessEnv {
  const self = identify()
  return self === null ? env : { ...env, [MARK]: nameOf(self) }
}

/** The session that calls. null without one, and for a command that a driving process started: it acts for the process. */
export function callerIn(env: NodeJS.ProcessEnv): SessionName | null {
  const around = env[MARK] ? null : sessionAround(env)
  return around && { host: around.host, session: around.id }
}

/** For the event that a call leaves behind. */
export function saidBy({ env }: OpenRun): { by?: SessionName } {
  const by = callerIn(env)
  return by === null ? {} : { by }
}

/** The process that drives. A process of a different machine cannot be proved dead, but it records beats: after a silence it counts as dead. */
export function livingDriver({ ledger, clock }: Pick<OpenRun, 'ledger' | 'clock'>): DrivingProcess | null {
  const { process } = ledger.state.driver
  if (process === null || !isAlive(process.owner)) return null
  const silent = clock().getTime() - Date.parse(process.since) >= LEASE_MS
  return silent && isElsewhere(process.owner) ? null : process
}

/** Whether the holder of the driver's lock has ended: it is proved dead, or it is on a different machine and silent. */
function hasGone(run: OpenRun, owner: ProcessIdentity): boolean {
  if (!isAlive(owner)) return true
  const { process } = run.ledger.state.driver
  return process !== null && nameOf(process.owner) === nameOf(owner) && livingDriver(run) === null
}

/** What keeps the caller from driving; null when it may. The run cannot be taken over from a process. */
function conflictOf(run: OpenRun): DriverConflict | null {
  const mustYieldTo = ({ owner }: DrivingProcess) =>
    run.env[MARK] !== nameOf(owner) && livingDriver(run) !== null
  const caller = { session: callerIn(run.env), mustYieldTo }
  return mayDrive(run.ledger.state.driver, caller, run.clock().toISOString())
}

/** The same as far as sessions are concerned: a caller that has the driver's lock knows that no process drives. */
const sessionAgainstCaller = ({ env, ledger, clock }: OpenRun): SessionConflict | null =>
  sessionAgainst(ledger.state.driver, callerIn(env), clock().toISOString())

/** The session that drives, unless it is the caller's own. */
export function otherSession(run: OpenRun): SessionLease | null {
  const found = sessionAgainstCaller(run)
  return found?.by === 'session' ? found.lease : null
}

/** Problem `driven`. */
const refusedBy = (run: OpenRun, conflict: DriverConflict): { ok: false; problem: Problem } =>
  conflict.by === 'process'
    ? fail(drivenByProcess(run.run, conflict.process))
    : refusal(describeConflict(conflict))

function drivenByProcess(run: string, { owner }: { owner: ProcessIdentity }): Problem {
  return {
    kind: 'refused',
    code: 'driven',
    message: `${run} is driven by process ${owner.pid} on ${owner.host}`,
    hint: next`wait for it (${call('wait', '--for', 'loop')}), or end it first: ${call('loop', 'stop')}${isElsewhere(owner) ? `; if ${owner.host} is gone, repeat the command after ${LEASE_MS / 60_000} minutes of silence` : ''}`,
    data: owner,
  }
}

/**
 * Called before a round is opened or continued. `adopt`: a round is open, so an event of its own takes the lease; otherwise the
 * `round_opened` takes it. `takeOver`: a person said that the session that has it must give way.
 */
export function takeTurn(run: OpenRun, want: { adopt: boolean; takeOver: boolean }): Result<void> {
  const conflict = conflictOf(run)
  if (conflict)
    return conflict.by !== 'process' && want.takeOver ? pass(run, 'taken_over') : refusedBy(run, conflict)
  return want.adopt && callerIn(run.env) !== null && !holdsLease(run) ? pass(run, 'taken') : ok(undefined)
}

/** Called before a caller that has the token writes into the open round. */
export function mayGoOn(run: OpenRun): Result<void> {
  const conflict = conflictOf(run)
  // The token is right, and a caller that names no session may be the holder of the lease.
  const may = conflict === null || (conflict.by !== 'process' && callerIn(run.env) === null)
  return may ? ok(undefined) : refusedBy(run, conflict)
}

/**
 * Does long work for one experiment. The ledger gets no other event meanwhile, so if the experiment belongs to a round and the
 * caller's session has the lease, this renews the lease from time to time.
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

/** How old the loop's last event must be before the lease is renewed, and how often that is checked. */
const KEEP_MS = LEASE_MS / 5
const LOOK_MS = KEEP_MS / 3

/** A failure costs at most the lease, and the next attempt may succeed. */
function keepLease(run: OpenRun): void {
  if (!run.ledger.refresh().ok || !holdsLease(run)) return
  const last = Date.parse(run.ledger.state.driver.session?.last ?? '')
  if (run.clock().getTime() - last >= KEEP_MS) pass(run, 'kept')
}

const holdsLease = ({ env, ledger, clock }: OpenRun): boolean =>
  hasLease(ledger.state.driver, callerIn(env), clock().toISOString())

/** Called by a process that is about to drive, if a person said that a session must give way to it. */
const takeFromSession = (run: OpenRun): Result<void> =>
  sessionAgainstCaller(run) ? pass(run, 'taken_over') : ok(undefined)

/** The loop is over, or a different caller opened the round first: the next driver need not wait for this session's lease to end. */
export function giveUp(run: OpenRun): Result<void> {
  return isOf(run.ledger.state.driver.session, callerIn(run.env)) ? pass(run, 'given_up') : ok(undefined)
}

function pass(run: OpenRun, how: Leased['how']): Result<void> {
  const done = run.ledger.record<'leased'>({ type: 'leased', by: callerIn(run.env), how }, run.clock())
  return done.ok ? ok(undefined) : done
}

export interface Driver {
  /** Records what the loop waits for; null = it continues. */
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

// ---------------------------------------------------------------- `config autonomous`: one session of an agent program continues by itself, and its hooks ask here

/** Entrusts the prose loop to the session around this process, or ends that for the session that has it. */
export function setAutonomous(run: OpenRun, on: boolean): Result<Autonomy | null> {
  const around = on ? sessionAround(run.env) : null
  if (on && (around === null || !HOOKED_HOSTS.includes(around.host))) {
    return fail({
      kind: 'refused',
      code: 'no_session',
      message:
        around === null
          ? 'this command was not started by an agent program that names its session'
          : `the hooks of ${around.host} cannot make a session continue`,
      hint: next`let the agent run this command, in one of: ${HOOKED_HOSTS.join(', ')}; elsewhere use ${call('loop')}`,
    })
  }
  const { autonomous } = run.ledger.state.driver
  if (autonomous?.session === around?.id) return ok(autonomous)
  // Only one session is entrusted: the session whose loop it is would lose that.
  const other = on && autonomous ? sessionAgainstCaller(run) : null
  if (other) return refusedBy(run, other)
  const recorded = run.ledger.record<'entrusted'>(
    { type: 'entrusted', session: around?.id ?? null, host: around?.host ?? null },
    run.clock(),
  )
  return recorded.ok ? ok(run.ledger.state.driver.autonomous) : recorded
}

/**
 * Why the session must not end its turn; null when it may: nothing was entrusted to it, the loop is over, paused or driven
 * by a process or a different session, something of its own still runs, or it got the reminders and nothing has happened since.
 */
export function whyGoOn(world: Surroundings, call: HookCall): string | null {
  const run = autonomousRun(world, findSite(call.cwd)?.site ?? null, call.session)
  if (run === null || call.busy) return null
  const { rounds, seq } = run.ledger.state
  if (livingDriver(run) !== null) return null
  if (!mayTellAgain(run, { session: call.session, seq })) return null
  const last = rounds.at(-1)
  const where = last && !last.closed ? `its round ${last.round} is open` : 'no round is open'
  return `${run.run} of Assay is not over: ${where}, no stop rule holds, and this session drives it. Go on as the skill optimize says: assay round next --wait 90s --run ${run.run} --json. To end it: assay loop stop, or assay config autonomous off.`
}

/** Why a tool of the session must not write these files; null when it may. */
export function whyNotEdit(world: Surroundings, call: HookCall): string | null {
  for (const file of call.files) {
    const path = real(resolve(call.cwd, file))
    const site = findSite(existing(dirname(path)))?.site ?? null
    // A lane's worktree, or its artifacts.
    if (site === null || path.startsWith(`${site.state}${sep}`)) continue
    const run = autonomousRun(world, site, call.session)
    if (run === null) continue
    const where = dirname(worktreePath(site, run.run, BASELINE))
    return call.lane
      ? `${path} is in the user's checkout. A lane edits its own worktree only, below ${where}: take data.worktree of assay new.`
      : `${path} is in the user's checkout, and ${run.run} of Assay is being driven from here: what you write there is in no candidate. Candidates are edited in their worktrees, below ${where}. If the user asked for this edit: assay loop pause or assay config autonomous off comes first.`
  }
  return null
}

/** The run here that is not over, that this session continues by itself, and that no session keeps it from driving. */
function autonomousRun(world: Surroundings, site: Site | null, session: string): OpenRun | null {
  for (const name of site === null ? [] : listRuns(site).reverse()) {
    // A ledger without the session's id need not be folded: most sessions have nothing to do with any run.
    if (site === null || !readFileSync(runPaths(site, name).ledger).includes(session)) continue
    const run = open(world, site, name)
    if (!run.ok) continue
    const { state } = run.value.ledger
    const { autonomous } = state.driver
    if (autonomous?.session !== session || stopReason(state) !== null || state.paused !== null) continue
    // The session with the lease drives, even if this session does not know that it lost it.
    const me = { host: autonomous.host ?? '', session }
    if (sessionAgainst(state.driver, me, world.clock().toISOString()) === null) return run.value
  }
  return null
}

/** Reminders in a row without a new event in the ledger. */
const TOLD_AT_MOST = 3

/** A file keeps how often the session was reminded, and at which event: a session that does nothing between may end its turn. */
function mayTellAgain(run: OpenRun, now: { session: string; seq: number }): boolean {
  const file = goingOnFile(run.paths)
  const told = existsSync(file) ? readFileSync(file, 'utf8') : ''
  // The session and the event, then one mark for each reminder. A file that begins differently is out of date.
  const where = `${now.session} ${now.seq} `
  const marks = told.startsWith(where) ? told.slice(where.length) : ''
  if (marks.length >= TOLD_AT_MOST) return false
  writeFileSync(file, `${where}${marks}+`)
  return true
}

function existing(folder: string): string {
  return existsSync(folder) || dirname(folder) === folder ? folder : existing(dirname(folder))
}

/** The path as the system sees it, even if the file, or a folder on the way, does not exist yet. */
function real(path: string): string {
  const folder = existing(dirname(path))
  return join(realpathSync(folder), relative(folder, path))
}

/**
 * Lifts the stops that only a new start can lift: a person's, a row of identical failures, a round for which
 * no agent had an idea. A user who starts the loop again has repaired the cause, or wants one more try.
 */
export function resumeLoop(run: OpenRun): void {
  const { state } = run.ledger
  const stop = stopReason(state)
  const row = stop === 'failures' && (state.streak?.count ?? 0) >= IDENTICAL_FAILURES
  if (stop !== 'user' && stop !== 'no_hypothesis' && !row) return
  run.ledger.propose<'resumed'>({ type: 'resumed', why: 'the loop was started again' }, run.clock())
}
