import { changedSince, fingerprintCheckout } from '../git/checkout.ts'
import { worktreePath } from '../paths.ts'
import type { OpenRun } from '../run/open.ts'
import { scopeOfRun } from './scope.ts'
import { readWorktreeFacts } from './worktree.ts'

/** At an empty seal: whether the agent worked in the user's checkout instead, as a sentence to add; `''` when not. */
export async function strayEdits(run: OpenRun, experiment: string): Promise<string> {
  const before = readWorktreeFacts(run, experiment)?.checkout
  if (!before) return ''
  const scope = scopeOfRun(run)
  const now = await fingerprintCheckout(run.started.checkout, (path) => scope(path) === 'mutable')
  if (!now.ok) return ''
  const changed = changedSince(before, now.value).filter((path) => scope(path) === 'mutable')
  if (changed.length === 0) return ''
  const worktree = worktreePath(run.site, run.run, experiment)
  return `. But ${changed.slice(0, 5).join(', ')} changed in ${run.started.checkout} since this experiment was opened: move the edit into ${worktree}, then run it again`
}
