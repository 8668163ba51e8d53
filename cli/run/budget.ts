/** The five caps of a run, from the ledger alone: what is used, what a call would cost, what no longer fits. */

import { meets } from '../evaluate/constraints.ts'
import { isSpoilt } from '../evaluate/crowd.ts'
import { fits, type JudgeSpent } from '../judge/money.ts'
import { hasRunnableIdea, parkedIdeas } from '../ledger/backlog.ts'
import { bestOf } from '../ledger/best.ts'
import type { Bound, StopReason } from '../ledger/events.ts'
import { betterBy } from '../ledger/same-value.ts'
import {
  currentRound,
  JUDGE,
  lastJudged,
  nodeMetrics,
  nodeValue,
  type State,
  stallOf,
  type Unit,
} from '../ledger/state.ts'
import { call, next } from '../next.ts'
import type { Problem } from '../result.ts'

export const CAPS = ['experiments', 'hours', 'failures', 'tokens', 'usd'] as const
export type Cap = (typeof CAPS)[number]

export interface Used {
  used: number
  /** null when there is none. */
  limit: number | null
  /** Some calls did not tell what they used. */
  at_least: boolean
}

/** Reserved for calls that are not answered yet. */
export type Reserved = Record<Unit, number>

const UNITS = ['tokens', 'usd'] as const

export function budgetOf(state: State): Record<Cap, Used> {
  const used = (cap: Cap, amount: number, at_least = false): Used => ({
    used: amount,
    limit: state.knobs?.[cap] ?? null,
    at_least,
  })
  return {
    experiments: used('experiments', state.claims),
    hours: used('hours', Number((state.activeMs / 3_600_000).toFixed(4))),
    failures: used('failures', state.failures),
    tokens: used('tokens', reported(state, 'tokens'), isPartial(state, 'tokens')),
    usd: used('usd', reported(state, 'usd'), isPartial(state, 'usd')),
  }
}

/** Why a command that measures without a loop may not go on: the hours are used; null when they are not. */
export function hoursSpent(state: State): Problem | null {
  const { used, limit } = budgetOf(state).hours
  if (limit === null || used < limit) return null
  return {
    kind: 'refused',
    code: 'budget_hours',
    message: `the budget of ${limit} hours is used`,
    hint: next`raise it, then repeat the command: ${call('config set', 'budget.hours', 'N', '--reason', 'TEXT')}`,
  }
}

const reported = ({ usage }: State, unit: Unit): number =>
  // Sums of cents, not of binary fractions.
  unit === 'usd' ? Number(usage.usd.toFixed(6)) : usage.tokensIn + usage.tokensOut

const isPartial = (state: State, unit: Unit): boolean =>
  [...state.costs.values()].some(({ unknown }) => unknown[unit] > 0)

/** What counts against a cap: a call that did not report its cost counts as much as the most expensive one of its role. */
function charged(state: State, unit: Unit): number {
  let sum = reported(state, unit)
  for (const { highest, unknown } of state.costs.values()) sum += unknown[unit] * (highest[unit] ?? 0)
  return sum
}

/** The most expensive call of the role so far; 0 before a call has reported its cost. */
export function priceOf(state: State, role: string): Reserved {
  const highest = state.costs.get(role)?.highest
  return { tokens: highest?.tokens ?? 0, usd: highest?.usd ?? 0 }
}

/** Why a call of the role may not be made, beside what is in flight; null when it fits. */
export function unaffordable(state: State, role: string, inFlight: Reserved): string | null {
  const price = priceOf(state, role)
  for (const unit of UNITS) {
    const limit = state.knobs?.[unit] ?? null
    if (limit === null) continue
    const used = charged(state, unit) + inFlight[unit]
    if (used >= limit || used + price[unit] > limit)
      return `budget.${unit}: ${amount(used, unit)} of ${amount(limit, unit)} is used or reserved, and the most expensive ${role} call took ${amount(price[unit], unit)}`
  }
  return null
}

const amount = (value: number, unit: Unit): string =>
  unit === 'usd' ? `$${Number(value.toFixed(4))}` : String(value)

/** Whether a cap on money is reached: the most expensive call of any role so far would exceed it. */
export function moneyIsSpent(state: State): boolean {
  return UNITS.some((unit) => {
    const limit = state.knobs?.[unit] ?? null
    if (limit === null) return false
    const used = charged(state, unit)
    const highest = Math.max(0, ...[...state.costs.values()].map((cost) => cost.highest[unit] ?? 0))
    return used >= limit || used + highest > limit
  })
}

/** What the judge of this run has cost. */
export function judgeSpent({ judge, costs }: State): JudgeSpent {
  const cost = costs.get(JUDGE)
  return {
    calls: judge.calls,
    usd: judge.usd,
    unpriced: cost?.unknown.usd ?? 0,
    highest: cost?.highest.usd ?? null,
  }
}

/** Why the judge may not be asked so many times more; null when it may. */
export function judgeUnaffordable(state: State, calls: number): string | null {
  const cap = state.knobs?.judge_usd ?? null
  const spent = judgeSpent(state)
  if (!fits(spent, cap, calls))
    return `budget.judge_usd: ${amount(spent.usd, 'usd')} of ${amount(cap ?? 0, 'usd')} is used, and ${calls} more judgements may cost ${amount(calls * (spent.highest ?? 0), 'usd')}`
  return unaffordable(state, JUDGE, { tokens: 0, usd: 0 })
}

/** Whether the cap of the judge leaves no room for another pair. */
function judgeIsSpent(state: State): boolean {
  const { judge } = state.run ?? {}
  if (judge === undefined || state.judge.calls === 0) return false
  return judgeUnaffordable(state, judge.batch * judge.calls) !== null
}

