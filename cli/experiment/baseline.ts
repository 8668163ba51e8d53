/** Judges the baseline for `init`, and turns its verdict into the answer of `init`. */

import { diagnose, outputOf } from '../diagnose/diagnosis.ts'
import { isSpoilt } from '../evaluate/crowd.ts'
import { median } from '../evaluate/stats.ts'
import type { NoiseMode } from '../ledger/events.ts'
import { BASELINE, lastJudged } from '../ledger/state.ts'
import { loosenIsolation } from '../measure/choose-isolation.ts'
import { rememberCheckout } from '../measure/disk-space.ts'
import type { IsolationChoice } from '../measure/isolation.ts'
import type { RunAnswer } from '../measure/run-answer.ts'
import { baselineSample } from '../measure/steps.ts'
import { slotPath } from '../paths.ts'
import { ok, type Result } from '../result.ts'
import type { OpenRun } from '../run/open.ts'
import { submit } from './submit.ts'

export interface BaselineAnswer {
  experiment: string
  value: number | null
  /** As it was read; null when there is none. */
  unit: string | null
  samples: number
  noise: NoiseMode
  /** How far apart its samples lie, as a fraction of their middle; null when the middle is 0. */
  spread: number | null
}

/** Under this isolation the baseline works, and under the run's own it does not. */
export interface NeedsLooser {
  looser: IsolationChoice
}

/**
 * Judges exp_0000. If it is not kept, the answer is an isolation under which it works (only with `mayLoosen`), else the problem of
 * the spec or of the benchmark, with what the benchmark printed.
 */
export async function judgeBaseline(
  run: OpenRun,
  { mayLoosen }: { mayLoosen: boolean },
): Promise<Result<BaselineAnswer | NeedsLooser>> {
  const answer = await submit(run, BASELINE)
  if (!answer.ok) return answer
  if (answer.value.status !== 'kept') {
    const looser = mayLoosen ? await looserIsolation(run, answer.value) : ok(null)
    if (!looser.ok) return looser
    return looser.value ? ok({ looser: looser.value }) : diagnose(run, answer.value)
  }
  rememberCheckout(run, slotPath(run.site, 0, 'b'))
  return ok(describeBaseline(run))
}

export function describeBaseline(run: OpenRun): BaselineAnswer {
  const node = run.ledger.state.experiments.get(BASELINE)
  const judged = node ? lastJudged(node) : null
  const { noise } = run.ledger.state
  return {
    experiment: BASELINE,
    value: judged?.value ?? null,
    unit: baselineSample(run)?.units[run.spec.metric.name] ?? null,
    samples: judged?.samples ?? 0,
    noise: noise.mode,
    spread: spreadOf(noise.values),
  }
}

function spreadOf(values: readonly number[]): number | null {
  if (values.length === 0) return null
  const middle = median(values)
  return middle === 0 ? null : (Math.max(...values) - Math.min(...values)) / Math.abs(middle)
}

/**
 * The isolation under which a baseline works that got this answer; null when isolation is not the cause. Not asked when
 * the machine was busy, when it was interrupted, or when its output was read.
 */
export async function looserIsolation(
  run: OpenRun,
  answer: RunAnswer,
): Promise<Result<IsolationChoice | null>> {
  const { isolation } = run.ledger.state
  const { said, last } = outputOf(run, answer)
  const readWell = last !== undefined && last.fault === null
  if (!isolation?.method || isSpoilt(answer) || readWell || answer.reason === 'aborted' || run.signal.aborted)
    return ok(null)
  return loosenIsolation(run, isolation, said)
}
