import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { buildEnvironment, type EnvironmentOrigins, environmentOrigins } from '../evaluate/environment.ts'
import { markOf } from '../process.ts'
import { ok, type Result } from '../result.ts'
import type { OpenRun } from '../run/open.ts'
import { withOwnBuildFolders } from './build-folders.ts'

/**
 * What a benchmark, gate or setup sees. An `environment.file` is the user's own, read fresh and never stored. Its token says
 * that it is measured for this repository, whose state it may read and not change.
 */
export function benchmarkEnvironment(
  run: Pick<OpenRun, 'spec' | 'env' | 'started' | 'site'>,
): Result<Record<string, string>> {
  const built = buildEnvironment(run.spec.measure.environment, run.env, (file) =>
    readFileSync(resolve(run.started.checkout, run.started.prefix, file), 'utf8'),
  )
  if (!built.ok) return built
  return ok(withOwnBuildFolders(run, { ...built.value, ASSAY_TOKEN: markOf(run.site.state) }))
}

/** The same by name and origin, without values. */
export function environmentSources(
  run: Pick<OpenRun, 'spec' | 'env' | 'started'>,
): Result<EnvironmentOrigins> {
  return environmentOrigins(run.spec.measure.environment, run.env, (file) =>
    readFileSync(resolve(run.started.checkout, run.started.prefix, file), 'utf8'),
  )
}
