/** `frontier`: the parents that the next round would offer. */
import { shown } from '../evaluate/figure.ts'
import { type Frontier, pickParents } from '../loop/frontier.ts'
import { ok } from '../result.ts'
import { onRun } from './verb.ts'

/** What the next round would pick, with the reasons; nothing is recorded. */
export const run = onRun((opened, args) => {
  const frontier = pickParents(opened, { policy: args.text('policy'), k: args.integer('k') })
  if (!frontier.ok) return frontier
  const { policy, picks } = frontier.value
  return ok({
    data: { policy, parents: picks },
    text: () => describe(frontier.value, args.on('explain')),
  })
})

function describe({ policy, picks }: Frontier, explain: boolean): string[] {
  if (picks.length === 0) return ['No experiment may become a parent.']
  const lines = picks.map(
    ({ experiment, value, rank, why }) =>
      `${rank}. ${experiment}  ${shown(value)}${explain ? `  ${why}` : ''}`,
  )
  return explain ? [policy, ...lines] : lines
}
