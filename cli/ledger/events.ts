/**
 * The on-disk contract: every event of `ledger.jsonl`, every line of an attempt's `steps.jsonl`, and the nouns
 * that they persist. Nothing here imports anything of ours, so every layer may use these types.
 *
 * Fields are snake_case because they are data that other programs read. A value that is not known is null, never 0.
 */

/** Readers refuse a newer major; they keep and skip unknown types of a newer minor. */
export const FORMAT = { major: 1, minor: 0 } as const
export const FORMAT_NAME = `${FORMAT.major}.${FORMAT.minor}`

import type {
  Comparison,
  DiffStat,
  Direction,
  FailureClass,
  Finding,
  GatePhase,
  Idea,
  JudgedStatus,
  Lane,
  Pick,
  ProcessIdentity,
  Reason,
  Usage,
} from './nouns.ts'

export * from './nouns.ts'

// ---------------------------------------------------------------- events

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
  /** Live knobs as of the start; `configured` changes them one by one. */
  knobs: Knobs
  warnings: string[]
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
}

export interface Configured extends Envelope {
  type: 'configured'
  changes: Partial<Knobs>
  why: string
}

/** 1 of an attempt's six: the experiment exists. Its id is a folder whose mkdir succeeded. */
export interface Created extends Envelope {
  type: 'created'
  experiment: string
  /** null for the baseline only. */
  parent: string | null
  hypothesis: string
  round: number | null
  lane: number | null
  depth: number | null
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
}

/** 3: the claim. Charges the budget and an attempt, unless a cap or the state makes it void. */
export interface Started extends Envelope {
  type: 'started'
  experiment: string
  attempt: number
  owner: ProcessIdentity
  /** Set by one that goes on after the owner of that event died: the id of the claim it replaces. */
  takes_over?: string
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
  message: string
  /** Reason, exit and last stderr line without digits: equal for identical failures. */
  signature: string | null
  wall_ms: number
  /** Of `steps.jsonl` as of the verdict. */
  steps: { sha256: string; lines: number }
}

/** 5: `assay confirm` measured a kept node again. */
export interface Confirmed extends Envelope {
  type: 'confirmed'
  experiment: string
  attempt: number
  against: string
  passed: boolean
  comparison: Comparison
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
export interface Restored extends Envelope {
  type: 'restored'
  experiment: string
  why: string
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
}
export interface RoundBriefed extends Envelope {
  type: 'round_briefed'
  round: number
  token: string
  lanes: Lane[]
  refused: { index: number; reason: string; message: string }[]
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
}

export interface Proposed extends Envelope {
  type: 'proposed'
  round: number | null
  accepted: Idea[]
  refused: { index: number; reason: string; message: string }[]
}

/** The driver's life: active time is monotonic, so a suspended machine is not charged. */
export interface Drove extends Envelope {
  type: 'drove'
  driver: string
  owner: ProcessIdentity
  phase: 'start' | 'beat' | 'stop'
  /** Since this driver's previous `drove`. */
  active_ms: number
}

/** One agent call. */
export interface UsageRecorded extends Envelope {
  type: 'usage'
  role: string
  host: string
  experiment: string | null
  round: number | null
  ms: number
  outcome: string
  usage: Usage
}

/** A person (or `loop stop`) ends or resumes the loop. */
export interface Stopped extends Envelope {
  type: 'stopped'
  why: string
}
export interface Resumed extends Envelope {
  type: 'resumed'
  why: string
}

export interface Noted extends Envelope {
  type: 'noted'
  kind: 'learning' | 'infrastructure' | 'note'
  experiment: string | null
  text: string
}

/** Tells of a line that its writer never finished and the writer of this one cancelled, with U+0018 at its end. */
export interface Healed extends Envelope {
  type: 'healed'
  offset: number
  bytes: number
}

export type Event =
  | RunStarted
  | Configured
  | Created
  | Sealed
  | Started
  | Judged
  | Confirmed
  | Audited
  | Discarded
  | Pruned
  | Restored
  | RoundOpened
  | RoundBriefed
  | RoundClosed
  | Proposed
  | Drove
  | UsageRecorded
  | Stopped
  | Resumed
  | Noted
  | Healed

export type EventType = Event['type']
/** What a writer supplies; the ledger adds the envelope. */
export type Draft = Event extends infer E ? (E extends Event ? Omit<E, 'v' | 'id' | 'at'> : never) : never
