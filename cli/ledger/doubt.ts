/** What is left of a doubt after a measurement, and what clears it. Pure. */
import { type Experiment, lastJudged } from './state.ts'

/** The part of the doubt that no measurement clears; null when there is none, or a person has cleared it. */
export function lastingDoubt(node: Experiment): string | null {
  const lasting = lastJudged(node)?.lasting_doubt
  return lasting !== undefined && node.flagged?.includes(lasting) ? lasting : null
}

/** The next step for a person, as a hint. */
export const clearing = (node: Experiment): string =>
  lastingDoubt(node) === null
    ? `measure it again: assay confirm ${node.id}`
    : `look at assay diff ${node.id}; when it is right, clear it: assay restore ${node.id}`
