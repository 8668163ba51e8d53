/** Everything between the claim and the verdict: what is asked of a candidate in the slot, in which order. */

import { runGate } from '../evaluate/gates.ts'
import type { VerdictFacts } from '../evaluate/verdict.ts'
import type { GatePhase } from '../ledger/events.ts'
import { BASELINE, type Experiment, nodeValue } from '../ledger/state.ts'
import { ok, type Result } from '../result.ts'
import type { OpenRun } from '../run/open.ts'
import { artifactPlaces, changedSince, guardArtifacts, seedFault } from './artifacts.ts'
import { type Bench, openBench, placeCandidate } from './bench.ts'
import { calibration } from './calibration.ts'
import { gatesOn } from './gates.ts'
import { heldOut } from './holdout.ts'
import { knownMetrics } from './known.ts'
import type { Seal } from './seal.ts'
import type { Recorder } from './steps.ts'
import { tamperedFiles } from './tamper.ts'
import { type Evidence, fault, must, type Trial } from './trial.ts'
import { weigh } from './weigh.ts'
import { keptCommit } from './worktree.ts'

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
    protected: [],
    holdout: null,
  }
  return {
    facts,
    samples: [],
    others: [],
    tampered: [],
    artifacts: {},
    calibration: null,
    differences: {},
    varied: null,
    lostTo: null,
    doubt: null,
  }
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
      other: null,
    }
    const prepared = await preparation(trial)
    if (!prepared.ok) return prepared
    if (prepared.value) await inOrder(trial)
    evidence.tampered = await tampered(trial)
    return ok(evidence)
  } finally {
    bench.value.release()
  }
}

/** The list of DESIGN §6 after the build; what comes back false ends the trial. */
async function inOrder(trial: Trial): Promise<boolean> {
  if (!(await gates(trial, 'before'))) return false
  trial.record.step('measure', 'began')
  const after = () => gates(trial, 'after')
  if (!trial.evidence.facts.baseline) return weigh(trial, after)
  return (await calibration(trial)) && (await after()) && (await heldOut(trial))
}

/** By the candidate's run, which knows where both checkouts of its slot are. */
async function tampered({ run, node, seal, bench, placed, guard, other }: Trial): Promise<string[]> {
  const common = { run, bench, experiment: node.id }
  const own = must(await tamperedFiles({ ...common, place: 'b', tree: seal.tree, placed }))
  const others = other
    ? must(await tamperedFiles({ ...common, place: 'a', ...other, experiment: node.id }))
    : []
  const named = others.map((path) => `${path} in the checkout of its parent`)
  return [...own, ...named, ...(await changedSince(guard))]
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
