/** `tree`: every experiment of a run below its parent, with its verdict. */
import { bestOf } from '../ledger/best.ts'
import { type Experiment, type State, withTraits } from '../ledger/state.ts'
import { ok } from '../result.ts'
import { painter } from '../terminal/colour.ts'
import { BLANK } from '../terminal/lines.ts'
import { suiteLines } from '../terminal/suite-table.ts'
import { type Forest, forestLines, type TreeNode } from '../terminal/tree.ts'
import { nodeData } from '../view/node.ts'
import { suiteView } from '../view/suite.ts'
import { onRun } from './verb.ts'

const LIMIT = 1000

function firstOf({ experiments }: State, most: number): Experiment[] {
  const found: Experiment[] = []
  for (const node of experiments.values()) {
    if (found.length >= most) break
    found.push(node)
  }
  return found
}

function forestOf({ experiments }: State): Forest {
  const below = ({ experiment }: TreeNode) =>
    (experiments.get(experiment)?.children ?? []).flatMap((id) => {
      const child = experiments.get(id)
      // A merge stands below the first of its parents.
      return child?.parent === experiment ? [nodeData(child)] : []
    })
  const roots = withTraits({ experiments }, ({ root }) => root)
  return { count: experiments.size, roots: roots.map(nodeData), childrenOf: below }
}

export const run = onRun(async (opened, args, context) => {
  const { state } = opened.ledger
  const limit = args.integer('limit') ?? LIMIT
  const nodes = firstOf(state, limit).map(nodeData)
  const suite = suiteView(opened)
  const paint = await painter(context.colour)
  return ok({
    data: { nodes, truncated: state.experiments.size > nodes.length },
    text: () =>
      [
        ...forestLines(forestOf(state), bestOf(state)?.id ?? null, {
          width: context.columns,
          lines: limit,
          epoch: state.epoch,
        }),
        ...(suite === null ? [] : [BLANK, ...suiteLines(suite, context.columns)]),
      ].map(paint),
  })
})
