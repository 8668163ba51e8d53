/** Why the loop is over, from the ledger alone; null while it may go on. Nothing is stored, so raising a limit lifts it. */
import { isSpoilt } from '../evaluate/crowd.ts'
import { bestOf, better } from '../ledger/best.ts'
import type { StopReason } from '../ledger/events.ts'
import { lastJudged, nodeValue, type State, stallOf } from '../ledger/state.ts'
import { moneyIsSpent } from './budget.ts'

/** Failures of one kind in a row that end a run: the fourth would tell nothing new. */
export const IDENTICAL_FAILURES = 3

export function stopReason(state: State): StopReason | null {
  const { knobs, run } = state
  if (!knobs || !run) return null
  if (state.stopped !== null) return 'user'
  const best = bestOf(state)
  const value = best && nodeValue(best)
  const { target, direction } = run.metric
  if (target !== null && value !== null && better(direction, value, target) >= 0) return 'target'
  if ((state.streak?.count ?? 0) >= IDENTICAL_FAILURES) return 'failures'
  if (knobs.failures !== null && state.failures >= knobs.failures) return 'failures'
  if (knobs.experiments !== null && state.claims >= knobs.experiments) return 'budget'
  if (knobs.hours !== null && state.activeMs >= knobs.hours * 3_600_000) return 'budget'
  if (moneyIsSpent(state)) return 'budget'
  if (stallOf(state) >= knobs.stall) return 'stall'
  const last = state.rounds.at(-1)
  const fresh = last !== undefined && last.round > state.resumedRound
  if (fresh && last.closed && (last.briefed?.lanes.length ?? 0) === 0) return 'no_hypothesis'
  return null
}

/** What lies behind the reason, as a sentence: what failed again and again, a machine that let nothing be told, or a person's words; null when nothing does. */
export function stopCause(state: State): string | null {
  const reason = stopReason(state)
  if (reason === 'user') return state.stopped
  if (reason === 'stall') return crowdsIn(state)
  const { streak } = state
  if (reason !== 'failures' || streak === null || streak.count < IDENTICAL_FAILURES) return null
  return `${streak.count} identical failures in a row: ${streak.message}`
}

/** Of the rounds without a new best: that a busy machine spoilt at least half of what was judged in them. */
function crowdsIn(state: State): string | null {
  const first = (state.rounds.at(-1)?.round ?? 0) - stallOf(state) + 1
  const judged = [...state.experiments.values()].flatMap((node) =>
    (node.created.round ?? 0) >= first ? (lastJudged(node) ?? []) : [],
  )
  const crowded = judged.filter(isSpoilt)
  return crowded.length > 0 && 2 * crowded.length >= judged.length
    ? `${crowded.length} of the last ${judged.length} candidates looked better while other programs kept the machine busy, which proves nothing: quiet it, and let the loop go on with a larger loop.stall`
    : null
}
