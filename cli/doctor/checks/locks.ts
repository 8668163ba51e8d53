import { join } from 'node:path'
import { registrations } from '../../git/registrations.ts'
import { buryDead, dropDeadLeases, type LockSeen, seeLeases, seeLock } from '../../lock.ts'
import { initLockOf, leaseFolder, worktreeLock } from '../../paths.ts'
import { ok } from '../../result.ts'
import type { Check } from '../check.ts'
import { type Found, fine, problem, warning } from '../finding.ts'

/** Measurement leases of this machine. */
export const leases: Check = {
  name: 'leases',
  look({ env }) {
    const folder = leaseFolder(env)
    const seen = seeLeases(folder)
    const found = seen.flatMap((lock) => foreign(lock) ?? [])
    const dead = seen.filter(({ state }) => state === 'dead')
    if (dead.length > 0) {
      found.push(
        warning('lease_dead', {
          what: `${dead.length} measurement leases of dead processes: ${names(dead)}`,
          cause: 'their owners were killed',
          repair: 'nothing: whoever measures next removes them',
          at: folder,
          fix: async () => ok(`removed ${(await dropDeadLeases(folder)).length} leases of dead processes`),
        }),
      )
    }
    if (found.length > 0) return found
    const held = seen.filter(({ state, path }) => state === 'alive' && /\/s-\d+$/.test(path)).length
    return [
      fine('leases', held === 0 ? 'nobody measures on this machine now' : `${held} measurements under way`),
    ]
  },
}

/** Who drives each run. */
export const drivers: Check = {
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
export const stateLocks: Check = {
  name: 'locks',
  async look({ site, env }) {
    if (!site) return []
    const inStore = (await registrations(site)).map(({ folder }) => join(folder, 'judge-lock'))
    return [initLockOf(env, site), worktreeLock(site), ...inStore].flatMap(
      (path) => lockFinding(seeLock(path), 'lock_dead', 'the process that held it') ?? [],
    )
  },
}

function lockFinding(lock: LockSeen, code: string, who: string): Found | null {
  if (lock.state !== 'dead') return foreign(lock)
  return warning(code, {
    what: `a lock of process ${lock.owner?.pid}, which is gone: ${lock.path}`,
    cause: `${who} was killed`,
    repair: 'nothing: whoever needs it next takes it over',
    at: lock.path,
    fix: async () => ok(buryDead(lock.path) ? `removed ${lock.path}` : `${lock.path} was gone already`),
  })
}

function foreign({ path, state }: LockSeen): Found | null {
  if (state !== 'foreign') return null
  return problem('lock_foreign', {
    what: `${path} is not a lock of Assay, and stands in the place of one`,
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
