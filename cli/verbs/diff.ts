import { changesBetween, patchBetween } from '../git/trees.ts'
import { type Experiment, lastAttempt } from '../ledger/state.ts'
import { nodeFor } from '../measure/seal.ts'
import { baseOf } from '../measure/worktree.ts'

import { call, next } from '../next.ts'
import { fail, ok, type Result } from '../result.ts'
import type { OpenRun } from '../run/open.ts'
import type { Context, Parsed, VerbAnswer } from '../terminal/command.ts'
import { printable } from '../terminal/output.ts'
import { idOf, theRun } from './verb.ts'

export async function run(context: Context, args: Parsed): Promise<Result<VerbAnswer>> {
  const opened = theRun(context, args)
  if (!opened.ok) return opened
  const node = nodeFor(opened.value, idOf(args))
  if (!node.ok) return node
  const to = treeOf(node.value)
  if (!to.ok) return to
  const from = otherTree(opened.value, node.value, args.positionals[1] ?? null)
  if (!from.ok) return from
  const changes = await changesBetween(opened.value.site, from.value.tree, to.value)
  if (!changes.ok) return changes
  const files = changes.value.map(({ path, status, added, removed }) => ({ path, status, added, removed }))
  const patch = args.on('stat') ? ok(null) : await patchBetween(opened.value.site, from.value.tree, to.value)
  if (!patch.ok) return patch
  return ok({
    data: { experiment: node.value.id, against: from.value.name, files, patch: patch.value },
    text: () =>
      patch.value === null
        ? files.map(({ path, status, added, removed }) =>
            printable(`${status}  +${added ?? '?'} −${removed ?? '?'}  ${path}`),
          )
        : // `git apply` at the other end of a pipe needs each byte; a terminal would obey some of them.
          context.tty
          ? printable(patch.value)
          : patch.value,
  })
}

function otherTree(
  run: OpenRun,
  node: Experiment,
  other: string | null,
): Result<{ name: string; tree: string }> {
  if (other === null) return ok({ name: node.parent ?? 'base', tree: baseOf(run, node.id).tree })
  const found = nodeFor(run, other)
  if (!found.ok) return found
  const tree = treeOf(found.value)
  return tree.ok ? ok({ name: other, tree: tree.value }) : tree
}

function treeOf(node: Experiment): Result<string> {
  const attempt = lastAttempt(node)
  if (attempt) return ok(attempt.sealed.tree)
  return fail({
    kind: 'refused',
    code: 'not_sealed',
    message: `${node.id} has no candidate yet`,
    hint: next`pin what its worktree holds: ${call('seal', node.id)}`,
  })
}
