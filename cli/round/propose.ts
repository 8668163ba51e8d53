/** `propose`: ideas for later rounds, each accepted or refused with its reason. */
import type { Idea, Proposed } from '../ledger/events.ts'
import { currentRound, type State } from '../ledger/state.ts'
import { ok, type Result } from '../result.ts'
import type { OpenRun } from '../run/open.ts'
import { alike } from './likeness.ts'

export interface ProposeAnswer {
  accepted: Idea[]
  refused: Proposed['refused']
  repeated?: true
}

const MAX_IDEAS = 20

export function propose(run: OpenRun, ideas: readonly Idea[], key: string | null): Result<ProposeAnswer> {
  const { state } = run.ledger
  const recorded = run.ledger.record<'proposed'>(
    { type: 'proposed', round: currentRound(state)?.round ?? null, ...judgeIdeas(ideas, state) },
    run.clock(),
    key,
  )
  if (!recorded.ok) return recorded
  const { event, repeated } = recorded.value
  return ok({
    accepted: event.accepted,
    refused: event.refused,
    ...(repeated ? { repeated: true as const } : {}),
  })
}

/** Pure. */
export function judgeIdeas(
  ideas: readonly Idea[],
  state: State,
): { accepted: Idea[]; refused: Proposed['refused'] } {
  const accepted: Idea[] = []
  const refused: Proposed['refused'] = []
  for (const [index, idea] of ideas.entries()) {
    const refuse = (reason: string, message: string) => refused.push({ index, reason, message })
    const known = [...state.ideas, ...accepted].find((other) => alike(other.hypothesis, idea.hypothesis))
    const tried = [...state.experiments.values()].find((node) => alike(node.hypothesis, idea.hypothesis))
    if (idea.hypothesis.trim() === '') refuse('empty', 'an idea needs a hypothesis')
    else if (idea.parent !== undefined && !state.experiments.has(idea.parent))
      refuse('parent', `there is no ${idea.parent}`)
    else if (tried) refuse('tried', `${tried.id} tried it: ${tried.status}`)
    else if (known) refuse('duplicate', 'it was proposed before')
    else if (accepted.length >= MAX_IDEAS) refuse('too_many', `a call takes ${MAX_IDEAS} ideas`)
    else accepted.push({ ...idea, hypothesis: idea.hypothesis.slice(0, 500) })
  }
  return { accepted, refused }
}
