/** The verdict as an event, and what `run` answers of it. */
import { failureSignature } from '../evaluate/signature.ts'
import { summaryOfMetrics, summaryOfTasks } from '../evaluate/summary.ts'
import type { Verdict } from '../evaluate/verdict.ts'
import type { Experiment } from '../ledger/state.ts'
import { stepsDigest } from '../ledger/steps.ts'
import { attemptFolder, stepsFile } from '../paths.ts'
import { ok, type Result } from '../result.ts'
import type { OpenRun } from '../run/open.ts'
import { type RunAnswer, runAnswer } from './answer.ts'
import type { Seal } from './seal.ts'
import type { Evidence } from './trial.ts'

/** Long enough for the numbers, short enough for 100,000 of them. */
const MESSAGE = 500

export function recordVerdict(
  run: OpenRun,
  node: Experiment,
  seal: Seal,
  { facts, samples, others, artifacts, calibration, differences, varied, lostTo, doubt }: Evidence,
  verdict: Verdict,
  wallMs: number,
  key: string | null,
): Result<RunAnswer> {
  const comparison = facts.confirm ?? facts.comparison
  const measured = samples.filter((sample) => sample.fault === null)
  const last = samples.at(-1)
  const steps = stepsDigest(stepsFile(attemptFolder(run.paths, node.id, seal.attempt)))
  if (!steps.ok) return steps
  const recorded = run.ledger.record<'judged'>(
    {
      type: 'judged',
      experiment: node.id,
      attempt: seal.attempt,
      status: verdict.status,
      reason: verdict.reason,
      failure_class: verdict.failure_class,
      value: facts.value,
      parent_value: facts.parentValue,
      improvement: comparison?.improvement ?? null,
      improvement_abs: comparison?.improvement_abs ?? null,
      interval: comparison?.interval ?? null,
      samples: samples.length + others.length,
      against: comparison?.against ?? null,
      confirmed: facts.baseline || facts.confirm !== null,
      gates: facts.gates.map(({ name, phase, passed }) => ({ name, phase, passed })),
      metrics: summaryOfMetrics(measured),
      tasks: summaryOfTasks(measured),
      ...(calibration ? { calibration } : {}),
      ...(Object.keys(differences).length > 0 ? { differences } : {}),
      ...(varied === null ? {} : { varied }),
      ...(lostTo === null ? {} : { lost_to: lostTo }),
      ...(doubt === null ? {} : { doubt }),
      ...(Object.keys(artifacts).length > 0 ? { artifacts } : {}),
      message: verdict.message.slice(0, MESSAGE),
      signature:
        verdict.status === 'failed' && verdict.reason
          ? failureSignature({
              reason: verdict.reason,
              exit: last?.exit ?? null,
              signal: last?.signal ?? null,
              line: last?.fault?.raw ?? verdict.message,
            })
          : null,
      wall_ms: Math.round(wallMs),
      steps: steps.value,
    },
    run.clock(),
    key,
  )
  if (!recorded.ok) return recorded
  const answer = runAnswer(run.ledger.state, node)
  if (!answer) throw new Error(`${node.id} was judged and has no verdict`)
  return ok(answer)
}
