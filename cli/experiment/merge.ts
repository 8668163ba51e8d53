/**
 * `merge`: puts the changes of kept experiments together. Which sets are tried is in `search/merge.ts`; each is an experiment
 * with several parents, whose files git merges, and which gets an ordinary verdict against the best of its parents.
 */
import { counted } from '../evaluate/figure.ts'
import { type Merged, mergeCommits } from '../git/merge.ts'
import { lookRef } from '../git/refs.ts'
import { pinCommit } from '../git/seal.ts'
import { refusal } from '../ledger/ledger.ts'
import {
  type Experiment,
  isTried,
  lastAttempt,
  lastJudged,
  mergeOf,
  type State,
  saysNothing,
} from '../ledger/state.ts'
import { sealComposedTree } from '../measure/seal.ts'
import { interrupted } from '../measure/slot.ts'
import { judgedCommit } from '../measure/worktree.ts'
import { call, next } from '../next.ts'
import { fail, ok, type Problem, type Result } from '../result.ts'
import { hoursSpent } from '../run/budget.ts'
import { nodeFor, type OpenRun } from '../run/open.ts'
import { clashing, nextMerge } from '../search/merge.ts'
import { mergeable, mergedIn, mergePlan, unmerged, whyNotMerged } from '../search/unmerged.ts'
import { claimId } from './create.ts'
import { submit } from './submit.ts'

/** One set that was tried by this call, and what came of it. */
export interface MergeAttempt {
  experiments: string[]
  /** The experiment that was made of them; null when they conflict. */
  experiment: string | null
  status: Experiment['status'] | 'conflict'
  value: number | null
  message: string
  /** Of a conflict: the paths. */
  files?: string[]
}

export interface MergeAnswer {
  /** What was to be merged, the best first. */
  experiments: string[]
  attempts: MergeAttempt[]
  /** The best that there is now of what was to be merged; null when none of it can be merged any more. */
  best: string | null
  /** What is still in no other experiment. */
  left: string[]
}

/** The experiments that would be merged, best first. Problems: an unknown one, one that cannot be merged, fewer than two. */
function subjectsOf(run: OpenRun, named: readonly string[]): Result<string[]> {
  const { state } = run.ledger
  for (const id of named) {
    const node = nodeFor(run, id)
    if (!node.ok) return node
    const why = whyNotMerged(state, node.value)
    if (why !== null)
      return refusal({
        code: 'not_mergeable',
        message: `${id} cannot be merged: it ${why}`,
        hint: next`name kept experiments: ${call('tree')}`,
      })
  }
  const wanted = named.length === 0 ? null : named
  const found = unmerged(state, wanted).map(({ id }) => id)
  if (found.length > 1 || unmergedPartsTried(state, named)) return ok(found)
  return refusal({
    code: 'nothing_to_merge',
    message:
      named.length === 0
        ? 'fewer than two kept experiments can be merged: they must be confirmed, without doubt, without artifacts, and in no other experiment'
        : named.length === 1
          ? 'one experiment was named, and a merge needs at least two'
          : `one of ${named.join(', ')} contains the others, or they have the same files`,
    hint: next`see what was kept: ${call('tree')}`,
  })
}

/** Whether all that was named is merged already: a repetition, which is no mistake. */
const unmergedPartsTried = (state: State, named: readonly string[]): boolean =>
  named.length > 1 && unmerged(state, named).some(({ created }) => created.merge)

