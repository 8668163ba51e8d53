/** `discards`: the experiments that were rejected or discarded, and why. */
import { shown } from '../evaluate/figure.ts'
import { type Experiment, failureClassOf, lastJudged, nodeValue } from '../ledger/state.ts'
import { ok } from '../result.ts'
import { likeness, shapeOf } from '../search/similar.ts'
import { plain } from '../text.ts'
import { onRun } from './verb.ts'

const LIMIT = 50

/** What was rejected, discarded or revoked, newest first; with `--like`, the most similar idea first. */
export const run = onRun((opened, args) => {
  const limit = args.integer('limit') ?? LIMIT
  const like = args.text('like')
  const shape = like === null ? null : shapeOf(like)
  const found = [...opened.ledger.state.experiments.values()]
    .filter(({ status }) => status === 'discarded' || status === 'rejected')
    .reverse()
    .map((node) => ({
      ...describe(node),
      ...(shape === null ? {} : { likeness: round(likeness(shape, shapeOf(node.hypothesis))) }),
    }))
  if (shape !== null) found.sort((a, b) => (b.likeness ?? 0) - (a.likeness ?? 0))
  const discards = found.slice(0, limit)
  return ok({
    data: { discards, truncated: found.length > limit },
    text: () => [
      ...discards.map((one) => {
        const why = one.why ?? one.message ?? ''
        const alike = one.likeness === undefined ? '' : `  ${Math.round(one.likeness * 100)} % alike`
        const reason = one.reason ? ` (${one.reason})` : ''
        return `${one.experiment}  ${one.status}${reason}  ${shown(one.value)}${alike}  ${plain(one.hypothesis, 200)}${why === '' ? '' : `: ${plain(why, 300)}`}`
      }),
      ...(found.length > limit ? [`… ${found.length - limit} more: --limit`] : []),
      ...(found.length === 0 ? ['nothing has been rejected or discarded'] : []),
    ],
  })
})

function describe(node: Experiment) {
  const judged = lastJudged(node)
  return {
    experiment: node.id,
    parent: node.parent,
    status: node.status,
    reason: judged?.reason ?? null,
    failure_class: failureClassOf(node),
    value: nodeValue(node),
    hypothesis: node.hypothesis,
    /** Given at the discard. */
    why: node.why,
    /** Of the verdict. */
    message: judged?.message ?? null,
  }
}

const round = (value: number): number => Number(value.toFixed(3))
