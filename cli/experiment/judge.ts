/** Everything between the claim and the verdict: what is asked of a candidate in the slot, in which order. */

import type { VerdictFacts } from '../evaluate/verdict.ts'
import type { GatePhase, SampleFault } from '../ledger/events.ts'
import { BASELINE, type Experiment, nodeValue } from '../ledger/state.ts'
import { ok, type Result } from '../result.ts'
import type { OpenRun } from '../run/open.ts'
import { artifactPlaces, guardArtifacts, seedFault } from './artifacts.ts'
import { type Bench, openBench, placeCandidate } from './bench.ts'
import { calibration } from './calibration.ts'
import { chanceOfAttempt } from './chance.ts'
import { gatesOn } from './gates.ts'
import { heldOut, removeHeldData } from './holdout.ts'
import { knownMetrics } from './known.ts'
import { othersMeasured } from './other-slots.ts'
import { RecordedSource } from './recorded-source.ts'
import type { Seal } from './seal.ts'
import { type InSlot, SlotSource } from './slot-source.ts'
import type { Recorder } from './steps.ts'
import { lookAtTests } from './tests-gone.ts'
import { type Evidence, fault, mayGoOn, must, Orphaned, orphanedBy, type Trial } from './trial.ts'
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
    dependency: null,
    protected: [],
    holdout: null,
  }
  return {
    facts,
    samples: [],
    others: [],
    tampered: [],
    beside: false,
    artifacts: {},
    calibration: null,
    differences: {},
    varied: null,
    lostTo: null,
    doubt: null,
    tests: [],
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
  const since = Date.now()
  try {
    removeHeldData()
    const looked = await lookAtTests(run, seal, record)
    if (!looked.ok) return looked
    evidence.tests = looked.value
    record.step('build', 'began')
    // What others found while this one waited counts.
    if (orphanedBy({ run, node, record }) !== null) {
      record.step('build', 'ended', UNBUILT)
      await collect({ run, node, seal, record, source: new RecordedSource({}, record), evidence }, UNBUILT)
      return ok(evidence)
    }
    const places = artifactPlaces(run, node)
    const { folder } = record
    const place = chanceOfAttempt(run, node, seal.attempt).place('candidate')
    const placed = await placeCandidate(run, bench.value, place, seal, { outputs: folder, artifacts: places })
    if (!placed.ok) return placed
    const guard = await guardArtifacts(places)
    const slot = {
      run,
      node,
      seal,
      bench: bench.value,
      placed: placed.value,
      known: known.value,
      guard,
      folder,
    }
    const preparation = await prepared(slot)
    record.step('build', 'ended', preparation)
    const source = new SlotSource(slot)
    await collect({ run, node, seal, record, source, evidence }, preparation)
    evidence.tampered = await source.tampered()
    evidence.beside = evidence.tampered.length > 0 && othersMeasured(run, bench.value, since)
    const { tampered, beside } = evidence
    record.step('measure', 'ended', { tampered, ...(beside ? { beside } : {}) })
    return ok(evidence)
  } finally {
    bench.value.release()
  }
}

/** What setup and build came to. */
export interface Preparation extends Pick<VerdictFacts, 'setup' | 'build'> {
  /** Why nothing can be measured although both worked. */
  seed: SampleFault | null
}

/** Nothing is built for what cannot count; what was paid for before is still told. */
const UNBUILT: Preparation = { setup: null, build: null, seed: null }

async function prepared({ run, node, seal, bench, placed, guard, folder }: InSlot): Promise<Preparation> {
  const { setup, build } = placed
  if (setup || !build) return { setup, build: null, seed: seedFault(guard) }
  const parent = node.parent ? keptCommit(run, node.parent) : null
  if (!parent || build.reason === 'aborted')
    return { setup, build: { fault: build, parentToo: false }, seed: null }
  const place = chanceOfAttempt(run, node, seal.attempt).place('parent')
  const unchanged = must(await placeCandidate(run, bench, place, parent, { outputs: folder, anew: true }))
  return { setup, build: { fault: build, parentToo: unchanged.build !== null }, seed: null }
}

/** The list of DESIGN §6 from the build on; the first thing that speaks against the candidate ends it. */
export async function collect(trial: Trial, preparation: Preparation): Promise<void> {
  try {
    await ask(trial, preparation)
  } catch (error) {
    if (!(error instanceof Orphaned)) throw error
    trial.evidence.facts.dependency = error.message
  }
}

async function ask(trial: Trial, { setup, build, seed }: Preparation): Promise<void> {
  Object.assign(trial.evidence.facts, { setup, build })
  if (setup || build) return
  if (seed) {
    fault(trial, seed)
    return
  }
  if (!(await gates(trial, 'before'))) return
  trial.record.step('measure', 'began')
  const after = () => gates(trial, 'after')
  if (!trial.evidence.facts.baseline) await weigh(trial, after)
  else if ((await calibration(trial)) && (await after())) await heldOut(trial)
}

async function gates(trial: Trial, phase: GatePhase): Promise<boolean> {
  const { run, node, record, source, evidence } = trial
  const due = gatesOn(run, node.id).filter((gate) => gate.phase === phase)
  if (due.length === 0) return true
  record.step(phase === 'before' ? 'gates_before' : 'gates_after', 'began')
  for (const gate of due) {
    const paid = record.paidGate(gate.name, phase)
    if (!paid) mayGoOn(trial)
    const done = paid ?? (await source.gate(gate))
    if (!paid) record.gate({ ...done, output: done.output.slice(-2000) })
    evidence.facts.gates.push(done)
    if (!done.passed) return false
  }
  return true
}