/** Shares of a cap at which people are warned. */
const MARKS = [80, 50]

/** The highest mark in percent that each cap has passed; caps that passed none are left out. */
export function marksOf(state: State): { cap: Cap; mark: number; used: Used }[] {
  const budget = budgetOf(state)
  return CAPS.flatMap((cap) => {
    const { used, limit } = budget[cap]
    const mark = limit === null ? undefined : MARKS.find((one) => used * 100 >= limit * one)
    return mark === undefined ? [] : [{ cap, mark, used: budget[cap] }]
  })
}

/**
 * About how many more experiments the tightest cap pays for, at what those so far took; null when no cap says.
 * Before the first one, only a cap on experiments does.
 */
export function experimentsLeft(state: State): { count: number; cap: Cap } | null {
  const budget = budgetOf(state)
  const found = (['experiments', 'hours', 'tokens', 'usd'] as const).flatMap((cap) => {
    const { used, limit } = budget[cap]
    if (limit === null) return []
    const each = cap === 'experiments' ? 1 : state.claims === 0 ? 0 : used / state.claims
    return each > 0 ? [{ cap, count: Math.max(0, Math.floor((limit - used) / each)) }] : []
  })
  return found.sort((a, b) => a.count - b.count)[0] ?? null
}

/** Whether nothing bounds what a loop may cost; a cap on failures does not. */
export const isUncapped = ({ knobs }: State): boolean =>
  (['experiments', 'hours', 'tokens', 'usd'] as const).every((cap) => (knobs?.[cap] ?? null) === null)

// ----------------------------------------------------------------
// Why the loop is over, from the ledger alone; null while it may continue. Nothing is stored, so raising a
// limit lifts it.

/** Failures of one kind in a row that end a run: the fourth would tell nothing new. */
export const IDENTICAL_FAILURES = 3

export interface TargetStanding extends Bound {
  /** Of the best; null = it does not have the metric, or nothing is known yet. */
  actual: number | boolean | null
  met: boolean
}

/** What the best must reach: the target of the metric first. Empty when nothing is asked for. */
export function targetsOf(state: State): TargetStanding[] {
  const { knobs, run } = state
  if (!run) return []
  const best = bestOf(state)
  const value = best && nodeValue(best)
  const { name, target, direction } = run.metric
  const metrics = best ? nodeMetrics(best) : {}
  const op = direction === 'minimize' ? '<=' : '>='
  const isMet = target !== null && value !== null && betterBy(direction, value, target) >= 0
  const own: TargetStanding[] =
    target === null ? [] : [{ metric: name, op, value: target, actual: value, met: isMet }]
  const others = (knobs?.targets ?? []).map((bound) => {
    const known = bound.metric === name && value !== null ? { ...metrics, [name]: value } : metrics
    return { ...bound, actual: known[bound.metric] ?? null, met: meets(bound, known) }
  })
  return [...own, ...others]
}

export function stopReason(state: State): StopReason | null {
  const { knobs, run } = state
  if (!knobs || !run) return null
  if (state.stopped !== null) return 'user'
  const goals = targetsOf(state)
  if (goals.length > 0 && goals.every(({ met }) => met)) return 'target'
  if ((state.streak?.count ?? 0) >= IDENTICAL_FAILURES) return 'failures'
  if (knobs.failures !== null && state.failures >= knobs.failures) return 'failures'
  if (knobs.experiments !== null && state.claims >= knobs.experiments) return 'budget'
  if (knobs.hours !== null && state.activeMs >= knobs.hours * 3_600_000) return 'budget'
  if (moneyIsSpent(state) || judgeIsSpent(state)) return 'budget'
  if (stallOf(state) >= knobs.stall) return 'stall'
  const last = state.rounds.at(-1)
  const fresh = last !== undefined && last.round > state.resumedRound
  if (fresh && last.closed && last.opened.suite === undefined && (last.briefed?.lanes.length ?? 0) === 0)
    return 'no_hypothesis'
  if (knobs.briefs === 'backlog' && currentRound(state) === null && !hasRunnableIdea(state)) return 'no_idea'
  return null
}

/** What lies behind the reason, as a sentence: what failed again and again, a machine that let nothing be told, or a person's words; null when nothing does. */
export function stopCause(state: State): string | null {
  const reason = stopReason(state)
  if (reason === 'user') return state.stopped
  if (reason === 'stall') return crowdsIn(state)
  if (reason === 'no_idea') return waitingIn(state)
  const { streak } = state
  if (reason !== 'failures' || streak === null || streak.count < IDENTICAL_FAILURES) return null
  return `${streak.count} identical failures in a row: ${streak.message}`
}

function waitingIn(state: State): string | null {
  const { length } = parkedIdeas(state)
  if (length === 0) return null
  return `${length === 1 ? '1 idea waits' : `${length} ideas wait`} for an approval of packages: assay backlog`
}

/** A sentence if, in the rounds without a new best, a busy machine spoilt at least half of the verdicts; else null. */
function crowdsIn(state: State): string | null {
  const first = (state.rounds.at(-1)?.round ?? 0) - stallOf(state) + 1
  const judged = [...state.experiments.values()].flatMap((node) =>
    (node.created.round ?? 0) >= first ? (lastJudged(node) ?? []) : [],
  )
  const crowded = judged.filter(isSpoilt)
  return crowded.length > 0 && 2 * crowded.length >= judged.length
    ? `${crowded.length} of the last ${judged.length} candidates looked better while other programs kept the machine busy, which proves nothing: stop these programs, then continue with a larger loop.stall`
    : null
}
