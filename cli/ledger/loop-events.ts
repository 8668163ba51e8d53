/** The events of the loop: rounds, ideas, who drives, what agents cost. */
import type { Edit } from './edits.ts'
import type { Envelope } from './envelope.ts'
import type { Idea, Lane, Pick, ProcessIdentity, Usage } from './nouns.ts'

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
  /** Ids of the words of a person that this round is told; absent = none. */
  steering?: string[]
  /** The session that took this turn, and has the lease with it; absent = none that says so, or a driver's own process. */
  by?: SessionName
  /** Absent in ledgers of earlier versions. */
  direction?: NewDirection | null
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

export interface Proposed extends Envelope {
  type: 'proposed'
  round: number | null
  accepted: Idea[]
  refused: { index: number; reason: string; message: string }[]
}

/** The lease of a session changes hands apart from a `round_opened`. */
export interface Leased extends Envelope {
  type: 'leased'
  /** Who has it from now on, or gives it up; null = a process or a person, who need none. */
  by: SessionName | null
  /**
   * `taken`: of an open round that nobody drives; `taken_over`: a person said so, whoever has it; `kept`: a measurement of
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

/** Who goes on with the prose loop across its turns: one session of a host, until it is taken back. */
export interface Entrusted extends Envelope {
  type: 'entrusted'
  /** The host's own id of it; null = nobody any more. */
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
  ms: number
  outcome: string
  usage: Usage
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

/** The meta controller has something to look at, and is asked: nobody else within `every_ms`. */
export interface MetaTicked extends Envelope {
  type: 'meta_ticked'
  /** Who took the turn. */
  by: string
  every_ms: number
  /** Names of the facts. */
  facts: string[]
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
