/**
 * Samples that were taken in a crowd: other programs were at work, and no processor was left. Wall time then mostly
 * reflects scheduling: a candidate with a larger share of the processors (more threads, several copies) is not faster. Pure.
 */
import type { Comparison, Judged, Sample } from '../ledger/events.ts'

/** Of the machine's processor time, both. */
const OTHERS_AT_LEAST = 0.1
const IDLE_AT_MOST = 0.1

/** False also where the system gave no figures. */
export const inCrowd = ({ processors }: Pick<Sample, 'processors'>): boolean =>
  !!processors && processors.others >= OTHERS_AT_LEAST && processors.idle <= IDLE_AT_MOST

/** Whether a crowd spoils the metric: for a time that a benchmark prints, Assay does not know which clock it was read from. */
export const isSpoiltByCrowd = (metric: string): boolean => metric === 'wall_ms'

/** Whether too many of the samples were taken in a crowd. */
export const spoils = (crowded: number, all: number): boolean => crowded > all / 2

/** Whether a verdict is inconclusive because of a crowd. */
export const isSpoilt = ({ reason, failure_class: place }: Pick<Judged, 'reason' | 'failure_class'>) =>
  reason === 'inconclusive' && place === 'environment'

/** Why a comparison proves no gain that it shows, as a clause; null when a crowd has nothing to do with its outcome. */
export const crowdIn = (comparison: Comparison): string | null =>
  comparison.inputs.why === 'crowd' ? crowdAround(comparison) : null

/** That most pairs of a comparison were taken in a crowd, as a clause; null when they were not. */
export function crowdAround({ inputs: { pairs, crowded } }: Comparison): string | null {
  if (typeof pairs !== 'number' || typeof crowded !== 'number') return null
  return spoils(crowded, pairs) ? told(crowded, pairs, 'pairs') : null
}

const told = (crowded: number, all: number, what: 'pairs' | 'samples'): string =>
  `in ${crowded} of ${all} ${what} other programs left no processor idle, and wall time then tells who had to wait`

type Taken = Pick<Sample, 'processors'>

/** One of the two samples is enough: the other may have been too short to show the crowd. */
export const pairInCrowd = (candidate: Taken, other: Taken): boolean => inCrowd(candidate) || inCrowd(other)

/** Why these pairs of a metric say nothing against a candidate, as a clause; null when they do. */
export function crowdBehind(
  metric: string,
  candidate: readonly Taken[],
  other: readonly Taken[],
): string | null {
  if (!isSpoiltByCrowd(metric)) return null
  const crowded = candidate.filter((sample, pair) => pairInCrowd(sample, other[pair] ?? {})).length
  return spoils(crowded, candidate.length) ? told(crowded, candidate.length, 'pairs') : null
}

/**
 * The same for a limit that a candidate's samples break. There is no other side with the same crowd, so fewer crowded samples
 * excuse it when the quiet ones alone keep the limit: with two samples, one can move the median to any value.
 */
export function crowdBehindBound<T extends Taken>(
  metric: string,
  samples: readonly T[],
  keeps: (quiet: readonly T[]) => boolean,
): string | null {
  if (!isSpoiltByCrowd(metric)) return null
  const quiet = samples.filter((sample) => !inCrowd(sample))
  const crowded = samples.length - quiet.length
  const excused = spoils(crowded, samples.length) || (crowded > 0 && keeps(quiet))
  return excused ? told(crowded, samples.length, 'samples') : null
}

/** Something that was found against a candidate. */
export interface Objection {
  message: string
  /** Why the machine caused it, as a clause; absent = the candidate did. */
  crowd?: string
}

export const objection = (message: string, crowd: string | null): Objection =>
  crowd === null ? { message } : { message, crowd }

export const inWords = ({ message, crowd }: Objection): string =>
  crowd === undefined ? message : `${message}, but ${crowd}`

export const isCandidates = ({ crowd }: Objection): boolean => crowd === undefined

/** The objection that decides: the first that the candidate caused, else the first that the machine caused. */
export const foremost = <T extends Objection>(found: readonly T[]): T | undefined =>
  found.find(isCandidates) ?? found[0]
