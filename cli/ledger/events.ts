/**
 * The on-disk contract: every event of `ledger.jsonl`, every line of an attempt's `steps.jsonl`, and the nouns
 * that they persist. Of ours it imports only what identifies a process, so every layer above may use these types.
 *
 * Fields are snake_case because they are data that other programs read. A value that is not known is null, never 0.
 */

import type { ProcessIdentity } from '../process/identity.ts'

// ---------------------------------------------------------------- what every line of a ledger carries, and which formats are read

/** Readers refuse a newer major; they keep and skip unknown types of a newer minor. */
export const FORMAT = { major: 1, minor: 0 } as const
export const FORMAT_NAME = `${FORMAT.major}.${FORMAT.minor}`

export interface Envelope {
  /** `major.minor` of the writer. */
  v: string
  /** Random, made by the writer: how it finds its own line when it reads back. */
  id: string
  /** ISO 8601, UTC. */
  at: string
  /** Idempotency key of the verb: the first accepted event with it wins, the rest fold to `repeated`. */
  key?: string
}

/** What a sample keeps of how its metrics were read. All of it is absent in records of earlier versions. */
export interface AsRead {
  /** As the benchmark printed them: metrics that were converted to the unit of the baseline. Absent = none. */
  converted?: Record<string, { value: number; unit: string | null }>
  /** The metric is a time, and this is less than 0; absent = it is not, and in records of earlier versions. */
  below_zero?: true
  /** The word behind the number that a pattern found, null = none; absent without a pattern, and in records of earlier versions. */
  beside?: string | null
  /** The unit, or a word in its place, that stands near that number and is compared, not converted; null = none; absent as above. */
  around?: string | null
  /** How that number was written, as far as it says what a comma in another one means; null = unknown; absent as above. */
  notation?: 'groups' | 'comma' | 'dot' | 'point' | 'whole' | null
}

// ---------------------------------------------------------------- the words with closed lists and the nouns that events persist. Imports only nouns

// ---------------------------------------------------------------- words

export type Direction = 'minimize' | 'maximize'

export const STATUSES = [
  'open',
  'running',
  'kept',
  'rejected',
  'failed',
  'discarded',
  'pruned',
  'revoked',
] as const
export type Status = (typeof STATUSES)[number]

/** How an attempt can end. Rejected is a result; failed means that it could not be judged. */
export type JudgedStatus = 'kept' | 'rejected' | 'failed'

const KEEP_REASONS = ['improved', 'tie_broken'] as const
export const FREE_REASONS = [
  'empty',
  'out_of_scope',
  'over_limit',
  'secret',
  'dependency',
  'duplicate',
] as const
export const REJECT_REASONS = [
  ...FREE_REASONS,
  'not_better',
  'tie',
  'inconclusive',
  'gate',
  'constraint',
  'protected',
  'holdout',
  'unconfirmed',
  'audit',
] as const
export const FAIL_REASONS = ['metric_error', 'timeout', 'crash', 'environment', 'aborted'] as const
export type Reason =
  | (typeof KEEP_REASONS)[number]
  | (typeof REJECT_REASONS)[number]
  | (typeof FAIL_REASONS)[number]
/** Verdicts that answer the idea itself: there is nothing about the candidate to repair. */
export const ANSWERS: readonly Reason[] = ['duplicate', 'not_better', 'tie', 'holdout', 'unconfirmed']

export const FAILURE_CLASSES = ['build', 'eval', 'hypothesis', 'environment'] as const
export type FailureClass = (typeof FAILURE_CLASSES)[number]

const STOP_REASONS = [
  'target',
  'stall',
  'budget',
  'frontier_empty',
  'no_hypothesis',
  'no_idea',
  'failures',
  'user',
] as const
export type StopReason = (typeof STOP_REASONS)[number]

// ---------------------------------------------------------------- nouns

export const OPERATORS = ['>=', '<=', '>', '<', '==', '!='] as const

/** How a metric must stand to a value. */
export interface Bound {
  metric: string
  op: (typeof OPERATORS)[number]
  /** In the unit of the metric. */
  value: number | boolean
}

/** What may change while a run lives. A limit that is null is not set. */
export interface Knobs {
  max_attempts: number
  policy: string
  k: number
  width: number
  depth: number
  stall: number
  revise: number
  ideate_stall: number
  ideate_keeps: number
  scan_batch: number
  scan_max: number
  experiments: number | null
  hours: number | null
  failures: number | null
  tokens: number | null
  usd: number | null
  /** Of the judge alone; absent = the run has none. */
  judge_usd?: number | null
  /** What a cap on tokens or dollars does with a host that reports none. */
  unknown: 'refuse' | 'allow'
  /** Where briefs come from; absent = `both`. */
  briefs?: (typeof BRIEF_SOURCES)[number]
  /** What the best must meet, beside the target of the metric, before the loop ends as at its target; absent = nothing. */
  targets?: Bound[]
  /** Packages that a candidate may add; null or absent = the CLI does not check. */
  dependencies?: string[] | null
}

