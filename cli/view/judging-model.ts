/** What is shown of the judge of a run and of what it judged, on the terminal and on the page. Pure. */
import type { AnchorReport } from '../judge/anchors.ts'
import type { JudgeForecast } from '../judge/money.ts'
import type { Side, Stage } from '../ledger/events.ts'

export interface JudgingData {
  /** Of the judge, known answers included. */
  calls: number
  tokens: number
  usd: number
  /** Some calls did not tell what they cost. */
  at_least: boolean
  cap: number | null
  unscored: number
  anchors: AnchorReport
  /** Of a candidate that changes nothing, and of a winner. */
  forecast: JudgeForecast
  /** Items of one pair. */
  batch: number
  swap: boolean
}

/** Counts of judged items. */
export interface JudgedItems {
  /** Items whose answers both sides gave, and those that were not equal. */
  asked: number
  changed: number
  /** Of the judged ones, by the candidate's score. */
  won: number
  lost: number
  tied: number
  /** How often the longer and the shorter of two answers won, ties left out. */
  longer_won: number
  shorter_won: number
}

/** One experiment before the judge; held-out items are not in it, since who could read them could climb on them. */
export interface JudgedExperiment {
  items: JudgedItems
  /** In order. */
  pairs: readonly JudgedPair[]
  /** Items with the highest and the lowest scores, the lowest first. */
  answers: readonly JudgedAnswer[]
  /** Items that were judged and are not in `answers`. */
  answers_more: number
}

export interface JudgedPair {
  stage: Stage
  /** From 0, in its stage. */
  pair: number
  asked: number
  changed: number
  judged: number
  /** Mean score of the judged items: positive is better. */
  d: number
}

export interface JudgedAnswer {
  stage: Stage
  pair: number
  item: string
  /** Of the candidate: positive is better. */
  score: number
  /** One call, or two with `judge.swap`. */
  calls: readonly JudgeSaid[]
}

/** One call of the judge, in short: lines that can be printed. */
export interface JudgeSaid {
  /** Whose answer the judge read first. */
  first: Side
  /** Why the item is unscored; null when it is not. */
  unscored: string | null
  statements: readonly {
    criterion: string | null
    candidate: string
    other: string
    evidence: string
  }[]
}
