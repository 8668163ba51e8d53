/**
 * Samples that were taken in a crowd: other programs were at work, and no processor was left. Wall time then tells who was
 * let wait, and a candidate that gets the larger share (by more threads, by a race of copies) is not a faster one. Pure.
 */
import type { Comparison, Sample } from '../ledger/events.ts'

/** Of the machine's processor time, both. */
const OTHERS_AT_LEAST = 0.1
const IDLE_AT_MOST = 0.1

/** False also where the system did not tell. */
export const inCrowd = ({ processors }: Pick<Sample, 'processors'>): boolean =>
  !!processors && processors.others >= OTHERS_AT_LEAST && processors.idle <= IDLE_AT_MOST

/** Whether a crowd spoils the metric: of a time that a benchmark prints it is not known which clock it was read from. */
export const isSpoiltByCrowd = (metric: string): boolean => metric === 'wall_ms'

/** Too many of them for a gain to be believed. */
export const spoils = (crowded: number, all: number): boolean => crowded > all / 2

/** Why a comparison proves no gain that it shows, as a clause; null when a crowd has nothing to do with its outcome. */
export const crowdIn = (comparison: Comparison): string | null =>
  comparison.inputs.why === 'crowd' ? crowdAround(comparison) : null

/** That most pairs of a comparison were taken in a crowd, as a clause; null when they were not. */
export function crowdAround({ inputs: { pairs, crowded } }: Comparison): string | null {
  if (typeof pairs !== 'number' || typeof crowded !== 'number' || !spoils(crowded, pairs)) return null
  return `in ${crowded} of ${pairs} pairs other programs left no processor idle, and wall time then tells who had to wait`
}
