/** What every check is, and what it may look at. */

import { existsSync } from 'node:fs'
import { fileJson, namesIn } from '../files.ts'
import { type Checkout, inspectCheckout } from '../git/checkout.ts'
import type { State } from '../ledger/state.ts'
import {
  checkoutAround,
  findSite,
  isRunId,
  type RunPaths,
  rootForInit,
  runPaths,
  type Site,
  siteAt,
} from '../paths.ts'
import { fail, type Result } from '../result.ts'
import type { Surroundings } from '../run/open.ts'
import type { Spec } from '../spec/spec.ts'
import { isWhole, type ScannedLedger, scanLedger } from './scan.ts'

// ---------------------------------------------------------------- what a check answers

export type Level = 'ok' | 'warning' | 'problem'

/** One finding as it leaves here; snake_case and plain JSON. */
export interface DoctorFinding {
  /** Stable snake_case name. */
  code: string
  level: Level
  /** One sentence. May hold text of users and agents, so it is escaped before a terminal sees it. */
  what: string
  /** null when nothing is wrong. */
  cause: string | null
  /** The next step; null when there is none to take. */
  repair: string | null
  /** Whether `--fix` repairs it. */
  fixable: boolean
  at?: string
  /** Facts for programs. */
  data?: unknown
}

/** A finding with its repair. `fix` answers what it did; it checks the state again before it changes anything. */
export interface FixableFinding extends Omit<DoctorFinding, 'fixable'> {
  fix?: () => Promise<Result<string>>
}

export const fine = (code: string, what: string, data?: unknown): FixableFinding => ({
  code,
  level: 'ok',
  what,
  cause: null,
  repair: null,
  ...(data === undefined ? {} : { data }),
})

type Trouble = { what: string; cause: string; repair: string | null } & Pick<
  FixableFinding,
  'at' | 'data' | 'fix'
>

export const warning = (code: string, trouble: Trouble): FixableFinding => ({
  code,
  level: 'warning',
  ...trouble,
})
export const problem = (code: string, trouble: Trouble): FixableFinding => ({
  code,
  level: 'problem',
  ...trouble,
})

/** A folder of `runs`, whatever state it is in. */
export interface RunScene {
  run: string
  paths: RunPaths
  ledger: ScannedLedger
  /** null when the ledger cannot be folded to its end, or has no beginning. */
  state: State | null
  /** null when `spec.json` is missing or no JSON; then nothing about it is known. */
  spec: Spec | null
}

export interface Scene extends Surroundings {
  /** null where there is no state folder. */
  site: Site | null
  /** null in a folder that belongs to no checkout, judged by its files. */
  top: string | null
  commonDir: string | null
  /** As git sees it; a problem when it refuses. */
  checkout: Result<Checkout>
  runs: RunScene[]
  /** Also make calls that may cost something. */
  hosts: boolean
}

/** Changes nothing. It may throw: a check that throws becomes a finding. */
export interface DoctorCheck {
  name: string
  look(scene: Scene): Promise<FixableFinding[]> | FixableFinding[]
}

// ---------------------------------------------------------------- every check in turn, and with `fix` every repair

export interface Examined {
  healthy: boolean
  findings: (DoctorFinding & { check: string; fixed?: string; fix_failed?: string })[]
}

/**
 * Never throws: a check that throws becomes a finding, because the thing that it should check is broken. With `fix`, a
 * finding that was repaired says so in `fixed` and no longer counts against `healthy`.
 */
export async function examine(
  scene: Scene,
  checks: readonly DoctorCheck[],
  { fix }: { fix: boolean },
): Promise<Examined> {
  const findings: Examined['findings'] = []
  for (const check of checks) {
    for (const { fix: repair, ...found } of await lookSafely(check, scene)) {
      const repaired = fix && repair ? await repairSafely(repair) : {}
      findings.push({ check: check.name, ...found, fixable: repair !== undefined, ...repaired })
    }
  }
  return {
    healthy: findings.every(({ level, fixed }) => level !== 'problem' || fixed !== undefined),
    findings,
  }
}

async function lookSafely(check: DoctorCheck, scene: Scene): Promise<FixableFinding[]> {
  try {
    return await check.look(scene)
  } catch (error) {
    return [
      problem('check_failed', {
        what: `the check of ${check.name} could not be made: ${(error as Error).message}`,
        cause: 'a file or folder there is in a state that Assay never leaves',
        repair: 'look at the path in the message; if nothing is wrong with it, please report this',
        data: { stack: (error as Error).stack },
      }),
    ]
  }
}

async function repairSafely(
  repair: NonNullable<FixableFinding['fix']>,
): Promise<{ fixed?: string; fix_failed?: string }> {
  try {
    const done = await repair()
    return done.ok ? { fixed: done.value } : { fix_failed: done.problem.message }
  } catch (error) {
    return { fix_failed: (error as Error).message }
  }
}

// ---------------------------------------------------------------- what doctor looks at around a folder
// A damaged state is read as far as possible and is never an error.

export async function lookAround(world: Surroundings, hosts: boolean): Promise<Scene> {
  const site = findSite(world.cwd)?.site ?? siteWithoutRuns(world.cwd)
  // From an edit worktree the user's checkout is meant, not the worktree.
  const around = checkoutAround(site?.root ?? world.cwd)
  return {
    ...world,
    site,
    top: around?.top ?? null,
    commonDir: around?.commonDir ?? null,
    checkout: await checkoutAt(around?.top ?? world.cwd),
    runs: site ? runsOf(site) : [],
    hosts,
  }
}

/** State whose `runs` folder is gone is still state. */
function siteWithoutRuns(cwd: string): Site | null {
  const around = checkoutAround(cwd)
  if (!around) return null
  for (const bare of [false, true]) {
    const site = siteAt(rootForInit(around, bare))
    if (existsSync(site.state)) return site
  }
  return null
}

async function checkoutAt(dir: string): Promise<Scene['checkout']> {
  if (existsSync(dir)) return inspectCheckout(dir)
  return fail({ kind: 'refused', code: 'not_a_repository', message: 'this folder is gone', at: dir })
}

function runsOf(site: Site): RunScene[] {
  return namesIn(site.runs)
    .filter(isRunId)
    .sort()
    .map((run) => {
      const paths = runPaths(site, run)
      const ledger = scanLedger(paths.ledger)
      const state = isWhole(ledger) && ledger.state.run ? ledger.state : null
      return { run, paths, ledger, state, spec: fileJson<Spec>(paths.spec) }
    })
}
