/** `epoch open`: scores from before are no longer compared with scores from now on; the baseline is measured first. */

import { BASELINE, isOutdatedBaseline, lastKept, nodeValue } from '../ledger/state.ts'
import type { RunAnswer } from '../measure/run-answer.ts'
import { call, next } from '../next.ts'
import { fail, ok, type Result } from '../result.ts'
import { nodeFor, type OpenRun } from '../run/open.ts'
import { submit } from './submit.ts'

export interface EpochAnswer {
  epoch: number
  baseline: { experiment: string; value: number | null; before: number | null }
  /** Kept in earlier epochs: neither parents nor best until they are confirmed. */
  outdated: { experiment: string; value: number | null }[]
  outdated_count: number
  verdict: RunAnswer
  repeated?: true
}

const NAMED = 50

export async function openEpoch(
  run: OpenRun,
  { why, key }: { why: string; key: string | null },
): Promise<Result<EpochAnswer>> {
  const { state } = run.ledger
  const baseline = nodeFor(run, BASELINE)
  if (!baseline.ok) return baseline
  const node = baseline.value
  const before = lastKept(node)?.judged?.value ?? null
  const opened = openUnlessDue(run, why, key)
  if (!opened.ok) return opened
  const due = isOutdatedBaseline(state, node) || node.status === 'running'
  const verdict = await submit(run, BASELINE)
  if (!verdict.ok) return verdict
  const outdated = [...state.experiments.values()].filter(
    (one) => one.status === 'kept' && one.epoch !== state.epoch,
  )
  return ok({
    epoch: state.epoch,
    baseline: { experiment: BASELINE, value: nodeValue(node), before },
    outdated: outdated.slice(0, NAMED).map((one) => ({ experiment: one.id, value: nodeValue(one) })),
    outdated_count: outdated.length,
    verdict: verdict.value,
    ...(opened.value.repeated || !due ? { repeated: true as const } : {}),
  })
}

/** An epoch whose baseline has no score yet is continued: a further one would change nothing. */
function openUnlessDue(run: OpenRun, why: string, key: string | null): Result<{ repeated: boolean }> {
  const { state } = run.ledger
  const node = state.experiments.get(BASELINE)
  if (node && (isOutdatedBaseline(state, node) || (node.status === 'running' && state.epoch > 1)))
    return ok({ repeated: true })
  if (node?.status !== 'kept') {
    return fail({
      kind: 'refused',
      code: 'no_baseline',
      message: 'the baseline has no verdict yet, so there is nothing to compare with in a new epoch',
      hint: next`judge it first: ${call('run', BASELINE)}`,
    })
  }
  const recorded = run.ledger.record<'epoch_opened'>(
    { type: 'epoch_opened', epoch: state.epoch + 1, why: why.slice(0, 1000) },
    run.clock(),
    key,
  )
  return recorded.ok ? ok({ repeated: recorded.value.repeated }) : recorded
}
