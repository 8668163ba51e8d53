/** `finish`: the winner, measured fresh against the baseline, as commits on a new branch of the user's. */

import { figure } from '../evaluate/figure.ts'
import { makeBranch, mayBranch } from '../git/branch.ts'
import type { Identity } from '../git/git.ts'
import { finishRef } from '../git/refs.ts'
import { type Committing, committingOf } from '../git/rules.ts'
import { pinCommit } from '../git/seal.ts'
import { changesBetween, type TreeChange } from '../git/trees.ts'
import { bestOf } from '../ledger/best.ts'
import { refusal } from '../ledger/ledger.ts'
import {
  attributionOf,
  BASELINE,
  clearing,
  type Experiment,
  lastJudged,
  lastKept,
  lineageOf,
  pathTo,
  tainted,
  undermined,
} from '../ledger/state.ts'
import { type ConfirmAnswer, confirm } from '../measure/confirm.ts'
import { judgedCommit } from '../measure/worktree.ts'
import { call, next } from '../next.ts'
import { redact } from '../redact.ts'
import { fail, ok, type Result } from '../result.ts'
import type { OpenRun } from '../run/open.ts'

export interface FinishedCommit {
  commit: string
  /** The experiments whose work it is, the last one last. */
  experiments: string[]
  subject: string
}

export interface Finished {
  branch: string
  commit: string
  /** The commit that the branch begins at. */
  base: string
  /** Oldest first. */
  commits: FinishedCommit[]
  squashed: boolean
  experiment: string
  fresh: ConfirmAnswer
  /** A sentence when the fresh samples show far less than the ledger's scores promise, else null. */
  shortfall: string | null
  changes: TreeChange[]
  committer: Identity
  /** null: the user's git signs no commits. `problem` says why these are not signed although it does. */
  signing: { signed: boolean; problem: string | null } | null
}

/** The words of one commit: for a single step, or for all of them at once. */
export type Words = (steps: readonly Experiment[]) => { subject: string; body: string }

/**
 * Nothing is made unless fresh samples in a slot show the best to be better than the baseline. Problems:
 * `nothing_better`, `not_reduced`, `path_in_doubt`, `path_revoked`, `not_confirmed`, `bad_branch`, `branch_exists`, those of `confirm` and of git.
 */
export async function finish(
  run: OpenRun,
  {
    branch,
    squash,
    reduced,
    words,
    describe,
    key,
  }: {
    branch: string
    squash: boolean
    reduced: boolean
    words: Words
    /** Called before the branch is made: a call that is killed leaves no branch without its text. */
    describe: (finished: Finished) => Promise<Result<void>>
    key: string | null
  },
): Promise<Result<Finished>> {
  const winner = bestOf(run.ledger.state)
  if (!winner || winner.id === BASELINE) return nothingBetter(run)
  const chosen = reduced ? reducedOf(run, winner) : ok(winner)
  if (!chosen.ok) return chosen
  const best = chosen.value
  const doubted = pathInDoubt(run, best)
  if (doubted) return doubted
  // Checked before the measuring, which is the expensive part; making the branch checks once more that there is none.
  const may = await mayBranch(run.site, branch)
  if (!may.ok) return may
  const fresh = await confirm(run, best.id, { against: BASELINE, key })
  if (!fresh.ok) return fresh
  if (!fresh.value.passed) return notConfirmed(run, best, fresh.value)
  const by = await committingOf(run.site)
  if (!by.ok) return by
  const signed = await commitsOf(run, best, { squash, words, by: by.value })
  const unsigned = !signed.ok && signed.problem.code === 'not_signed' ? signed.problem.message : null
  // All or none: a branch with only some signed commits is as useless as one without.
  const made =
    unsigned === null
      ? signed
      : await commitsOf(run, best, { squash, words, by: { ...by.value, sign: false } })
  if (!made.ok) return made
  const last = made.value.commits.at(-1)
  if (!last)
    return refusal({
      code: 'nothing_better',
      message: `${best.id} changes no file: its gain comes from its artifacts, which no branch holds`,
      hint: next`take them from where they are: ${call('show', best.id)}`,
    })
  const changes = await changesBetween(run.site, run.started.base.tree, made.value.tree)
  if (!changes.ok) return changes
  const finished: Finished = {
    branch,
    commit: last.commit,
    base: run.started.base.commit,
    commits: made.value.commits,
    squashed: squash,
    experiment: best.id,
    fresh: fresh.value,
    shortfall: shortfallOf(run, best, fresh.value),
    changes: changes.value,
    committer: by.value.committer,
    signing: by.value.sign ? { signed: unsigned === null, problem: unsigned } : null,
  }
  const fallen = fallenMeanwhile(run, best)
  if (fallen) return fallen
  const described = await describe(finished)
  if (!described.ok) return described
  const published = await makeBranch(run.site, { name: branch, commit: last.commit, ref: made.value.ref })
  return published.ok ? ok(finished) : published
}

