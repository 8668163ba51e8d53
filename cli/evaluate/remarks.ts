/** What a verdict adds to its sentence: true, worth a look, and no ground to reject. Pure. */
import type { Direction, JudgedStatus } from '../ledger/events.ts'
import { betterBy } from './compare.ts'

export interface Remarked {
  status: JudgedStatus
  metric: { direction: Direction; target: number | null }
  value: number | null
  /** Of the parent and of the baseline, in the same epoch. */
  parentValue: number | null
  baselineValue: number | null
  /** The earlier experiment with the same score on every task, and how many tasks there are. */
  sameAs: { experiment: string; tasks: number } | null
  /** A sample said a time below 0. */
  belowZero?: boolean
}

/** Of the way from the baseline to perfection, in one candidate: more than that is rarely an optimisation. */
const LEAP = 0.5

/** To be put behind the message; empty when there is nothing to remark. */
export function remarksOn(facts: Remarked): string {
  const { sameAs } = facts
  return [
    ...(facts.belowZero && facts.status === 'kept'
      ? ['; a time below 0 cannot be: look at what the benchmark really measures before you trust it']
      : []),
    ...(!facts.belowZero && suspiciouslyPerfect(facts)
      ? ['; suspiciously perfect in one step: look at what it really does before you trust it']
      : []),
    ...(sameAs === null
      ? []
      : [`; the same score as ${sameAs.experiment} on each of the ${sameAs.tasks} tasks`]),
  ].join('')
}

/** Kept, and at the target (or at 0 where less is better) after a leap, not after the last of many steps. */
function suspiciouslyPerfect({ status, metric, value, parentValue, baselineValue }: Remarked): boolean {
  if (status !== 'kept' || value === null || parentValue === null || baselineValue === null) return false
  const { direction, target } = metric
  const perfect =
    (target !== null && betterBy(direction, value, target) >= 0) || (value === 0 && direction === 'minimize')
  const step = betterBy(direction, value, parentValue)
  return perfect && step > 0 && step >= LEAP * betterBy(direction, value, baselineValue)
}
