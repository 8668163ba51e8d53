/** A candidate that is being judged: the evidence so far, and the source of further evidence. */
import { incomparable } from '../evaluate/comparable.ts'
import type { TestFinding } from '../evaluate/tests-gone.ts'
import type { VerdictFacts } from '../evaluate/verdict.ts'
import { ANCHORS_AT_FIRST } from '../judge/anchors.ts'
import { type BatchSoFar, type ItemSetName, type ItemSets, nextItems } from '../judge/items.ts'
import type {
  AnchorAnswer,
  Calibration,
  Differences,
  GateResult,
  GateRule,
  Machine,
  Sample,
  SampleFault,
  Side,
  Stage,
  Usage,
} from '../ledger/events.ts'
import type { Ledger } from '../ledger/ledger.ts'
import { type Experiment, undermined } from '../ledger/state.ts'
import { call, next } from '../next.ts'
import type { Result } from '../result.ts'
import type { Informed, RunRecord, Surroundings } from '../run/open.ts'
import type { Artifacts } from './artifacts.ts'
import type { RandomChoices } from './random-choices.ts'
import { type AttemptRecord, baselineSample, RecordLost } from './steps.ts'

/** What was found; `tampered` names files that decide the verdict and that a run changed. */
export interface Evidence {
  facts: VerdictFacts
  /** Of the candidate, in the order they were taken. */
  samples: Sample[]
  /** Of what it was compared with. */
  others: Sample[]
  /** A sample of the parent in place of its record, which another kind of machine wrote; null = the record counts. */
  parentHere: Sample | null
  tampered: string[]
  /** A different slot measured meanwhile and its processes can reach this one, so the culprit is unknown. */
  beside: boolean
  /** The experiment with which it was compared changed them, not its own run; null = it did not. */
  by: string | null
  /** As the first sample declared them. */
  artifacts: Artifacts
  calibration: Calibration | null
  differences: Differences
  /** The two values of a metric that was taken to be free of noise, as a clause. */
  varied: string | null
  /** The best experiment, when the candidate was not better. */
  lostTo: string | null
  /** Why a kept candidate is in doubt. */
  doubt: string | null
  /** Gates that did not pass at first, and passed when they ran again on the same files; each as a sentence. */
  flaky: string[]
  /** What the candidate did to tests. */
  tests: TestFinding[]
  /** Files among the artifacts that no build made, by the names that the benchmark knows. */
  loose: string[]
  /** All that is missing is the measurement on held-out data, for which another job is asked. */
  heldOutLater?: true
  /** Where it was measured, if not here. */
  elsewhere?: { queuedMs: number }
}

/** What the rules of a verdict read of a run. For a verdict that is computed again, the ledger is the one of that time. */
export type RunInTrial = Pick<RunRecord, 'spec' | 'started' | 'paths'> &
  Pick<Surroundings, 'env' | 'heldOut'> &
  Informed & { ledger: Pick<Ledger, 'state' | 'refresh'> }

/** Where an attempt and a confirmation of a kept experiment differ. */
export interface Plan {
  /** The number of the look at these two experiments, from 1; later looks need more evidence. */
  look: number
  /** Ends when no further sample is useful: an experiment that it is built on was revoked, or a constraint is broken for good. */
  endsEarly: boolean
}

export const ATTEMPT: Plan = { look: 1, endsEarly: true }

export interface Trial {
  run: RunInTrial
  node: Experiment
  plan: Plan
  choices: RandomChoices
  record: AttemptRecord
  source: SampleSource
  evidence: Evidence
}

/** A question to the judge. */
export interface JudgeRequest {
  prompt: string
  /** JSON Schema of the answer. */
  schema: object
}

/** `answer`: null when the judge gave none that satisfies the schema; `fault`: it could not be asked. */
export type JudgeReply =
  | { answer: unknown; usage: Usage; ms: number; outcome: string; message: string }
  | { fault: SampleFault }

/** A call of the judge as the ledger gets it. */
export interface JudgeCall {
  /** Of the question: the same call is recorded once. */
  key: string
  usage: Usage
  ms: number
  outcome: string
  unscored: boolean
  anchor: AnchorAnswer | null
}

