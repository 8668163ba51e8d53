/** Reads recorded samples: those of an attempt, the first of the baseline, and how far a measurement is. */
import type { Comparison, Sample } from '../ledger/events.ts'
import { BASELINE, type Experiment, lastKept } from '../ledger/state.ts'
import { readSteps, samplesOf } from '../ledger/steps.ts'
import { attemptFolder, stepsFile } from '../paths.ts'
import type { RunRecord } from '../run/open.ts'

export function recordedSamples(
  { paths }: Pick<RunRecord, 'paths'>,
  experiment: string,
  attempt: number,
): Sample[] {
  return samplesOf(readSteps(stepsFile(attemptFolder(paths, experiment, attempt))))
}

/** The first sample of the baseline's verdict, with which each candidate's answer is compared. */
export function baselineSample(run: Pick<RunRecord, 'ledger' | 'paths'>): Sample | null {
  const node: Experiment | undefined = run.ledger.state.experiments.get(BASELINE)
  const judged = node && lastKept(node)
  return judged ? (recordedSamples(run, BASELINE, judged.attempt)[0] ?? null) : null
}

export interface JudgingProgress {
  stage: Sample['stage']
  /** Samples or pairs of the stage that have ended. */
  done: number
  /** Pairs that the stage may take; null where that is not known. */
  most: number | null
  /** The time to reach `most` at the pace so far; null where either is unknown. */
  seconds_left: number | null
}

/** How far the judging of an attempt is; null before its first sample. */
export function progressOf(
  run: Pick<RunRecord, 'paths'> & { spec: Pick<RunRecord['spec'], 'noise'> },
  experiment: string,
  attempt: number,
): JudgingProgress | null {
  const samples = recordedSamples(run, experiment, attempt)
  const stage = samples.at(-1)?.stage
  if (stage === undefined) return null
  const candidates = samples.filter((one) => one.stage === stage && one.side === 'candidate')
  const paired = samples.some((one) => one.stage === stage && one.side === 'parent')
  const done = candidates.length
  const most = paired && stage === 'judge' ? run.spec.noise.pairs.max : null
  const [first, last] = [candidates[0], samples.at(-1)]
  const took = first && last ? Date.parse(last.ended) - Date.parse(first.started) : 0
  const left = most === null || done === 0 ? null : ((most - done) * took) / done / 1000
  return { stage, done, most, seconds_left: left === null ? null : Math.max(0, Math.round(left)) }
}

/** One stage of pairs, as it ended. */
export interface StageFact {
  stage: 'judge' | 'confirm' | 'best'
  comparison: Comparison
}

/** The stages of an attempt that was judged under noise, in order. */
export function recordedComparisons(
  { paths }: Pick<RunRecord, 'paths'>,
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
