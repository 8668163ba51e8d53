import type { Candidate } from '../../cli/search/frontier.ts'

/** A candidate with what a test cares about; the rest follows from its number. */
export function candidate(number: number, given: Partial<Candidate> = {}): Candidate {
  const id = `exp_${String(number).padStart(4, '0')}`
  const score = given.score ?? 0
  return {
    id,
    parent: null,
    value: score,
    score,
    children: 0,
    keptChildren: 0,
    order: id,
    ...given,
  }
}

export const scored = (...scores: number[]): Candidate[] =>
  scores.map((score, number) => candidate(number, { score }))
