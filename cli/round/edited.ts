/** After another session gave way: its agents know nothing of that, and go on in their worktrees. */
import { hasSeal } from '../experiment/create.ts'
import { isOf } from '../ledger/lease.ts'
import type { Round } from '../ledger/state.ts'
import { worktreePath } from '../paths.ts'
import { callerIn } from '../run/lease.ts'
import type { OpenRun } from '../run/open.ts'

/** One sentence for each candidate of the open round that may have two editors, if the caller begins its lane now. */
export function stillEdited(run: OpenRun, { round, opened, briefed }: Round): string[] {
  const by = briefed?.by ?? opened.by
  const me = callerIn(run.env)
  if (by === undefined || isOf(by, me)) return []
  const { lease, experiments } = run.ledger.state
  const mine = lease !== null && isOf(lease, me) ? lease.since : null
  const whose = `agents of session ${by.session.slice(0, 100)} of ${by.host}, which had this round`
  return [...experiments.values()].flatMap((node) => {
    const { id, created, status } = node
    if (created.round !== round || status !== 'open' || hasSeal(node)) return []
    // Begun by the caller, since it has the turn.
    if (mine !== null && created.at >= mine) return []
    const worktree = worktreePath(run.site, run.run, id)
    return `${id} (lane ${created.lane}) has no seal: ${whose}, may still edit ${worktree}; wait until they have ended, or assay discard ${id} --failure-class environment --reason TEXT`
  })
}
