/** The calibration samples of the baseline, and whether a further sample of the same code is far from them. */
import { median } from '../evaluate/stats.ts'
import type { Sample } from '../ledger/events.ts'
import { BASELINE, lastAttempt } from '../ledger/state.ts'
import { recordedSamples } from '../measure/steps.ts'
import { calibrationItems } from '../measure/trial.ts'
import { ok, type Result } from '../result.ts'
import { readItems } from '../run/items.ts'
import type { OpenRun } from '../run/open.ts'

/** Of its calibration; those with a value. */
export function calibrationSamples(run: OpenRun): Sample[] {
  const node = run.ledger.state.experiments.get(BASELINE)
  const attempt = node && lastAttempt(node)
  if (!attempt) return []
  const samples = recordedSamples(run, BASELINE, attempt.attempt)
  return samples.filter(({ fault, stage }) => !fault && stage === 'calibrate')
}

/** Ranges of the baseline's values, and a part of their median, that noise hardly ever exceeds. */
const RANGES = 3
const PART = 0.2

/** Whether a sample of the same code has no value, or one that the noise of the baseline does not explain. */
export function isFarFromBaseline({ fault, value }: Sample, before: readonly Sample[]): boolean {
  if (fault || value === null) return true
  const values = before.flatMap((one) => one.value ?? [])
  if (values.length === 0) return false
  const [least, most] = [Math.min(...values), Math.max(...values)]
  const range = most - least
  if (range === 0) return value !== least
  const away = Math.max(least - value, value - most)
  return away > RANGES * range && away > PART * Math.abs(median(values))
}

/** What a further sample of the same code must answer, where a judge scores: as the calibration did. Else undefined. */
export async function itemsToAnswer(run: OpenRun, tree: string): Promise<Result<string[] | undefined>> {
  const { judge } = run.spec
  if (judge === undefined) return ok(undefined)
  const sets = await readItems({ site: run.site, tree, prefix: run.started.prefix }, judge)
  return sets.ok ? ok(calibrationItems(sets.value)) : sets
}
