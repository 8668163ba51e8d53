/** Every check in turn, and with `fix` every hand that mends. */
import { type Check, type Finding, type Found, problem, type Scene } from './check.ts'

export interface Examined {
  healthy: boolean
  findings: (Finding & { check: string; fixed?: string; fix_failed?: string })[]
}

/**
 * Never throws: a check that does is a finding, since what is broken here is what it was to look at. With `fix`, a
 * finding that was mended says so in `fixed` and counts no longer against `healthy`.
 */
export async function examine(
  scene: Scene,
  checks: readonly Check[],
  { fix }: { fix: boolean },
): Promise<Examined> {
  const findings: Examined['findings'] = []
  for (const check of checks) {
    for (const { fix: mend, ...found } of await lookSafely(check, scene)) {
      const mended = fix && mend ? await mendSafely(mend) : {}
      findings.push({ check: check.name, ...found, fixable: mend !== undefined, ...mended })
    }
  }
  return {
    healthy: findings.every(({ level, fixed }) => level !== 'problem' || fixed !== undefined),
    findings,
  }
}

async function lookSafely(check: Check, scene: Scene): Promise<Found[]> {
  try {
    return await check.look(scene)
  } catch (error) {
    return [
      problem('check_failed', {
        what: `the check of ${check.name} could not be made: ${(error as Error).message}`,
        cause: 'something there is in a state that nothing of Assay leaves behind',
        repair: 'look at the path in the message; if nothing is wrong with it, please report this',
        data: { stack: (error as Error).stack },
      }),
    ]
  }
}

async function mendSafely(mend: NonNullable<Found['fix']>): Promise<{ fixed?: string; fix_failed?: string }> {
  try {
    const done = await mend()
    return done.ok ? { fixed: done.value } : { fix_failed: done.problem.message }
  } catch (error) {
    return { fix_failed: (error as Error).message }
  }
}
