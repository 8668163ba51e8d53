/** Which items a pair is about: the same for both sides, and known before either is measured. */
import { ANCHORS_AT_FIRST } from '../judge/anchors.ts'
import { type BatchSoFar, type ItemSetName, type ItemSets, nextItems } from '../judge/items.ts'
import type { Stage } from '../ledger/events.ts'
import type { RandomChoices } from './random-choices.ts'
import type { AttemptRecord } from './steps.ts'

interface Chosen {
  record: Pick<AttemptRecord, 'decided'>
  choices: Pick<RandomChoices, 'draws'>
}

export const setOf = (stage: Stage): ItemSetName =>
  stage === 'holdout' ? 'holdout' : stage === 'confirm' || stage === 'best' ? 'confirm' : 'judge'

/** `best` goes on where `confirm` ended, since both use one set. */
export function batchesBefore({ record }: Pick<Chosen, 'record'>, stage: Stage, pair: number): BatchSoFar[] {
  return record
    .decided('batch')
    .filter((one) => (one.stage === stage ? one.pair < pair : stage === 'best' && one.stage === 'confirm'))
    .map(({ asked, changed }) => ({ asked, changed }))
}

/** The ids that a sample of the baseline answers at `init`. */
export const calibrationItems = (sets: ItemSets): string[] =>
  sets.judge.slice(0, Math.max(sets.batch, ANCHORS_AT_FIRST)).map(({ id }) => id)

/** The ids that a sample of this pair must answer. Samples that no judge compares answer the first items. */
export function itemsOfPair(chosen: Chosen, sets: ItemSets, stage: Stage, pair: number): string[] {
  const ids = (items: readonly { id: string }[]) => items.map(({ id }) => id)
  if (stage === 'calibrate') return calibrationItems(sets)
  if (stage === 'check' || stage === 'guard') return ids(sets.judge.slice(0, sets.batch))
  if (stage === 'holdout') return ids(sets.holdout.slice(0, 2 * sets.batch))
  return ids(nextItems(sets, setOf(stage), chosen.choices.draws('items'), batchesBefore(chosen, stage, pair)))
}