/** Merges until nothing is left to try or the budget is used up. `leaving`: whether to stop before the next set. */
export async function merge(
  run: OpenRun,
  named: readonly string[],
  leaving: () => boolean,
): Promise<Result<MergeAnswer>> {
  const wanted = named.length === 0 ? null : named
  const subjects = subjectsOf(run, named)
  if (!subjects.ok) return subjects
  const attempts: MergeAttempt[] = []
  for (;;) {
    const read = run.ledger.refresh()
    if (!read.ok) return read
    const { state } = run.ledger
    const set = nextMerge(mergePlan(state, wanted))
    if (set === null) {
      const [best, ...left] = unmerged(state, wanted).map(({ id }) => id)
      return ok({ experiments: subjects.value, attempts, best: best ?? null, left })
    }
    const spent = hoursSpent(run.ledger.state)
    if (spent) return fail(spent)
    if (leaving() || run.signal.aborted) return fail(stopped(attempts, named))
    const made = await makeMerge(run, set, null)
    if (!made.ok) {
      if (made.problem.raced || hasFallen(run, set)) continue
      return made
    }
    if ('files' in made.value) {
      const { experiments, files } = made.value
      attempts.push(conflictOf(experiments, files))
      run.tell({ type: 'log', message: sayConflict(experiments, files) })
      continue
    }
    const { id } = made.value
    run.tell({ type: 'preparing', what: `the verdict on ${id}, which merges ${set.join(', ')}` })
    const answer = await submit(run, id, { asSealed: true })
    if (!answer.ok) {
      if (hasFallen(run, set)) continue
      return answer
    }
    const { status, message } = answer.value
    const judged = lastJudged(made.value)
    if (!judged || (saysNothing(judged) && judged.reason !== 'dependency'))
      return fail(unmeasured(made.value, message, named))
    run.tell({ type: 'log', message: `${set.join(' + ')}: ${status}; ${message}` })
    // Else the next look tries it once more, or leaves out what was revoked meanwhile.
    if (isTried(run.ledger.state, made.value)) attempts.push(attemptOf(made.value, set))
  }
}

/**
 * Whether one of a set cannot be merged any more: a person, or another command, found something against it since the set was
 * chosen. Then the next set does without it, and an experiment that was begun for this one is discarded.
 */
export function hasFallen(run: OpenRun, set: readonly string[]): boolean {
  const read = run.ledger.refresh()
  const { state } = run.ledger
  const fallen = set.find((id) => {
    const node = state.experiments.get(id)
    return node !== undefined && whyNotMerged(state, node) !== null
  })
  if (!read.ok || fallen === undefined) return false
  const begun = mergeOf(state, set)
  if (begun?.status === 'open')
    run.ledger.propose<'discarded'>(
      {
        type: 'discarded',
        experiment: begun.id,
        why: `${fallen} cannot be merged any more`,
        failure_class: 'environment',
      },
      run.clock(),
    )
  return true
}

const attemptOf = (node: Experiment, experiments: string[]): MergeAttempt => ({
  experiments,
  experiment: node.id,
  status: node.status,
  value: node.value,
  message: lastJudged(node)?.message ?? '',
})

const conflictOf = (experiments: string[], files: string[]): MergeAttempt => ({
  experiments,
  experiment: null,
  status: 'conflict',
  value: null,
  message: sayConflict(experiments, files),
  files,
})

/** The last one is left out. */
export function sayConflict(experiments: readonly string[], files: readonly string[]): string {
  const others = experiments.slice(0, -1).join(', ')
  const more = files.length > MOST_FILES ? ` and ${files.length - MOST_FILES} more` : ''
  return `git cannot merge ${experiments.at(-1)} with ${others}: their changes do not fit together in ${files.slice(0, MOST_FILES).join(', ')}${more}; ${experiments.at(-1)} is left out of this merge`
}

const MOST_FILES = 5

const stopped = (attempts: readonly MergeAttempt[], named: readonly string[]): Problem => ({
  ...interrupted,
  message: `stopped after ${counted(attempts.length, 'set')}; what came of them is recorded`,
  hint: next`continue: ${call('merge', ...named)}`,
})

const unmeasured = ({ id, parents }: Experiment, message: string, named: readonly string[]): Problem => ({
  kind: 'failed',
  code: 'not_measured',
  message: `${id}, which merges ${parents.join(', ')}, could not be judged: ${message}`,
  hint: next`remove the cause, then continue: ${call('merge', ...named)}`,
})

// ---------------------------------------------------------------- one set: a sealed experiment, or the conflict that prevents it