/** Compares the answers to items, where a judge scores. */
export interface ItemJudge {
  sets: ItemSets
  /** An answer that a sample of this measurement left. */
  answer(sample: Pick<Sample, 'stage' | 'pair' | 'side'>, id: string): string
  /** Whether its answers to these items are still what they were when it ended: without isolation a later sample can write there. */
  holds(sample: Sample, ids: readonly string[]): boolean
  /** Why it may not be asked so many times more; null when it may. */
  refuses(calls: number): SampleFault | null
  ask(request: JudgeRequest): Promise<JudgeReply>
  paid(call: JudgeCall): Result<unknown>
}

/** Where gates and samples come from: the measurement slot, or the record of it. */
export interface SampleSource {
  /** null: the metric is not judged, or everything was judged before. */
  judge: ItemJudge | null

  /** That on which samples are taken; null: they were taken before, and the record says what they were compared with. */
  machine(): Machine | null

  /** Prepares a kept experiment for a comparison; answers why that is not possible any more, or null. */
  place(experiment: string): Promise<SampleFault | null>
  sample(at: SampleAt, secluded?: Secluded): Promise<Sample>
  /** Both samples of a pair of a suite, task by task. `first`: who runs a task first. */
  pair(at: Omit<SampleAt, 'side'>, first: (task: number) => Side): Promise<Record<Side, Sample>>
  gate(gate: GateRule): Promise<GateResult & { fault: SampleFault | null }>
  /** The same once more; undefined when nobody asked. */
  gateAgain(gate: GateRule): Promise<SampleFault | null | undefined>
  /** Asks the gate of an experiment that passed it when it was judged; answers why it fails there now, or null. */
  gateOfOther(gate: GateRule, experiment: string): Promise<SampleFault | null>
  /** The artifacts that a sample of the candidate declared, or why they do not hold. */
  artifacts(sample: Sample): { records: Artifacts } | { fault: SampleFault }
}

export interface SampleAt {
  stage: Stage
  pair: number
  /** The parent's side is what was placed last. */
  side: Side
  /** Ids of the items that it answers, for a judged metric. */
  items?: readonly string[]
}

/** For a confidential sample: its outputs go to a different folder, and only its value is recorded. */
export interface Secluded {
  folder: string
  environment: { [name: string]: string }
}

/** Unwraps a result. A failure ends the attempt without a verdict; a later process can take over its claim. */
export function must<T>(result: Result<T>): T {
  if (!result.ok) throw new RecordLost(result.problem)
  return result.value
}

export function addFault({ evidence }: Trial, found: SampleFault, side: Side = 'candidate'): false {
  evidence.facts.faults.push({ side, fault: found })
  return false
}

/** Keeps a sample of the candidate, unless it has no value or cannot be compared with the baseline's sample. */
export function accept(trial: Trial, sample: Sample): boolean {
  trial.evidence.samples.push(sample)
  if (sample.fault) return addFault(trial, sample.fault)
  const reference = trial.evidence.facts.baseline ? null : baselineSample(trial.run)
  const declared = trial.source.artifacts(sample)
  if ('fault' in declared) {
    const { stage, pair } = sample
    trial.record.decide({ is: 'declared', stage, pair, declared: declared.fault })
    return addFault(trial, declared.fault)
  }
  if (trial.evidence.samples.length === 1) trial.evidence.artifacts = declared.records
  const difference = incomparable(reference, sample)
  return difference === null || addFault(trial, { reason: 'metric_error', message: difference })
}

/** False when it cannot be prepared any more: then the machine is at fault, and the recorded fault says so. */
export async function placeOther(trial: Trial, experiment: string): Promise<boolean> {
  const broken = await trial.source.place(experiment)
  if (!broken) return true
  trial.record.decide({ is: 'broken', placed: experiment, broken })
  const message = `${experiment} cannot be made ready any more: ${broken.message}`
  return addFault(trial, { ...broken, message }, 'parent')
}

/** Thrown when an experiment that the candidate is built on was revoked: no more is measured. Ends `collect`. */
export class Orphaned extends Error {}

/** Thrown where held-out data are needed and a different job gets them. Ends `collect`. */
export class HeldOutLater extends Error {}

/**
 * A sentence when an experiment that the candidate is built on was revoked, else null. Checked before each expensive step.
 * The first finding is recorded, so that a recomputation ends at the same point.
 */