export const BRIEF_SOURCES = ['author', 'backlog', 'both'] as const

export type { ProcessIdentity }

export type Side = 'parent' | 'candidate'
/**
 * What a sample is for: `calibrate` the baseline, `judge` and `confirm` a candidate against its parent, `best` against
 * the best, `guard` for protected metrics alone, `holdout` on held-out data. `check` is `run --check`, which no verdict reads.
 */
export type Stage = 'calibrate' | 'judge' | 'confirm' | 'best' | 'guard' | 'holdout' | 'check'

export type NoiseMode = 'deterministic' | 'paired'
/** How two values are compared under noise: by the logarithm of their ratio, or by their difference. */
export type Transform = 'log' | 'linear'

/** What the baseline's samples say of the noise; the run is compared by it. */
export interface Calibration {
  mode: NoiseMode
  transform: Transform
  /** The primary metric of each sample, in order. */
  values: number[]
  /** Metrics that were not the same in all samples. */
  varied: string[]
}

/** Per pair, in order: how much better the candidate is than the other, in units of the transform. */
export type Differences = Partial<Record<'judge' | 'confirm' | 'best', number[]>>

export interface TaskScore {
  score: number
  /** How often the tool ran it, when the score is made of several runs; absent = once. */
  runs?: number
  status?: string
  reason?: string
  /** Of a suite: each part of the loss before its weight, 0 to 1; null = its signal is missing. */
  parts?: Record<string, number | null>
  /** Of a suite: what the run found wrong with its own result. */
  defects?: string[]
}

/** Why a sample has no value. `raw` is the benchmark's own line. */
export interface SampleFault {
  reason: 'metric_error' | 'timeout' | 'crash' | 'environment' | 'aborted'
  message: string
  raw?: string
  /** When it is another than that of its place: outputs that are missing are the build's. */
  failure_class?: 'build'
  /** Names of the metrics that were printed, when the one that is asked for is missing; 20 at most. */
  found?: string[]
  /** A tool whose output is there, and that `measure.read` can name. */
  preset?: string
  /** The metric was printed, but to stderr. */
  on_stderr?: true
  /** The judge gave wrong answers where the right one is known: the loop pauses. */
  judge_drift?: true
}

/** The answers to items that a judge compares. */
export interface AnswersOfItems {
  items: number
  /** The median length, in characters. */
  chars: number
  /** Of ids and answers, in the order in which they were asked for. */
  sha256: string
}

/** One execution of the measure command. */
export interface Sample extends AsRead {
  stage: Stage
  side: Side
  /** Which pair of its stage, from 0. */
  pair: number
  seed: number
  /** The primary metric, null when the sample has a fault. */
  value: number | null
  metrics: Record<string, number | boolean>
  units: Record<string, string>
  tasks: Record<string, TaskScore> | null
  /** label → path, as the benchmark declared them. */
  artifacts: Record<string, string> | null
  wall_ms: number
  cpu_ms: number | null
  peak_mb: number | null
  exit: number | null
  signal: string | null
  timed_out: boolean
  output_cut: boolean
  /** One-minute load average at the start. */
  load: number | null
  /** Shares of the machine's processor time meanwhile; null = the system did not tell, absent in records of earlier versions. */
  processors?: { others: number; idle: number } | null
  started: string
  ended: string
  fault: SampleFault | null
  /** Absent when the metric is not judged, or when there is no answer. */
  answers?: AnswersOfItems
  /** On held-out data: value and cost, sealed with the user's key. The fields themselves are null then. */
  sealed?: string
  /** Output files, relative to the attempt's folder. */
  stdout: string
  stderr: string
}

export type GatePhase = 'before' | 'after'

export interface GateResult {
  name: string
  phase: GatePhase
  passed: boolean
  exit: number | null
  signal: string | null
  timed_out: boolean
  wall_ms: number
  /** The end of its output, capped. */
  output: string
}

/** A gate as the spec or `gate add` declares it. */
export interface GateRule {
  name: string
  /** A string is a line for `/bin/sh`, a list is program and arguments. */
  command: string | string[]
  phase: GatePhase
  timeoutMs: number
}

/** A declared artifact: a file or folder under the experiment's artifacts. */
export interface ArtifactRecord {
  path: string
  sha256: string
  bytes: number
}

/** The candidate against one other node, by the samples alone. */
export interface Comparison {
  outcome: 'improved' | 'tie' | 'not_better' | 'inconclusive'
  against: string
  /** Signed (candidate better by) / |other|; null when the other is 0. */
  improvement: number | null
  /** Signed, in metric units, positive is better. */
  improvement_abs: number
  /** Of `improvement_abs`; null when deterministic. */
  interval: [number, number] | null
  /** What would be needed to compute it again: rule, threshold, scale, seeds, tries so far. */
  inputs: Record<string, unknown>
}

