/**
 * Random choices of an attempt, or of a measurement without one: the seeds of its samples, the order of its pairs, and which checkout of the
 * slot holds which side. All follow from a nonce that is drawn after the candidate was sealed, so no candidate can
 * prepare for them. The nonce is recorded, so a process that resumes the attempt, and `show --recompute`, choose the same.
 */
import { createHash } from 'node:crypto'
import type { Side, Stage } from '../ledger/events.ts'
import { BASELINE, type Experiment } from '../ledger/state.ts'
import type { RunRecord, Surroundings } from '../run/open.ts'
import { rngOf } from '../search/random.ts'
import type { CheckoutPlace } from './slot.ts'

export interface RandomChoices {
  /** Equal within a pair, and fresh in each stage; from 0, below 2^31. */
  seed(stage: Stage, pair: number): number
  /** Drawn by a coin. With a fixed order, a machine whose second run is always slower (or faster) would favour one side. */
  order(stage: Stage, pair: number): Side[]
  /**
   * Who runs a task of a suite first in a pair: drawn for each task, beside the coin of `order`. If that coin had fallen the
   * other way, it would be the other side in every task: so the two samples would be exchanged, and nothing else.
   */
  first(stage: Stage, pair: number, task: number): Side
  /** Drawn by a coin, so that a program cannot tell from its folder whether it is the candidate or the parent. */
  place(side: Side): CheckoutPlace
  /** Other draws, as hexadecimal digits: the same for the same words. */
  draws(...about: (string | number)[]): string
}

const NONCE_BYTES = 16

/** Hex. Drawn when the attempt is claimed, or when a measurement without one begins: never before what is measured is sealed. */
export const drawNonce = ({ random }: Pick<Surroundings, 'random'>): string => random(NONCE_BYTES)

/** The choices of a claimed attempt. A claim of an earlier version has no nonce; its attempt keeps that version's rule. */
export function choicesOfAttempt(
  { started }: Pick<RunRecord, 'started'>,
  { id, attempts }: Experiment,
  attempt: number,
): RandomChoices {
  const nonce = attempts.find((one) => one.attempt === attempt)?.claim?.nonce ?? null
  if (nonce === null) return choicesUntil010(started.seed, id, attempt)
  const choices = choicesFrom(nonce, id, attempt)
  // The baseline is compared with nothing. It stays in one checkout, so that setup and build run only once.
  return id === BASELINE ? { ...choices, place: fixedPlace } : choices
}

/** The choices of a measurement that no process resumes. */
export const choicesWithoutAttempt = (nonce: string, experiment: string): RandomChoices =>
  choicesFrom(nonce, experiment, 'look')

/** A digest, so that a program that knows some draws (a sample sees its seed) cannot compute the others. */
function choicesFrom(nonce: string, ...about: (string | number)[]): RandomChoices {
  const digest = (...what: (string | number)[]) =>
    createHash('sha256')
      .update(JSON.stringify([nonce, ...about, ...what]))
      .digest()
  const draw = (...what: (string | number)[]) => digest(...what).readUInt32BE() >>> 1
  const isSwapped = draw('place') % 2 === 1
  const isCandidateFirst = (stage: Stage, pair: number) => draw('order', stage, pair) % 2 === 0
  const isSwappedIn = (...task: [Stage, number, number]) => draw('task', ...task) % 2 === 1
  return {
    seed: (stage, pair) => draw('seed', stage, pair),
    order: (stage, pair) => inOrder(isCandidateFirst(stage, pair)),
    first: (stage, pair, task) =>
      isCandidateFirst(stage, pair) !== isSwappedIn(stage, pair, task) ? 'candidate' : 'parent',
    place: (side) => ((side === 'candidate') === isSwapped ? 'a' : 'b'),
    draws: (...what) => digest('draws', ...what).toString('hex'),
  }
}

/** The rule until 0.1.0. */
function choicesUntil010(seed: number, experiment: string, attempt: number): RandomChoices {
  const isCandidateFirst = (stage: Stage, pair: number) =>
    rngOf(seed, 'order', experiment, attempt, stage, pair)() < 0.5
  return {
    seed: (stage, pair) => Math.floor(rngOf(seed, experiment, attempt, stage, pair)() * 2 ** 31),
    order: (stage, pair) => inOrder(isCandidateFirst(stage, pair)),
    first: (stage, pair) => (isCandidateFirst(stage, pair) ? 'candidate' : 'parent'),
    place: fixedPlace,
    draws: (...what) =>
      createHash('sha256')
        .update(JSON.stringify([seed, experiment, attempt, ...what]))
        .digest('hex'),
  }
}

const fixedPlace = (side: Side): CheckoutPlace => (side === 'candidate' ? 'b' : 'a')
const inOrder = (isCandidateFirst: boolean): Side[] =>
  isCandidateFirst ? ['candidate', 'parent'] : ['parent', 'candidate']
