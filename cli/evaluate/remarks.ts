/** Remarks that a verdict adds to its sentence: true and worth checking, but no reason to reject. Pure. */
import type { Direction, JudgedStatus } from '../ledger/events.ts'
import { betterBy } from '../ledger/same-value.ts'
import { figure } from './figure.ts'
import { median } from './stats.ts'

export interface Remarked {
  status: JudgedStatus
  metric: { direction: Direction; target: number | null }
  value: number | null
  /** Of the parent and of the baseline, in the same epoch. */
  parentValue: number | null
  baselineValue: number | null
  /** The earlier experiment with the same score on every task, and how many tasks there are. */
  sameAs: { experiment: string; tasks: number } | null
  /** A sample said a time or a size below 0. */
  belowZero?: boolean
  /** Values in the order in which they were measured; absent in runs that began before this was looked at. */
  series?: { own: readonly number[]; parents: readonly number[] }
}

/** The share of the distance from the baseline to a perfect score that one candidate may cover; more is rarely an optimisation. */
const LEAP = 0.5

/** To be put behind the message; empty when there is nothing to remark. */
export function remarksOn(facts: Remarked): string {
  const { sameAs } = facts
  return [
    ...(facts.belowZero && facts.status === 'kept'
      ? [
          '; a time or a size below 0 cannot be: look at what the benchmark really measures before you trust it',
        ]
      : []),
    ...(!facts.belowZero && suspiciouslyPerfect(facts)
      ? ['; suspiciously perfect in one step: look at what it really does before you trust it']
      : []),
    ...remembering(facts),
    ...(sameAs === null
      ? []
      : [`; the same score as ${sameAs.experiment} on each of the ${sameAs.tasks} tasks`]),
  ].join('')
}

/** Beyond how much worse the parent's own first sample is: every program warms up. */
const COLD = 5
const FEWEST = 3

/** A first sample that is far worse than all later ones, where the parent's is not: something was kept for them. */
function remembering({ status, metric, series }: Remarked): string[] {
  if (status !== 'kept' || !series || series.own.length < FEWEST) return []
  const [own, parents] = [coldness(metric.direction, series.own), coldness(metric.direction, series.parents)]
  if (own === null || own < COLD * Math.max(1, parents ?? 1)) return []
  const [first = 0, ...rest] = series.own
  return [
    `; its first sample gave ${figure(first)} and the others about ${figure(median(rest))}: it may remember answers between samples`,
  ]
}

/** How many times worse the first value is than the middle of the others; null when that cannot be told. */
function coldness(direction: Direction, [first, ...rest]: readonly number[]): number | null {
  const later = rest.length === 0 ? null : median(rest)
  if (first === undefined || later === null || first <= 0 || later <= 0) return null
  return direction === 'minimize' ? first / later : later / first
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

/**
 * Equal for identical failures: reason, exit (or signal) and the last stderr line without its digits, which are
 * line numbers, times, pids. Three equal ones in a row stop a run.
 */
export function failureSignature(failure: {
  reason: string
  exit: number | null
  signal?: string | null
  /** The last line of stderr, or the message when it said nothing. */
  line: string
}): string {
  const line = failure.line.replace(/\d+/g, '').replace(/\s+/g, ' ').trim().slice(0, 200)
  return `${failure.reason}|${failure.exit ?? failure.signal ?? '-'}|${line}`
}
