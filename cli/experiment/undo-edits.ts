import { existsSync } from 'node:fs'
import { bringBack } from '../git/bring-back.ts'
import { changesBetween } from '../git/diff.ts'
import { lastAttempt } from '../ledger/state.ts'
import { worktreePath } from '../paths.ts'
import { ok, type Result } from '../result.ts'
import type { OpenRun } from '../run/open.ts'
import { nodeFor, snapshot } from './seal.ts'

/**
 * Brings the worktree of an experiment back to its last seal, after someone worked there who may only read. Answers the
 * paths that were undone, as far as they would have been part of a candidate, and the folder where they lie now; null
 * when there were none.
 */
export async function undoEdits(
  run: OpenRun,
  experiment: string,
): Promise<Result<{ paths: string[]; kept: string } | null>> {
  const node = nodeFor(run, experiment)
  if (!node.ok) return node
  const sealed = lastAttempt(node.value)?.sealed
  // Also where its `.git` is gone: the seal does not look at that.
  const worktree = worktreePath(run.site, run.run, experiment)
  if (!sealed || !existsSync(worktree)) return ok(null)
  const now = await snapshot(run, node.value)
  if (!now.ok) return now
  if (now.value.tree === sealed.tree) return ok(null)
  const changes = await changesBetween(run.site, sealed.tree, now.value.tree)
  if (!changes.ok) return changes
  const done = await bringBack(run.site, worktree, sealed.tree, changes.value)
  return done.ok ? ok({ paths: changes.value.map(({ path }) => path), kept: done.value }) : done
}
