/** Whether the baseline passes setup, build, gates and one sample. The searches for an isolation or a variable that it needs call it. */

import { gateIn, sampleIn } from './session.ts'
import { type LeasedSlot, placeCandidate, type RunInSlot } from './slot.ts'

export interface BaselineCheck {
  /** Existing, with a folder `samples`. */
  outputs: string
  /** Whether setup is repeated as well. */
  repeatSetup: boolean
}

/** Setup, build, gates and one sample in the slot, with the environment and the isolation of `leased`. */
export async function baselineHolds(
  run: RunInSlot,
  leased: LeasedSlot,
  base: { commit: string; tree: string },
  { outputs, repeatSetup }: BaselineCheck,
): Promise<boolean> {
  const placed = await placeCandidate(run, leased, 'b', base, { outputs, repeatSetup, rebuild: true })
  if (!placed.ok || placed.value.setup || placed.value.build) return false
  for (const gate of run.spec.gates)
    if (!(await gateIn(run, leased, placed.value, gate, outputs)).passed) return false
  const at = { stage: 'check', side: 'candidate', pair: 0, seed: 1 } as const
  const sample = await sampleIn(run, leased, placed.value, { ...at, folder: outputs, secluded: true })
  return sample.fault === null
}
