/** The baseline's samples: its value, and what they say of the noise. */
import { calibrate } from '../evaluate/calibrate.ts'
import { checkConstraints } from '../evaluate/constraints.ts'
import { median } from '../evaluate/stats.ts'
import { accept, fault, sampleOnce, type Trial } from './trial.ts'

/** Each sample has a seed of its own: a metric that depends on the seed varies. False when a sample ends the trial. */
export async function calibration(trial: Trial): Promise<boolean> {
  const { run, evidence, record } = trial
  const { facts, samples } = evidence
  for (let pair = 0; pair < run.spec.noise.calibrate; pair++) {
    if (!accept(trial, await sampleOnce(trial, { stage: 'calibrate', pair, side: 'candidate' }))) return false
  }
  const found = calibrate(run.spec.noise.mode, run.spec.metric.name, samples)
  facts.value = median(found.values)
  evidence.calibration = found
  record.step('measure', 'ended', found)
  if (found.mode === 'deterministic' && new Set(found.values).size > 1) {
    return fault(trial, {
      reason: 'metric_error',
      message: `${found.values.length} samples of the same code differ (${found.values.join(', ')}), and noise.mode says deterministic: write auto or paired`,
    })
  }
  facts.constraints = checkConstraints(run.spec.constraints, samples)
  if (facts.constraints.length > 0) record.step('constraints', 'ended', facts.constraints)
  return facts.constraints.length === 0
}
