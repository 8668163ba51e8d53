/** Samples as they were recorded. */
import type { Comparison, Sample } from '../ledger/events.ts'
import { BASELINE, type Experiment } from '../ledger/state.ts'
import { readSteps, samplesOf } from '../ledger/steps.ts'
import { attemptFolder, stepsFile } from '../paths.ts'
import type { OpenRun } from '../run/open.ts'

export function recordedSamples(
  { paths }: Pick<OpenRun, 'paths'>,
  experiment: string,
  attempt: number,
): Sample[] {
  return samplesOf(readSteps(stepsFile(attemptFolder(paths, experiment, attempt))))
}

/** The first sample of the baseline's verdict: what every candidate's answer is held against. */
export function baselineSample(run: Pick<OpenRun, 'ledger' | 'paths'>): Sample | null {
  const node: Experiment | undefined = run.ledger.state.experiments.get(BASELINE)
  const judged = node?.attempts.findLast((attempt) => attempt.judged?.status === 'kept')
  return judged ? (recordedSamples(run, BASELINE, judged.attempt)[0] ?? null) : null
}

/** One stage of pairs, as it ended. */
export interface StageFact {
  stage: 'judge' | 'confirm' | 'best'
  comparison: Comparison
}

/** The stages of an attempt that was judged under noise, in order. */
export function recordedComparisons(
  { paths }: Pick<OpenRun, 'paths'>,
  experiment: string,
  attempt: number,
): StageFact[] {
  const found: StageFact[] = []
  let stage: StageFact['stage'] | null = null
  for (const line of readSteps(stepsFile(attemptFolder(paths, experiment, attempt)))) {
    const detail = 'detail' in line ? (line.detail as Partial<StageFact & Comparison> | null) : null
    if (detail?.stage) stage = detail.stage
    else if (detail?.inputs && stage !== null) {
      found.push({ stage, comparison: detail as Comparison })
      stage = null
    }
  }
  return found
}