export interface Brief {
  parent: string
  kind: string
  objective: string
  boundaries: string[]
  pointers: string[]
  hard: boolean
  /** The experiment whose files it starts from and repairs; absent = it starts from its parent's. */
  repair?: string
  /** The artifact that it starts from. */
  from_artifact?: { experiment: string; label: string }
  /** A second experiment to build on, whose change git could not merge with the parent's; absent = none. */
  combine?: string
  /** The idea of the backlog that it carries out; absent = none. */
  idea?: string
}

export interface Lane {
  /** From 1, in brief order. */
  lane: number
  brief: Brief
  parent: string
  /** The id reserved for the lane's first experiment. */
  experiment: string
  /** One try from the baseline, without what the search knows; absent = a lane of the search. */
  arm?: 'baseline'
}

export interface Pick {
  experiment: string
  value: number | null
  rank: number
  why: string
}

export const PRIORITIES = ['high', 'medium', 'low'] as const
export type Priority = (typeof PRIORITIES)[number]

/** A hypothesis of the backlog, as its author wrote it. What the author did not say is absent. */
export interface Idea {
  hypothesis: string
  parent?: string
  /** Its category: the kind of the brief that carries it out. */
  kind?: string
  priority?: Priority
  /** Names of the packages that it needs. */
  dependencies?: string[]
  /** Share of the metric: 0.05 is 5 %. */
  uplift?: number
  /** From 0 to 1. */
  confidence?: number
  sources?: string[]
  /** What became of it before this run, as an old log says; such an idea is not tried again. */
  tried?: string
}

export interface Finding {
  /** What the CLI can check by itself, else `opinion`. */
  code: 'hash' | 'task_set' | 'path' | 'opinion'
  message: string
  path?: string
}

export interface Usage {
  tokens_in: number | null
  tokens_out: number | null
  usd: number | null
}

/** A measured quantity that the run may spend: `at_least` is true when some spending is not known. */
export interface DiffStat {
  files: number
  added: number
  removed: number
}

// ---------------------------------------------------------------- steps of one attempt

const STEPS = [
  'seal',
  'scope',
  'known',
  'claim',
  'setup',
  'build',
  'gates_before',
  'measure',
  'constraints',
  'comparison',
  'gates_after',
  'confirm',
  'holdout',
  'verdict',
] as const
export type StepName = (typeof STEPS)[number]

/** A line of `attempts/<n>/steps.jsonl`, under the ledger's append rule. */
export type StepLine = { v: string; id: string; at: string } & (
  | { step: StepName; state: 'began' | 'ended' | 'skipped'; detail?: unknown }
  | { step: 'sample'; sample: Sample }
  | { step: 'gate'; gate: GateResult }
  | { step: 'healed'; offset: number; bytes: number }
)

// ---------------------------------------------------------------- the vocabulary of the meta controller: the nouns of the event `adjusted`. Imports nothing of ours

export const META_KNOBS = [
  'width',
  'depth',
  'stall',
  'ideate_stall',
  'ideate_keeps',
  'scan_batch',
  'scan_max',
] as const
export type MetaKnob = (typeof META_KNOBS)[number]

export const META_PHASES = ['scan', 'ideate'] as const
export type MetaPhase = (typeof META_PHASES)[number]

export const META_PROMPTS = [
  'state',
  'scan',
  'aggregate',
  'brief',
  'implement',
  'run',
  'ideate',
  'collect',
] as const
export type MetaPrompt = (typeof META_PROMPTS)[number]

export const SEAMS = ['before-scan', 'after-scan', 'before-brief', 'after-collect'] as const
export type Seam = (typeof SEAMS)[number]

export type Change =
  | { kind: 'knob'; knob: MetaKnob; value: number }
  | { kind: 'phase'; phase: MetaPhase; on: boolean }
  | { kind: 'prompt'; prompt: MetaPrompt; mode: 'append' | 'replace'; text: string }
  /** An agent call of its own at a seam, for so many rounds; what it says reaches the brief. */
  | { kind: 'step'; seam: Seam; text: string; rounds: number }
  /** Takes an earlier edit back, by its id. */
  | { kind: 'undo'; edit: string }

export type Edit = Change & {
  rationale: string
  /** Id of an experiment, or name of a fact. */
  evidence: string
}

// ----------------------------------------------------------------
// The events of an experiment. The first six are those of an attempt: created, sealed, started, judged,
// confirmed, audited.

/** 1 of an attempt's six: the experiment exists. Its id is a folder whose mkdir succeeded. */
export interface Created extends Envelope {
  type: 'created'
  experiment: string
  /** null for the baseline only. */
  parent: string | null
  hypothesis: string
  round: number | null
  lane: number | null
  /** Of a lane that tries from the baseline, for comparison; never a parent. */
  arm?: 'baseline'
  depth: number | null
  /** The artifact that it starts from. */
  from_artifact?: { experiment: string; label: string } | null
  /** The experiment of the same parent whose files it starts from; absent = it starts from its parent's. */
  repair?: string
  /** Its candidate is the part of that experiment's diff that an attribution left over; no agent made it. Absent = an agent or a person did. */
  reduces?: { experiment: string; attribution: number }
  /** All experiments that it is built on; `parent` is the first of them, the best. Absent = `parent` alone. */
  parents?: string[]
  /** The CLI put the files of its parents together; no agent made it. Absent = an agent or a person did. */
  merge?: true
  /** The CLI put this text of a suite into the files of its parent. Absent = an agent or a person made the candidate. */
  text?: MadeText
}

