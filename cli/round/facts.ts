/** What the ledger alone says about the search so far. */
import { failureClassOf, lastJudged, type State } from '../ledger/state.ts'
import type { Observed, Pattern } from '../search/observed.ts'
import { patternsOf } from '../search/patterns.ts'

export const patternsIn = (state: State): Pattern[] => patternsOf(observedIn(state))

export function observedIn(state: State): Observed[] {
  return [...state.experiments.values()].map((node) => {
    const judged = lastJudged(node)
    return {
      id: node.id,
      parent: node.parent,
      status: node.status,
      reason: judged?.reason ?? null,
      failure_class: failureClassOf(node),
      value: judged?.value ?? null,
      hypothesis: node.hypothesis,
      gates: judged?.gates ?? [],
      tasks: judged?.tasks ?? null,
    }
  })
}
