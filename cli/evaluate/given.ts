/** The paths that Assay names in the environment of a job, as the job sees them when it is isolated. */
import { existsSync } from 'node:fs'
import { type Given, give, type Isolation, seenAs } from '../process.ts'

const NAMED: Readonly<Record<string, Given>> = {
  ASSAY_ARTIFACTS: 'artifacts',
  ASSAY_PARENT_ARTIFACTS: 'parent-artifacts',
  ASSAY_SEED_ARTIFACT: 'seed-artifact',
  ASSAY_HOLDOUT: 'held-out',
}

export interface Seen {
  isolation: Isolation | null
  environment: Record<string, string>
}

/** `writes`: the job makes its artifacts; else it only reads them. What does not exist is not shown. */
export function showGiven(
  isolation: Isolation | null,
  environment: Record<string, string>,
  { writes }: { writes: boolean },
): Seen {
  if (isolation === null) return { isolation, environment }
  let shown = isolation
  const seen = { ...environment }
  for (const [name, given] of Object.entries(NAMED)) {
    const path = environment[name]
    if (path === undefined || !existsSync(path)) continue
    shown = give(shown, given, path, { write: writes && given === 'artifacts' })
    seen[name] = seenAs(shown, path)
  }
  return { isolation: shown, environment: seen }
}