/** Where the text of an experiment comes from. */
export type MadeText =
  /** `version`: null = it is that of an experiment that was not kept. */
  | { by: 'restore'; artifact: string; version: number | null }
  | {
      by: 'gradient'
      artifact: string
      /** How much lower the loss should be, and how sure the agent was, 0 to 1. */
      expected: number
      confidence: number
      /** Of the two, scaled by what such expectations came to; the largest was tried. */
      product: number
      learning_rate: number
    }

/** 2: a tree is pinned as a commit under `refs/assay/<run>/<experiment>/<attempt>`. Every seal has its own number. */
export interface Sealed extends Envelope {
  type: 'sealed'
  experiment: string
  attempt: number
  commit: string
  tree: string
  diff: DiffStat
  /** A sharper hypothesis than the one at `created`. */
  hypothesis?: string
  /** Untracked files outside `mutable`, not part of the candidate. */
  left_out: string[]
  /** Secret-looking files that were changed: their names only, never their content. */
  secrets: { path: string; reason: string }[]
  /** Of a suite: the texts that differ from the parent's; absent = none, or there is no suite. */
  texts?: SealedText[]
}

/** A text of a suite as a candidate has it. */
export interface SealedText {
  artifact: string
  /** The blob of git; null = the file was deleted, or is no text file. */
  blob: string | null
  /** Characters (code points); null as above. */
  chars: number | null
}

/** 3: the claim. Charges the budget and an attempt, unless a cap or the state makes it void. */
export interface Started extends Envelope {
  type: 'started'
  experiment: string
  attempt: number
  owner: ProcessIdentity
  /** Set by a process that continues after the owner of that event died: the id of the claim it replaces. */
  takes_over?: string
  /** Seeds, order and places follow from it; absent in a take-over, which continues with the first, and until 0.1.0. */
  nonce?: string
}

/**
 * Where an executor measures: a job was handed to its engine, between the claim of an attempt and its verdict, or between the two
 * events of a confirmation. The first one counts.
 */
export interface Dispatched extends Envelope {
  type: 'dispatched'
  experiment: string
  attempt: number
  /** The number of the confirmation that it measures; absent = the attempt. */
  confirmation?: number
  /** A second job of the attempt, which measures on held-out data: no other job gets them. */
  held_out?: true
  executor: 'local' | 'slurm' | 'command'
  /** Of the attempt: a job is found by it. */
  job_key: string
  /** What the engine calls the job. */
  job: string
  /** Where both sides write. */
  folder: string
  /** The section `executor` that it was handed over by, as a run keeps it: the job is asked about and cancelled by the same. */
  config: Readonly<Record<string, unknown>>
  /** Id of the last event of which the job knows: its record is judged by the state as of then. */
  as_of: string
}

/** The job runs: from here on the time counts. */
export interface PlacedOnNode extends Envelope {
  type: 'placed'
  experiment: string
  attempt: number
  /** As in `dispatched`. */
  confirmation?: number
  /** Name of the machine. */
  node: string
  /** Always, since jobs of several machines run at once; absent in ledgers of earlier builds, where it was the last one. */
  machine?: Machine
}

/** 4: the verdict. A free rejection has no claim before it. */
export interface Judged extends Envelope {
  type: 'judged'
  experiment: string
  attempt: number
  status: JudgedStatus
  /** null for the baseline. */
  reason: Reason | null
  failure_class: FailureClass | null
  value: number | null
  parent_value: number | null
  improvement: number | null
  improvement_abs: number | null
  interval: [number, number] | null
  samples: number
  /** The node it was compared with. */
  against: string | null
  confirmed: boolean
  gates: { name: string; phase: GatePhase; passed: boolean }[]
  metrics: Record<string, number | boolean>
  tasks: Record<string, number> | null
  /** The earliest experiment of this epoch with the same score on every task, of two tasks or more; absent = none. */
  same_as?: string
  /** Declared artifacts, by label; absent = none. */
  artifacts?: Record<string, ArtifactRecord>
  message: string
  /** Of the baseline only. */
  calibration?: Calibration
  /** Absent: compared without noise, or not at all. Later comparisons learn their scale from it. */
  differences?: Differences
  /** The metric was held to be free of noise, and one tree gave two values: how. From here on the run is compared in pairs. */
  varied?: string
  /** Kept, but not better than this one, which was the best. */
  lost_to?: string
  /** It was measured on held-out data, and is not worse there. */
  held_out?: true
  /** Kept, and yet to be doubted: no parent before a person or a confirmation clears it. */
  doubt?: string
  /** The part of `doubt` that only a person clears: a measurement says nothing about it. */
  lasting_doubt?: string
  /** Reason, exit and last stderr line without digits: equal for identical failures. */
  signature: string | null
  wall_ms: number
  /** On which it was measured; absent = the last one that an event before it names. */
  machine?: Machine
  /** Of `steps.jsonl` as of the verdict. */
  steps: { sha256: string; lines: number }
  /** Set by `assay abort`: stopped from outside, with what would have to be mended. */
  aborted?: { fix: string | null }
}

