/** `diff`: the candidate of an experiment against its parent, or against another experiment. */
import { changesBetween, patchBetween } from '../git/trees.ts'
import { type Experiment, lastAttempt } from '../ledger/state.ts'
import { baseOf } from '../measure/worktree.ts'
import { call, next } from '../next.ts'
import { fail, ok, type Result } from '../result.ts'
import { nodeFor, type OpenRun } from '../run/open.ts'
import { printable } from '../terminal/output.ts'
import { type AttributionView, attributionView, partLines, worthOf } from '../view/attribution.ts'
import { onExperiment } from './verb.ts'

export const run = onExperiment(async (opened, node, args, context) => {
  const to = treeOf(node)
  if (!to.ok) return to
  const from = otherTree(opened, node, args.positionals[1] ?? null)
  if (!from.ok) return from
  const changes = await changesBetween(opened.site, from.value.tree, to.value)
  if (!changes.ok) return changes
  const files = changes.value.map(({ path, status, added, removed }) => ({ path, status, added, removed }))
  // Its parts are those of the diff against its parent.
  const attribution = from.value.name === node.parent ? attributionView(opened.ledger.state, node.id) : null
  const patch = args.on('stat') ? ok(null) : await patchBetween(opened.site, from.value.tree, to.value)
  if (!patch.ok) return patch
  return ok({
    data: {
      experiment: node.id,
      against: from.value.name,
      files,
      patch: patch.value,
      ...(attribution && { attribution }),
    },
    text: () =>
      patch.value === null
        ? [
            ...files.map(({ path, status, added, removed }) =>
              printable(`${status}  +${added ?? '?'} −${removed ?? '?'}  ${path}`),
            ),
            ...(attribution ? [...partLines(attribution), attribution.summary].map(printable) : []),
          ]
        : // `git apply` at the other end of a pipe needs each byte; a terminal would obey some of them.
          context.tty
          ? printable(withWorth(patch.value, attribution))
          : patch.value,
  })
})

/** For a person: what each part of the diff is worth, behind the head of its hunk. */
function withWorth(patch: string, attribution: AttributionView | null): string {
  if (attribution === null) return patch
  let path = ''
  return patch
    .split('\n')
    .map((line) => {
      const file = /^\+\+\+ (?:b\/)?(.+?)\t?$/.exec(line)?.[1]
      if (file !== undefined) path = file
      const from = /^@@ -(\d+)(?:,(\d+))? /.exec(line)
      if (!from) return line
      const part = attribution.parts.find(({ edits }) =>
        edits.some(
          ({ path: of, old }) => of === path && old?.[0] === Number(from[1]) + (from[2] === '0' ? 1 : 0),
        ),
      )
      return part ? `${line}  ← ${part.id} ${worthOf(part)}` : line
    })
    .join('\n')
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
