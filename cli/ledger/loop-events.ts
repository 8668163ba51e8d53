/** The events of the loop: rounds, ideas, who drives, what agents cost. */
import type { Envelope } from './envelope.ts'
import type { Idea, Lane, Pick, ProcessIdentity, Usage } from './nouns.ts'

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
