/** What was kept before the metric was seen to vary has to be shown again, or the run would begin anew. */
import { bestOf } from '../ledger/best.ts'
import { pathTo, type State } from '../ledger/state.ts'
import type { OpenRun } from '../run/open.ts'
import { confirm } from './confirm.ts'

/** The way to what was the best, from the baseline on; its experiments that are in doubt now. */
export function pathOfBest(state: State): string[] {
  const best = bestOf(state)
  return best ? pathTo(state, best.id).map(({ id }) => id) : []
}

/**
 * Confirms them one after the other, each against its parent, and stops at the first that does not hold: what was built
 * on it stands for nothing. The rest stays in doubt until somebody confirms it.
 */
export async function confirmAgain(run: OpenRun, path: readonly string[]): Promise<void> {
  for (const id of path) {
    const node = run.ledger.state.experiments.get(id)
    if (node?.status !== 'kept' || node.flagged === null) continue
    run.tell({ type: 'preparing', what: `another look at ${id}: ${node.flagged}` })
    const answer = await confirm(run, id, { against: null, key: null })
    if (answer.ok && answer.value.passed) continue
    const why = answer.ok ? answer.value.message : answer.problem.message
    const now = answer.ok && answer.value.status === 'revoked' ? 'does not stand any more' : 'stays in doubt'
    run.tell({ type: 'warning', message: `${id} ${now}: ${why}` })
    return
  }
}
