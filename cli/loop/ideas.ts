/** `propose`: ideas for later rounds, each accepted or refused with its reason. */

import { byPromise, runnableIdeas, writtenIdea } from '../ledger/backlog.ts'
import type { Idea, Proposed } from '../ledger/events.ts'
import { answered } from '../ledger/ledger.ts'
import { currentRound, type State } from '../ledger/state.ts'
import { findSite } from '../paths.ts'
import { fail, ok, type Result } from '../result.ts'
import type { OpenRun } from '../run/open.ts'
import { alike } from '../text.ts'
import { firstRefused, fitted } from './record-answer.ts'

export interface ProposeAnswer {
  accepted: (Idea & { id: string })[]
  refused: Proposed['refused']
  repeated?: true
}

const MAX_IDEAS = 20

/** The newest ideas that may be tried, the most promising first. */
export const openIdeas = (state: State, most: number): (Idea & { id: string })[] =>
  runnableIdeas(state).slice(-most).sort(byPromise).map(writtenIdea)

export function propose(run: OpenRun, ideas: readonly Idea[], key: string | null): Result<ProposeAnswer> {
  const { state } = run.ledger
  const { accepted, refused } = siftIdeas(ideas, state)
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
    accepted: state.ideas.filter(({ added }) => added === event.id).map(writtenIdea),
    refused: event.refused,
  }))
}

/** Characters of a hypothesis, and of a source. */
const LONGEST = 500

const cut = (idea: Idea, most: number): Idea => ({
  ...idea,
  hypothesis: idea.hypothesis.slice(0, most),
  ...(idea.kind === undefined ? {} : { kind: idea.kind.slice(0, 100) }),
  ...(idea.dependencies === undefined
    ? {}
    : { dependencies: idea.dependencies.slice(0, 20).map((name) => name.slice(0, 200)) }),
  ...(idea.tried === undefined ? {} : { tried: idea.tried.slice(0, most) }),
  ...(idea.sources === undefined ? {} : { sources: idea.sources.map((source) => source.slice(0, most)) }),
})

/** Pure. Of several that say the same, and of too many, the most promising are taken; in the order of their author. */
export function siftIdeas(
  ideas: readonly Idea[],
  state: State,
): { accepted: Idea[]; refused: Proposed['refused'] } {
  const accepted: (Idea & { index: number })[] = []
  const refused: Proposed['refused'] = []
  const ordered = [...ideas.entries()].sort(([, a], [, b]) => byPromise(a, b))
  for (const [index, idea] of ordered) {
    const refuse = (reason: string, message: string) => refused.push({ index, reason, message })
    const known: (Idea & { id?: string }) | undefined = [...state.ideas, ...accepted].find((other) =>
      alike(other.hypothesis, idea.hypothesis),
    )
    const tried = [...state.experiments.values()].find((node) => alike(node.hypothesis, idea.hypothesis))
    if (idea.hypothesis.trim() === '') refuse('empty', 'an idea needs a hypothesis')
    else if (idea.parent !== undefined && !state.experiments.has(idea.parent))
      refuse('parent', `there is no ${idea.parent}`)
    else if (tried) refuse('tried', `${tried.id} tried it: ${tried.status}`)
    else if (known) refuse('duplicate', beforeText(known))
    else if (accepted.length >= MAX_IDEAS) refuse('too_many', `a call takes ${MAX_IDEAS} ideas`)
    else accepted.push({ ...idea, index, hypothesis: idea.hypothesis.slice(0, LONGEST) })
  }
  const inOrder = (a: { index: number }, b: { index: number }) => a.index - b.index
  return {
    accepted: accepted.sort(inOrder).map(({ index: _, ...idea }) => idea),
    refused: refused.sort(inOrder),
  }
}

function beforeText({ id, tried }: Idea & { id?: string }): string {
  if (tried !== undefined) return `it was tried before this run: ${tried}`
  return `it was proposed before${id === undefined ? '' : `, as ${id}`}`
}

// ---------------------------------------------------------------- what a person decides about ideas

export interface SettledIdeas {
  ideas: string[]
  repeated?: true
}

/** Lets ideas be tried, with the packages that they need. Refused to an agent in a worktree: `in_worktree`. */
export function approveIdeas(
  run: OpenRun,
  ideas: readonly string[],
  key: string | null,
): Result<SettledIdeas> {
  const inside = findSite(run.cwd)?.experiment ?? null
  if (inside !== null)
    return fail({
      kind: 'refused',
      code: 'in_worktree',
      message: `this is the worktree of ${inside}; only the user approves packages, in the project itself`,
      hint: 'say in your answer which package the idea needs',
    })
  const event = { type: 'ideas_approved' as const, ideas: [...new Set(ideas)] }
  const recorded = run.ledger.record<'ideas_approved'>(event, run.clock(), key)
  return answered(recorded, (one) => ({ ideas: one.ideas }))
}

export function dropIdeas(
  run: OpenRun,
  ideas: readonly string[],
  { why, key }: { why: string; key: string | null },
): Result<SettledIdeas> {
  const event = { type: 'ideas_dropped' as const, ideas: [...new Set(ideas)], why: why.slice(0, 1000) }
  const recorded = run.ledger.record<'ideas_dropped'>(event, run.clock(), key)
  return answered(recorded, (one) => ({ ideas: one.ideas }))
}

// ---------------------------------------------------------------- the ideas of an old log

export interface TakenLog {
  accepted: (Idea & { id: string })[]
  refused: { hypothesis: string; message: string }[]
  /** Ids of ideas whose packages a person approved before. */
  approved: string[]
}

/** Adds them in calls of as many as one takes. What was added before is refused as a duplicate. */
export function importIdeas(
  run: OpenRun,
  { ideas, approved: named }: { ideas: readonly Idea[]; approved: readonly string[] },
): Result<TakenLog> {
  const taken: TakenLog = { accepted: [], refused: [], approved: [] }
  for (let at = 0; at < ideas.length; at += MAX_IDEAS) {
    const some = ideas.slice(at, at + MAX_IDEAS)
    const added = propose(run, some, null)
    if (!added.ok) return added
    taken.accepted.push(...added.value.accepted)
    for (const { index, message } of added.value.refused)
      taken.refused.push({ hypothesis: some[index]?.hypothesis ?? '', message })
  }
  taken.approved = taken.accepted
    .filter(({ hypothesis }) => named.some((one) => one.slice(0, LONGEST) === hypothesis))
    .map(({ id }) => id)
  if (taken.approved.length === 0) return ok(taken)
  const recorded = approveIdeas(run, taken.approved, null)
  return recorded.ok ? ok(taken) : recorded
}
