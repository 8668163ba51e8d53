/** Which round a call means: it names the round by a token, so a call that is late does not change a later round. */
import type { Refusal } from '../ledger/decide.ts'
import { refusal } from '../ledger/ledger.ts'
import { currentRound, type Round } from '../ledger/state.ts'
import { call, next } from '../next.ts'
import { fail, type Problem, type Result } from '../result.ts'
import type { OpenRun } from '../run/open.ts'

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
