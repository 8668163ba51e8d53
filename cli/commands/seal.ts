import { diffStat, nodeFor, seal, snapshot } from '../experiment/seal.ts'
import { ok, type Result } from '../result.ts'
import type { Answer, Context, Parsed } from './command.ts'
import { idOf, theRun } from './verb.ts'

export async function run(context: Context, args: Parsed): Promise<Result<Answer>> {
  const opened = theRun(context, args)
  if (!opened.ok) return opened
  const node = nodeFor(opened.value, idOf(args))
  if (!node.ok) return node
  const taken = await snapshot(opened.value, node.value)
  if (!taken.ok) return taken
  const sealed = await seal(opened.value, node.value, taken.value, args.text('message'))
  if (!sealed.ok) return sealed
  const { experiment, attempt, commit, tree, changes, leftOut, ignored, secrets } = sealed.value
  const { files, added, removed } = diffStat(changes)
  return ok({
    data: {
      experiment,
      attempt,
      commit,
      tree,
      files,
      lines: added + removed,
      left_out: leftOut,
      ignored,
      secrets,
    },
    text: () => [
      `${experiment} sealed as attempt ${attempt}: ${files} files, ${added + removed} lines (${commit.slice(0, 10)})`,
      ...leftOut.map((path) => `Left out, outside scope.mutable: ${path}`),
      ...ignored.map(({ path, rule }) => `Not part of the candidate, ignored by ${rule}: ${path}`),
      ...secrets.map(({ path, reason }) => `Not sealed, it looks like a secret (${reason}): ${path}`),
    ],
  })
}
