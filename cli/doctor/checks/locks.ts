import { lstatSync } from 'node:fs'
import { join } from 'node:path'
import { registrations } from '../../git/worktrees.ts'
import { dropDeadLeases, type LockSeen, removeLockIfDead, seeLeases, seeLock } from '../../lock.ts'
import { slotLocks } from '../../measure/slot.ts'
import { initLockOf, leaseFolder, worktreeLock } from '../../paths.ts'
import { isElsewhere, nameOfProcess } from '../../process.ts'
import { ok } from '../../result.ts'
import { type DoctorCheck, type FixableFinding, fine, problem, warning } from '../check.ts'

/** Measurement leases of this machine. */
export const leases: DoctorCheck = {
  name: 'leases',
  look({ env, site }) {
    const folder = leaseFolder(env)
    const seen = seeLeases(folder)
    const slots = site ? slotLocks(site).map(seeLock) : []
    const found = [
      ...[...seen, ...slots].flatMap((lock) => foreign(lock) ?? elsewhere(lock) ?? []),
      ...slots.flatMap((lock) =>
        lock.state === 'dead' ? (lockFinding(lock, 'lock_dead', 'the process that measured') ?? []) : [],
      ),
    ]
    const dead = seen.filter(({ state }) => state === 'dead')
    if (dead.length > 0) {
      found.push(
        warning('lease_dead', {
          what: `${dead.length} measurement leases of dead processes: ${names(dead)}`,
          cause: 'their owners were killed',
          repair: 'nothing: the next measurement removes them',
          at: folder,
          fix: async () => ok(`removed ${(await dropDeadLeases(folder)).length} leases of dead processes`),
        }),
      )
    }
    if (found.length > 0) return found
    const held = seen.filter(({ state, path }) => state === 'alive' && /\/s-\d+$/.test(path)).length
    return [
      fine(
        'leases',
        held === 0 ? 'no measurement is running on this machine' : `${held} measurements under way`,
      ),
    ]
  },
}

/** Who drives each run. */
export const drivers: DoctorCheck = {
  name: 'driver',
  look: ({ runs }) =>
    runs.flatMap(({ run, paths }) => {
      const lock = seeLock(paths.driver)
      if (lock.state === 'alive')
        return [fine('driver', `process ${lock.owner?.pid} on ${lock.owner?.host} drives ${run}`)]
      return lockFinding(lock, 'driver_dead', `the process that drove ${run}`) ?? []
    }),
}

/** Short locks on state: they are never waited for long, so one of a dead owner is only untidy. */
export const stateLocks: DoctorCheck = {
  name: 'locks',
  async look({ site, env }) {
    if (!site) return []
    const inStore = (await registrations(site)).map(({ folder }) => join(folder, 'judge-lock'))
    return [initLockOf(env, site), worktreeLock(site), ...inStore].flatMap(
      (path) => lockFinding(seeLock(path), 'lock_dead', 'the process that held it') ?? [],
    )
  },
}

function lockFinding(lock: LockSeen, code: string, who: string): FixableFinding | null {
  if (lock.state !== 'dead') return foreign(lock)
  return warning(code, {
    what: `a lock of process ${lock.owner?.pid}, which is gone: ${lock.path}`,
    cause: `${who} was killed`,
    repair: 'nothing: the next process that needs it takes it over',
    at: lock.path,
    fix: async () =>
      ok(removeLockIfDead(lock.path) ? `removed ${lock.path}` : `${lock.path} was gone already`),
  })
}

/** Its owner beats every 20 s. */
const QUIET_MS = 60_000

/** A lock of a different machine. It is taken over after a silence; until then, measurements wait for it. A process that only waits blocks none. */
function elsewhere({ path, state, owner }: LockSeen): FixableFinding | null {
  if (state !== 'alive' || owner === null || !isElsewhere(owner) || /\/q-\d+$/.test(path)) return null
  const beaten = lstatSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0
  const level = Date.now() - beaten < QUIET_MS ? warning : problem
  return level('lock_elsewhere', {
    what: `${nameOfProcess(owner)} holds ${path}, and measurements wait for it`,
    cause:
      'it measures there, or that machine or container is gone: from here it cannot be proved dead. After 15 minutes of silence the next measurement takes it over',
    repair: `look there; if it is gone, continue at once: assay run ID --take-over, or assay abort ID --reason TEXT for the experiment that it judged`,
    at: path,
    data: owner,
  })
}

function foreign({ path, state }: LockSeen): FixableFinding | null {
  if (state !== 'foreign') return null
  return problem('lock_foreign', {
    what: `${path} is in the place of a lock, but it is not a lock of Assay`,
    cause: 'a copy that follows symbolic links, or another program, put it there',
    repair: 'move it away',
    at: path,
  })
}

const names = (locks: LockSeen[]): string =>
  locks
    .slice(0, 5)
    .map(({ path }) => path.slice(path.lastIndexOf('/') + 1))
    .join(', ')
