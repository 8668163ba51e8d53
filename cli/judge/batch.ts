/** One judged pair: which side each item shows first, and the difference that the rule of pairs reads. Pure. */
import type { Side } from '../ledger/events.ts'
import { rngOf } from '../search/random.ts'
import { shuffled } from './items.ts'
import { largestScore, type Scoring } from './prompt.ts'

/** How one item is shown. */
export interface Showing {
  /** Drawn by a coin, so that a judge that prefers a place favours neither side. */
  first: Side
  /** Order of the criteria. */
  order: number[]
  /** For the marks around the answers. */
  nonce: string
}

/** `draws`: of the attempt; two equal questions are shown alike, which a process that resumes the attempt relies on. */
export function showingOf(
  draws: (...about: (string | number)[]) => string,
  scoring: Scoring,
  ...about: (string | number)[]
): Showing {
  const coin = Number.parseInt(draws('first', ...about).slice(0, 8), 16)
  const criteria = scoring.mode === 'criteria' ? scoring.criteria.map((_, index) => index) : []
  return {
    first: coin % 2 === 0 ? 'candidate' : 'parent',
    order: shuffled(criteria, rngOf(draws('order', ...about))),
    nonce: draws('nonce', ...about).slice(0, 16),
  }
}

/**
 * Of the candidate, from the score of the answer that stood first. An item that the judge could not score counts as lost by as much
 * as possible: were it a tie, or left out, a candidate would gain by answers that make the judge fail where they are bad.
 */
export function signedScore(scoring: Scoring, first: Side, ofFirst: number | null): number {
  if (ofFirst === null) return -largestScore(scoring)
  if (ofFirst === 0) return 0
  return first === 'candidate' ? ofFirst : -ofFirst
}

/** The difference of the pair: the mean over the items that were judged; 0 when every answer was the same. */
export const differenceOf = (scores: readonly number[]): number =>
  scores.length === 0 ? 0 : scores.reduce((sum, score) => sum + score, 0) / scores.length
