/** The baseline of a new epoch: the same candidate, sealed once more, so that it is measured again. */
import { pinRef } from '../git/kept.ts'
import { type Experiment, lastAttempt } from '../ledger/state.ts'
import { candidateRef } from '../paths.ts'
import type { Result } from '../result.ts'
import type { OpenRun } from '../run/open.ts'
import { type Seal, storedSeal } from './seal.ts'
import { keptCommit } from './worktree.ts'

export async function sealAgain(run: OpenRun, node: Experiment): Promise<Result<Seal>> {
  const last = lastAttempt(node)
  const kept = keptCommit(run, node.id) ?? run.started.base
  if (last && !last.judged && last.sealed.tree === kept.tree) return storedSeal(run, node, last)
  const attempt = (last?.attempt ?? 0) + 1
  const pinned = await pinRef(run.site, candidateRef(run.run, node.id, attempt), kept.commit)
  if (!pinned.ok) return pinned
  const recorded = run.ledger.record<'sealed'>(
    {
      type: 'sealed',
      experiment: node.id,
      attempt,
      commit: kept.commit,
      tree: kept.tree,
      diff: { files: 0, added: 0, removed: 0 },
      left_out: [],
      secrets: [],
    },
    run.clock(),
  )
  if (!recorded.ok) return recorded
  const sealed = lastAttempt(node)
  if (!sealed) throw new Error(`${node.id} was sealed and has no attempt`)
  return storedSeal(run, node, sealed)
}
