/** `tree`: every experiment of a run below its parent, with its verdict. */
import { bestOf } from '../ledger/best.ts'
import type { Experiment, State } from '../ledger/state.ts'
import { ok, type Result } from '../result.ts'
import { painter } from '../terminal/colour.ts'
import type { Context, Parsed, VerbAnswer } from '../terminal/command.ts'
import { BLANK } from '../terminal/lines.ts'
import { suiteLines } from '../terminal/suite-table.ts'
import { tree } from '../terminal/tree.ts'
import { nodeData } from '../view/node.ts'
import { suiteView } from '../view/suite.ts'
import { theRun } from './verb.ts'

const LIMIT = 1000

function firstOf({ experiments }: State, most: number): Experiment[] {
  const found: Experiment[] = []
  for (const node of experiments.values()) {
    if (found.length >= most) break
    found.push(node)
  }
  return found
}

export async function run(context: Context, args: Parsed): Promise<Result<VerbAnswer>> {
  const opened = theRun(context, args)
  if (!opened.ok) return opened
  const { state } = opened.value.ledger
  const limit = args.integer('limit') ?? LIMIT
  const nodes = firstOf(state, limit).map(nodeData)
  const suite = suiteView(opened.value)
  const paint = await painter(context.colour)
  return ok({
    data: { nodes, truncated: state.experiments.size > nodes.length },
    text: () =>
      [
        ...tree(Array.from(state.experiments.values(), nodeData), bestOf(state)?.id ?? null, {
          width: context.columns,
          lines: limit,
          epoch: state.epoch,
        }),
        ...(suite === null ? [] : [BLANK, ...suiteLines(suite, context.columns)]),
      ].map(paint),
  })
}
