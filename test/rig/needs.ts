import { execaSync } from 'execa'
import { isolatedEnv } from './temp.ts'

/**
 * The reason why a test cannot run, for `skip` of its context; null when it can. The probe is a program with arguments that must
 * exit 0. Where the programs were installed (`ASSAY_REQUIRE_PROGRAMS=1`, as `.ci/run` does) none may be missing: the test
 * runs, and fails.
 */
export function missingProgram(what: string, [program = '', ...args]: readonly string[]): string | null {
  if (process.env.ASSAY_REQUIRE_PROGRAMS === '1') return null
  const { exitCode } = execaSync(program, args, {
    stdio: 'ignore',
    env: isolatedEnv(),
    extendEnv: false,
    reject: false,
  })
  return exitCode === 0 ? null : `${what} is not installed`
}
