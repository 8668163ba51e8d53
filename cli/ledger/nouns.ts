/** The words with closed lists and the nouns that events persist. Imports only nouns. */
import type { AsRead } from './as-read.ts'

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

export const KEEP_REASONS = ['improved', 'tie_broken'] as const
export const FREE_REASONS = ['empty', 'out_of_scope', 'over_limit', 'secret', 'duplicate'] as const
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
  'dependency',
] as const
export const FAIL_REASONS = ['metric_error', 'timeout', 'crash', 'environment', 'aborted'] as const
export type Reason =
  | (typeof KEEP_REASONS)[number]
  | (typeof REJECT_REASONS)[number]
  | (typeof FAIL_REASONS)[number]
/** Verdicts that answer the idea itself: there is nothing about the candidate to mend. */
export const ANSWERS: readonly Reason[] = ['duplicate', 'not_better', 'tie', 'holdout', 'unconfirmed']

export const FAILURE_CLASSES = ['build', 'eval', 'hypothesis', 'environment'] as const
export type FailureClass = (typeof FAILURE_CLASSES)[number]

export const STOP_REASONS = [
  'target',
  'stall',
  'budget',
  'frontier_empty',
  'no_hypothesis',
  'failures',
  'user',
] as const
export type StopReason = (typeof STOP_REASONS)[number]

// ---------------------------------------------------------------- nouns

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
  /** What a cap on tokens or dollars does with a host that reports none. */
  unknown: 'refuse' | 'allow'
}

/** A process that can be proved dead: a pid is reused, a pid with its start time is not. */
export interface ProcessIdentity {
  pid: number
  /** Start time as the system tells it (clock ticks since boot on Linux, `ps lstart` on macOS). */
  started: string
  host: string
  /** Where a pid means what it means there (the number of the pid namespace); absent in earlier records. */
  space?: string
}

export type Side = 'parent' | 'candidate'
/**
 * What a sample is for: `calibrate` the baseline, `judge` and `confirm` a candidate against its parent, `best` against
 * the best, `guard` for protected metrics alone, `holdout` on held-out data. `check` is a wiring run that no verdict reads.
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
  status?: string
  reason?: string
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

export interface Idea {
  hypothesis: string
  parent?: string
  kind?: string
  uplift?: number
  confidence?: number
  sources?: string[]
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

export const STEPS = [
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
