/** `config autonomous`: one session of an agent program goes on by itself, and its hooks ask here. */
import { existsSync, readFileSync, realpathSync, writeFileSync } from 'node:fs'
import { dirname, join, relative, resolve, sep } from 'node:path'
import { HOOKED_HOSTS, type HookCall, sessionAround } from '../hosts/session.ts'
import { isLive } from '../ledger/lease.ts'
import { refusal } from '../ledger/ledger.ts'
import { BASELINE, type Trust } from '../ledger/state.ts'
import { findSite, goingOnFile, listRuns, runPaths, type Site, worktreePath } from '../paths.ts'
import { fail, ok, type Result } from '../result.ts'
import { livingDriver, withheld } from './lease.ts'
import { type OpenRun, open, type Surroundings } from './open.ts'
import { stopReason } from './stop.ts'

/** Entrusts the prose loop to the session around this process, or takes it back from whoever has it. */
export function setAutonomous(run: OpenRun, on: boolean): Result<Trust | null> {
  const around = on ? sessionAround(run.env) : null
  if (on && (around === null || !HOOKED_HOSTS.includes(around.host))) {
    return fail({
      kind: 'refused',
      code: 'no_session',
      message:
        around === null
          ? 'no agent program says in which of its sessions this command runs'
          : `hooks of ${around.host} do not keep a session going`,
      hint: `let the agent run it, in one of: ${HOOKED_HOSTS.join(', ')}; elsewhere use assay loop`,
    })
  }
  const { entrusted } = run.ledger.state
  if (entrusted?.session === around?.id) return ok(entrusted)
  // Only one is entrusted: whose loop it is would be left alone with it.
  const other = on && entrusted ? withheld(run) : null
  if (other) return refusal(other)
  const recorded = run.ledger.record<'entrusted'>(
    { type: 'entrusted', session: around?.id ?? null, host: around?.host ?? null },
    run.clock(),
  )
  return recorded.ok ? ok(run.ledger.state.entrusted) : recorded
}

/**
 * Why the session must not end its turn; null when it may: nothing was entrusted to it, the loop is over, paused or driven
 * by a process or another session, something of its own still runs, or it was told before and nothing has happened since.
 */
export function whyGoOn(world: Surroundings, call: HookCall): string | null {
  const run = entrustedRun(world, findSite(call.cwd)?.site ?? null, call.session)
  if (run === null || call.busy) return null
  const { rounds, seq } = run.ledger.state
  if (livingDriver(run) !== null) return null
  if (!mayTellAgain(run, { session: call.session, seq })) return null
  const last = rounds.at(-1)
  const where = last && !last.closed ? `its round ${last.round} is open` : 'no round is open'
  return `${run.run} of Assay is not over: ${where}, no stop rule holds, and this session drives it. Go on as the skill optimize says: assay round open --run ${run.run} --json. To end it: assay loop stop, or assay config autonomous off.`
}

/** Why a tool of the session must not write these files; null when it may. */
export function whyNotEdit(world: Surroundings, call: HookCall): string | null {
  for (const file of call.files) {
    const path = real(resolve(call.cwd, file))
    const site = findSite(existing(dirname(path)))?.site ?? null
    // A lane's worktree, or its artifacts.
    if (site === null || path.startsWith(`${site.state}${sep}`)) continue
    const run = entrustedRun(world, site, call.session)
    if (run === null) continue
    const where = dirname(worktreePath(site, run.run, BASELINE))
    return call.lane
      ? `${path} is in the user's checkout. A lane edits its own worktree only, below ${where}: take data.worktree of assay new.`
      : `${path} is in the user's checkout, and ${run.run} of Assay is being driven from here: what you write there is in no candidate. Candidates are edited in their worktrees, below ${where}. If the user asked for this edit: assay loop pause or assay config autonomous off comes first.`
  }
  return null
}

/** The run here that goes on, is entrusted to this session, and is not another's turn. */
function entrustedRun(world: Surroundings, site: Site | null, session: string): OpenRun | null {
  for (const name of site === null ? [] : listRuns(site).reverse()) {
    // A ledger that does not have the word is not worth folding: most sessions have nothing to do with any run.
    if (site === null || !readFileSync(runPaths(site, name).ledger).includes(session)) continue
    const run = open(world, site, name)
    if (!run.ok) continue
    const { state } = run.value.ledger
    const { lease } = state
    // Whoever has the turn drives, also when this session was never told that it lost it.
    const lost = lease !== null && lease.session !== session && isLive(lease, world.clock().toISOString())
    if (state.entrusted?.session === session && !lost && stopReason(state) === null && state.paused === null)
      return run.value
  }
  return null
}

/** Without anything new in the ledger between. */
const TOLD_AT_MOST = 3

/** Keeps, in a file, how often it was told and where the ledger stood: a session that does nothing then is let go. */
function mayTellAgain(run: OpenRun, now: { session: string; seq: number }): boolean {
  const file = goingOnFile(run.paths)
  const told = existsSync(file) ? readFileSync(file, 'utf8') : ''
  // One mark each time behind who was told where: whatever else stands in the file is of another time.
  const where = `${now.session} ${now.seq} `
  const marks = told.startsWith(where) ? told.slice(where.length) : ''
  if (marks.length >= TOLD_AT_MOST) return false
  writeFileSync(file, `${where}${marks}+`)
  return true
}

function existing(folder: string): string {
  return existsSync(folder) || dirname(folder) === folder ? folder : existing(dirname(folder))
}

/** The path as the system sees it, also where the file, or a folder on the way, is yet to be made. */
function real(path: string): string {
  const folder = existing(dirname(path))
  return join(realpathSync(folder), relative(folder, path))
}
