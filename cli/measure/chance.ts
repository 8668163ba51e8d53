/**
 * What chance decides in an attempt or a look: the seeds of its samples, the order of its pairs, and which checkout of the
 * slot holds which side. All of it follows from a nonce that is drawn after the candidate was sealed, so no candidate can
 * be made for it; the nonce is recorded, so a process that takes the attempt up, and `show --recompute`, decide alike.
 */
import { createHash } from 'node:crypto'
import type { Side, Stage } from '../ledger/events.ts'
import { BASELINE, type Experiment } from '../ledger/state.ts'
import type { RunRecord, Surroundings } from '../run/open.ts'
import { rngOf } from '../search/random.ts'
import type { CheckoutPlace } from './bench.ts'

export interface Chance {
  /** Equal within a pair, and fresh in each stage; from 0, below 2^31. */
  seed(stage: Stage, pair: number): number
  /** By a coin: a fixed order keeps what is no better on machines whose second run is slower, or faster. */
  order(stage: Stage, pair: number): Side[]
  /** By a coin: a candidate that knew its place would know whether it is the parent. */
  place(side: Side): CheckoutPlace
}

const NONCE_BYTES = 16

/** Hex. Drawn when the attempt is claimed, or when a look begins: never before what is measured is sealed. */
export const drawNonce = ({ random }: Pick<Surroundings, 'random'>): string => random(NONCE_BYTES)

/** Of an attempt that was claimed; one whose claim is of an earlier version has no nonce, and goes on by that version's rule. */
export function chanceOfAttempt(
  { started }: Pick<RunRecord, 'started'>,
  { id, attempts }: Experiment,
  attempt: number,
): Chance {
  const nonce = attempts.find((one) => one.attempt === attempt)?.claim?.nonce ?? null
  if (nonce === null) return knownBefore(started.seed, id, attempt)
  const chance = chanceOf(nonce, id, attempt)
  // The baseline is the user's own and has no other side: its checkout stays, so that setup and build run in one only.
  return id === BASELINE ? { ...chance, place: fixedPlace } : chance
}

/** Of a look, which nobody takes up. */
export const chanceOfLook = (nonce: string, experiment: string): Chance => chanceOf(nonce, experiment, 'look')

/** A digest: who saw some of its draws, as a sample sees its seed, cannot compute the others. */
function chanceOf(nonce: string, ...about: (string | number)[]): Chance {
  const draw = (...what: (string | number)[]) =>
    createHash('sha256')
      .update(JSON.stringify([nonce, ...about, ...what]))
      .digest()
      .readUInt32BE() >>> 1
  const isSwapped = draw('place') % 2 === 1
  return {
    seed: (stage, pair) => draw('seed', stage, pair),
    order: (stage, pair) => inOrder(draw('order', stage, pair) % 2 === 0),
    place: (side) => ((side === 'candidate') === isSwapped ? 'a' : 'b'),
  }
}

/** The rule until 0.1.0. */
function knownBefore(seed: number, experiment: string, attempt: number): Chance {
  return {
    seed: (stage, pair) => Math.floor(rngOf(seed, experiment, attempt, stage, pair)() * 2 ** 31),
    order: (stage, pair) => inOrder(rngOf(seed, 'order', experiment, attempt, stage, pair)() < 0.5),
    place: fixedPlace,
  }
}

const fixedPlace = (side: Side): CheckoutPlace => (side === 'candidate' ? 'b' : 'a')
const inOrder = (isCandidateFirst: boolean): Side[] =>
  isCandidateFirst ? ['candidate', 'parent'] : ['parent', 'candidate']
