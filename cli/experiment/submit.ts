/**
 * One candidate, from worktree to verdict:
 * seal → scope → known? → claim → build → gates before → measure → constraints → comparison → gates after → confirm →
 * verdict. What is free of charge comes before the claim; the claim charges the budget and an attempt.
 */

import type { Verdict } from '../evaluate/verdict.ts'
import { pathsChangedSince } from '../git/checkout.ts'
import { refuseDamaged } from '../git/objects.ts'
import { candidateRef, pinRef } from '../git/refs.ts'
import { refusedBy } from '../ledger/decide.ts'
import { refusal } from '../ledger/ledger.ts'
import {
  type Attempt,
  attemptOf,
  BASELINE,
  type Experiment,
  isOutdatedBaseline,
  isSettled,
  lastAttempt,
} from '../ledger/state.ts'
import { holdsDeclared } from '../measure/artifacts.ts'
import { collectEvidence, noEvidence } from '../measure/attempt.ts'
import { confirmAgain, pathOfBest } from '../measure/confirm.ts'
import { fingerprintMutable, scopeOfRun } from '../measure/data.ts'
import { collectByJob, executorOf, notForJobs } from '../measure/dispatch.ts'
import { drawNonce } from '../measure/random-choices.ts'
import { type RunAnswer, runAnswer } from '../measure/run-answer.ts'
import { type Seal, seal, snapshot, storedSeal } from '../measure/seal.ts'
import { Recorder, RecordLost } from '../measure/steps.ts'
import type { Evidence } from '../measure/trial.ts'
import { recordVerdict, verdictOn } from '../measure/verdict-event.ts'
import { baseOf, hasWorktree, judgedCommit, readWorktreeFacts } from '../measure/worktree.ts'
import { call, next } from '../next.ts'
import { attemptFolder, worktreePath } from '../paths.ts'
import { identify, isAlive } from '../process.ts'
import { fail, ok, type Result } from '../result.ts'
import { unchangedData } from '../run/data.ts'
import { liveSpec, nodeFor, type OpenRun } from '../run/open.ts'
import { type CheckFinding, checkSeal } from './check.ts'
import { judgedElsewhere, untilSettled } from './wait.ts'

// ---------------------------------------------------------------- the claim on one attempt: it charges the budget, and the fold says who has it

/** `takesOver` is the claim of a process that is proved dead: its random choices are kept. */
function claimAttempt(
  run: OpenRun,
  experiment: string,
  attempt: number,
  { takesOver, key = null }: { takesOver?: string; key?: string | null },
): Result<void> {
  const owner = identify()
  if (!owner) throw new Error('this system does not tell when a process started (no /proc, no ps)')
  const recorded = run.ledger.record<'started'>(
    {
      type: 'started',
      experiment,
      attempt,
      owner,
      ...(takesOver === undefined ? { nonce: drawNonce(run) } : { takes_over: takesOver }),
    },
    run.clock(),
    key,
  )
  return recorded.ok ? ok(undefined) : recorded
}

// ---------------------------------------------------------------- the baseline of a new epoch: the same candidate, sealed once more, so that it is measured again

async function sealAgain(run: OpenRun, node: Experiment): Promise<Result<Seal>> {
  const last = lastAttempt(node)
  const kept = judgedCommit(run, node.id) ?? run.started.base
  if (last && !last.judged && last.sealed.tree === kept.tree) return storedSeal(run, node, last)
  const attempt = (last?.attempt ?? 0) + 1
  const pinned = await pinRef(run.site, candidateRef(run.run, node.id, attempt), kept.commit)
  if (!pinned.ok) return pinned
  const recorded = run.ledger.record<'sealed'>(
    {
      type: 'sealed',
      experiment: node.id,
      attempt,
      commit: kept.commit,
      tree: kept.tree,
      diff: { files: 0, added: 0, removed: 0 },
      left_out: [],
      secrets: [],
    },
    run.clock(),
  )
  if (!recorded.ok) return recorded
  const sealed = lastAttempt(node)
  if (!sealed) throw new Error(`${node.id} was sealed and has no attempt`)
  return storedSeal(run, node, sealed)
}

/** At an empty seal: whether the agent worked in the user's checkout instead, as a sentence to add; `''` when not. */
async function strayEdits(run: OpenRun, experiment: string): Promise<string> {
  const before = readWorktreeFacts(run, experiment)?.checkout
  if (!before) return ''
  const scope = scopeOfRun(run)
  const now = await fingerprintMutable(run)
  if (!now.ok) return ''
  const changed = pathsChangedSince(before, now.value).filter((path) => scope(path) === 'mutable')
  if (changed.length === 0) return ''
  const worktree = worktreePath(run.site, run.run, experiment)
  return `. But ${changed.slice(0, 5).join(', ')} changed in ${run.started.checkout} since this experiment was opened: move the edit into ${worktree}, then run it again`
}