function pathInDoubt(run: OpenRun, best: Experiment): Result<never> | null {
  const { state } = run.ledger
  const line = lineageOf(state, best.id)
  // Parts of a merge that an attribution reduced come from all that it merges.
  const merged = line.flatMap(({ created }) => state.experiments.get(created.reduces?.experiment ?? '') ?? [])
  const sources = merged.flatMap(({ parents }) => parents.flatMap((id) => lineageOf(state, id)))
  const doubted = [...line, ...sources].find(({ flagged }) => flagged !== null)
  if (!doubted) return null
  const which = doubted.id === best.id ? best.id : `${best.id} is built on ${doubted.id}, which`
  return refusal({
    code: 'path_in_doubt',
    message: `${which} is in doubt: ${doubted.flagged}`,
    hint: clearing(doubted),
  })
}

/** The measurement takes long: a person, or another command, may have found something on the path since it began. */
function fallenMeanwhile(run: OpenRun, best: Experiment): Result<never> | null {
  const read = run.ledger.refresh()
  if (!read.ok) return read
  const { state } = run.ledger
  if (!tainted(state).has(best.id)) return pathInDoubt(run, best)
  const why =
    undermined(state, best)?.message ?? `${best.id} was revoked: ${best.why ?? 'no reason was given'}`
  return refusal({
    code: 'path_revoked',
    message: `no branch was made, since this was found while ${best.id} was measured: ${why}`,
    hint: next`take the next best: ${call('finish')}`,
  })
}

/** The part of the best's diff that an attribution left over and that was kept. */
function reducedOf(run: OpenRun, best: Experiment): Result<Experiment> {
  if (best.created.reduces) return ok(best)
  const { state } = run.ledger
  const found = state.experiments.get(attributionOf(state, best.id)?.ended?.reduced ?? '')
  if (found?.status === 'kept' && (!state.run?.holdout || lastJudged(found)?.held_out)) return ok(found)
  return refusal({
    code: 'not_reduced',
    message: `no smaller diff with the gain of ${best.id} is known`,
    hint: next`look for one: ${call('attribute', best.id)}; or take the whole: ${call('finish')}`,
  })
}

/** Of the gain that the scores along the path promise: a fresh measurement that shows less contradicts them. */
const SHOWN = 1 / 2

/** Scores under noise are chained ratios, so one step that was measured wrongly spoils all that are built on it. */
function shortfallOf(run: OpenRun, best: Experiment, fresh: ConfirmAnswer): string | null {
  const { recorded, value, against_value: base } = fresh
  if (run.ledger.state.noise.mode !== 'paired' || recorded === null || value === null || base === null)
    return null
  const [promised, found] = [Math.abs(recorded - base), Math.abs(value - base)]
  if (found >= promised * SHOWN) return null
  const { name } = run.spec.metric
  return `the ledger says ${name} ${figure(recorded)} for ${best.id}, and measured against the baseline it is ${figure(value)}: a step on its path was measured wrongly; look at them: assay tree, then assay confirm each against ${BASELINE}`
}

