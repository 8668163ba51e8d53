/** Whether the baseline fails because a variable is missing: tries the full environment once, then finds the names that it needs. */
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { BASELINE } from '../ledger/state.ts'
import { baselineHolds } from '../measure/choose-isolation.ts'
import { benchmarkEnvironment } from '../measure/environment.ts'
import { leaseSlot } from '../measure/slot.ts'
import { judgedCommit } from '../measure/worktree.ts'
import { ok, type Result } from '../result.ts'
import { liveSpec, type OpenRun } from '../run/open.ts'

export interface Missing {
  names: string[]
  /** False = the tries ran out: the ones that matter are among these. */
  certain: boolean
}

const TRIES = 20
const LIMIT_MS = 180_000

/**
 * The variables that the baseline needs and does not get; null when the full environment does not help either, or the
 * baseline works without any by now. `said` is what it printed: names in it are tried first. `repeatSetup`: setup is what failed, so each try repeats it. Values reach nothing but
 * the benchmark: its output goes to a folder that is deleted.
 */
export async function missingVariables(
  run: OpenRun,
  { said, repeatSetup }: { said: string; repeatSetup: boolean },
): Promise<Result<Missing | null>> {
  // A node gets no variable that the spec does not name, and this machine may not be able to measure.
  if (liveSpec(run).executor) return ok(null)
  const base = judgedCommit(run, BASELINE) ?? run.started.base
  const given = benchmarkEnvironment(run)
  const full = benchmarkEnvironment(run, ['*'])
  if (!given.ok || !full.ok) return ok(null)
  const extra = Object.keys(full.value).filter((name) => !Object.hasOwn(given.value, name))
  if (extra.length === 0) return ok(null)
  const leased = await leaseSlot(run)
  if (leased === null) return ok(null)
  if (!leased.ok) return leased
  const outputs = mkdtempSync(join(tmpdir(), 'assay-environment-'))
  mkdirSync(join(outputs, 'samples'))
  try {
    run.tell({ type: 'preparing', what: 'one sample with your full environment' })
    const works = async (names: readonly string[]) => {
      const environment = benchmarkEnvironment(run, names)
      if (!environment.ok) return false
      const dressed = { ...leased.value, environment: environment.value }
      return baselineHolds(run, dressed, base, { outputs, repeatSetup })
    }
    if (!(await works(['*'])) || (await works([]))) return ok(null)
    const began = performance.now()
    const expired = () => run.signal.aborted || performance.now() - began > LIMIT_MS
    return ok(await neededNames(likelyFirst(extra, run, said), works, { tries: TRIES, expired }))
  } finally {
    rmSync(outputs, { recursive: true, force: true })
    leased.value.release()
  }
}

/** Names that the failing program printed, or that a command of the spec holds, before all others. */
function likelyFirst(names: string[], run: OpenRun, said: string): string[] {
  const text = `${said}\n${JSON.stringify([run.spec.measure.command, run.spec.gates, run.spec.worktree])}`
  const rank = (name: string) => (text.includes(name) ? 0 : 1)
  return names.sort((a, b) => rank(a) - rank(b) || (a < b ? -1 : 1))
}

// ---------------------------------------------------------------- which of many names are needed
// Finds which of many names are needed, by trying few combinations.

export interface Needed {
  names: string[]
  /** False = the tries ran out; the needed names are among these. */
  certain: boolean
}

/**
 * The names without which `works` answers false, given that it answers true for all of them and false for none, and
 * that more names never hurt. Likely ones come first in `names`. Each try is one call; at most `tries` are made, and
 * none after `expired` says so.
 */
export async function neededNames(
  names: readonly string[],
  works: (names: readonly string[]) => Promise<boolean>,
  { tries, expired }: { tries: number; expired: () => boolean },
): Promise<Needed> {
  const found: string[] = []
  let open = [...names]
  let left = tries
  const attempt = async (some: readonly string[]): Promise<boolean | null> =>
    left-- <= 0 || expired() ? null : works([...found, ...some])
  while (open.length > 0) {
    const enough = await shortest(open, attempt)
    if (enough === null) return { names: [...found, ...open], certain: false }
    // The prefix fails without its last name, so that name is needed.
    found.push(...open.slice(enough - 1, enough))
    open = open.slice(0, enough - 1)
    if (open.length === 0) break
    const done = await attempt([])
    if (done === null) return { names: [...found, ...open], certain: false }
    if (done) break
  }
  return { names: found.sort(), certain: true }
}

/** Length of the shortest prefix that works; null when the tries ran out. Doubles first, since the likely are in front. */
async function shortest(
  names: readonly string[],
  attempt: (names: readonly string[]) => Promise<boolean | null>,
): Promise<number | null> {
  let low = 0
  let high = names.length
  for (let size = 1; size < high; size *= 2) {
    const done = await attempt(names.slice(0, size))
    if (done === null) return null
    if (done) high = size
    else low = size
  }
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2)
    const done = await attempt(names.slice(0, middle))
    if (done === null) return null
    if (done) high = middle
    else low = middle
  }
  return high
}
