import { shown } from '../evaluate/figure.ts'
import { pathTo } from '../ledger/state.ts'
import { artifactPlaces } from '../measure/artifacts.ts'
import { nodeFor } from '../measure/seal.ts'
import { worktreePath } from '../paths.ts'
import { ok, type Result } from '../result.ts'
import type { Context, Parsed, VerbAnswer } from '../terminal/command.ts'
import { plain } from '../text.ts'
import { nodeData } from '../view/node.ts'
import { idOf, theRun } from './verb.ts'

export async function run(context: Context, args: Parsed): Promise<Result<VerbAnswer>> {
  const opened = theRun(context, args)
  if (!opened.ok) return opened
  const node = nodeFor(opened.value, idOf(args))
  if (!node.ok) return node
  const path = pathTo(opened.value.ledger.state, node.value.id).map(nodeData)
  const worktree = worktreePath(opened.value.site, opened.value.run, node.value.id)
  const { own: artifacts, seed } = artifactPlaces(opened.value, node.value)
  return ok({
    data: { path, worktree, artifacts, ...(seed === null ? {} : { seed_artifact: seed.path }) },
    text: () => [
      ...path.map(
        ({ experiment, status, value, hypothesis }) =>
          `${experiment}  ${shown(value)}  ${status}  ${plain(hypothesis, 200)}`,
      ),
      `worktree: ${worktree}`,
      `artifacts: ${artifacts}`,
    ],
  })
}
