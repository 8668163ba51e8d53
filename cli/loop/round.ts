/** What a round is: how many lanes it has, which round a call means, and what a person should know of it as it opens. */

import { figure } from '../evaluate/figure.ts'
import type { Refusal } from '../ledger/decide.ts'
import { refusal } from '../ledger/ledger.ts'
import { currentRound, type Round, type State } from '../ledger/state.ts'
import { call, next } from '../next.ts'
import { fail, type Problem, type Result } from '../result.ts'
import { budgetOf, CAPS } from '../run/budget.ts'
import { liveSpec, type OpenRun } from '../run/open.ts'
import { prunesLeft } from './prunes.ts'

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

// ---------------------------------------------------------------- how many lanes a round has
// How many lanes a round has, and how deep they may go.

/**
 * What the rest of the budget allows a round: every lane may go as deep as `depth`, so that no lane is cut off in
 * the middle and the last places do not go to whichever lane is quicker.
 */
export function roundSize(state: State): { width: number; depth: number } {
  const { knobs } = state
  if (!knobs) return { width: 0, depth: 0 }
  if (knobs.experiments === null) return { width: knobs.width, depth: knobs.depth }
  const left = Math.max(0, knobs.experiments - state.claims)
  const width = Math.min(knobs.width, left)
  return { width, depth: width === 0 ? 0 : Math.min(knobs.depth, Math.max(1, Math.floor(left / width))) }
}

/**
 * How many of the next round's lanes try from the baseline: as many as keep their share of all lanes at, or just below,
 * `share`. It follows from the rounds before, not from chance.
 */
export function baselineArmLanes(state: State, share: number, width: number): number {
  const laid = [...state.rounds].reduce((sum, { opened }) => sum + opened.width, width)
  const before = [...state.rounds].reduce((sum, { opened }) => sum + (opened.arm ?? 0), 0)
  // A share like 0.2 has no exact double: five lanes of it are one.
  return Math.min(width, Math.max(0, Math.floor(share * laid + 1e-9) - before))
}

export const searchLanes = ({ opened }: Round): number => opened.width - (opened.arm ?? 0)

// ---------------------------------------------------------------- which round a call means
// Which round a call means: it names the round by a token, so a call that is late does not change a later round.

/** How a call names its round: the token decides; a number beside it must agree. */
export interface RoundRef {
  token: string
  round: number | null
}

/** The round that a call with this token means: the open one, or an earlier one whose answer is asked for again. */
export function roundOf(run: OpenRun, { token, round: number }: RoundRef): Result<Round> {
  const found = run.ledger.state.rounds.findLast((round) => round.opened.token === token)
  return found && (number === null || number === found.round) ? { ok: true, value: found } : staleToken(run)
}

/** What became of an event of a round that another event came before. */
export const roundRefusal = (run: OpenRun, because: Refusal): { ok: false; problem: Problem } =>
  because.raced ? staleToken(run) : refusal(because)

/** The caller acts on a state that is gone; the answer carries the present one. */
export function staleToken(run: OpenRun): { ok: false; problem: Problem } {
  const current = currentRound(run.ledger.state)
  return fail({
    kind: 'refused',
    code: 'stale_round',
    message: current
      ? `the token is not that of the open round ${current.round}`
      : 'no round is open with this token',
    hint: next`ask where the run stands: ${call('round open')}`,
    data: { round: current?.round ?? null, token: current?.opened.token ?? null },
  })
}

/** In ms; null = the meta controller is off. It is also off in a run whose stored spec has no `loop.meta`: such a run is older than the default. */
export function metaInterval(run: OpenRun): number | null {
  const { meta } = liveSpec(run).loop
  return meta && meta.on !== false ? meta.every : null
}
