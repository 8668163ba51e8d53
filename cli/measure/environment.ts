/** The environment variables of setup, build, gates and samples, and where each comes from. `assay env` shows the names. */
import { readFileSync } from 'node:fs'
import { dirname, isAbsolute, join, resolve } from 'node:path'
import { buildEnvironment, type EnvironmentOrigins, environmentOrigins } from '../evaluate/environment.ts'
import { fileText } from '../files.ts'
import { stateMark } from '../process.ts'
import { ok, type Result } from '../result.ts'
import type { RunRecord, Surroundings } from '../run/open.ts'

// ----------------------------------------------------------------
// Build folders that the user's machine shares between all checkouts, and what each checkout gets in their
// place.

/** Relative: each tool takes it from the folder that it runs in, so it is the same text on both sides of a pair. */
const OWN: Readonly<Record<string, string>> = {
  CARGO_TARGET_DIR: 'target',
  MIX_BUILD_PATH: '_build',
  SWIFTPM_BUILD_DIR: '.build',
  CABAL_BUILDDIR: 'dist-newstyle',
}
/** Other ways to say the same, or caches that go by the path and the time of a file. */
const DROPPED = ['CARGO_BUILD_TARGET_DIR', 'CARGO_BUILD_BUILD_DIR', 'MIX_BUILD_ROOT', 'PYTHONPYCACHEPREFIX']

/**
 * The environment with folders inside of the checkout where an inherited variable, or the user's configuration of cargo,
 * names one that all checkouts share. What the spec sets stays: its author wanted it.
 */
function withOwnBuildFolders(
  run: Pick<RunRecord, 'spec' | 'started'> & Pick<Surroundings, 'env'>,
  environment: Readonly<Record<string, string>>,
): Record<string, string> {
  const { set } = run.spec.measure.environment
  const own: Record<string, string> = { ...environment }
  const isInherited = (name: string) => Object.hasOwn(own, name) && !Object.hasOwn(set, name)
  const cargo = isInherited('CARGO_BUILD_TARGET_DIR') || isInherited('CARGO_BUILD_BUILD_DIR')
  for (const name of DROPPED) if (isInherited(name)) delete own[name]
  for (const [name, folder] of Object.entries(OWN)) if (isInherited(name)) own[name] = folder
  if (Object.hasOwn(own, 'CARGO_TARGET_DIR')) return own
  if (cargo || sharedTargetDir(environment, run.started.checkout) !== null)
    own.CARGO_TARGET_DIR = OWN.CARGO_TARGET_DIR ?? ''
  return own
}

/** The file of cargo's configuration that names an absolute folder; null when none does. */
function sharedTargetDir(environment: Readonly<Record<string, string>>, checkout: string): string | null {
  const home = environment.CARGO_HOME ?? (environment.HOME && join(environment.HOME, '.cargo'))
  const folders = home ? [home] : []
  for (let at = checkout; ; at = dirname(at)) {
    folders.push(join(at, '.cargo'))
    if (at === dirname(at)) break
  }
  for (const folder of folders) {
    for (const name of ['config.toml', 'config']) {
      const file = join(folder, name)
      const found = /^[ \t]*(?:build\.)?(?:target-dir|build-dir)[ \t]*=[ \t]*["']([^"'\n]+)["']/m.exec(
        fileText(file) ?? '',
      )?.[1]
      // A relative one counts from the folder above the file: in a checkout that is the checkout.
      if (found !== undefined && (isAbsolute(found) || folder === home || !folder.startsWith(checkout)))
        return file
    }
  }
  return null
}

/**
 * What a benchmark, gate or setup sees. An `environment.file` is the user's own, read fresh and never stored. Its token says
 * that it is measured for this repository, whose state it may read and not change; on a node also that of the machine that submitted the job. `more`: patterns of variables that it
 * inherits beside those of the spec.
 */
export function benchmarkEnvironment(
  run: Pick<RunRecord, 'spec' | 'started' | 'site'> & Pick<Surroundings, 'env'>,
  more: readonly string[] = [],
): Result<Record<string, string>> {
  const { environment } = run.spec.measure
  const wanted = { ...environment, inherit: [...environment.inherit, ...more] }
  const built = buildEnvironment(wanted, run.env, (file) =>
    readFileSync(resolve(run.started.checkout, run.started.prefix, file), 'utf8'),
  )
  if (!built.ok) return built
  // The last one is that of this machine: by it, what a killed measurement left is found.
  const states = [run.env.ASSAY_JOB_STATE ?? [], run.site.state].flat()
  return ok(withOwnBuildFolders(run, { ...built.value, ASSAY_TOKEN: states.map(stateMark).join('') }))
}

/** The same by name and origin, without values. */
export function environmentSources(
  run: Pick<RunRecord, 'spec' | 'started'> & Pick<Surroundings, 'env'>,
): Result<EnvironmentOrigins> {
  return environmentOrigins(run.spec.measure.environment, run.env, (file) =>
    readFileSync(resolve(run.started.checkout, run.started.prefix, file), 'utf8'),
  )
}
