/** Logarithms when every calibration value is positive (differences are then relative), else the values themselves. */
export type Transform = 'log' | 'linear'

/** `judge`: is it better than its parent? `confirm`: on fresh pairs, also for the comparison with the best. */
export type PairedStage = 'judge' | 'confirm'

export interface PairedPlan {
  /** Pairs before anything is decided, at least 2. */
  min: number
  /** Pairs at which the stage ends whatever they say; not below `min`. */
  max: number
  /** At least 0, in units of d: what the median must reach besides the evidence. */
  minImprovement: number
  /** Someone waits for a tie: no futility; ends early when the interval is within ±minImprovement, or below 0. Without effect when minImprovement is 0. */
  seeksTie: boolean
  /** The most candidates this session may judge. Beyond 300 each must confirm with more evidence. */
  tries: number
  /** Which look at these two this is, from 1, which is also the default: what did not pass takes more evidence the next time. */
  look?: number
  /**
   * An improvement takes a median above 0, too, and an interval that the median lies outside of is none. Absent: neither, as
   * stages were decided that began before this was asked; a record of one must give the same answer for ever.
   */
  typical?: boolean
}

export interface PairedDecision {
  /** null: another pair is needed. */
  outcome: 'improved' | 'tie' | 'not_better' | 'inconclusive' | null
  why: 'evidence' | 'last_look' | 'futility' | 'too_small' | 'tie' | 'worse' | 'not_typical' | 'cap' | null
  pairs: number
  /** The most the bets were ever worth, of a stake of 1: P(e ≥ x) ≤ 1/x for a candidate that changes nothing. */
  e: number
  /** Exact one-sided sign-flip p, at the last look only. */
  p: number | null
  /** Robust spread of one d, after the last pair. */
  scale: number
  /** Median d; null without pairs, or when it is infinite. */
  estimate: number | null
  /** 95 % for the centre of d, valid whenever the stage stops; null when a side has no finite bound (always below 6 pairs). */
  interval: [number, number] | null
  /** What `e` or, at the last look, `p` had to reach. */
  bounds: { e: number; p: number }
}
