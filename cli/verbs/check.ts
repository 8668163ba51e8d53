/** `check`: what would reject a candidate before it costs anything. */
import { checkSeal } from '../experiment/check.ts'
import { type Experiment, lastAttempt } from '../ledger/state.ts'
import { type Seal, seal, snapshot, storedSeal } from '../measure/seal.ts'
import { ok, type Result } from '../result.ts'
import type { OpenRun } from '../run/open.ts'
import { printable } from '../terminal/output.ts'
import { onExperiment } from './verb.ts'

/** Makes the checks that are free of charge on the seal that has no verdict; without one it seals first. */
export const run = onExperiment(async (opened, node) => {
  const sealed = await currentSeal(opened, node)
  if (!sealed.ok) return sealed
  const checked = await checkSeal(opened, sealed.value)
  if (!checked.ok) return checked
  const findings = checked.value
  return ok({
    data: {
      experiment: sealed.value.experiment,
      attempt: sealed.value.attempt,
      passed: findings.length === 0,
      findings,
    },
    text: () =>
      findings.length === 0
        ? `${sealed.value.experiment}: nothing speaks against measuring it`
        : findings.map(({ code, message }) => printable(`${code}: ${message}`)),
  })
})

async function currentSeal(run: OpenRun, node: Experiment): Promise<Result<Seal>> {
  const last = lastAttempt(node)
  if (last && !last.judged) return storedSeal(run, node, last)
  const taken = await snapshot(run, node)
  return taken.ok ? seal(run, node, taken.value, null) : taken
}
