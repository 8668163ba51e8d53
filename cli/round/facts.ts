/** What the ledger alone says about the search so far. */
import { lastJudged, type State } from '../ledger/state.ts'
import type { Pattern } from '../search/observed.ts'
import { patternsOf } from '../search/patterns.ts'

export function patternsIn(state: State): Pattern[] {
  return patternsOf(
    [...state.experiments.values()].map((node) => {
      const judged = lastJudged(node)
      return {
        id: node.id,
        parent: node.parent,
        status: node.status,
        reason: judged?.reason ?? null,
        failure_class: node.discard_class ?? judged?.failure_class ?? null,
        value: judged?.value ?? null,
        hypothesis: node.hypothesis,
        gates: judged?.gates ?? [],
        tasks: judged?.tasks ?? null,
      }
    }),
  )
}
