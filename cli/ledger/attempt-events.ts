/** The events of an experiment. The first six are those of an attempt: created, sealed, started, judged, confirmed, audited. */
import type { Envelope } from './envelope.ts'
import type {
  ArtifactRecord,
  Calibration,
  Comparison,
  Differences,
  DiffStat,
  FailureClass,
  Finding,
  GatePhase,
  GateRule,
  JudgedStatus,
  ProcessIdentity,
  Reason,
} from './nouns.ts'

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
  /** Seeds, order and places follow from it; absent in a take-over, which goes on with the first, and until 0.1.0. */
  nonce?: string
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
  /** Of `steps.jsonl` as of the verdict. */
  steps: { sha256: string; lines: number }
  /** Set by `assay abort`: stopped from outside, with what would have to be mended. */
  aborted?: { fix: string | null }
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
  /** As in `started`, of this look. */
  nonce?: string
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
