/** Whether the baseline passes everything that it has to pass, once: asked by whoever looks for why it does not. */
import { runGate } from '../evaluate/gates.ts'
import { takeSample } from '../evaluate/measure.ts'
import type { OpenRun } from '../run/open.ts'
import { type Bench, placeCandidate } from './bench.ts'

export interface Asked {
  /** Existing, with a folder `samples`. */
  outputs: string
  /** Setup is repeated, too. */
  setUpAnew: boolean
}

/** Setup, build, gates and one sample in the slot, with the environment and the isolation of `bench`. */
export async function baselineHolds(
  run: OpenRun,
  bench: Bench,
  base: { commit: string; tree: string },
  { outputs, setUpAnew }: Asked,
): Promise<boolean> {
  const placed = await placeCandidate(run, bench, 'b', base, { outputs, setUpAnew, anew: true })
  if (!placed.ok || placed.value.setup || placed.value.build) return false
  const { folder: checkout, apart } = placed.value
  const shared = { checkout, environment: bench.environment, folder: outputs, signal: run.signal }
  for (const gate of run.spec.gates)
    if (!(await runGate({ ...shared, gate, isolation: apart?.renew() })).passed) return false
  const sample = await takeSample({
    ...shared,
    isolation: apart?.renew(),
    config: run.spec.measure,
    metric: run.spec.metric,
    aggregate: run.spec.tasks.aggregate,
    stage: 'check',
    side: 'candidate',
    pair: 0,
    seed: 1,
    slot: bench.slot,
  })
  return sample.fault === null
}