/** What of a machine may change a result. */
export interface Machine {
  /** As the system calls its model. */
  cpu: string
  cores: number
  memory_gb: number
  /** Name and release of the kernel. */
  os: string
  /** By which the kernel chooses the clock rate of the processors; absent where it does not tell, and in earlier records. */
  governor?: string
  /** Of the processors; absent where the system does not tell it, and in earlier records. */
  microcode?: string
  /** Only of a node that measures by jobs. */
  libc?: string
  /** Of the CLI. */
  node: string
}

/** 5: `assay confirm` measured a kept node again. */
export interface Confirmed extends Envelope {
  type: 'confirmed'
  experiment: string
  attempt: number
  against: string
  passed: boolean
  /** Measured now, in the epoch of now. */
  value: number | null
  comparison: Comparison
  /** The epoch in which it was measured; void when another one has opened since. Absent: that of the event. */
  epoch?: number
  /** One sentence with the numbers, or what spoke against it. */
  message?: string
  /** Compared with another one than its parent: that says nothing about whether it stands. */
  aside?: true
  /** Taken for it, of both sides. */
  samples?: number
  /** As in `judged`. */
  differences?: Differences
  varied?: string
  /** Of a look that passed: the metrics of its samples, as in `judged`. */
  metrics?: Record<string, number | boolean>
  /** As in `started`, of this look. */
  nonce?: string
  /** As in `judged`. */
  machine?: Machine
  /** The number of the confirmation, where a job measured it. */
  confirmation?: number
}

/** A kept experiment is to be measured again by a job. A process that goes on after this one died finds the same job by it. */
export interface ConfirmationStarted extends Envelope {
  type: 'confirmation_started'
  experiment: string
  /** Of the kept attempt. */
  attempt: number
  /** That of its folder. */
  confirmation: number
  against: string
  /** The number of the look at these two experiments, from 1. */
  look: number
  epoch: number
  /** As in `started`, of this look. */
  nonce: string
  /** The idempotency key of the call that asked for it. */
  asked?: string
}

/** A confirmation by a job came to no result. */
export interface ConfirmationEnded extends Envelope {
  type: 'confirmation_ended'
  experiment: string
  confirmation: number
  why: string
}

/** 6: someone looked at a judged attempt. Evidence that the CLI checked revokes; an opinion flags. */
export interface Audited extends Envelope {
  type: 'audited'
  experiment: string
  attempt: number
  outcome: 'passed' | 'flagged' | 'revoked'
  findings: Finding[]
}

export interface Discarded extends Envelope {
  type: 'discarded'
  experiment: string
  failure_class: FailureClass | null
  why: string
}
export interface Pruned extends Envelope {
  type: 'pruned'
  experiment: string
  why: string
}
/** A person wants it as a parent of the next rounds: until `unpinned` or `pruned`, as long as it may be a parent. */
export interface PinnedAsParent extends Envelope {
  type: 'pinned'
  experiment: string
  why: string
}
export interface UnpinnedAsParent extends Envelope {
  type: 'unpinned'
  experiment: string
  why: string
}
export interface Restored extends Envelope {
  type: 'restored'
  experiment: string
  why: string
}

/** A gate that binds this experiment and everything below it. */
export interface GateAdded extends Envelope {
  type: 'gate_added'
  experiment: string
  gate: GateRule
  why: string
}
export interface GateRemoved extends Envelope {
  type: 'gate_removed'
  experiment: string
  name: string
  why: string
}

/** A remark on an experiment, or on one of its tasks. */
export interface Annotated extends Envelope {
  type: 'annotated'
  experiment: string
  task: string | null
  tag: string | null
  text: string
}

// ---------------------------------------------------------------- the events of an attribution: which parts of a kept experiment's diff pay

/** Where a part of a diff stands: lines from 1 and their number, in the old file and in the new one; absent for a file as a whole. */
export interface EditPlace {
  path: string
  kind: 'hunk' | 'mode' | 'whole'
  old?: [from: number, lines: number]
  new?: [from: number, lines: number]
}

/** The smallest part of a diff that can be left out by itself. */
export interface AttributedUnit {
  /** `h1`, `h2` … in the order of the diff. */
  id: string
  /** Lines added and removed; 1 for what has no lines. */
  lines: number
  /** The head of what git found around it, such as a function; empty when it found nothing. */
  around: string
  edits: EditPlace[]
}

export interface AttributionPlan {
  /** Pairs that the tests may take in all. */
  pairs: number
  careful: boolean
  interactions: boolean
}