/** If more commands than this work on one experiment, the others are refused and told to wait. */
const TRIES = 20

/**
 * Judges the content of the worktree, or continues what a dead process began. Safe to repeat and to run many times at
 * once: one seal, one verdict. The same `key` gives the first answer. `asSealed`: judges
 * the last seal, or answers the verdict that it has, whatever the worktree holds by now.
 */
export async function submit(
  run: OpenRun,
  experiment: string,
  { key = null, asSealed = false }: { key?: string | null; asSealed?: boolean } = {},
): Promise<Result<RunAnswer>> {
  for (let tries = 1; ; tries++) {
    const answer = await submitOnce(run, experiment, key, asSealed)
    // A different command came first: look at what it recorded, and answer by that.
    if (answer.ok || !answer.problem.raced || tries >= TRIES) return answer
  }
}

async function submitOnce(
  run: OpenRun,
  experiment: string,
  key: string | null,
  asSealed: boolean,
): Promise<Result<RunAnswer>> {
  const node = nodeFor(run, experiment)
  if (!node.ok) return node
  const unfit = liveSpec(run).executor ? notForJobs(run) : null
  if (unfit) return fail(unfit)
  const current = lastAttempt(node.value)
  if (node.value.status === 'running' && current) return joinOrTakeOver(run, node.value, current)
  const first = run.ledger.answeredBefore(['started', 'judged'], key, experiment)
  if (first && !first.ok) return first
  const known = first && runAnswer(run.ledger.state, node.value, true)
  if (known) return ok(known)
  const { status } = node.value
  if (isOutdatedBaseline(run.ledger.state, node.value)) return judgeBaselineAgain(run, node.value, key)
  const sealed = await sealOrRepeat(run, node.value, current, asSealed)
  if (!sealed.ok) return unlessLate(sealed, node.value, status)
  if ('answer' in sealed.value) return ok(sealed.value.answer)
  const { seal: candidate } = sealed.value
  const findings = await checkSeal(run, candidate)
  if (!findings.ok) return findings
  const [finding, ...more] = findings.value
  if (finding) {
    // What differs because the store was damaged is not the candidate's doing.
    const intact = await refuseDamaged(run.site, baseOf(run, experiment).commit)
    if (!intact.ok) return intact
    const stray = finding.code === 'empty' ? await strayEdits(run, experiment) : ''
    const verdict: Verdict = {
      status: 'rejected',
      reason: finding.code,
      failure_class: 'hypothesis',
      message: [`${finding.message}${stray}`, ...alsoAdded(finding, more)].join('; '),
    }
    return recordVerdict(run, node.value, candidate, noEvidence(run, node.value), verdict, 0, key)
  }
  const data = await unchangedData(run)
  if (!data.ok) return data
  const claim = claimAttempt(run, experiment, candidate.attempt, { key })
  if (!claim.ok) return unlessLate(claim, node.value, status)
  return judge(run, node.value, candidate)
}

const MOST_NAMED = 10

/** The other packages that a person would have to approve: the message names all at once, so that no further attempt finds the next one. */
const alsoAdded = ({ code }: CheckFinding, more: readonly CheckFinding[]): string[] =>
  code === 'dependency'
    ? more
        .filter((one) => one.code === code)
        .slice(0, MOST_NAMED)
        .map(({ message }) => message)
    : []

/** A new epoch begins with a new measurement of the baseline, as it was sealed, whatever its worktree holds now. */
async function judgeBaselineAgain(
  run: OpenRun,
  node: Experiment,
  key: string | null,
): Promise<Result<RunAnswer>> {
  const { status } = node
  const sealed = await sealAgain(run, node)
  if (!sealed.ok) return sealed
  const claim = claimAttempt(run, node.id, sealed.value.attempt, { key })
  return claim.ok ? judge(run, node, sealed.value) : unlessLate(claim, node, status)
}

type Refused = Extract<Result<never>, { ok: false }>

/** The refusal; marked `raced`, so that this command looks again, if a different one sealed, claimed or judged it meanwhile. */
const unlessLate = (refused: Refused, node: Experiment, began: Experiment['status']): Refused =>
  node.status === began ? refused : fail({ ...refused.problem, raced: true })

