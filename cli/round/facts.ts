/** What the ledger alone says about the search so far. */
import { lastJudged, type State } from '../ledger/state.ts'
import { findPatterns, type Pattern } from '../search/patterns.ts'

export function patternsOf(state: State): Pattern[] {
  return findPatterns(
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
