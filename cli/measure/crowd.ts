/** Whether the machine was quiet enough for what is measured by the wall clock. */
import { inCrowd, isSpoiltByCrowd, spoils } from '../evaluate/crowd.ts'
import { BASELINE } from '../ledger/state.ts'
import type { RunRecord } from '../run/open.ts'
import { recordedSamples } from './samples.ts'

/** Warnings, of the baseline's last verdict. */
export function crowdAtBaseline(run: Pick<RunRecord, 'ledger' | 'spec' | 'paths'>): string[] {
  const { metric, constraints, protected: guarded } = run.spec
  const name = [metric.name, ...[...constraints, ...guarded].map((one) => one.metric)].find(isSpoiltByCrowd)
  const attempt = run.ledger.state.experiments.get(BASELINE)?.attempts.at(-1)?.attempt
  if (name === undefined || attempt === undefined) return []
  const samples = recordedSamples(run, BASELINE, attempt)
  const crowded = samples.filter(inCrowd).length
  return spoils(crowded, samples.length)
    ? [
        `other programs left no processor idle while ${crowded} of ${samples.length} samples of the baseline were taken: as long as that lasts, Assay accepts no gain in ${name} and rejects no candidate for a limit on it; stop those programs, or measure cpu_ms, which hardly depends on them (assay guide verdict)`,
      ]
    : []
}