export function orphanedBy({ run, node, record }: Pick<Trial, 'run' | 'node' | 'record'>): string | null {
  const [known] = record.decided('orphaned')
  if (known) return known.orphaned
  must(run.ledger.refresh())
  const found = undermined(run.ledger.state, node)
  if (!found) return null
  const orphaned = `${found.message}; ${found.hint}`
  record.decide({ is: 'orphaned', orphaned })
  return orphaned
}

/** Throws `Orphaned` when an experiment that the candidate is built on was revoked. */
export function throwIfOrphaned(trial: Trial): void {
  if (!trial.plan.endsEarly) return
  const orphaned = orphanedBy(trial)
  if (orphaned !== null) throw new Orphaned(orphaned)
}

/** One sample, or the one that an earlier process of this attempt took. */
export async function sampleOnce(trial: Trial, at: SampleAt, secluded?: Secluded): Promise<Sample> {
  const paid = trial.record.paidSample(at.stage, at.pair, at.side)
  if (paid) return paid
  throwIfOrphaned(trial)
  const sets = trial.source.judge?.sets
  const items = sets && itemsOfPair(trial, sets, at.stage, at.pair)
  const sample = await trial.source.sample({ ...at, ...(items && { items }) }, secluded)
  trial.record.sample(sample)
  return sample
}

// ---------------------------------------------------------------- which items a pair is about: the same for both sides, known before either is measured

interface Chosen {
  record: Pick<AttemptRecord, 'decided'>
  choices: Pick<RandomChoices, 'draws'>
}

export const setOf = (stage: Stage): ItemSetName =>
  stage === 'holdout' ? 'holdout' : stage === 'confirm' || stage === 'best' ? 'confirm' : 'judge'

/** `best` goes on where `confirm` ended, since both use one set. */
export function batchesBefore({ record }: Pick<Chosen, 'record'>, stage: Stage, pair: number): BatchSoFar[] {
  return record
    .decided('batch')
    .filter((one) => (one.stage === stage ? one.pair < pair : stage === 'best' && one.stage === 'confirm'))
    .map(({ asked, changed }) => ({ asked, changed }))
}

/** The ids that a sample of the baseline answers at `init`. */
export const calibrationItems = (sets: ItemSets): string[] =>
  sets.judge.slice(0, Math.max(sets.batch, ANCHORS_AT_FIRST)).map(({ id }) => id)

/** The ids that a sample of this pair must answer. Samples that no judge compares answer the first items. */
export function itemsOfPair(chosen: Chosen, sets: ItemSets, stage: Stage, pair: number): string[] {
  const ids = (items: readonly { id: string }[]) => items.map(({ id }) => id)
  if (stage === 'calibrate') return calibrationItems(sets)
  if (stage === 'check' || stage === 'guard') return ids(sets.judge.slice(0, sets.batch))
  if (stage === 'holdout') return ids(sets.holdout.slice(0, 2 * sets.batch))
  return ids(nextItems(sets, setOf(stage), chosen.choices.draws('items'), batchesBefore(chosen, stage, pair)))
}

// ---------------------------------------------------------------- the record of an attempt as the source of a trial

/** Everything that a verdict needs is recorded; if something is missing, the record is damaged. */
export class RecordedSource implements SampleSource {
  readonly judge = null
  readonly #artifacts: Artifacts
  readonly #record: AttemptRecord

  constructor(artifacts: Artifacts, record: AttemptRecord) {
    this.#artifacts = artifacts
    this.#record = record
  }

  machine() {
    return null
  }

  place(experiment: string) {
    const found = this.#record.decided('broken').find(({ placed }) => placed === experiment)
    return Promise.resolve(found?.broken ?? null)
  }
  sample(): Promise<Sample> {
    throw lacking('a sample')
  }
  pair(): never {
    throw lacking('a pair')
  }
  gate(): never {
    throw lacking('a gate')
  }
  /** Records of earlier releases do not say: there the candidate was asked once, and alone. */
  gateAgain() {
    return Promise.resolve(undefined)
  }
  gateOfOther() {
    return Promise.resolve(null)
  }
  artifacts({ stage, pair }: Sample) {
    const found = this.#record.decided('declared').find((one) => one.stage === stage && one.pair === pair)
    return found ? { fault: found.declared } : { records: this.#artifacts }
  }
}

export const lacking = (what: string) =>
  new RecordLost({
    kind: 'refused',
    code: 'record_incomplete',
    message: `the record of this attempt lacks ${what} that its verdict rests on`,
    hint: next`${call('doctor')} checks whether files of the run are damaged`,
  })