/** The search for the parts of a kept experiment that pay begins. The diff of its parent and its candidate gives the parts again. */
export interface AttributionStarted extends Envelope {
  type: 'attribution_started'
  /** From 1, in the order of the run. */
  attribution: number
  experiment: string
  parent: string
  /** Trees of the parent and of the candidate. */
  trees: { parent: string; candidate: string }
  epoch: number
  /** In the order in which they are tried. */
  units: AttributedUnit[]
  plan: AttributionPlan
  /** As in `started`, for all of its tests. */
  nonce: string
}

/** The answer to one test: is the reference better than what is left of it without some units? */
export interface Attributed extends Envelope {
  type: 'attributed'
  attribution: number
  experiment: string
  /** From 1. */
  test: number
  without: string[]
  trees: { reference: string; left: string }
  /** See `Answer` in `attribute/eliminate.ts`. */
  outcome: 'improved' | 'not_better' | 'inconclusive' | 'same' | 'worse' | 'broken'
  /** Pairs that this test took; without noise, 1. */
  pairs: number
  /** How much better the reference is, as a share; null when nothing was compared, or the other is 0. */
  estimate: number | null
  /** Of `estimate`, 95 %; null when there is none. */
  interval: [number, number] | null
  /** Of `broken`: units that hold what the message names; absent = none. */
  needs?: string[]
  /** Taken for it, of both sides. */
  samples: number
  /** One sentence with the numbers, or why nothing was compared. */
  message: string
  /** As in `judged`. */
  varied?: string
  /** What answered it without a measurement: an earlier test, or an experiment with the same files. Absent = it was measured. */
  known?: { attribution: number; test: number } | { experiment: string }
  /** Where a job measured it, and the id of the last event of which the job knew; absent = in a slot of the machine of the command. */
  placed?: { node: string; machine?: Machine | undefined; as_of: string }
  wall_ms: number
  /** Of its `steps.jsonl`; null when there is none. */
  steps: { sha256: string; lines: number } | null
}

export interface UnitFinding {
  id: string
  state: 'pays' | 'dead_weight' | 'needed' | 'not_told_apart' | 'not_tested'
  estimate: number | null
  interval: [number, number] | null
  /** The units that were left out in the same test, itself included. */
  together: string[]
}

export interface AttributionEnded extends Envelope {
  type: 'attribution_ended'
  attribution: number
  experiment: string
  /** In the order in which they were tried. */
  units: UnitFinding[]
  /** What is left, in that order. */
  kept: string[]
  pairs: number
  /** Whether its pairs were used up before all units were tested. */
  cut: boolean
  /** What two units are worth together beyond what each is worth alone, as a share. */
  interactions: { units: [string, string]; beyond: number }[]
  /** The experiment that was judged with what is left; null when nothing was left out. */
  reduced: string | null
}

// ---------------------------------------------------------------- merges. An attempt to merge is an experiment; this is what keeps one from being made

/** git cannot put the changes of these experiments together: no set that has all of them is tried. */
export interface Conflicted extends Envelope {
  type: 'conflicted'
  /** Two, unless only more of them conflict. The last one, which ranks lowest, was left out. */
  experiments: string[]
  /** The paths that conflict. */
  files: string[]
}

// ---------------------------------------------------------------- the events of the loop: rounds, ideas, who drives, what agents cost

/** What a round does otherwise after a plateau. */
export interface NewDirection {
  change: {
    /** First of the round's parents: one that the plateau did not start from; null when there is none. */
    parent: string | null
    /** Kinds of briefs that brought no new best meanwhile. */
    kinds: string[]
    /** All briefs of the round count as hard. */
    hard: boolean
  }
  why: string
}

/** One session of a host, by the host's own id of it. */
export interface SessionName {
  host: string
  session: string
}

export interface RoundOpened extends Envelope {
  type: 'round_opened'
  round: number
  token: string
  width: number
  depth: number
  parents: Pick[]
  policy: string
  seed: number
  ideate: { why: string } | null
  /** Of `width`, the lanes that try from the baseline; absent = none. */
  arm?: number
  /** Ids of the instructions of a person that this round gets; absent = none. */
  steering?: string[]
  /** The session that took this turn, and has the lease with it; absent = none that says so, or a driver's own process. */
  by?: SessionName
  /** Absent in ledgers of earlier versions. */
  direction?: NewDirection | null
  /** Of a run with a suite: its texts are learnt, or it is repeated unchanged. Absent = a round with lanes. */
  suite?: 'gradient' | 'repeat'
}
export interface RoundBriefed extends Envelope {
  type: 'round_briefed'
  round: number
  token: string
  lanes: Lane[]
  refused: { index: number; reason: string; message: string }[]
  /** Whose call it was; absent as in `round_opened`. */
  by?: SessionName
}
export interface RoundClosed extends Envelope {
  type: 'round_closed'
  round: number
  token: string
  improved: boolean
  best: string
  stall: number
  learnings: string[]
  suggestions: string[]
  prune: { experiment: string; why: string }[]
  /** Whose call it was; absent as in `round_opened`. */
  by?: SessionName
}

