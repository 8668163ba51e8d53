/** Runs everything that the baseline must pass, once. The search for why a baseline fails uses it. */
import { type Bench, placeCandidate, type RunInSlot } from './bench.ts'
import { gateIn, sampleIn } from './session.ts'

export interface BaselineCheck {
  /** Existing, with a folder `samples`. */
  outputs: string
  /** Whether setup is repeated as well. */
  setUpAnew: boolean
}

/** Setup, build, gates and one sample in the slot, with the environment and the isolation of `bench`. */
export async function baselineHolds(
  run: RunInSlot,
  bench: Bench,
  base: { commit: string; tree: string },
  { outputs, setUpAnew }: BaselineCheck,
): Promise<boolean> {
  const placed = await placeCandidate(run, bench, 'b', base, { outputs, setUpAnew, anew: true })
  if (!placed.ok || placed.value.setup || placed.value.build) return false
  for (const gate of run.spec.gates)
    if (!(await gateIn(run, bench, placed.value, gate, outputs)).passed) return false
  const at = { stage: 'check', side: 'candidate', pair: 0, seed: 1 } as const
  const sample = await sampleIn(run, bench, placed.value, { ...at, folder: outputs, secluded: true })
  return sample.fault === null
}
