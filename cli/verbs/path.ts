/** `path`: the experiments from the baseline to one experiment, the worktree of that one, and the folder of its artifacts. */
import { shown } from '../evaluate/figure.ts'
import { type Experiment, pathTo } from '../ledger/state.ts'
import { artifactPlaces } from '../measure/artifacts.ts'
import { call, next } from '../next.ts'
import { worktreePath } from '../paths.ts'
import { fail, ok, type Result } from '../result.ts'
import { plain } from '../text.ts'
import { nodeData, partOf, USUAL_LIMIT } from '../view/node.ts'
import { onExperiment } from './verb.ts'

export const run = onExperiment((opened, node, args) => {
  const all = pathTo(opened.ledger.state, node.id)
  const after = args.text('after')
  const behind = after === null ? ok(null) : onPath(all, after)
  if (!behind.ok) return behind
  const { nodes, next: more } = partOf(all, { limit: args.integer('limit') ?? USUAL_LIMIT, after })
  const path = nodes.map(nodeData)
  const worktree = worktreePath(opened.site, opened.run, node.id)
  const { own: artifacts, seed } = artifactPlaces(opened, node)
  return ok({
    data: {
      path,
      ...(more && { next: more }),
      worktree,
      artifacts,
      ...(seed === null ? {} : { seed_artifact: seed.path }),
    },
    text: () => [
      ...path.map(
        ({ experiment, status, value, hypothesis }) =>
          `${experiment}  ${shown(value)}  ${status}  ${plain(hypothesis, 200)}`,
      ),
      ...(more === undefined ? [] : [next`… more: ${call('path', node.id, '--after', more)}`]),
      `worktree: ${worktree}`,
      `artifacts: ${artifacts}`,
    ],
  })
})

function onPath(path: readonly Experiment[], id: string): Result<string> {
  if (path.some((node) => node.id === id)) return ok(id)
  return fail({
    kind: 'usage',
    code: 'not_on_path',
    message: `${id} is not on this path`,
    hint: 'name an experiment of the path, or leave out --after',
  })
}