/** What became of one task of the loop: an agent's answer, or what the CLI found itself. The first one counts. */
export interface TaskAnswered extends Envelope {
  type: 'task_answered'
  /** `r7/l1/d1/implement`. */
  task: string
  round: number
  experiment: string | null
  /** Of the answer as it was given; null = the CLI's own. */
  sha256: string | null
  /** Cut to what a line holds; null = the agent ended without an answer. */
  answer: Record<string, unknown> | null
}

export interface Proposed extends Envelope {
  type: 'proposed'
  round: number | null
  accepted: Idea[]
  refused: { index: number; reason: string; message: string }[]
}

/** A person lets ideas be tried, with the packages that they need. */
export interface IdeasApproved extends Envelope {
  type: 'ideas_approved'
  ideas: string[]
}

export interface IdeasDropped extends Envelope {
  type: 'ideas_dropped'
  ideas: string[]
  why: string
}

/** People were told that these ideas wait for an approval. */
export interface IdeasParked extends Envelope {
  type: 'ideas_parked'
  ideas: string[]
}

/** The lease of a session changes hands apart from a `round_opened`. */
export interface Leased extends Envelope {
  type: 'leased'
  /** Who has it from now on, or gives it up; null = a process or a person, who need none. */
  by: SessionName | null
  /**
   * `taken`: of an open round without a driver; `taken_over`: a person said so, although a session may have it; `kept`: a measurement of
   * its round is still at work, void when its lease is not live.
   */
  how: 'taken' | 'taken_over' | 'given_up' | 'kept'
}

/** The driver's life: active time is monotonic, so a suspended machine is not charged. */
export interface Drove extends Envelope {
  type: 'drove'
  driver: string
  owner: ProcessIdentity
  phase: 'start' | 'beat' | 'stop'
  /** Since this driver's previous `drove`. */
  active_ms: number
  /** The provider of a host asked it to wait, in its own words; absent = the driver does not wait. */
  waiting?: { host: string; until: string; why: string }
  /** The session in which it was started, whose lease it replaces; absent = in none, or not a start. */
  by?: SessionName
}

/** Which session continues the prose loop across its turns: one session of a host, until it is taken back. */
export interface Entrusted extends Envelope {
  type: 'entrusted'
  /** The host's own id of it; null = none any more. */
  session: string | null
  host: string | null
}

/** One agent call. */
export interface UsageRecorded extends Envelope {
  type: 'usage'
  role: string
  host: string
  experiment: string | null
  round: number | null
  /** As the spec or the call names it; absent when neither does. */
  model?: string
  ms: number
  outcome: string
  usage: Usage
  /** Of the role `judge`: its answer had to be left unscored. */
  unscored?: true
  /** Of the role `judge`: the question had a known answer, and this came of it. */
  anchor?: AnchorAnswer
}

/** See `judge/anchors.ts`. */
export interface AnchorAnswer {
  kind: 'same' | 'degraded' | 'injected'
  altered: 'won' | 'lost' | 'tie' | null
}

/** A person (or `loop stop`) ends or resumes the loop. */
export interface Stopped extends Envelope {
  type: 'stopped'
  why: string
}
/** No agent and no lane starts until `resumed`; what runs is finished. */
export interface Paused extends Envelope {
  type: 'paused'
  why: string
}
export interface Resumed extends Envelope {
  type: 'resumed'
  why: string
}

/** A person's word: to the next round's briefs, or to the next agent call of one experiment. */
export interface Steered extends Envelope {
  type: 'steered'
  experiment: string | null
  text: string
}
/** The call that carried the words was answered. Words to a round are delivered by its `round_opened`. */
export interface SteeringDelivered extends Envelope {
  type: 'steering_delivered'
  /** Ids of `steered` events. */
  steering: string[]
  role: string
  experiment: string
}

/** What a person should read: agents are not told it. */
export interface Alerted extends Envelope {
  type: 'alerted'
  /** Whose call it was. */
  role: string
  experiment: string | null
  /** Relative to the worktree of the experiment, or to the checkout of the user. */
  paths: string[]
  text: string
}

/** The meta controller has something to look at, and is asked: no other asker within `every_ms`. */
export interface MetaTicked extends Envelope {
  type: 'meta_ticked'
  /** Who took the turn. */
  by: string
  every_ms: number
  /** Names of the facts. */
  facts: string[]
  /** What was seen of each, in the order of `facts`: the agent may be asked when a fact does not hold any more. Absent in earlier versions. */
  seen?: { message: string; experiments: string[] }[]
}

/** What the meta controller changes, from the next round on. */
export interface Adjusted extends Envelope {
  type: 'adjusted'
  round: number | null
  /** Number of the look that it answers; null = of none. */
  tick: number | null
  /** How many edits there were when these were accepted: no others may have come between. */
  after: number
  edits: Edit[]
  refused: { index: number; reason: string; message: string }[]
  alerts: string[]
}

