/** Makes every check in turn, and with `fix` every repair. */
import { type DoctorCheck, type DoctorFinding, type FixableFinding, problem, type Scene } from './check.ts'

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
