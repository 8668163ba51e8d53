/** A candidate that is being judged in a slot: where it lies, what was found, and how a sample of either side is taken. */
import { existsSync, mkdirSync, readdirSync, rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { incomparable, recordable } from '../evaluate/comparable.ts'
import { takeSample } from '../evaluate/measure.ts'
import type { VerdictFacts } from '../evaluate/verdict.ts'
import type { Calibration, Differences, Sample, SampleFault, Side, Stage } from '../ledger/events.ts'
import type { Experiment } from '../ledger/state.ts'
import { slotArtifacts } from '../paths.ts'
import type { Result } from '../result.ts'
import type { OpenRun } from '../run/open.ts'
import { rngOf } from '../search/random.ts'
import { type Artifacts, artifactPlaces, type Guard, readDeclared } from './artifacts.ts'
import { type Bench, type Placed, placeCandidate } from './bench.ts'
import { knownMetrics } from './known.ts'
import { baselineSample } from './samples.ts'
import type { Seal } from './seal.ts'
import { type Recorder, RecordLost } from './steps.ts'
import { sweepLeftovers } from './tamper.ts'
import { keptCommit } from './worktree.ts'

/** What was found; `tampered` names sealed files that the candidate's own run changed. */
export interface Evidence {
  facts: VerdictFacts
  /** Of the candidate, in the order they were taken. */
  samples: Sample[]
  /** Of what it was compared with. */
  others: Sample[]
  tampered: string[]
  /** As the first sample declared them. */
  artifacts: Artifacts
  calibration: Calibration | null
  differences: Differences
  /** How a metric that was held to be free of noise gave two values. */
  varied: string | null
  /** The best that it was not better than. */
  lostTo: string | null
  /** Why what is kept is to be doubted all the same. */
  doubt: string | null
}

export interface Trial {
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
  /** What lies in the slot's other checkout; null before anything does. */
  other: Other | null
}

/** A judged candidate that this one is compared with. */
export interface Other {
  experiment: string
  tree: string
  placed: Placed
  known: Record<string, number>
  artifacts: string
  environment: Record<string, string>
}

/** Of a result that ends the attempt without a verdict when it fails: its claim can be taken over. */
export function must<T>(result: Result<T>): T {
  if (!result.ok) throw new RecordLost(result.problem)
  return result.value
}

export function fault({ evidence }: Trial, found: SampleFault, side: Side = 'candidate'): false {
  evidence.facts.faults.push({ side, fault: found })
  return false
}

/** Keeps a sample of the candidate, unless it has no value or cannot be compared with what the baseline said. */
export function accept(trial: Trial, sample: Sample): boolean {
  trial.evidence.samples.push(sample)
  if (sample.fault) return fault(trial, sample.fault)
  const reference = trial.evidence.facts.baseline ? null : baselineSample(trial.run)
  const declared = readDeclared(trial.guard, sample.artifacts)
  if ('fault' in declared) return fault(trial, declared.fault)
  if (trial.evidence.samples.length === 1) trial.evidence.artifacts = declared.records
  const difference = incomparable(reference, sample)
  return difference === null || fault(trial, { reason: 'metric_error', message: difference })
}

/**
 * Brings a kept experiment to the slot's other checkout, unless it lies there. null when it cannot be set up or built
 * any more: then the machine is to blame, and the fault says so.
 */
export async function placeOther(trial: Trial, experiment: string): Promise<Other | null> {
  if (trial.other?.experiment === experiment) return trial.other
  const { run, bench, record } = trial
  const commit = keptCommit(run, experiment)
  const node = run.ledger.state.experiments.get(experiment)
  if (!commit || !node) throw new Error(`${experiment} is compared with, and has no candidate`)
  const outputs = join(record.folder, 'other')
  mkdirSync(outputs, { recursive: true })
  const places = artifactPlaces(run, node)
  keepOnly(commit.tree, slotArtifacts(run.site, bench.slot, commit.tree))
  // What a build makes again must not touch what was judged.
  const own = run.spec.worktree.build === null ? places.own : slotArtifacts(run.site, bench.slot, commit.tree)
  const environment = { ...places.environment, ASSAY_ARTIFACTS: own }
  const placed = must(
    await placeCandidate(run, bench, 'a', commit, { outputs, artifacts: { own, environment } }),
  )
  trial.other = null
  const broken = placed.setup ?? placed.build
  if (broken) {
    const message = `${experiment} cannot be made ready any more: ${broken.message}`
    fault(trial, { ...broken, message }, 'parent')
    return null
  }
  const known = must(await knownMetrics(run, commit.tree))
  trial.other = { experiment, tree: commit.tree, placed, known, artifacts: own, environment }
  return trial.other
}

/** Of what builds made for others, nothing is needed any more. */
function keepOnly(tree: string, folder: string): void {
  const parent = dirname(folder)
  if (!existsSync(parent)) return
  for (const name of readdirSync(parent))
    if (name !== tree) rmSync(join(parent, name), { recursive: true, force: true })
}

/** Of a sample that nobody may look into: outputs go elsewhere, and only its value is recorded. */
interface Secluded {
  folder: string
  environment: Record<string, string>
}

/** One sample of a side, or the one that an earlier process of this attempt paid for. */
export async function sampleOnce(
  trial: Trial,
  stage: Stage,
  pair: number,
  side: Side,
  secluded?: Secluded,
): Promise<Sample> {
  const { run, node, seal, record, bench, guard, other } = trial
  const paid = record.paidSample(stage, pair, side)
  if (paid) return paid
  if (side === 'parent' && !other) throw new Error('a pair needs something to compare with')
  const subject =
    side === 'parent' && other
      ? { place: 'a' as const, ...other }
      : {
          place: 'b' as const,
          experiment: node.id,
          tree: seal.tree,
          placed: trial.placed,
          known: trial.known,
          artifacts: guard.places.own,
          environment: guard.places.environment,
        }
  must(await sweepLeftovers({ run, bench, ...subject }))
  const taken = await takeSample({
    config: run.spec.measure,
    metric: run.spec.metric,
    aggregate: run.spec.tasks.aggregate,
    checkout: subject.placed.folder,
    folder: secluded?.folder ?? record.folder,
    stage,
    side,
    pair,
    // Equal within a pair, fresh at each stage, and the same again when another process takes the attempt up.
    seed: Math.floor(rngOf(run.started.seed, node.id, seal.attempt, stage, pair)() * 2 ** 31),
    slot: bench.slot,
    experiment: subject.experiment,
    environment: { ...bench.environment, ...subject.environment, ...secluded?.environment },
    artifacts: subject.artifacts,
    known: subject.known,
    signal: run.signal,
  })
  const sample = secluded ? valueOnly(taken) : recordable(taken)
  record.sample(sample)
  return sample
}

function valueOnly(sample: Sample): Sample {
  const { fault: found } = sample
  return {
    ...sample,
    metrics: {},
    tasks: null,
    artifacts: null,
    fault: found && { reason: found.reason, message: 'no value' },
  }
}
