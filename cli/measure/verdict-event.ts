/** Makes the event `judged` of the evidence, and appends it. */
import { mkdirSync } from 'node:fs'
import { belowFloor } from '../evaluate/plausible.ts'
import { summaryOfMetrics, summaryOfTasks } from '../evaluate/stats.ts'
import { testsDoubt, testsRemark } from '../evaluate/tests-gone.ts'
import { decideVerdict, failureSignature, remarksOn, type Verdict } from '../evaluate/verdict.ts'
import { sameScores } from '../ledger/best.ts'
import { decide } from '../ledger/decide.ts'
import type { Judged, Sample } from '../ledger/events.ts'
import { refusal } from '../ledger/ledger.ts'
import { BASELINE, type Experiment, nodeMetrics, nodeValue } from '../ledger/state.ts'
import { stepsDigest } from '../ledger/steps.ts'
import { withLock } from '../lock.ts'
import { attemptFolder, experimentFolder, stepsFile, verdictLock } from '../paths.ts'
import { ok, type Result } from '../result.ts'
import { newMachine } from '../run/machine.ts'
import type { OpenRun } from '../run/open.ts'
import { writeResults } from '../run/results.ts'
import { looseDoubt } from './artifacts.ts'
import { steadyControlMoved } from './guardrails.ts'
import { type RunAnswer, runAnswer } from './run-answer.ts'
import type { Seal } from './seal.ts'
import { bytecodeDoubt, partBytecode } from './tamper.ts'
import type { Evidence, RunInTrial } from './trial.ts'

/** Long enough for the numbers, short enough for 100,000 of them. */
const MESSAGE = 500

/** The verdict on a seal, and the facts that follow from the evidence. */
export function verdictOn({ facts, tampered, beside, by }: Evidence): Verdict {
  const { changed } = partBytecode(tampered)
  if (changed.length === 0) return decideVerdict(facts)
  // This comes first: a run that changes the files by which it is judged proves nothing.
  if (beside || by !== null) {
    const message = beside ? changedBeside(changed) : changedByOther(by ?? '', changed)
    return { status: 'failed', reason: 'environment', failure_class: 'environment', message }
  }
  const message = changedByItself(changed)
  return facts.baseline
    ? { status: 'failed', reason: 'metric_error', failure_class: 'eval', message }
    : { status: 'rejected', reason: 'out_of_scope', failure_class: 'hypothesis', message }
}

const listed = (paths: readonly string[]): string => paths.slice(0, 5).join(', ')

/** Why a measurement proves nothing, by whose run changed the files. */
export const changedByItself = (paths: readonly string[]): string =>
  `its own run changed what judges it: ${listed(paths)}`
export const changedByOther = (experiment: string, paths: readonly string[]): string =>
  `the run of ${experiment}, with which it is compared, changed files that decide this verdict: ${listed(paths)}; look at the code of ${experiment} before you run this again`
export const changedBeside = (paths: readonly string[]): string =>
  `files that decide this verdict changed while another slot measured, and the CLI cannot tell whose run changed them: ${listed(paths)}; run it again while no other slot measures`

type Stamped = 'v' | 'id' | 'at' | 'key' | 'wall_ms' | 'steps'

export function verdictEvent(
  run: RunInTrial,
  node: Experiment,
  { attempt }: Pick<Seal, 'attempt'>,
  evidence: Evidence,
  verdict: Verdict,
): Omit<Judged, Stamped> {
  const { facts, samples, others, artifacts, calibration, differences, varied, lostTo, tests } = evidence
  const comparison = facts.confirm ?? facts.comparison
  const measured = samples.filter((sample) => sample.fault === null)
  const last = samples.at(-1)
  const tasks = summaryOfTasks(measured)
  const { state } = run.ledger
  const sameAs = verdict.status === 'failed' ? null : sameScores(state, node.id, tasks)
  const baseline = state.experiments.get(BASELINE)
  const parent = node.parent ? state.experiments.get(node.parent) : undefined
  const lasting =
    verdict.status === 'kept' && !facts.baseline ? lastingDoubtOn(run, node, parent, evidence) : null
  const doubt = [evidence.doubt, ...evidence.flaky, lasting].filter((one) => one !== null).join('; ')
  const remarks = remarksOn({
    status: verdict.status,
    metric: run.spec.metric,
    value: facts.value,
    parentValue: facts.parentValue,
    baselineValue: baseline ? nodeValue(baseline) : null,
    sameAs: sameAs === null ? null : { experiment: sameAs, tasks: Object.keys(tasks ?? {}).length },
    belowZero: measured.some(({ below_zero }) => below_zero),
    ...(run.spec.measure.isolation ? { series: { own: valuesOf(samples), parents: valuesOf(others) } } : {}),
  }).concat(facts.baseline ? '' : testsRemark(tests))
  return {
    type: 'judged',
    experiment: node.id,
    attempt,
    status: verdict.status,
    reason: verdict.reason,
    failure_class: verdict.failure_class,
    value: facts.value,
    parent_value: facts.parentValue,
    improvement: comparison?.improvement ?? null,
    improvement_abs: finite(comparison?.improvement_abs),
    interval: comparison?.interval ?? null,
    samples: samples.length + others.length,
    against: comparison?.against ?? null,
    confirmed: facts.baseline || facts.confirm !== null,
    gates: facts.gates.map(({ name, phase, passed }) => ({ name, phase, passed })),
    metrics: summaryOfMetrics(measured),
    tasks,
    ...(sameAs === null ? {} : { same_as: sameAs }),
    ...(calibration ? { calibration } : {}),
    ...(Object.keys(differences).length > 0 ? { differences } : {}),
    ...(varied === null ? {} : { varied }),
    ...(lostTo === null ? {} : { lost_to: lostTo }),
    ...(facts.holdout?.passed ? { held_out: true as const } : {}),
    ...(doubt === '' ? {} : { doubt }),
    ...(lasting === null ? {} : { lasting_doubt: lasting }),
    ...(Object.keys(artifacts).length > 0 ? { artifacts } : {}),
    message: `${verdict.message.slice(0, MESSAGE - remarks.length)}${remarks}`,
    signature:
      // A user who interrupts three attempts in a row is no series of identical failures.
      verdict.status === 'failed' && verdict.reason && verdict.reason !== 'aborted'
        ? failureSignature({
            reason: verdict.reason,
            exit: last?.exit ?? null,
            signal: last?.signal ?? null,
            line: last?.fault?.raw ?? verdict.message,
          })
        : null,
  }
}

