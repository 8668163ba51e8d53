/** Everything between the claim and the verdict: gates, samples, comparison, confirmation, in the slot. */

import { incomparable, recordable } from '../evaluate/comparable.ts'
import { compareDeterministic } from '../evaluate/compare.ts'
import { checkConstraints } from '../evaluate/constraints.ts'
import { runGate } from '../evaluate/gates.ts'
import { takeSample } from '../evaluate/measure.ts'
import { breakTie } from '../evaluate/tie.ts'
import type { VerdictFacts } from '../evaluate/verdict.ts'
import type { GatePhase, Sample, SampleFault, Stage } from '../ledger/events.ts'
import { BASELINE, type Experiment, lastJudged, nodeValue } from '../ledger/state.ts'
import { ok, type Result } from '../result.ts'
import type { OpenRun } from '../run/open.ts'
import { rngOf } from '../search/random.ts'
import {
  type Artifacts,
  artifactPlaces,
  changedSince,
  type Guard,
  guardArtifacts,
  readDeclared,
  seedFault,
} from './artifacts.ts'
import { type Bench, openBench, type Placed, placeCandidate } from './bench.ts'
import { gatesOn } from './gates.ts'
import { knownMetrics } from './known.ts'
import { baselineSample } from './samples.ts'
import type { Seal } from './seal.ts'
import { type Recorder, RecordLost } from './steps.ts'
import { sweepLeftovers, tamperedFiles } from './tamper.ts'
import { keptCommit } from './worktree.ts'

/** What was found; `tampered` names sealed files that the candidate's own run changed. */
export interface Evidence {
  facts: VerdictFacts
  samples: Sample[]
  tampered: string[]
  /** As the first sample declared them. */
  artifacts: Artifacts
}

interface Trial {
  run: OpenRun
  node: Experiment
  seal: Seal
  record: Recorder
  bench: Bench
  placed: Placed
  known: Record<string, number>
  /** The artifacts as they were before the samples. */
  guard: Guard
  evidence: Evidence
}

export function noEvidence(run: OpenRun, node: Experiment): Evidence {
  const parent = node.parent ? run.ledger.state.experiments.get(node.parent) : undefined
  const facts: VerdictFacts = {
    metric: { name: run.spec.metric.name, direction: run.spec.metric.direction },
    baseline: node.id === BASELINE,
    value: null,
    parentValue: parent ? nodeValue(parent) : null,
    setup: null,
    build: null,
    gates: [],
    faults: [],
    constraints: [],
    comparison: null,
    tieBreak: null,
    confirm: null,
  }
  return { facts, samples: [], tampered: [], artifacts: {} }
}

/** Waits for a slot, then collects evidence until something speaks against the candidate or nothing is left to ask. */
export async function collectEvidence(
  run: OpenRun,
  node: Experiment,
  seal: Seal,
  record: Recorder,
): Promise<Result<Evidence>> {
  const evidence = noEvidence(run, node)
  const known = await knownMetrics(run, seal.tree)
  if (!known.ok) return known
  let bench: Result<Bench>
  try {
    bench = await openBench(run)
  } catch (error) {
    if (!run.signal.aborted) throw error
    evidence.facts.faults.push({
      side: 'candidate',
      fault: { reason: 'aborted', message: 'it was interrupted while it waited for a slot' },
    })
    return ok(evidence)
  }
  if (!bench.ok) return bench
  try {
    record.step('build', 'began')
    const places = artifactPlaces(run, node)
    const placed = await placeCandidate(run, bench.value, 'b', seal, {
      outputs: record.folder,
      artifacts: places,
    })
    if (!placed.ok) return placed
    const trial: Trial = {
      run,
      node,
      seal,
      record,
      bench: bench.value,
      placed: placed.value,
      known: known.value,
      guard: await guardArtifacts(places),
      evidence,
    }
    const prepared = await preparation(trial)
    if (!prepared.ok) return prepared
    if (prepared.value) await inOrder(trial)
    const tampered = await tamperedFiles(trial)
    if (!tampered.ok) return tampered
    evidence.tampered = [...tampered.value, ...(await changedSince(trial.guard))]
    return ok(evidence)
  } finally {
    bench.value.release()
  }
}

/** The list of DESIGN §6 after the build, each step false when it ends the trial. */
async function inOrder(trial: Trial): Promise<boolean> {
  return (
    (await gates(trial, 'before')) &&
    (await measure(trial)) &&
    constraints(trial) &&
    comparison(trial) &&
    (await gates(trial, 'after')) &&
    (await confirm(trial))
  )
}

async function preparation(trial: Trial): Promise<Result<boolean>> {
  const { run, node, record, bench, placed, evidence } = trial
  evidence.facts.setup = placed.setup
  record.step('build', 'ended', { setup: placed.setup, build: placed.build })
  if (placed.setup) return ok(false)
  const seed = seedFault(trial.guard)
  if (!placed.build) return ok(seed === null || fault(trial, seed))
  evidence.facts.build = { fault: placed.build, parentToo: false }
  const parent = node.parent ? keptCommit(run, node.parent) : null
  if (!parent || placed.build.reason === 'aborted') return ok(false)
  const unchanged = await placeCandidate(run, bench, 'a', parent, { outputs: record.folder, anew: true })
  if (!unchanged.ok) return unchanged
  evidence.facts.build.parentToo = unchanged.value.build !== null
  return ok(false)
}