/**
 * The sealed experiment that merges a set, its best first. One that was begun before continues. A conflict is recorded, so
 * that the set is not asked for again. `round`: of the loop, when it merges.
 */
export async function makeMerge(
  run: OpenRun,
  set: readonly string[],
  round: number | null,
): Promise<Result<Experiment | { experiments: string[]; files: string[] }>> {
  const begun = mergeOf(run.ledger.state, set)
  if (begun && lastAttempt(begun)) return ok(begun)
  const tree = await treeOf(run, set)
  if (!tree.ok) return tree
  if (typeof tree.value !== 'string') return recordConflict(run, tree.value)
  const node = begun ? ok(begun) : create(run, set, round)
  if (!node.ok) return node
  const sealed = await sealComposedTree(run, node.value, tree.value)
  // A different call may have sealed it meanwhile, and judges it.
  return sealed.ok || lastAttempt(node.value) ? node : sealed
}

interface Conflict {
  experiments: string[]
  files: string[]
}

function recordConflict(run: OpenRun, { experiments, files }: Conflict): Result<Conflict> {
  const recorded = run.ledger.propose<'conflicted'>(
    { type: 'conflicted', experiments, files: files.slice(0, 100) },
    run.clock(),
  )
  return recorded.ok ? ok({ experiments, files }) : recorded
}

function create(run: OpenRun, set: readonly string[], round: number | null): Result<Experiment> {
  const { state } = run.ledger
  const id = claimId(run.paths, state)
  if (!id.ok) return id
  const ideas = set.map((one) => `${one}: ${state.experiments.get(one)?.hypothesis ?? ''}`)
  const recorded = run.ledger.record<'created'>(
    {
      type: 'created',
      experiment: id.value,
      parent: set[0] ?? null,
      hypothesis: `merge of ${ideas.join('; ')}`.slice(0, 2000),
      round,
      lane: null,
      depth: null,
      parents: [...set],
      merge: true,
    },
    run.clock(),
  )
  return recorded.ok ? nodeFor(run, id.value) : recorded
}

/** One is merged after the other; each step but the last needs a commit of its own. */
async function treeOf(run: OpenRun, set: readonly string[]): Promise<Result<string | Conflict>> {
  const commits = set.map((id) => ({ id, commit: commitOf(run, id) }))
  const [first, ...others] = commits
  if (!first) throw new Error('a merge needs experiments')
  let ours = first.commit
  let tree = ''
  for (const [at, { id, commit }] of others.entries()) {
    const merged = await mergeCommits(run.site, ours, commit)
    if (!merged.ok) return merged
    if ('conflicts' in merged.value) return conflictIn(run, set.slice(0, at + 1), id, merged.value.conflicts)
    tree = merged.value.tree
    if (at === others.length - 1) break
    const pinned = await pinCommit(run.site, {
      tree,
      parents: [ours, commit],
      message: `${set.slice(0, at + 2).join(' + ')}`,
      ref: lookRef(run.run, first.id, run.random(8)),
      at: run.clock(),
    })
    if (!pinned.ok) return pinned
    ours = pinned.value
  }
  return ok(tree)
}

function commitOf(run: OpenRun, id: string): string {
  const kept = judgedCommit(run, id)
  if (!kept) throw new Error(`${id} is kept and has no candidate`)
  return kept.commit
}

/** Names the one that it conflicts with, if that is one: then the others can still be merged with it. */
async function conflictIn(
  run: OpenRun,
  before: readonly string[],
  last: string,
  files: string[],
): Promise<Result<Conflict>> {
  const { state } = run.ledger
  for (const part of new Set(before.flatMap((id) => mergedIn(state, id)))) {
    const alone: Result<Merged> = await mergeCommits(run.site, commitOf(run, part), commitOf(run, last))
    if (!alone.ok) return alone
    if ('conflicts' in alone.value) return ok({ experiments: [part, last], files: alone.value.conflicts })
  }
  const experiments = clashing(
    before.map((id) => mergeable(state, id)),
    mergeable(state, last),
  )
  return ok({ experiments, files })
}
