import { bringBack } from '../git/bring-back.ts'
import { changesBetween } from '../git/diff.ts'
import { lastAttempt } from '../ledger/state.ts'
import { worktreePath } from '../paths.ts'
import { ok, type Result } from '../result.ts'
import type { OpenRun } from '../run/open.ts'
import { nodeFor, snapshot } from './seal.ts'
import { hasWorktree } from './worktree.ts'

/**
 * Brings the worktree of an experiment back to its last seal, after someone worked there who may only read. Answers the
 * paths that were undone, as far as they would have been part of a candidate.
 */
export async function undoEdits(run: OpenRun, experiment: string): Promise<Result<string[]>> {
  const node = nodeFor(run, experiment)
  if (!node.ok) return node
  const sealed = lastAttempt(node.value)?.sealed
  if (!sealed || !hasWorktree(run, experiment)) return ok([])
  const now = await snapshot(run, node.value)
  if (!now.ok) return now
  if (now.value.tree === sealed.tree) return ok([])
  const changes = await changesBetween(run.site, sealed.tree, now.value.tree)
  if (!changes.ok) return changes
  const done = await bringBack(
    run.site,
    worktreePath(run.site, run.run, experiment),
    sealed.tree,
    changes.value,
  )
  return done.ok ? ok(changes.value.map(({ path }) => path)) : done
}