/** A second `run` of the same seal joins the first; the work of a dead one is taken over, with all that it paid for. */
async function joinOrTakeOver(run: OpenRun, node: Experiment, attempt: Attempt): Promise<Result<RunAnswer>> {
  const { claim } = attempt
  const far = judgedElsewhere(node)
  if (far) return fail(far)
  if (claim && isAlive(claim.owner)) {
    run.tell({ type: 'waiting', what: `the verdict on ${node.id}, which another command judges` })
    const settled = await untilSettled(run, node.id)
    if (!settled.ok) return settled
    const answer = runAnswer(run.ledger.state, node, true)
    return answer ? ok(answer) : submit(run, node.id)
  }
  const taken = claimAttempt(run, node.id, attempt.attempt, { takesOver: claim?.id ?? '' })
  if (!taken.ok) return taken
  const candidate = await storedSeal(run, node, attempt)
  return candidate.ok ? judge(run, node, candidate.value) : candidate
}

type Ready = { seal: Seal } | { answer: RunAnswer }

/** The unjudged seal if the worktree still equals it, a new one, or the verdict that this content has already. */
async function sealOrRepeat(
  run: OpenRun,
  node: Experiment,
  current: Attempt | null,
  asSealed: boolean,
): Promise<Result<Ready>> {
  const refused = refusedBy(node, 'run')
  if (refused && node.status !== 'kept') return refusal(refused)
  // The base itself, sealed by init: it is never edited, so it needs no worktree.
  const needless = node.id === BASELINE && !hasWorktree(run, node.id)
  if (current && !current.judged && (asSealed || needless)) {
    const stored = await storedSeal(run, node, current)
    return stored.ok ? ok({ seal: stored.value }) : stored
  }
  const standing = asSealed && current && isSettled(current) ? runAnswer(run.ledger.state, node, true) : null
  if (standing) return ok({ answer: standing })
  const taken = await snapshot(run, node)
  if (!taken.ok) return taken
  const same = current?.sealed.tree === taken.value.tree && taken.value.secrets.length === 0
  if (current && !current.judged && !same) {
    return fail({
      kind: 'refused',
      code: 'unsealed_changes',
      message: `the worktree of ${node.id} has changed since its seal`,
      hint: next`seal it again: ${call('seal', node.id)}`,
    })
  }
  const built = run.spec.worktree.build !== null
  const unchanged = same && holdsDeclared(current?.judged?.artifacts ?? {}, taken.value.artifacts, built)
  if (unchanged && current && isSettled(current) && !isolatedSince(run, current)) {
    const answer = runAnswer(run.ledger.state, node, true)
    if (answer) return ok({ answer })
  }
  if (refused) {
    const what = same ? 'artifacts have' : 'worktree has'
    return refusal({ ...refused, message: `${node.id} is kept, and its ${what} changed since` })
  }
  const sealed = await seal(run, node, taken.value, null)
  return sealed.ok ? ok({ seal: sealed.value }) : sealed
}

/** A baseline that was rejected in isolation is judged again after the isolation was loosened. */
function isolatedSince({ ledger }: OpenRun, { judged }: Attempt): boolean {
  const { isolation } = ledger.state
  return (
    judged?.experiment === BASELINE &&
    judged.status === 'rejected' &&
    isolation !== null &&
    isolation.at > judged.at
  )
}

async function judge(run: OpenRun, node: Experiment, candidate: Seal): Promise<Result<RunAnswer>> {
  const began = performance.now()
  try {
    const record = new Recorder(run, {
      experiment: node.id,
      folder: attemptFolder(run.paths, node.id, candidate.attempt),
    })
    const config = executorOf(run, node.id, attemptOf(node, candidate.attempt))
    const settle = async (evidence: Evidence) => {
      const verdict = verdictOn(evidence)
      record.step('verdict', 'ended', verdict)
      const queuedMs = config?.countQueue ? 0 : (evidence.elsewhere?.queuedMs ?? 0)
      const wallMs = Math.max(0, performance.now() - began - queuedMs)
      const way = pathOfBest(run.ledger.state)
      const recorded = await recordVerdict(run, node, candidate, evidence, verdict, wallMs, null)
      return { recorded, variedOn: evidence.varied === null ? null : way }
    }
    const byJob = config && (await collectByJob(run, node, candidate, { record, config }))
    if (byJob && !byJob.ok) return byJob
    const settled = byJob
      ? ok(await settle(byJob.value))
      : await collectEvidence(run, node, { seal: candidate, record }, settle)
    if (!settled.ok) return settled
    const { recorded, variedOn } = settled.value
    if (recorded.ok && variedOn !== null) {
      await confirmAgain(run, variedOn)
      return ok(runAnswer(run.ledger.state, node) ?? recorded.value)
    }
    if (recorded.ok || !recorded.problem.raced) return recorded
    // `assay abort` gave this attempt its verdict while it ran: that verdict counts, and nothing is tried again.
    const standing = runAnswer(run.ledger.state, node, true)
    return standing ? ok(standing) : recorded
  } catch (error) {
    if (error instanceof RecordLost) return fail(error.problem)
    throw error
  }
}
