/** What a person should know of a round as it opens, in one line. Pure. */
import { figure } from '../evaluate/figure.ts'
import type { Round, State } from '../ledger/state.ts'
import { budgetOf, CAPS } from '../run/budget.ts'
import { prunesLeft } from './prunes-left.ts'

/** The best and the one before it, how near the loop is to its limit, what was spent, and why ideas are asked for. */
export function roundLine(state: State, { round, opened, bestAtOpen }: Round): string {
  const before = state.rounds.findLast((one) => one.round < round)
  const earlier = before?.bestAtOpen ?? null
  const changed = earlier !== null && earlier.experiment !== bestAtOpen?.experiment
  const stall = before?.closed?.stall ?? 0
  const limit = state.knobs?.stall ?? null
  const left = prunesLeft(state)
  const budget = budgetOf(state)
  const spent = CAPS.flatMap((cap) => {
    const { used, limit: most, at_least } = budget[cap]
    if (used === 0 && most === null) return []
    return [`${at_least ? 'at least ' : ''}${used}${most === null ? '' : ` of ${most}`} ${cap}`]
  })
  return [
    `round ${round}: best ${bestAtOpen ? `${figure(bestAtOpen.value)} (${bestAtOpen.experiment})` : 'unknown'}`,
    ...(changed ? [`before ${figure(earlier.value)} (${earlier.experiment})`] : []),
    `${stall}${limit === null ? '' : ` of ${limit}`} rounds without a new best`,
    `spent ${spent.length === 0 ? 'nothing yet' : spent.join(', ')}`,
    ...(left.length === 0 ? [] : [`left for you to prune: ${left.join(', ')}`]),
    opened.ideate === null ? 'no ideas asked for' : `ideas asked for: ${opened.ideate.why}`,
  ].join('; ')
}
