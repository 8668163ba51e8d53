/** `propose`: ideas for later rounds, each accepted or refused with its reason. */

import type { Idea, Proposed } from '../ledger/events.ts'
import { answered } from '../ledger/ledger.ts'
import { currentRound, type State } from '../ledger/state.ts'
import type { Result } from '../result.ts'
import type { OpenRun } from '../run/open.ts'
import { alike, firstRefused, fitted, sameWords, wordsOf } from './fit.ts'

export interface ProposeAnswer {
  accepted: Idea[]
  refused: Proposed['refused']
  repeated?: true
}

const MAX_IDEAS = 20

/** What an idea promises: its uplift by how sure its author is; null when one of the two is not said. */
function promise({ uplift, confidence }: Idea): number | null {
  if (uplift === undefined || confidence === undefined) return null
  return uplift * Math.min(1, Math.max(0, confidence))
}

/** The most promising first; those that promise nothing last, in their order. */
const byPromise = (a: Idea, b: Idea): number => (promise(b) ?? -Infinity) - (promise(a) ?? -Infinity) || 0

/** The newest ideas that no experiment has tried since, the most promising first. */
export function openIdeas(state: State, most: number): Idea[] {
  if (state.ideas.length === 0) return []
  const tried = [...state.experiments.values()].map(({ hypothesis }) => wordsOf(hypothesis))
  return state.ideas
    .filter(({ hypothesis }) => {
      const words = wordsOf(hypothesis)
      return !tried.some((other) => sameWords(words, other))
    })
    .slice(-most)
    .sort(byPromise)
}

export function propose(run: OpenRun, ideas: readonly Idea[], key: string | null): Result<ProposeAnswer> {
  const { state } = run.ledger
  const { accepted, refused } = judgeIdeas(ideas, state)
  const recorded = run.ledger.record<'proposed'>(
    {
      type: 'proposed',
      round: currentRound(state)?.round ?? null,
      ...fitted(LONGEST, (most) => ({
        accepted: accepted.map((idea) => cut(idea, most)),
        refused: firstRefused(refused),
      })),
    },
    run.clock(),
    key,
  )
  return answered(recorded, (event) => ({
    accepted: event.accepted,
    refused: event.refused,
  }))
}

/** Characters of a hypothesis, and of a source. */
const LONGEST = 500

const cut = (idea: Idea, most: number): Idea => ({
  ...idea,
  hypothesis: idea.hypothesis.slice(0, most),
  ...(idea.kind === undefined ? {} : { kind: idea.kind.slice(0, 100) }),
  ...(idea.sources === undefined ? {} : { sources: idea.sources.map((source) => source.slice(0, most)) }),
})

/** Pure. Of several that say the same, and of too many, the most promising are taken. */
export function judgeIdeas(
  ideas: readonly Idea[],
  state: State,
): { accepted: Idea[]; refused: Proposed['refused'] } {
  const accepted: Idea[] = []
  const refused: Proposed['refused'] = []
  const ordered = [...ideas.entries()].sort(([, a], [, b]) => byPromise(a, b))
  for (const [index, idea] of ordered) {
    const refuse = (reason: string, message: string) => refused.push({ index, reason, message })
    const known = [...state.ideas, ...accepted].find((other) => alike(other.hypothesis, idea.hypothesis))
    const tried = [...state.experiments.values()].find((node) => alike(node.hypothesis, idea.hypothesis))
    if (idea.hypothesis.trim() === '') refuse('empty', 'an idea needs a hypothesis')
    else if (idea.parent !== undefined && !state.experiments.has(idea.parent))
      refuse('parent', `there is no ${idea.parent}`)
    else if (tried) refuse('tried', `${tried.id} tried it: ${tried.status}`)
    else if (known) refuse('duplicate', 'it was proposed before')
    else if (accepted.length >= MAX_IDEAS) refuse('too_many', `a call takes ${MAX_IDEAS} ideas`)
    else accepted.push({ ...idea, hypothesis: idea.hypothesis.slice(0, LONGEST) })
  }
  return { accepted, refused: refused.sort((a, b) => a.index - b.index) }
}