async function gates(trial: Trial, phase: GatePhase): Promise<boolean> {
  const { run, node, record, bench, placed, evidence } = trial
  const due = gatesOn(run, node.id).filter((gate) => gate.phase === phase)
  if (due.length === 0) return true
  record.step(phase === 'before' ? 'gates_before' : 'gates_after', 'began')
  for (const gate of due) {
    const paid = record.paidGate(gate.name, phase)
    const done =
      paid ??
      (await runGate({
        gate,
        checkout: placed.folder,
        environment: bench.environment,
        folder: record.folder,
        signal: run.signal,
      }))
    if (!paid) record.gate({ ...done, output: done.output.slice(-2000) })
    evidence.facts.gates.push(done)
    if (!done.passed) return false
  }
  return true
}

/** One sample says no; the baseline is sampled often enough to see whether it is noisy. */
async function measure(trial: Trial): Promise<boolean> {
  const { run, evidence, record } = trial
  record.step('measure', 'began')
  const baseline = evidence.facts.baseline
  const count = baseline ? run.spec.noise.calibrate : 1
  for (let pair = 0; pair < count; pair++) {
    const sample = await sampleOnce(trial, baseline ? 'calibrate' : 'judge', pair)
    if (!accept(trial, sample)) return false
  }
  const values = evidence.samples.map(({ value }) => value)
  evidence.facts.value = values[0] ?? null
  if (new Set(values).size <= 1) return true
  return fault(trial, {
    reason: 'metric_error',
    message: `${values.length} samples of the same code differ (${values.join(', ')}); this release compares metrics that do not vary`,
  })
}

/** Keeps the sample unless it has no value, or cannot be compared with what the baseline said. */
function accept(trial: Trial, sample: Sample): boolean {
  trial.evidence.samples.push(sample)
  if (sample.fault) return fault(trial, sample.fault)
  const reference = trial.evidence.facts.baseline ? null : baselineSample(trial.run)
  const declared = readDeclared(trial.guard, sample.artifacts)
  if ('fault' in declared) return fault(trial, declared.fault)
  if (trial.evidence.samples.length === 1) trial.evidence.artifacts = declared.records
  const difference = incomparable(reference, sample)
  return difference === null || fault(trial, { reason: 'metric_error', message: difference })
}

function fault({ evidence }: Trial, found: SampleFault): false {
  evidence.facts.faults.push({ side: 'candidate', fault: found })
  return false
}

function constraints({ run, evidence, record }: Trial): boolean {
  evidence.facts.constraints = checkConstraints(run.spec.constraints, evidence.samples)
  if (evidence.facts.constraints.length > 0) record.step('constraints', 'ended', evidence.facts.constraints)
  return evidence.facts.constraints.length === 0
}

/** Without noise the parent's value is known: it was measured, and measured again, when it was kept. */
function comparison({ run, node, evidence, record }: Trial): boolean {
  const { facts } = evidence
  if (facts.baseline) return true
  const parent = node.parent ? run.ledger.state.experiments.get(node.parent) : undefined
  const judged = parent && lastJudged(parent)
  // A confirmation in a later epoch replaces the value of the verdict.
  const other = parent ? nodeValue(parent) : null
  if (facts.value === null || !judged || other === null) throw new Error('a comparison needs two values')
  facts.comparison = compareDeterministic({
    direction: run.spec.metric.direction,
    value: facts.value,
    other,
    against: judged.experiment,
    minImprovement: run.spec.metric.min_improvement,
  })
  if (facts.comparison.outcome === 'tie') {
    facts.tieBreak = breakTie(run.spec.tie_breakers, evidence.samples[0]?.metrics ?? {}, judged.metrics)
  }
  record.step('comparison', 'ended', { comparison: facts.comparison, tie_break: facts.tieBreak })
  return facts.comparison.outcome === 'improved' || (facts.tieBreak?.better ?? false)
}

/** That the metric does not vary is a hypothesis: a would-be keep is measured once more, and must say the same. */
async function confirm(trial: Trial): Promise<boolean> {
  const { evidence, record } = trial
  const { facts } = evidence
  if (facts.baseline || facts.comparison === null) return true
  record.step('confirm', 'began')
  const sample = await sampleOnce(trial, 'confirm', 0)
  if (!accept(trial, sample)) return false
  const same = sample.value === facts.value
  facts.confirm = {
    ...facts.comparison,
    ...(same ? {} : { outcome: 'inconclusive' as const }),
    inputs: { ...facts.comparison.inputs, first: facts.value, again: sample.value },
  }
  record.step('confirm', 'ended', facts.confirm)
  return same
}

async function sampleOnce(
  { run, node, seal, record, bench, placed, known, guard }: Trial,
  stage: Stage,
  pair: number,
): Promise<Sample> {
  const paid = record.paidSample(stage, pair, 'candidate')
  if (paid) return paid
  const swept = await sweepLeftovers({ run, bench, placed, seal })
  if (!swept.ok) throw new RecordLost(swept.problem)
  const taken = await takeSample({
    config: run.spec.measure,
    metric: run.spec.metric,
    aggregate: run.spec.tasks.aggregate,
    checkout: placed.folder,
    folder: record.folder,
    stage,
    side: 'candidate',
    pair,
    // Fresh at each stage, and the same again when the attempt is taken up by another process.
    seed: Math.floor(rngOf(run.started.seed, node.id, seal.attempt, stage, pair)() * 2 ** 31),
    slot: bench.slot,
    experiment: node.id,
    environment: { ...bench.environment, ...guard.places.environment },
    artifacts: guard.places.own,
    known,
    signal: run.signal,
  })
  const sample = recordable(taken)
  record.sample(sample)
  return sample
}