/** What no measurement can clear, in one sentence; null when there is nothing of the kind. */
function lastingDoubtOn(
  run: RunInTrial,
  node: Experiment,
  parent: Experiment | undefined,
  { facts, samples, tests, tampered, loose, artifacts, parentHere }: Evidence,
): string | null {
  const { name, floor, unit } = run.spec.metric
  // Pairs show by themselves whether a control moved.
  const once = facts.confirm !== null && 'again' in facts.confirm.inputs
  const found = [
    testsDoubt(tests, node.id),
    looseDoubt(loose, artifacts, node.id),
    bytecodeDoubt(run.ledger.state, node.id, tampered, node.parent),
    belowFloor({ name, floor, unit: samples[0]?.units[name] ?? unit ?? null }, valuesOf(samples)),
    once && parent ? steadyControlMoved(run, parentHere ?? recordOf(parent), samples) : null,
  ].filter((one) => one !== null)
  return found.length === 0 ? null : found.join('; ')
}

const recordOf = (node: Experiment) => ({ value: nodeValue(node), metrics: nodeMetrics(node) })

/** Infinity counts as unknown, and JSON cannot hold it. */
const finite = (value: number | null | undefined): number | null =>
  value !== undefined && value !== null && Number.isFinite(value) ? value : null

/** Problem, marked `raced`, if the attempt has its verdict: that one counts. */
export async function recordVerdict(
  run: OpenRun,
  node: Experiment,
  seal: Seal,
  evidence: Evidence,
  verdict: Verdict,
  wallMs: number,
  key: string | null,
): Promise<Result<RunAnswer>> {
  const event = () => ({
    ...verdictEvent(run, node, seal, evidence, verdict),
    wall_ms: Math.round(wallMs),
    // The job told on which machine it was.
    ...(evidence.elsewhere ? {} : newMachine(run.ledger.state)),
  })
  const recorded = await recordJudged(run, { experiment: node.id, attempt: seal.attempt }, event, key)
  if (!recorded.ok) return recorded
  writeResults(run)
  const answer = runAnswer(run.ledger.state, node)
  if (!answer) throw new Error(`${node.id} was judged and has no verdict`)
  return ok(answer)
}

/**
 * Appends the one verdict of an attempt. Commands that judge it, and one that aborts it, take turns: each reads what the one before
 * it recorded. `event`: made after that.
 */
export async function recordJudged(
  run: OpenRun,
  { experiment, attempt }: { experiment: string; attempt: number },
  event: () => Omit<Judged, Exclude<Stamped, 'wall_ms'>>,
  key: string | null,
): Promise<Result<unknown>> {
  mkdirSync(experimentFolder(run.paths, experiment), { recursive: true })
  return withLock(verdictLock(run.paths, experiment), async () => {
    // An equal candidate that a different command judged in the meantime is found as well.
    const known = run.ledger.refresh()
    if (!known.ok) return known
    const steps = stepsDigest(stepsFile(attemptFolder(run.paths, experiment, attempt)))
    if (!steps.ok) return steps
    const draft = { ...event(), steps: steps.value }
    const now = run.clock()
    const isRepeated = run.ledger.answeredBefore(['judged'], key) !== null
    const because = isRepeated ? null : decide(run.ledger.state, { ...draft, at: now.toISOString() })
    return because ? refusal(because) : run.ledger.record<'judged'>(draft, now, key)
  })
}

const valuesOf = (samples: readonly Sample[]): number[] => samples.flatMap(({ value }) => value ?? [])
