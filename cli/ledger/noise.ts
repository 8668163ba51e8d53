/** What the state keeps of the noise: how the run compares, and what was seen of the spread. Pure. */
import { forgetBest } from './best.ts'
import type { Attributed, Calibration, Confirmed, Judged } from './events.ts'
import { BASELINE, type Experiment, type Noise, type State } from './state.ts'

/** Each gives a residual at least, and no comparison reads more of them than that. */
const STAGES = 200

/**
 * Takes in what a measurement shows. That a metric is free of noise is a hypothesis: one tree with two values ends it
 * for good, and what was kept under it has to be confirmed in pairs.
 */
export function learnNoise(state: State, node: Experiment, event: Judged | Confirmed | Attributed): void {
  const { noise } = state
  if (event.type === 'judged' && event.calibration && event.status === 'kept')
    state.noise = calibrated(noise, event.calibration)
  if (event.varied !== undefined && noise.mode === 'deterministic') {
    noise.mode = 'paired'
    forgetBest(state)
    for (const other of state.experiments.values()) {
      // What a verdict or a confirmation of its own shows, its own consequence says.
      if (other.id === node.id && event.type !== 'attributed') continue
      if (other.id === BASELINE || other.epoch !== state.epoch) continue
      // A pruned node is no parent, but it may be the best.
      if (other.status !== 'kept' && other.status !== 'pruned') continue
      other.flagged ??= `it was kept before this was seen: ${event.varied}`
    }
  }
  const differences = event.type === 'attributed' ? {} : (event.differences ?? {})
  for (const stage of Object.values(differences)) if (stage.length >= 2) noise.stages.push(stage)
  noise.stages.splice(0, noise.stages.length - STAGES)
}

/**
 * What varied once varies, however equal the samples of a new epoch are: its benchmark is that of the run. What is known
 * of the spread begins again.
 */
const calibrated = (before: Noise, found: Calibration): Noise => ({
  ...found,
  mode: before.mode === 'paired' ? 'paired' : found.mode,
  varied: [...new Set([...before.varied, ...found.varied])],
  stages: [],
})

/**
 * Why a keep cannot stand although its verdict does: it was measured once, beside another that showed meanwhile that
 * the metric varies.
 */
export function keptWithoutPairs({ noise, epoch }: State, node: Experiment, event: Judged): string | null {
  if (node.id === BASELINE || node.epoch !== epoch || noise.mode === 'deterministic') return null
  return event.differences?.confirm
    ? null
    : 'it was kept without pairs, and the metric was seen to vary meanwhile'
}