interface Made {
  commits: FinishedCommit[]
  /** Of the last one. */
  ref: string
  tree: string
}

/**
 * One commit in the store for each step from the base to the best that changes a file. That of a merge is the work of all
 * that it merges.
 */
async function commitsOf(
  run: OpenRun,
  best: Experiment,
  { squash, words, by }: { squash: boolean; words: Words; by: Committing },
): Promise<Result<Made>> {
  const steps = stepsTo(run, best)
  const groups = squash ? [steps.flat()] : steps
  const name = run.random(8)
  const made: Made = { commits: [], ref: '', tree: run.started.base.tree }
  let parent = run.started.base.commit
  for (const group of groups) {
    const last = group.at(-1)
    if (!last || last.tree === made.tree) continue
    const { subject, body } = words(group.map(({ node }) => node))
    const ref = finishRef(run.run, `${name}-${made.commits.length + 1}`)
    const commit = await pinCommit(run.site, {
      tree: last.tree,
      parents: [parent],
      message: redact(`${subject}\n\n${body}`),
      ref,
      at: run.clock(),
      by,
    })
    if (!commit.ok) return commit
    made.commits.push({
      commit: commit.value,
      experiments: group.map(({ node }) => node.id),
      subject: redact(subject),
    })
    made.ref = ref
    made.tree = last.tree
    parent = commit.value
  }
  return ok(made)
}

interface Step {
  node: Experiment
  tree: string
}

/** Along first parents; beside each experiment stands what it has from its other parents, before it. */
function stepsTo(run: OpenRun, best: Experiment): Step[][] {
  const { state } = run.ledger
  const seen = new Set<string>()
  return pathTo(state, best.id).map(({ id }) => {
    const found = lineageOf(state, id).filter((node) => !seen.has(node.id))
    for (const node of found) seen.add(node.id)
    return found.flatMap((node): Step[] => {
      const kept = judgedCommit(run, node.id)
      return kept ? [{ node, tree: kept.tree }] : []
    })
  })
}

function nothingBetter(run: OpenRun): Result<never> {
  const { counts, experiments } = run.ledger.state
  const doubted = [...experiments.values()].find(
    ({ status, flagged }) => status === 'kept' && flagged !== null,
  )
  return refusal({
    code: 'nothing_better',
    message: 'no experiment is better than the baseline, so there is nothing to finish',
    hint: doubted
      ? next`${doubted.id} is in doubt, so it does not count; ${clearing(doubted)}`
      : counts.kept > 1
        ? next`see what was tried: ${call('tree')}`
        : next`continue the search: ${call('loop')}`,
  })
}

function notConfirmed(run: OpenRun, best: Experiment, fresh: ConfirmAnswer): Result<never> {
  const { experiment, against, status, flagged, message } = fresh
  const stays = status !== 'revoked' && !flagged
  const look = lastKept(run.ledger.state.experiments.get(best.id) ?? best)?.confirmed.at(-1)
  const outcome = look?.comparison.outcome
  const now = flagged
    ? 'it is still kept, but in doubt'
    : stays
      ? 'it stays kept, since it was compared with another experiment than its parent'
      : `it is ${status} now`
  return fail({
    kind: 'refused',
    code: 'not_confirmed',
    message: `measured again, ${experiment} did not hold up against ${against} (${message}); ${now}, and no branch was made`,
    hint:
      stays && outcome !== 'inconclusive'
        ? next`${call('tree')} shows those before it, and ${call('confirm', 'ID', '--against', against)} whether one of them holds; ${call('revoke', experiment, '--reason', 'TEXT')} takes this one back, so that ${call('finish')} takes the next best`
        : next`${call('report')} shows what is the best now; ${call('finish')} takes that one`,
    data: fresh,
  })
}
