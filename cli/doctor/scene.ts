/** What doctor looks at around a folder. A damaged state is read as far as possible and is never an error. */
import { existsSync } from 'node:fs'
import { fileJson, namesIn } from '../files.ts'
import { inspectCheckout } from '../git/checkout.ts'
import { checkoutAround, findSite, isRunId, rootForInit, runPaths, type Site, siteAt } from '../paths.ts'
import { fail } from '../result.ts'
import type { Surroundings } from '../run/open.ts'
import type { Spec } from '../spec/spec.ts'
import type { RunScene, Scene } from './check.ts'
import { isWhole, scanLedger } from './scan.ts'

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