// ---------------------------------------------------------------- the events of a run as a whole

/** Opens the run. The spec itself is `spec.json` in the run's folder, bound by its hash. */
export interface RunStarted extends Envelope {
  type: 'run_started'
  run: string
  name: string
  spec_hash: string
  /** Hash of what is measured: {scope, worktree, measure, metric, tasks, constraints, protected, …}. */
  frozen_hash: string
  base: { commit: string; tree: string }
  /** The user's checkout in which `init` ran, and the spec's folder in it (`''` is the root). */
  checkout: string
  prefix: string
  metric: { name: string; direction: Direction; target: number | null }
  seed: number
  /** It has one task of the suite of a different run, and begins with the files of one of its experiments. */
  narrowed?: { run: string; experiment: string; task: string }
  /** The user's file, relative to `checkout`; absent: `assay.yaml` in `prefix`. */
  spec_file?: string
  /** Live knobs as of the start; `configured` changes them one by one. */
  knobs: Knobs
  warnings: string[]
  /** Of `init`. Absent in old ledgers. */
  machine?: Machine
  /** Which frozen rules of git make files of blobs, and leave untracked files out. Absent in old ledgers. */
  git_rules?: string
  /** `worktree.data` as it was: how much, and the hash of the list `data.json`. Absent = none. */
  /** Data that only the final check sees: a file outside of the repository. Absent = none. */
  holdout?: HeldOutFile
  data?: { files: number; bytes: number; sha256: string }
  /** Items of one judged pair, and calls of the judge for each of them. Absent = the metric is not judged. */
  judge?: { batch: number; calls: number }
}

export interface HeldOutFile {
  /** Until 0.1.0, in place of `name`: where it lies. */
  path?: string
  /** Hash of its path under the user's key: a file of that name, outside of the repository, says where it lies. */
  name?: string
  /** Of the content; under `name`, of its SHA-256 with the user's key. */
  sha256: string
  bytes: number
}

export interface Configured extends Envelope {
  type: 'configured'
  changes: Partial<Knobs>
  /** Other keys of the spec, each as a spec has it; null = taken away. Absent = none. */
  settings?: Record<string, unknown>
  /** The sections of the spec that these keys are in, whole, in the form of `spec.json`. */
  sections?: Record<string, unknown>
  /** How many changes were there before: it holds only if no other came first. Absent = whatever came first. */
  after?: number
  /** It holds what the user's file says of each key that was edited there: the next edit is found by comparison with that. */
  synced?: true
  why: string
}

export interface Noted extends Envelope {
  type: 'noted'
  /** `objection`: a person reads it, agents do not. */
  kind: 'learning' | 'infrastructure' | 'note' | 'objection'
  experiment: string | null
  text: string
}

/** Tells of a line that its writer never finished and the writer of this one cancelled, with U+0018 at its end. */
export interface Healed extends Envelope {
  type: 'healed'
  offset: number
  bytes: number
}

/** Scores from before are not compared with scores from now on. The baseline is measured again first. */
export interface EpochOpened extends Envelope {
  type: 'epoch_opened'
  epoch: number
  why: string
}

/** What of the machine a measured process does not share; each can be given up by itself when the baseline needs it. */
export type IsolationRule = 'network' | 'temporary' | 'caches' | 'repository' | 'sealed' | 'read_only'

/** How what runs in a measurement checkout is kept apart from the machine, from here on. Before such an event: not at all. */
export interface Isolated extends Envelope {
  type: 'isolated'
  /** null: it is not kept apart. */
  method: 'bubblewrap' | null
  /** Rules that the baseline does not work under, and that are not applied. */
  without: IsolationRule[]
  /** Paths of the machine that stay visible and writable, beside those of the spec. */
  allow: string[]
  why: string
}

export type Event =
  | RunStarted
  | Configured
  | EpochOpened
  | Noted
  | TaskAnswered
  | Healed
  | Isolated
  | Created
  | Sealed
  | Started
  | Dispatched
  | PlacedOnNode
  | Judged
  | Confirmed
  | ConfirmationStarted
  | ConfirmationEnded
  | Audited
  | Discarded
  | Pruned
  | PinnedAsParent
  | UnpinnedAsParent
  | Restored
  | GateAdded
  | GateRemoved
  | Annotated
  | AttributionStarted
  | Attributed
  | AttributionEnded
  | Conflicted
  | RoundOpened
  | RoundBriefed
  | RoundClosed
  | Proposed
  | IdeasApproved
  | IdeasDropped
  | IdeasParked
  | Leased
  | Drove
  | Entrusted
  | UsageRecorded
  | Stopped
  | Paused
  | Resumed
  | Steered
  | SteeringDelivered
  | Alerted
  | MetaTicked
  | Adjusted

export type EventType = Event['type']
/** What a writer supplies; the ledger adds the envelope. */
export type Draft = Event extends infer E ? (E extends Event ? Omit<E, 'v' | 'id' | 'at'> : never) : never
